-- Moves the money of runs to the runs themselves, where every process that judges a run
-- sets it aside. This migration takes a table away although others only add: workers of
-- an older deem must not lend the money of a run a second time. They refuse runs that have
-- a budget, until they are replaced.

-- +goose Up
UPDATE runs r SET unsettled_micros = greatest(r.unsettled_micros, q.spent_micros
	+ (SELECT coalesce(sum(m.spent + m.lent), 0)::bigint FROM queue_money m WHERE m.run = q.run)
	- (SELECT coalesce(sum(k.cost_micros), 0)::bigint FROM counts k WHERE k.run = r.n))
	FROM queue_runs q WHERE q.run = r.id;

DROP TABLE queue_money;
ALTER TABLE queue_runs DROP COLUMN spent_micros;
