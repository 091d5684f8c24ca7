-- What is to be judged, by whom, and how much of it at once. The jobs of River are beside
-- these tables, in the same schema.
--
-- Workers of an older deem go on while a newer one migrates, so a migration only adds:
-- tables, indexes, and columns that may be NULL or have a default.

-- +goose Up

-- One row for each run that was given to workers.
CREATE TABLE queue_runs (
	run         TEXT COLLATE "C" PRIMARY KEY, -- the id of the run
	queue       TEXT NOT NULL,                -- of River: runs of one judge share it
	state       TEXT NOT NULL CHECK (state IN ('queued', 'paused', 'cancelled', 'stopped', 'done')),
	reason      TEXT NOT NULL DEFAULT '',     -- why it was stopped
	priority    SMALLINT NOT NULL,            -- 1 is the highest
	options     TEXT NOT NULL,                -- JSON: what the workers have to know
	chunks      BIGINT NOT NULL,              -- how many there were at first
	items       BIGINT NOT NULL,              -- how many are in them
	concurrency BIGINT,                       -- calls of all workers at once; NULL is any number
	max_micros  BIGINT,                       -- what the run may cost; NULL is any sum
	spent_micros BIGINT NOT NULL DEFAULT 0,   -- before, and by workers that are gone
	queued_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
	changed_at  TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX queue_runs_open ON queue_runs (state) WHERE state <> 'done';

-- A chunk is some items of a run. It is the truth about the work: it is there until all
-- of its items have a record, and a job of River is only a ticket for it.
CREATE TABLE queue_chunks (
	run      TEXT COLLATE "C" NOT NULL REFERENCES queue_runs (run),
	n        BIGINT NOT NULL,
	place    BIGINT NOT NULL,           -- in the order in which runs take turns, in work milliseconds
	items    BIGINT NOT NULL,
	body     BYTEA NOT NULL,            -- the items, as lines of JSON, compressed
	worker   TEXT COLLATE "C",          -- who has it
	job      BIGINT,                    -- the ticket by which it was taken
	token    BIGINT NOT NULL DEFAULT 0, -- counts who had it: whoever has an older one lost it
	seq      BIGINT NOT NULL DEFAULT 0, -- counts commits under this token
	taken_at TIMESTAMPTZ,
	PRIMARY KEY (run, n)
) WITH (fillfactor = 70);

-- It is compressed already.
ALTER TABLE queue_chunks ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE INDEX queue_chunks_worker ON queue_chunks (worker) WHERE worker IS NOT NULL;

-- One row for each worker process, which says that it is alive.
CREATE TABLE queue_workers (
	id        TEXT COLLATE "C" PRIMARY KEY,
	version   TEXT NOT NULL,
	state     TEXT NOT NULL,             -- working or draining
	started   TIMESTAMPTZ NOT NULL DEFAULT now(),
	seen      TIMESTAMPTZ NOT NULL DEFAULT now(),
	slots     BIGINT NOT NULL,           -- items that it judges at once at most
	in_flight BIGINT NOT NULL DEFAULT 0, -- items that it judges now
	records   BIGINT NOT NULL DEFAULT 0, -- that it made since it started
	rate      DOUBLE PRECISION NOT NULL DEFAULT 0, -- records a second, lately
	refused   TEXT NOT NULL DEFAULT '{}' -- JSON: runs that it cannot judge, and why
) WITH (fillfactor = 50);

-- How many calls of a run each worker may have in flight, where the run bounds them.
CREATE TABLE queue_shares (
	run    TEXT COLLATE "C" NOT NULL REFERENCES queue_runs (run),
	worker TEXT COLLATE "C" NOT NULL,
	slots  BIGINT NOT NULL,
	wanted BIGINT NOT NULL,
	PRIMARY KEY (run, worker)
);

-- The money of a run that each worker spent, and that it may spend.
CREATE TABLE queue_money (
	run    TEXT COLLATE "C" NOT NULL REFERENCES queue_runs (run),
	worker TEXT COLLATE "C" NOT NULL,
	spent  BIGINT NOT NULL,
	lent   BIGINT NOT NULL,
	PRIMARY KEY (run, worker)
);

-- When the next call of a model may begin, whoever makes it. A model is one at its address.
CREATE TABLE queue_limits (
	key    TEXT COLLATE "C" PRIMARY KEY,
	state  TEXT NOT NULL DEFAULT '{}', -- JSON
	updated TIMESTAMPTZ NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- +goose Down
DROP TABLE queue_limits;
DROP TABLE queue_money;
DROP TABLE queue_shares;
DROP TABLE queue_workers;
DROP TABLE queue_chunks;
DROP TABLE queue_runs;
