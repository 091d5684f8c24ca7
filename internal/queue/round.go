package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

const (
	// chunksAtOnce is the number of chunks of a run that a worker has: while the last items
	// of one chunk are being judged, the next one has begun.
	chunksAtOnce = 2

	// refuseAgain is how long a worker waits before it tries again to judge a run that it
	// refused.
	refuseAgain = 30 * time.Second
)

// beatUntil sends heartbeats until over is closed.
func (w *Worker) beatUntil(over <-chan struct{}) {
	tick := time.NewTicker(w.o.beatEvery())
	defer tick.Stop()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
		err := w.beat(ctx)
		if err == nil {
			err = w.round(ctx)
		}
		cancel()
		w.mu.Lock()
		away := w.steady.IsZero()
		if err != nil {
			w.steady = time.Time{}
		} else if w.beaten = time.Now(); away {
			w.steady = w.beaten
		}
		w.mu.Unlock()
		switch {
		case err != nil && !away:
			w.o.Say(fmt.Sprintf("the database does not answer, and is waited for: %v", err))
		case err == nil && away:
			w.o.Say("the database answers again")
		}
		select {
		case <-over:
			return
		case <-tick.C:
		}
	}
}

// beat sends a heartbeat. If other workers had declared this worker dead, its money is
// lost, and it starts over.
func (w *Worker) beat(ctx context.Context) error {
	state := "working"
	if w.draining.Err() != nil {
		state = "draining"
	}
	refused := map[string]string{}
	w.mu.Lock()
	for run, r := range w.refused {
		refused[run] = r.why
	}
	first := w.beaten.IsZero()
	w.mu.Unlock()
	text, err := json.Marshal(refused)
	if err != nil {
		return err
	}
	n := w.records.Load()
	w.rate += 0.2 * (float64(n-w.counted)/w.o.beatEvery().Seconds() - w.rate)
	w.counted = n
	var added bool
	err = w.c.pool.QueryRow(ctx, `INSERT INTO queue_workers AS q (id, version, state, slots, in_flight, records, rate, refused)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO UPDATE SET seen = now(), state = excluded.state,
		in_flight = excluded.in_flight, records = excluded.records, rate = excluded.rate, refused = excluded.refused
		RETURNING q.xmax = 0`, // A new row has no older version.
		w.id, w.o.Version, state, w.o.Slots, w.inFlight.Load(), n, w.rate, string(text)).Scan(&added)
	if err != nil {
		return err
	}
	if added && !first {
		w.say("dead", "this worker was not heard of for too long, and begins anew")
		for _, e := range w.list() {
			e.stop()
		}
	}
	return nil
}

// A seen is a queued run.
type seen struct {
	run     string
	changed time.Time
	over    bool    // all chunks are done
	failed  *string // why a chunk failed for good
}

// round lists the queued runs, starts and stops listening to their queues, renews the
// leases on this worker's jobs, and settles money and shares.
func (w *Worker) round(ctx context.Context) error {
	rows, err := w.c.pool.Query(ctx, `SELECT q.run, q.changed_at, NOT EXISTS (SELECT FROM river_job j WHERE j.queue = 'run_' || q.run AND j.state IN `+open+`),
		(SELECT CASE j.state WHEN 'cancelled' THEN 'somebody cancelled a job' ELSE format('a chunk failed %s times: %s', j.attempt, j.errors[array_upper(j.errors, 1)]->>'error') END
			FROM river_job j WHERE j.queue = 'run_' || q.run AND j.state IN ('discarded', 'cancelled') LIMIT 1)
		FROM queue_runs q WHERE q.state = 'queued' ORDER BY q.priority, q.queued_at`)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s seen, err error) {
		err = row.Scan(&s.run, &s.changed, &s.over, &s.failed)
		return s, err
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range list {
		switch {
		case s.over:
			err := w.c.st.Finish(ctx, s.run)
			if err == nil { // Unless it was queued again meanwhile.
				_, err = w.c.pool.Exec(ctx, `UPDATE queue_runs SET state = 'done', changed_at = now() WHERE run = $1 AND state = 'queued'
					AND NOT EXISTS (SELECT FROM river_job j WHERE j.queue = $2 AND j.state IN `+open+`)`, s.run, queueOf(s.run))
			}
			errs = append(errs, err)
		case s.failed != nil:
			_, err := w.c.stop(ctx, s.run, s.changed, *s.failed)
			errs = append(errs, err)
		}
	}
	list = slices.DeleteFunc(list, func(s seen) bool { return s.over || s.failed != nil })
	w.release(ctx, list)
	if w.draining.Err() == nil {
		errs = append(errs, w.listen(ctx, list))
	}
	return errors.Join(append(errs, w.renew(ctx), w.forgetDead(ctx))...)
}

