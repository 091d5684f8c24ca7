-- The batches of runs, so that a batch survives the process that submitted it.

-- +goose Up

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

-- One row for each request of a batch. What came of it waits here until a record
-- has it.
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
