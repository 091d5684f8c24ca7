-- Keeps the money that is set aside for calls before they are made, so that a process
-- that is killed cannot forget it.

-- +goose Up

-- What was set aside for calls of which no record says what they cost.
ALTER TABLE runs ADD COLUMN unsettled_micros BIGINT NOT NULL DEFAULT 0;

-- While somebody holds money of the run: what counted as spent when the first holder
-- came, and what holders that left had spent since. NULL when nobody does.
ALTER TABLE runs ADD COLUMN charged_micros BIGINT;

CREATE TABLE holdings (
	run    BIGINT NOT NULL REFERENCES runs (n),
	holder TEXT COLLATE "C" NOT NULL, -- a worker, or '' for the process that has the claim on the run
	spent  BIGINT NOT NULL,
	lent   BIGINT NOT NULL,
	PRIMARY KEY (run, holder)
) WITH (fillfactor = 50);
