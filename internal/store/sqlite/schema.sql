-- What the migrations add up to. TestSchema holds it to that and writes it.

PRAGMA application_id = 1684366701;

CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);

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
, sum BLOB, unsettled_micros INTEGER NOT NULL DEFAULT 0, charged_micros INTEGER) STRICT;

CREATE INDEX runs_key ON runs (key);

CREATE TABLE batches (
	n           INTEGER PRIMARY KEY,
	run         INTEGER NOT NULL REFERENCES runs (n),
	key         TEXT    NOT NULL,
	id          TEXT    NOT NULL, -- the vendor's, '' while it is planned
	state       TEXT    NOT NULL CHECK (state IN ('planned', 'submitted', 'collected')),
	lines       INTEGER NOT NULL,
	most_micros INTEGER NOT NULL,
	planned     INTEGER,
	UNIQUE (run, key)
) STRICT;

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
	labelled  INTEGER           -- nanoseconds since 1970, NULL when nobody knows
, sum BLOB) STRICT;

CREATE UNIQUE INDEX labels_item ON labels (item, annotator);

CREATE INDEX labels_id ON labels (item_id, item, annotator);

CREATE INDEX labels_dataset ON labels (dataset, item_id);

CREATE TABLE indexed (
	texts   INTEGER NOT NULL,
	items   INTEGER NOT NULL,
	replies INTEGER NOT NULL
) STRICT;

CREATE TABLE text_keys (short BLOB NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (short, n)) STRICT, WITHOUT ROWID;

CREATE TABLE item_keys (short BLOB NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (short, n)) STRICT, WITHOUT ROWID;

CREATE TABLE reply_keys (short TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (short, n)) STRICT, WITHOUT ROWID;

CREATE TABLE "texts" (
	n    INTEGER PRIMARY KEY,
	hash BLOB NOT NULL, -- SHA-256 of body
	body TEXT NOT NULL
) STRICT;

CREATE TABLE "items" (
	n     INTEGER PRIMARY KEY,
	hash  BLOB NOT NULL, -- SHA-256 of body and of the hashes of the texts
	body  TEXT NOT NULL, -- canonical JSON, with "" in place of long texts
	texts TEXT           -- JSON: which texts go where, as {"fields/dialogue":12}
) STRICT;

CREATE TABLE "replies" (
	n           INTEGER PRIMARY KEY,
	key         TEXT    NOT NULL,
	body        TEXT    NOT NULL, -- JSON
	latency     INTEGER NOT NULL,
	attempts    INTEGER NOT NULL,
	cost_micros INTEGER NOT NULL,
	unpriced    INTEGER NOT NULL
, sum BLOB) STRICT;

CREATE TABLE "records" (
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
	calls      TEXT, sum BLOB, -- JSON, in the order in which they were made; "reply" is the number of a row of replies
	-- The law: a record holds a verdict or a failure, and a failure has no score.
	CHECK ((label IS NULL) <> (kind IS NULL)),
	CHECK ((label IS NULL) = (score IS NULL)),
	-- An older deem that is still running would write here how many calls there are.
	CHECK (calls IS NULL OR substr(calls, 1, 1) = '[')
) STRICT;

CREATE UNIQUE INDEX records_item ON records (run, item_id, trial);

CREATE INDEX records_position ON records (run, position, trial);

CREATE INDEX records_unjudged ON records (run, position, trial, kind) WHERE kind IS NOT NULL;

CREATE TABLE holdings (
	run    INTEGER NOT NULL REFERENCES runs (n),
	holder TEXT    NOT NULL, -- '' is the process that has the claim on the run
	spent  INTEGER NOT NULL,
	lent   INTEGER NOT NULL,
	PRIMARY KEY (run, holder)
) STRICT, WITHOUT ROWID;

INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1);

INSERT INTO goose_db_version (version_id, is_applied) VALUES (1, 1);

INSERT INTO goose_db_version (version_id, is_applied) VALUES (2, 1);

INSERT INTO goose_db_version (version_id, is_applied) VALUES (3, 1);

INSERT INTO goose_db_version (version_id, is_applied) VALUES (4, 1);

INSERT INTO goose_db_version (version_id, is_applied) VALUES (5, 1);

INSERT INTO goose_db_version (version_id, is_applied) VALUES (6, 1);

INSERT INTO goose_db_version (version_id, is_applied) VALUES (7, 1);

INSERT INTO indexed (texts, items, replies) VALUES (0, 0, 0);
