-- The runs that workers judge, the workers, and their limits. River's jobs, one for each
-- chunk of items, are in the same schema.

-- +goose Up

-- One row for each run that was given to workers.
CREATE TABLE queue_runs (
	run         TEXT COLLATE "C" PRIMARY KEY, -- the id of the run
	state       TEXT NOT NULL CHECK (state IN ('queued', 'paused', 'cancelled', 'stopped', 'done')),
	reason      TEXT NOT NULL DEFAULT '',     -- why it was stopped
	priority    SMALLINT NOT NULL,            -- 1 is the highest
	options     TEXT NOT NULL,                -- JSON: see Options
	concurrency BIGINT,                       -- concurrent calls of all workers; NULL means no limit
	max_micros  BIGINT,                       -- budget of the run; NULL means no limit
	queued_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
	changed_at  TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX queue_runs_open ON queue_runs (state) WHERE state <> 'done';

-- One row for each worker process, with its heartbeat.
CREATE TABLE queue_workers (
	id        TEXT COLLATE "C" PRIMARY KEY,
	version   TEXT NOT NULL,
	state     TEXT NOT NULL,             -- working or draining
	started   TIMESTAMPTZ NOT NULL DEFAULT now(),
	seen      TIMESTAMPTZ NOT NULL DEFAULT now(),
	slots     BIGINT NOT NULL,           -- maximum number of items judged at once
	in_flight BIGINT NOT NULL DEFAULT 0, -- items being judged
	records   BIGINT NOT NULL DEFAULT 0, -- made since it started
	rate      DOUBLE PRECISION NOT NULL DEFAULT 0, -- recent records per second
	refused   TEXT NOT NULL DEFAULT '{}' -- JSON: runs that it cannot judge, with the reason
) WITH (fillfactor = 50);

-- How many calls of a run each worker may have in flight, if the run limits them.
CREATE TABLE queue_shares (
	run    TEXT COLLATE "C" NOT NULL REFERENCES queue_runs (run),
	worker TEXT COLLATE "C" NOT NULL,
	slots  BIGINT NOT NULL,
	wanted BIGINT NOT NULL,
	PRIMARY KEY (run, worker)
);

-- The time up to which requests and tokens of a model at its address are promised, if a run
-- limits them.
CREATE TABLE queue_limits (
	key      TEXT COLLATE "C" PRIMARY KEY,
	requests TIMESTAMPTZ NOT NULL,
	tokens   TIMESTAMPTZ NOT NULL
) WITH (fillfactor = 50);

-- Workers take a job once its time has come by the clock of the database, but River writes
-- the time by the clock of the client. If that is ahead, or the database's is set back, the
-- job would wait as long as the clocks disagree. So a new job is always due, and one that
-- is given back, which River delays by a second at most, is due within a second.
-- +goose StatementBegin
CREATE FUNCTION queue_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.scheduled_at := CASE TG_OP WHEN 'INSERT' THEN 'epoch' ELSE least(NEW.scheduled_at, now() + interval '1 second') END;
	RETURN NEW;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER queue_due BEFORE INSERT OR UPDATE OF scheduled_at ON river_job
	FOR EACH ROW WHEN (NEW.state = 'available') EXECUTE FUNCTION queue_due();
