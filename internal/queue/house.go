package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// Housekeeping is a job that River's leader inserts every so often, so that one worker
// does it: runs that are done are finished, and chunks without a ticket get one.
type housekeeping struct{}

// Kind implements [river.JobArgs].
func (housekeeping) Kind() string { return "deem_housekeeping" }

// InsertOpts implements [river.JobArgsWithInsertOpts]. One that nobody did yet is enough.
func (housekeeping) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: houseQueue, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByQueue: true}}
}

const (
	houseQueue = "deem_housekeeping"
	houseEvery = 15 * time.Second

	// oldLimits is how long the pace of a model is remembered that nobody asks.
	oldLimits = 24 * time.Hour
)

type houseWorker struct {
	river.WorkerDefaults[housekeeping]
	w *Worker
}

// Work keeps house.
func (hw *houseWorker) Work(ctx context.Context, _ *river.Job[housekeeping]) error {
	return hw.w.c.keepHouse(ctx, hw.w.client)
}

// keepHouse mends what a worker that died in the wrong moment left.
func (c *Control) keepHouse(ctx context.Context, client *river.Client[pgx.Tx]) error {
	rows, err := c.pool.Query(ctx, `SELECT run FROM queue_runs WHERE state <> 'done'`)
	if err != nil {
		return err
	}
	runs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := c.finishIfDone(ctx, run); err != nil {
			return err
		}
		if err := c.mend(ctx, client, run); err != nil {
			return err
		}
	}
	_, err = c.pool.Exec(ctx, `DELETE FROM queue_limits WHERE updated < now() - $1::interval`, oldLimits)
	return err
}

// finishIfDone marks a run as done when no chunk of it is left. Workers that end the last
// two chunks at the same moment do not see each other's; whoever asks afterwards does.
func (c *Control) finishIfDone(ctx context.Context, run string) error {
	var left bool
	var state State
	err := c.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM queue_chunks WHERE run = $1), (SELECT state FROM queue_runs WHERE run = $1)`, run).Scan(&left, &state)
	if err != nil || left || state == Done {
		return err
	}
	if err := c.st.Finish(ctx, run); err != nil {
		return err
	}
	_, err = c.pool.Exec(ctx, `UPDATE queue_runs SET state = 'done', changed_at = now() WHERE run = $1
		AND NOT EXISTS (SELECT FROM queue_chunks WHERE run = $1)`, run)
	return err
}

// mend makes the tickets that are missing.
func (c *Control) mend(ctx context.Context, client *river.Client[pgx.Tx], run string) error {
	return pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		state, err := c.state(ctx, tx, run, "FOR SHARE")
		if err != nil || state != Queued {
			return err
		}
		if _, err := tx.Exec(ctx, replace, run, origin, horizon, ticket{}.Kind()); err != nil {
			return err
		}
		chunks, err := chunksOf(ctx, tx, ticketless, run, ticket{}.Kind())
		if err != nil || len(chunks) == 0 {
			return err
		}
		return c.reticket(ctx, tx, client, run, chunks)
	})
}

// reapLock is the advisory lock of whoever looks for dead workers: "deemreap" in ASCII.
const reapLock = 0x6465656d72656170

// dead is the condition that a worker is not alive: its name, and the argument that says
// for how long it was not heard of.
func dead(id, after string) string {
	return fmt.Sprintf(`NOT EXISTS (SELECT FROM queue_workers w WHERE w.id = %s AND w.seen > now() - %s::interval)`, id, after)
}

// client is who has a job.
const client = `j.attempted_by[array_upper(j.attempted_by, 1)]`

// reap gives the chunks of workers that are dead to others, counts the money they had
// been lent as spent, and forgets them. One worker does it at a time. A server that was
// just started has heard of nobody yet.
func (w *Worker) reap(ctx context.Context) error {
	return pgx.BeginFunc(ctx, w.c.pool, func(tx pgx.Tx) error {
		var mine bool
		err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1) AND now() - pg_postmaster_start_time() > $2::interval
			AND EXISTS (SELECT FROM queue_chunks c WHERE worker IS NOT NULL AND `+dead("c.worker", "$2")+`
			UNION ALL SELECT FROM queue_workers q WHERE q.seen <= now() - $2::interval
			UNION ALL SELECT FROM river_job j WHERE j.state = 'running' AND j.kind = $3 AND `+dead(client, "$2")+`)`,
			int64(reapLock), w.o.Dead, ticket{}.Kind()).Scan(&mine)
		if err != nil || !mine {
			return err
		}
		return w.reapAll(ctx, tx)
	})
}

func (w *Worker) reapAll(ctx context.Context, tx pgx.Tx) error {
	// The ticket of a dead worker is void. River's own rescue would let the old one go on,
	// and whoever had it, if it is not dead after all, could end it for its new owner.
	lost, err := lostChunks(ctx, tx, `WITH void AS (UPDATE river_job j SET state = 'cancelled', finalized_at = now()
			WHERE j.state = 'running' AND j.kind = $2 AND `+dead(client, "$1")+`
			RETURNING j.args->>'run' AS run, (j.args->>'chunk')::bigint AS n)
		SELECT c.run, c.n, c.place FROM queue_chunks c JOIN void v ON v.run = c.run AND v.n = c.n WHERE c.worker IS NULL`, w.o.Dead, ticket{}.Kind())
	if err != nil {
		return err
	}
	given, err := lostChunks(ctx, tx, `UPDATE queue_chunks c SET worker = NULL, job = NULL, taken_at = NULL, token = token + 1
		WHERE worker IS NOT NULL AND `+dead("c.worker", "$1")+` RETURNING run, n, place`, w.o.Dead)
	if err != nil {
		return err
	}
	for run, chunks := range given {
		lost[run] = append(lost[run], chunks...)
	}
	for run, chunks := range lost {
		w.o.Say(fmt.Sprintf("run %s: %d chunks of a worker that is gone are given to others", run, len(chunks)))
		if err := w.c.reticket(ctx, tx, w.client, run, chunks); err != nil {
			return err
		}
	}
	return w.forgetDead(ctx, tx)
}

// lostChunks returns the chunks that a query selects, by run.
func lostChunks(ctx context.Context, tx pgx.Tx, query string, args ...any) (map[string][]numbered, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	list := map[string][]numbered{}
	var run string
	var c numbered
	_, err = pgx.ForEachRow(rows, []any{&run, &c.n, &c.place}, func() error {
		list[run] = append(list[run], c)
		return nil
	})
	return list, err
}

// forgetDead counts the money of dead workers as spent, for nobody knows what they did
// with it, and removes their rows.
func (w *Worker) forgetDead(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `SELECT r.id, h.holder FROM holdings h JOIN runs r ON r.n = h.run
		WHERE h.holder <> '' AND `+dead("split_part(h.holder, '#', 1)", "$1")+` ORDER BY 1, 2`, w.o.Dead)
	if err != nil {
		return err
	}
	gone, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Run, Holder string }])
	if err != nil {
		return err
	}
	for _, g := range gone {
		if err := w.c.st.ForfeitTx(ctx, tx, g.Run, g.Holder); err != nil {
			return err
		}
	}
	for _, statement := range []string{
		`DELETE FROM queue_shares s WHERE ` + dead("s.worker", "$1"),
		`DELETE FROM queue_workers q WHERE q.seen <= now() - $1::interval`,
	} {
		if _, err := tx.Exec(ctx, statement, w.o.Dead); err != nil {
			return err
		}
	}
	return nil
}
