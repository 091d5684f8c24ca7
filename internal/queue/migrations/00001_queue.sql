-- What workers judge, who they are, and how much they may do at once. The jobs of River
-- are in the same schema: one for each chunk of items.

-- +goose Up

-- One row for each run that was given to workers.
CREATE TABLE queue_runs (
	run         TEXT COLLATE "C" PRIMARY KEY, -- the id of the run
	state       TEXT NOT NULL CHECK (state IN ('queued', 'paused', 'cancelled', 'stopped', 'done')),
	reason      TEXT NOT NULL DEFAULT '',     -- why it was stopped
	priority    SMALLINT NOT NULL,            -- 1 is the highest
	options     TEXT NOT NULL,                -- JSON: what the workers have to know
	concurrency BIGINT,                       -- calls of all workers at once; NULL is any number
	max_micros  BIGINT,                       -- what the run may cost; NULL is any sum
	queued_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
	changed_at  TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX queue_runs_open ON queue_runs (state) WHERE state <> 'done';

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

-- Up to when the requests and the tokens of a model at its address are promised, where a
-- run bounds them.
CREATE TABLE queue_limits (
	key      TEXT COLLATE "C" PRIMARY KEY,
	requests TIMESTAMPTZ NOT NULL,
	tokens   TIMESTAMPTZ NOT NULL
) WITH (fillfactor = 50);
