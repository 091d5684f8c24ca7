-- Keeps the calls of a record within it.
--
-- Nobody asks for calls but by their record, all of them and in order. A table of their
-- own was a second row of fifteen columns for nearly every record, and cost as much to
-- write as the record itself.
--
-- There is no way back but a copy of the database, as for all that a newer deem writes.

-- +goose Up
CREATE TABLE records_5 (
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
	calls      TEXT, -- JSON, in the order in which they were made; "reply" is the number of a row of replies
	-- The law: a record holds a verdict or a failure, and a failure has no score.
	CHECK ((label IS NULL) <> (kind IS NULL)),
	CHECK ((label IS NULL) = (score IS NULL)),
	-- An older deem that is still running would write here how many calls there are.
	CHECK (calls IS NULL OR substr(calls, 1, 1) = '[')
) STRICT;

INSERT INTO records_5 SELECT n, run, item, item_id, position, trial, category, cluster, weight, judge,
	label, score, pass, confidence, reason, aspects, kind, detail,
	(SELECT '[' || group_concat(
		'{"model":' || json_quote(c.model) || ',"request":' || json_quote(c.request)
		|| iif(c.started IS NULL, '', ',"started":' || c.started)
		|| iif(c.error = '', '', ',"error":' || json_quote(c.error))
		|| iif(c.tries = 0, '', ',"tries":' || c.tries)
		|| iif(c.reply IS NULL, '', ',"reply":' || c.reply)
		|| iif(c.reply_key IS NULL, '', ',"key":' || json_quote(c.reply_key))
		|| iif(c.reply_inline IS NULL, '', ',"body":' || c.reply_inline)
		|| iif(coalesce(c.latency, 0) = 0, '', ',"latency":' || c.latency)
		|| iif(coalesce(c.attempts, 0) = 0, '', ',"attempts":' || c.attempts)
		|| iif(coalesce(c.cost_micros, 0) = 0, '', ',"cost_micros":' || c.cost_micros)
		|| iif(coalesce(c.unpriced, 0) = 0, '', ',"unpriced":true')
		|| iif(coalesce(c.cached, 0) = 0, '', ',"cached":true')
		|| '}', ',' ORDER BY c.seq) || ']'
	FROM calls c WHERE c.record = r.n)
FROM records r ORDER BY n;

DROP TABLE calls;
DROP TABLE records;
ALTER TABLE records_5 RENAME TO records;

CREATE UNIQUE INDEX records_item ON records (run, item_id, trial);
CREATE INDEX records_position ON records (run, position, trial);
CREATE INDEX records_unjudged ON records (run, position, trial, kind) WHERE kind IS NOT NULL;
