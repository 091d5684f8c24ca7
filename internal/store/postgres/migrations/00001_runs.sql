-- Runs and their data.
--
-- Times are nanoseconds since 1970 in UTC, and money is millionths of a US dollar. Columns
-- with JSON are marked; it is stored as text, because hashes cover its exact bytes.
-- Postgres cannot store the character NUL in text: in columns that are not JSON it is
-- written as \x01\x01, and \x01 as \x01\x02. Texts are compared by bytes, as in Go.
--
-- A sum is the seal of a row: a hash of the columns that numbers depend on. Items and texts
-- need none, because their key is the hash of their content.
--
-- Records and calls refer to rows of other tables without a foreign key. Those rows are
-- never removed, and are inserted earlier in the same commit. Foreign keys took a third of
-- the time of an append.
--
-- Workers of an older deem continue while a newer one migrates, so a migration only adds
-- tables, indexes, and columns that may be NULL or have a default.

-- +goose Up

CREATE SEQUENCE runs_asked;

CREATE TABLE runs (
	n              BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- ascends in the order in which runs began
	id             TEXT COLLATE "C" NOT NULL UNIQUE,
	key            TEXT COLLATE "C" NOT NULL,
	state          TEXT    NOT NULL CHECK (state IN ('open', 'done')),
	max_micros     BIGINT,                    -- the budget of the last part of the run; NULL if there was none
	factor         BIGINT  NOT NULL DEFAULT 0, -- how many times what requests allow is reserved for them
	created        BIGINT  NOT NULL,
	updated        BIGINT  NOT NULL, -- when the run began or was done; counts has the times of appends
	-- Ascends in the order in which runs were begun or resumed.
	asked          BIGINT  NOT NULL DEFAULT nextval('runs_asked'),
	probes         BOOLEAN NOT NULL, -- the dataset consists of probes
	judge_name     TEXT    NOT NULL,
	judge_hash     TEXT    NOT NULL,
	judge_identity TEXT,             -- JSON
	judge_rule     BOOLEAN NOT NULL,
	model          TEXT    NOT NULL,
	endpoint       TEXT    NOT NULL,
	dataset_names  TEXT,             -- JSON
	dataset_hash   TEXT    NOT NULL,
	dataset_items  BIGINT  NOT NULL,
	trials         BIGINT  NOT NULL,
	settings       TEXT,             -- JSON
	sum            BYTEA             -- NULL until the end of the transaction that adds the run
);

-- Money of runs with a budget that no record shows. It is reserved before calls are made, so
-- that it is known if the process is killed.
CREATE TABLE money (
	run      BIGINT NOT NULL REFERENCES runs (n),
	holder   TEXT COLLATE "C" NOT NULL, -- a process that judges the run; '' for those that are gone
	spent    BIGINT NOT NULL,
	reserved BIGINT NOT NULL, -- for calls in flight and calls to come
	PRIMARY KEY (run, holder)
) WITH (fillfactor = 50);

CREATE INDEX runs_key ON runs (key);

-- Totals of the appended records. Workers that all updated one row would wait for each
-- other, so each run has several rows, which are added up.
CREATE TABLE counts (
	run         BIGINT   NOT NULL REFERENCES runs (n),
	slot        SMALLINT NOT NULL, -- chosen by the connection
	records     BIGINT   NOT NULL,
	unjudged    BIGINT   NOT NULL,
	cost_micros BIGINT   NOT NULL,
	updated     BIGINT   NOT NULL,
	PRIMARY KEY (run, slot)
) WITH (fillfactor = 20); -- Every commit updates a row, and needs free space in its page.

-- Commits whose acknowledgement may be lost. A process that does not know whether its
-- commit happened repeats it with the same id, which fails if it happened. Rows older than a
-- day are removed.
CREATE TABLE commits (
	id BYTEA  NOT NULL,
	at BIGINT NOT NULL,
	CONSTRAINT commits_once PRIMARY KEY (id)
);

-- Each long text once, however many items have it. Rows are never changed or removed.
CREATE TABLE texts (
	hash BYTEA PRIMARY KEY, -- SHA-256 of body
	body BYTEA NOT NULL     -- UTF-8, may contain NUL
);

-- Each item once, however many runs and trials have it.
CREATE TABLE items (
	hash  BYTEA PRIMARY KEY, -- SHA-256 of body and of the hashes of the texts
	body  TEXT NOT NULL,     -- canonical JSON, with "" in place of long texts
	texts TEXT               -- JSON: texts by place, for example {"fields/dialogue":["hash in hexadecimal",6000]}
);

-- The reply cache: each reply once. Values that differ between the call that was paid for
-- and the calls that found the reply here are stored with the calls.
CREATE TABLE replies (
	n           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key         TEXT COLLATE "C" NOT NULL UNIQUE,
	body        TEXT    NOT NULL, -- JSON
	latency     BIGINT  NOT NULL,
	attempts    BIGINT  NOT NULL,
	cost_micros BIGINT  NOT NULL,
	unpriced    BOOLEAN NOT NULL,
	sum         BYTEA   NOT NULL
);

-- The records of one append have consecutive numbers from block * 2^20, in the given order,
-- although they are written in the order of their keys.
CREATE SEQUENCE record_blocks;