// release ends the engagements with runs that are no longer queued, were changed, or cannot
// be judged by this worker.
func (w *Worker) release(ctx context.Context, list []seen) {
	queued := map[string]time.Time{}
	for _, s := range list {
		queued[s.run] = s.changed
	}
	for _, e := range w.list() {
		if queued[e.run.ID].Equal(e.changed) && e.halted.Err() == nil {
			continue
		}
		e.stop()
		// Its chunks must be returned first. Do not wait for them: the next round tries
		// again.
		soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		err := w.client.Queues().Remove(soon, queueOf(e.run.ID))
		cancel()
		if _, gone := errors.AsType[*river.QueueNotFoundError](err); err != nil && !gone {
			continue
		}
		w.mu.Lock()
		delete(w.engaged, e.run.ID)
		w.mu.Unlock()
		if err := e.end(ctx); err != nil {
			// What it reserved counts as spent once the worker is gone.
			w.say("end "+e.run.ID, "settle run %s: %v", e.run.ID, err)
		}
	}
}

// listen subscribes to the queues of the runs that this worker can judge.
func (w *Worker) listen(ctx context.Context, list []seen) error {
	for _, s := range list {
		w.mu.Lock()
		engaged := w.engaged[s.run] != nil
		refuses := time.Now().Before(w.refused[s.run].until)
		w.mu.Unlock()
		if engaged || refuses {
			continue
		}
		e, err := w.newEngagement(ctx, s.run)
		if passing(err) {
			return err
		}
		if err != nil {
			w.refuse(s.run, err)
			continue
		}
		w.mu.Lock()
		delete(w.refused, s.run)
		w.engaged[s.run] = e
		w.mu.Unlock()
		if err := w.client.Queues().Add(queueOf(s.run), river.QueueConfig{MaxWorkers: chunksAtOnce}); err != nil {
			e.stop() // start over
			return err
		}
	}
	return nil
}

// A refusal says why a worker does not judge a run.
type refusal struct {
	why   string
	until time.Time
}

// refuse records that this worker cannot judge a run.
func (w *Worker) refuse(run string, why error) {
	w.mu.Lock()
	w.refused[run] = refusal{why.Error(), time.Now().Add(refuseAgain)}
	w.mu.Unlock()
	w.say("run "+run, "run %s is not judged by this worker: %v", run, why)
}

// renew renews the leases on this worker's jobs, so that River does not rescue them, and
// settles money and shares. A job that was rescued anyway belongs to another worker and is
// left alone.
func (w *Worker) renew(ctx context.Context) error {
	w.mu.Lock()
	jobs := slices.Collect(maps.Keys(w.jobs))
	w.mu.Unlock()
	if len(jobs) > 0 {
		_, err := w.c.pool.Exec(ctx, `UPDATE river_job j SET attempted_at = now() WHERE j.id = ANY ($1::bigint[]) AND j.state = 'running' AND `+owner+` = $2`, jobs, w.id)
		if err != nil {
			return err
		}
	}
	for _, e := range w.list() {
		var err error
		if e.money != nil {
			err = e.money.Return(ctx)
		}
		if err == nil && e.share != nil {
			err = e.share.renew(ctx)
		}
		if err != nil {
			return fmt.Errorf("settle run %s: %w", e.run.ID, err)
		}
	}
	return nil
}

// forgetDead counts the money of dead workers as spent, because it is unknown what they
// spent, and frees their shares. It does nothing if this worker could not reach the
// database recently or the server has just started: then the other workers could not reach
// it either.
func (w *Worker) forgetDead(ctx context.Context) error {
	w.mu.Lock()
	steady := !w.steady.IsZero() && time.Since(w.steady) > w.o.Dead
	w.mu.Unlock()
	if !steady {
		return nil
	}
	return pgx.BeginFunc(ctx, w.c.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `DELETE FROM queue_workers WHERE seen < now() - $1::interval AND now() - pg_postmaster_start_time() > $1::interval RETURNING id`, w.o.Dead)
		if err != nil {
			return err
		}
		dead, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(dead) == 0 {
			return err
		}
		w.o.Say(fmt.Sprintf("%d workers are gone; their chunks go to others", len(dead)))
		if _, err := tx.Exec(ctx, `DELETE FROM queue_shares WHERE worker = ANY ($1::text[])`, dead); err != nil {
			return err
		}
		rows, err = tx.Query(ctx, `SELECT r.id, h.holder FROM money h JOIN runs r ON r.n = h.run WHERE split_part(h.holder, '#', 1) = ANY ($1::text[]) ORDER BY 1, 2`, dead)
		if err != nil {
			return err
		}
		gone, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Run, Holder string }])
		for _, g := range gone {
			if err == nil {
				err = w.c.st.LeaveTx(ctx, tx, g.Run, g.Holder)
			}
		}
		return err
	})
}

// Ready reports whether the worker takes work: the database answered recently, and the
// worker is not draining.
func (w *Worker) Ready() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.draining.Err() == nil && time.Since(w.beaten) < w.o.Dead
}
