-- Runs, and everything that is kept of them.
--
-- Times are nanoseconds since 1970 in UTC, money is millionths of a US dollar, and what
-- is JSON says so. It is kept as text, because hashes are taken of it to the byte.
-- A text cannot hold the character NUL here: in columns that are no JSON it is written
-- as \x01\x01, and \x01 as \x01\x02. Texts compare by their bytes, as in Go.
--
-- A sum is the seal of a row: a hash of the columns that numbers depend on.
-- Items and texts need none, since they are kept under the hash of what they say.
--
-- Records and calls name rows of other tables that are never removed, and that are there
-- before them in the same commit. To have Postgres look for them too took a third of the
-- time of an append.
--
-- Workers of an older deem go on while a newer one migrates, so a migration only adds:
-- tables, indexes, and columns that may be NULL or have a default.

-- +goose Up

CREATE SEQUENCE runs_asked;

CREATE TABLE runs (
	n              BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- ascends in the order in which runs were begun
	id             TEXT COLLATE "C" NOT NULL UNIQUE,
	key            TEXT COLLATE "C" NOT NULL,
	state          TEXT    NOT NULL CHECK (state IN ('open', 'done')),
	-- Set aside for calls of which no record says what they cost.
	unsettled_micros BIGINT NOT NULL DEFAULT 0,
	-- While somebody holds money of the run: what counted as spent when the first holder
	-- came, and what holders that left had spent since. NULL when nobody does.
	charged_micros   BIGINT,
	created        BIGINT  NOT NULL,
	updated        BIGINT  NOT NULL, -- began or became done; what was appended later is in counts
	-- Ascends in the order in which runs were begun for the first time or again.
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

-- The money that is set aside for calls before they are made, so that a process that is
-- killed cannot forget it.
CREATE TABLE holdings (
	run    BIGINT NOT NULL REFERENCES runs (n),
	holder TEXT COLLATE "C" NOT NULL, -- a worker, or '' for the process that has the claim on the run
	spent  BIGINT NOT NULL,
	lent   BIGINT NOT NULL,
	PRIMARY KEY (run, holder)
) WITH (fillfactor = 50);

CREATE INDEX runs_key ON runs (key);

-- What was appended to a run. A fleet of workers that all changed one row would wait
-- for each other, so there are several of them, and a run has their sum.
CREATE TABLE counts (
	run         BIGINT   NOT NULL REFERENCES runs (n),
	slot        SMALLINT NOT NULL, -- chosen by the connection
	records     BIGINT   NOT NULL,
	unjudged    BIGINT   NOT NULL,
	cost_micros BIGINT   NOT NULL,
	updated     BIGINT   NOT NULL,
	PRIMARY KEY (run, slot)
) WITH (fillfactor = 20); -- Every commit changes a row, and finds room beside it.

-- Commits whose acknowledgement may be lost: whoever does not know whether a commit
-- happened makes it again under the same id, which is refused if it did. Rows of
-- yesterday are removed.
CREATE TABLE commits (
	id BYTEA  NOT NULL,
	at BIGINT NOT NULL,
	CONSTRAINT commits_once PRIMARY KEY (id)
);

-- Each long text once, however many items say it. Rows are never changed or removed.
CREATE TABLE texts (
	hash BYTEA PRIMARY KEY, -- SHA-256 of body
	body BYTEA NOT NULL     -- UTF-8, which may hold NUL
);

-- Each item once, however many runs and trials share it.
CREATE TABLE items (
	hash  BYTEA PRIMARY KEY, -- SHA-256 of body and of the hashes of the texts
	body  TEXT NOT NULL,     -- canonical JSON, with "" in place of long texts
	texts TEXT               -- JSON: which texts go where, as {"fields/dialogue":["hash in hexadecimal",6000]}
);

-- Each reply once: the reply cache. What differs between the call that was paid for and
-- those that found the reply here is kept with the calls.
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

-- The records of one append are numbered together, from block * 2^20 on, in the order in
-- which they were given, though they are written in the order of their keys.
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
	calls      BIGINT NOT NULL,            -- how many there are
	version    BIGINT NOT NULL DEFAULT 1,  -- how often the record was appended
	was_failed BOOLEAN NOT NULL DEFAULT false, -- whether the record it took the place of was a failure
	sum        BYTEA  NOT NULL,
	-- The law: a record holds a verdict or a failure, and a failure has no score.
	CONSTRAINT verdict_or_failure CHECK ((label IS NULL) <> (kind IS NULL)),
	CONSTRAINT score_of_verdict CHECK ((label IS NULL) = (score IS NULL))
);

-- A record is found by item_key and no other index has a part in that. Postgres knows
-- nothing of a run that was just begun, and would as soon read through all of it; and an
-- id may be longer than an index can hold, as a label or a category may.
CREATE UNIQUE INDEX records_item ON records (item_key, trial);
CREATE INDEX records_position ON records (run, position, trial, n);
CREATE INDEX records_label ON records (run, left(label, 100), position, trial, n) WHERE label IS NOT NULL;
CREATE INDEX records_category ON records (run, left(category, 100), position, trial, n);
CREATE INDEX records_unjudged ON records (run, position, trial, n) WHERE kind IS NOT NULL;
CREATE INDEX records_score ON records (run, score, position, trial, n);
CREATE INDEX records_confidence ON records (run, confidence, position, trial, n) WHERE confidence IS NOT NULL;

CREATE TABLE calls (
	record       BIGINT NOT NULL,
	seq          BIGINT NOT NULL, -- in the order in which they were made, from 0
	model        TEXT   NOT NULL,
	request      TEXT   NOT NULL, -- hash of the request
	started      BIGINT,
	error        TEXT   NOT NULL,
	tries        BIGINT NOT NULL, -- attempts of a call that failed
	reply        BIGINT,          -- number of a reply in the cache
	reply_key    TEXT,            -- of a reply that is not in the cache
	reply_inline TEXT,            -- JSON, of the same
	latency      BIGINT,
	attempts     BIGINT,
	cost_micros  BIGINT,
	unpriced     BOOLEAN,
	cached       BOOLEAN,
	sum          BYTEA  NOT NULL, -- of the call with its reply, and of the record it belongs to
	PRIMARY KEY (record, seq)
);

-- The batches of runs, so that a batch survives the process that submitted it.
CREATE TABLE batches (
	n           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	run         BIGINT NOT NULL REFERENCES runs (n),
	key         TEXT COLLATE "C" NOT NULL,
	id          TEXT   NOT NULL, -- the vendor's, '' while it is planned
	state       TEXT   NOT NULL CHECK (state IN ('planned', 'submitted', 'collected')),
	lines       BIGINT NOT NULL,
	most_micros BIGINT NOT NULL,
	planned     BIGINT,
	UNIQUE (run, key)
);

-- One row for each request of a batch. What came of it waits here until a record has it.
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

-- What people said of items. A label belongs to no run: every judge that looks at the
-- same item can be set beside it. There are thousands of them at most.
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
	labelled  BIGINT,           -- NULL when nobody knows
	sum       BYTEA   NOT NULL,
	PRIMARY KEY (item, annotator)
);

-- The index of words, made of the records when somebody looks through them. A row whose
-- version is not that of its record is out of date.
CREATE TABLE words (
	record  BIGINT PRIMARY KEY REFERENCES records (n),
	version BIGINT NOT NULL,
	said    TEXT COLLATE "C" NOT NULL, -- the words in order, with a space around each
	found   TSVECTOR                   -- the same, each once; NULL when there are too many
);

CREATE INDEX words_found ON words USING GIN (found);
CREATE INDEX words_many ON words (record) WHERE found IS NULL;