CREATE TABLE records (
	n          BIGINT PRIMARY KEY,
	run        BIGINT NOT NULL,
	item       BYTEA  NOT NULL, -- hash of the item
	item_id    TEXT COLLATE "C" NOT NULL,
	item_key   BYTEA  NOT NULL, -- the first half of the SHA-256 of run and item_id
	position   BIGINT NOT NULL,
	trial      BIGINT NOT NULL,
	category   TEXT COLLATE "C" NOT NULL,
	cluster    TEXT   NOT NULL,
	weight     DOUBLE PRECISION NOT NULL,
	judge      TEXT   NOT NULL,
	label      TEXT COLLATE "C",
	score      DOUBLE PRECISION,
	pass       BOOLEAN,
	yes        BOOLEAN GENERATED ALWAYS AS (CASE WHEN label IS NOT NULL THEN coalesce(pass, score >= 0.5) END) STORED,
	confidence DOUBLE PRECISION,
	reason     TEXT,
	parts      TEXT, -- JSON: aspects and criteria, or the probability of an undecided item
	kind       TEXT COLLATE "C",
	detail     TEXT,
	calls      BIGINT NOT NULL,            -- number of calls
	version    BIGINT NOT NULL DEFAULT 1,  -- how many times the record was appended
	was_failed BOOLEAN NOT NULL DEFAULT false, -- whether the record that it replaced was a failure
	sum        BYTEA  NOT NULL,
	-- A record has either a verdict or a failure, and a failure has no score.
	CONSTRAINT verdict_or_failure CHECK ((label IS NULL) <> (kind IS NULL)),
	CONSTRAINT score_of_verdict CHECK ((label IS NULL) = (score IS NULL))
);

-- Records are looked up by item_key, and no other index can serve that query: Postgres has
-- no statistics of a run that just began, and might otherwise scan all of it. Ids, labels
-- and categories may be longer than an index entry.
CREATE UNIQUE INDEX records_item ON records (item_key, trial);
CREATE INDEX records_position ON records (run, position, trial, n);
CREATE INDEX records_label ON records (run, left(label, 100), position, trial, n) WHERE label IS NOT NULL;
CREATE INDEX records_category ON records (run, left(category, 100), position, trial, n);
CREATE INDEX records_unjudged ON records (run, position, trial, n) WHERE kind IS NOT NULL;
CREATE INDEX records_score ON records (run, score, position, trial, n);
CREATE INDEX records_confidence ON records (run, confidence, position, trial, n) WHERE confidence IS NOT NULL;

CREATE TABLE calls (
	record       BIGINT NOT NULL,
	seq          BIGINT NOT NULL, -- number in the order of the calls, from 0
	model        TEXT   NOT NULL,
	request      TEXT   NOT NULL, -- hash of the request
	started      BIGINT,
	error        TEXT   NOT NULL,
	tries        BIGINT NOT NULL, -- attempts of a call that failed
	reply        BIGINT,          -- number of a reply in the cache
	reply_key    TEXT,            -- of a reply that is not in the cache
	reply_inline TEXT,            -- JSON of that reply
	latency      BIGINT,
	attempts     BIGINT,
	cost_micros  BIGINT,
	unpriced     BOOLEAN,
	cached       BOOLEAN,
	sum          BYTEA  NOT NULL, -- of the call with its reply, and of its record
	PRIMARY KEY (record, seq)
);

-- The batches of runs, so that a batch survives the process that submitted it.
CREATE TABLE batches (
	n           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	run         BIGINT NOT NULL REFERENCES runs (n),
	key         TEXT COLLATE "C" NOT NULL,
	id          TEXT   NOT NULL, -- the vendor's id, '' while it is planned
	state       TEXT   NOT NULL CHECK (state IN ('planned', 'submitted', 'collected')),
	lines       BIGINT NOT NULL,
	most_micros BIGINT NOT NULL,
	planned     BIGINT,
	UNIQUE (run, key)
);

-- One row for each request of a batch. The result stays here until a record has it.
CREATE TABLE batch_lines (
	run         BIGINT NOT NULL REFERENCES runs (n),
	key         TEXT COLLATE "C" NOT NULL, -- of the reply in the reply cache
	batch       BIGINT NOT NULL REFERENCES batches (n),
	body        TEXT,             -- JSON, of the reply
	latency     BIGINT,
	attempts    BIGINT,
	cost_micros BIGINT,
	unpriced    BOOLEAN,
	kind        TEXT,
	detail      TEXT,
	passing     BOOLEAN NOT NULL,
	taken       BOOLEAN NOT NULL DEFAULT false,
	PRIMARY KEY (run, key),
	CHECK (body IS NULL OR kind IS NULL)
);

CREATE INDEX batch_lines_batch ON batch_lines (batch);

-- Human labels of items. A label does not belong to a run: every judge of the same item can
-- be compared with it. There are thousands of them at most.
CREATE TABLE labels (
	item      TEXT COLLATE "C" NOT NULL, -- hash of the item's canonical JSON
	item_id   TEXT COLLATE "C" NOT NULL,
	dataset   TEXT COLLATE "C" NOT NULL, -- hash of the dataset in which it was labelled
	annotator TEXT COLLATE "C" NOT NULL,
	yes       BOOLEAN NOT NULL,
	label     TEXT    NOT NULL,
	score     DOUBLE PRECISION NOT NULL CHECK (score BETWEEN 0 AND 1),
	note      TEXT    NOT NULL,
	drawn     TEXT    NOT NULL, -- how a plan drew the item
	labelled  BIGINT,           -- NULL if unknown
	sum       BYTEA   NOT NULL,
	PRIMARY KEY (item, annotator)
);
