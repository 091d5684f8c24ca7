-- Keeps the money that is set aside for calls before they are made, so that a process
-- that is killed cannot forget it.

-- +goose Up

-- What was set aside for calls of which no record says what they cost.
ALTER TABLE runs ADD COLUMN unsettled_micros INTEGER NOT NULL DEFAULT 0;

-- While somebody holds money of the run: what counted as spent when the first holder
-- came, and what holders that left had spent since. NULL when nobody does.
ALTER TABLE runs ADD COLUMN charged_micros INTEGER;

CREATE TABLE holdings (
	run    INTEGER NOT NULL REFERENCES runs (n),
	holder TEXT    NOT NULL, -- '' is the process that has the claim on the run
	spent  INTEGER NOT NULL,
	lent   INTEGER NOT NULL,
	PRIMARY KEY (run, holder)
) STRICT, WITHOUT ROWID;
