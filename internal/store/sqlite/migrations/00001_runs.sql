-- Runs and their data.
--
-- Times are nanoseconds since 1970 in UTC, and money is millionths of a US dollar. Columns
-- with JSON are marked. Other tables refer to the integer key n: it is short, and rows that
-- are inserted together are stored together. The column sum is the seal of the other
-- columns of its row.

-- "deem" in ASCII. It distinguishes our files from those of other programs.
PRAGMA application_id = 1684366701;

CREATE TABLE runs (
	n                INTEGER PRIMARY KEY, -- ascends in the order in which runs began
	id               TEXT    NOT NULL UNIQUE,
	key              TEXT    NOT NULL,
	state            TEXT    NOT NULL CHECK (state IN ('open', 'done')),
	created          INTEGER NOT NULL,
	updated          INTEGER NOT NULL,
	asked            INTEGER NOT NULL,    -- ascends in the order in which runs were begun or resumed
	probes           INTEGER NOT NULL,    -- the dataset consists of probes
	judge_name       TEXT    NOT NULL,
	judge_hash       TEXT    NOT NULL,
	judge_identity   TEXT,                -- JSON
	judge_rule       INTEGER NOT NULL,
	model            TEXT    NOT NULL,
	endpoint         TEXT    NOT NULL,
	dataset_names    TEXT,                -- JSON
	dataset_hash     TEXT    NOT NULL,
	dataset_items    INTEGER NOT NULL,
	trials           INTEGER NOT NULL,
	settings         TEXT,                -- JSON
	sum              BLOB,                -- of the columns that do not change when records are appended
	-- Updated in the transaction that appends records.
	records          INTEGER NOT NULL DEFAULT 0,
	unjudged         INTEGER NOT NULL DEFAULT 0,
	cost_micros      INTEGER NOT NULL DEFAULT 0,
	max_micros       INTEGER,                    -- the budget of the last part of the run; NULL if there was none
	factor           INTEGER NOT NULL DEFAULT 0  -- how many times what requests allow is reserved for them
) STRICT;

CREATE INDEX runs_key ON runs (key);

-- Money of runs with a budget that no record shows.
CREATE TABLE money (
	run      INTEGER NOT NULL REFERENCES runs (n),
	holder   TEXT    NOT NULL, -- a process that judges the run; '' for those that are gone
	spent    INTEGER NOT NULL,
	reserved INTEGER NOT NULL, -- for calls in flight and calls to come
	PRIMARY KEY (run, holder)
) STRICT, WITHOUT ROWID;

-- Each long text once, however many items have it. Rows are never changed or removed.
CREATE TABLE texts (
	n    INTEGER PRIMARY KEY,
	hash BLOB NOT NULL UNIQUE, -- SHA-256 of body
	body TEXT NOT NULL
) STRICT;

-- Each item once, however many runs and trials have it.
CREATE TABLE items (
	n    INTEGER PRIMARY KEY,
	hash BLOB NOT NULL UNIQUE, -- SHA-256 of body and of the places and hashes of the texts
	body TEXT NOT NULL         -- canonical JSON, with "" in place of long texts
) STRICT;

-- The long texts of items.
CREATE TABLE item_texts (
	item  INTEGER NOT NULL REFERENCES items (n),
	place TEXT    NOT NULL, -- for example "fields/dialogue"
	text  INTEGER NOT NULL REFERENCES texts (n),
	PRIMARY KEY (item, place)
) STRICT, WITHOUT ROWID;

-- The reply cache: each reply once. Values that differ between the call that was paid for
-- and the calls that found the reply here are stored with the calls.
CREATE TABLE replies (
	n           INTEGER PRIMARY KEY,
	key         TEXT    NOT NULL UNIQUE,
	body        TEXT    NOT NULL, -- JSON
	latency     INTEGER NOT NULL,
	attempts    INTEGER NOT NULL,
	cost_micros INTEGER NOT NULL,
	unpriced    INTEGER NOT NULL,
	sum         BLOB    NOT NULL
) STRICT;

