-- Runs, and everything that is kept of them.
--
-- Times are nanoseconds since 1970 in UTC, money is millionths of a US dollar,
-- and what is JSON says so. The integer key n of each table is what other tables
-- refer to: it is short, and rows that arrive together lie together.

-- +goose Up

-- "deem" in ASCII. It tells our files from those of other programs.
PRAGMA application_id = 1684366701;

CREATE TABLE runs (
	n              INTEGER PRIMARY KEY, -- ascends in the order in which runs were begun
	id             TEXT    NOT NULL UNIQUE,
	key            TEXT    NOT NULL,
	state          TEXT    NOT NULL CHECK (state IN ('open', 'done')),
	created        INTEGER NOT NULL,
	updated        INTEGER NOT NULL,
	judge_name     TEXT    NOT NULL,
	judge_hash     TEXT    NOT NULL,
	judge_identity TEXT,                -- JSON
	judge_rule     INTEGER NOT NULL,
	model          TEXT    NOT NULL,
	endpoint       TEXT    NOT NULL,
	dataset_names  TEXT,                -- JSON
	dataset_hash   TEXT    NOT NULL,
	dataset_items  INTEGER NOT NULL,
	trials         INTEGER NOT NULL,
	settings       TEXT,                -- JSON
	-- Counted as records are appended, in the same transaction.
	records        INTEGER NOT NULL DEFAULT 0,
	unjudged       INTEGER NOT NULL DEFAULT 0,
	cost_micros    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX runs_key ON runs (key);

-- Each long text once, however many items say it. Rows are never changed or
-- removed.
CREATE TABLE texts (
	n    INTEGER PRIMARY KEY,
	hash BLOB NOT NULL UNIQUE, -- SHA-256 of body
	body TEXT NOT NULL
) STRICT;

-- Each item once, however many runs and trials share it.
CREATE TABLE items (
	n     INTEGER PRIMARY KEY,
	hash  BLOB NOT NULL UNIQUE, -- SHA-256 of body and of the hashes of the texts
	body  TEXT NOT NULL,        -- canonical JSON, with "" in place of long texts
	texts TEXT                  -- JSON: which texts go where, as {"fields/dialogue":12}
) STRICT;

-- Each reply once: the reply cache. What differs between the call that was paid
-- for and those that found the reply here is kept with the calls.
CREATE TABLE replies (
	n           INTEGER PRIMARY KEY,
	key         TEXT    NOT NULL UNIQUE,
	body        TEXT    NOT NULL, -- JSON
	latency     INTEGER NOT NULL,
	attempts    INTEGER NOT NULL,
	cost_micros INTEGER NOT NULL,
	unpriced    INTEGER NOT NULL
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
	aspects    TEXT, -- JSON
	kind       TEXT,
	detail     TEXT,
	calls      INTEGER NOT NULL, -- how many there are
	-- The law: a record holds a verdict or a failure, and a failure has no score.
	CHECK ((label IS NULL) <> (kind IS NULL)),
	CHECK ((label IS NULL) = (score IS NULL))
) STRICT;

CREATE UNIQUE INDEX records_item ON records (run, item_id, trial);
CREATE INDEX records_position ON records (run, position, trial);
CREATE INDEX records_label ON records (run, label, position, trial) WHERE label IS NOT NULL;
CREATE INDEX records_category ON records (run, category, position, trial);
CREATE INDEX records_unjudged ON records (run, position, trial, kind) WHERE kind IS NOT NULL;

CREATE TABLE calls (
	record       INTEGER NOT NULL REFERENCES records (n),
	seq          INTEGER NOT NULL, -- in the order in which they were made, from 0
	model        TEXT    NOT NULL,
	request      TEXT    NOT NULL, -- hash of the request
	started      INTEGER,
	error        TEXT    NOT NULL,
	tries        INTEGER NOT NULL, -- attempts of a call that failed
	reply        INTEGER REFERENCES replies (n),
	reply_key    TEXT,             -- of a reply that is not in the cache
	reply_inline TEXT,             -- JSON, of the same
	latency      INTEGER,
	attempts     INTEGER,
	cost_micros  INTEGER,
	unpriced     INTEGER,
	cached       INTEGER,
	PRIMARY KEY (record, seq)
) STRICT, WITHOUT ROWID;