CREATE TABLE records (
	n          INTEGER PRIMARY KEY,
	run        INTEGER NOT NULL REFERENCES runs (n),
	item       INTEGER NOT NULL REFERENCES items (n),
	item_id    TEXT    NOT NULL,
	position   INTEGER NOT NULL,
	trial      INTEGER NOT NULL,
	category   TEXT    NOT NULL,
	cluster    TEXT    NOT NULL,
	weight     REAL    NOT NULL,
	judge      TEXT    NOT NULL,
	label      TEXT,
	score      REAL,
	pass       INTEGER,
	confidence REAL,
	reason     TEXT,
	parts      TEXT, -- JSON: aspects and criteria, or the probability of an undecided item
	kind       TEXT,
	detail     TEXT,
	calls      INTEGER NOT NULL, -- number of calls
	sum        BLOB    NOT NULL, -- followed by the first bytes of the hash of the item
	-- A record has either a verdict or a failure, and a failure has no score.
	CHECK ((label IS NULL) <> (kind IS NULL)),
	CHECK ((label IS NULL) = (score IS NULL))
) STRICT;

CREATE UNIQUE INDEX records_item ON records (run, item_id, trial);
-- Lists are sorted and searched with this index alone.
CREATE INDEX records_position ON records (run, position, trial, n, item, score, confidence);
CREATE INDEX records_unjudged ON records (run, position, trial, kind) WHERE kind IS NOT NULL;

CREATE TABLE calls (
	record       INTEGER NOT NULL REFERENCES records (n),
	seq          INTEGER NOT NULL, -- number in the order of the calls, from 0
	model        TEXT    NOT NULL,
	request      TEXT    NOT NULL, -- hash of the request
	started      INTEGER,
	error        TEXT    NOT NULL,
	tries        INTEGER NOT NULL, -- attempts of a call that failed
	reply        INTEGER REFERENCES replies (n),
	reply_key    TEXT,             -- of a reply that is not in the cache
	reply_inline TEXT,             -- JSON of that reply
	latency      INTEGER,
	attempts     INTEGER,
	cost_micros  INTEGER,
	unpriced     INTEGER,
	cached       INTEGER,
	sum          BLOB    NOT NULL,
	PRIMARY KEY (record, seq)
) STRICT, WITHOUT ROWID;

-- The batches of runs, so that a batch survives the process that submitted it.
CREATE TABLE batches (
	n           INTEGER PRIMARY KEY,
	run         INTEGER NOT NULL REFERENCES runs (n),
	key         TEXT    NOT NULL,
	id          TEXT    NOT NULL, -- the vendor's id, '' while it is planned
	state       TEXT    NOT NULL CHECK (state IN ('planned', 'submitted', 'collected')),
	lines       INTEGER NOT NULL,
	most_micros INTEGER NOT NULL,
	planned     INTEGER,
	UNIQUE (run, key)
) STRICT;

-- One row for each request of a batch. The result stays here until a record has it.
CREATE TABLE batch_lines (
	run         INTEGER NOT NULL REFERENCES runs (n),
	key         TEXT    NOT NULL, -- of the reply in the reply cache
	batch       INTEGER NOT NULL REFERENCES batches (n),
	body        TEXT,             -- JSON, of the reply
	latency     INTEGER,
	attempts    INTEGER,
	cost_micros INTEGER,
	unpriced    INTEGER,
	kind        TEXT,
	detail      TEXT,
	passing     INTEGER NOT NULL,
	taken       INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (run, key),
	CHECK (body IS NULL OR kind IS NULL)
) STRICT, WITHOUT ROWID;

CREATE INDEX batch_lines_batch ON batch_lines (batch);

-- Human labels of items. A label does not belong to a run: every judge of the same item can
-- be compared with it. There are thousands of them at most.
CREATE TABLE labels (
	n         INTEGER PRIMARY KEY,
	item      TEXT    NOT NULL, -- hash of the item's canonical JSON
	item_id   TEXT    NOT NULL,
	dataset   TEXT    NOT NULL, -- hash of the dataset in which it was labelled
	annotator TEXT    NOT NULL,
	yes       INTEGER NOT NULL CHECK (yes IN (0, 1)),
	label     TEXT    NOT NULL,
	score     REAL    NOT NULL CHECK (score BETWEEN 0 AND 1),
	note      TEXT    NOT NULL,
	drawn     TEXT    NOT NULL, -- how a plan drew the item
	labelled  INTEGER,          -- NULL if unknown
	sum       BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX labels_item ON labels (item, annotator);
CREATE INDEX labels_id ON labels (item_id, item, annotator);
CREATE INDEX labels_dataset ON labels (dataset, item_id);
