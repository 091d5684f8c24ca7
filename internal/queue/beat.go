package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

const (
	// beatTimeout bounds one beat: a server that takes longer is as good as away.
	beatTimeout = 5 * time.Second

	// chunksAtOnce is how many chunks of a queue a worker has: while the last items of
	// one are being judged, another is under way.
	chunksAtOnce = 2

	// idleQueue is how long a queue without runs is listened to.
	idleQueue = time.Minute

	// refuseAgain is how long a worker does not look again at what it could not judge.
	refuseAgain = 30 * time.Second

	// rateOver is over how long the rate of a worker is measured.
	rateOver = 10 * time.Second
)

// beats beats until over is closed.
func (w *Worker) beats(over <-chan struct{}) {
	tick := time.NewTicker(w.o.Beat)
	defer tick.Stop()
	now := make(chan time.Time, 1)
	now <- time.Now() // There may be work already.
	for {
		select {
		case <-over:
			return
		case <-now:
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
		err := w.beat(ctx)
		if err == nil {
			err = w.round(ctx)
		}
		cancel()
		w.noteBeat(err)
	}
}

// noteBeat remembers whether the database answers.
func (w *Worker) noteBeat(err error) {
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
}

// beat says that the worker is alive. One that finds that it was thought dead lost all
// that it had, and begins anew.
func (w *Worker) beat(ctx context.Context) error {
	state := "working"
	if w.draining.Err() != nil {
		state = "draining"
	}
	refused, err := json.Marshal(w.refusals())
	if err != nil {
		return err
	}
	var added bool
	err = w.c.pool.QueryRow(ctx, `INSERT INTO queue_workers AS q (id, version, state, slots, in_flight, records, rate, refused)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO UPDATE SET seen = now(), state = excluded.state,
		in_flight = excluded.in_flight, records = excluded.records, rate = excluded.rate, refused = excluded.refused
		RETURNING q.xmax = 0`, // A row that was not there has no older version.
		w.id, w.o.Version, state, w.o.Slots, w.inFlight.Load(), w.records.Load(), w.rate(), string(refused)).Scan(&added)
	if err != nil {
		return err
	}
	w.mu.Lock()
	first := w.beaten.IsZero()
	if first {
		w.beaten = time.Now()
		w.steady = w.beaten
	}
	w.mu.Unlock()
	if added && !first {
		w.say("dead", "this worker was not heard of for too long, and others took over what it had")
		for _, e := range w.takeEngaged() {
			e.abandon()
		}
	}
	return nil
}

// rate returns how many records a second there were lately.
func (w *Worker) rate() float64 {
	now := tally{time.Now(), w.records.Load()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recent = append(w.recent, now)
	for len(w.recent) > 2 && now.at.Sub(w.recent[0].at) > rateOver {
		w.recent = w.recent[1:]
	}
	took := now.at.Sub(w.recent[0].at).Seconds()
	if took < 0.1 {
		return 0
	}
	return float64(now.n-w.recent[0].n) / took
}

// A seen run is one that is queued.
type seen struct {
	run, queue string
	priority   Priority
	changed    time.Time
}

// round looks which runs are queued, and lets go of those that are not any more.
func (w *Worker) round(ctx context.Context) error {
	rows, err := w.c.pool.Query(ctx, `SELECT run, queue, priority, changed_at FROM queue_runs WHERE state = 'queued' ORDER BY priority, queued_at`)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s seen, err error) {
		err = row.Scan(&s.run, &s.queue, &s.priority, &s.changed)
		return s, err
	})
	if err != nil {
		return err
	}
	w.letGo(list)
	if w.draining.Err() == nil {
		if err := w.listen(ctx, list); err != nil {
			return err
		}
	}
	if err := w.renewAll(ctx); err != nil {
		return err
	}
	return w.reapIfSteady(ctx)
}

// letGo ends the engagement with runs that were halted or changed.
func (w *Worker) letGo(list []seen) {
	queued := map[string]seen{}
	for _, s := range list {
		queued[s.run] = s
	}
	w.mu.Lock()
	var ended []*engagement
	for run, e := range w.engaged {
		if s, ok := queued[run]; !ok || !s.changed.Equal(e.changed) {
			delete(w.engaged, run)
			ended = append(ended, e)
		}
	}
	w.mu.Unlock()
	for _, e := range ended {
		e.halt()
	}
}

// listen makes River hand out the tickets of the queues that this worker can serve, and
// of no others.
func (w *Worker) listen(ctx context.Context, list []seen) error {
	now := time.Now()
	for _, s := range list {
		w.mu.Lock()
		_, listens := w.queues[s.queue]
		if listens {
			w.queues[s.queue] = now
		}
		no, refuses := w.refused[s.queue]
		w.mu.Unlock()
		if listens || refuses && now.Before(no.until) {
			continue
		}
		e, err := w.engage(ctx, s.run)
		if err != nil {
			if passing(err) {
				return err
			}
			w.refuse(s.queue, s.run, err)
			continue
		}
		e.release()
		if err := w.join(s.queue); err != nil {
			return err
		}
	}
	return w.leaveQueues(ctx, now)
}

// join begins to listen to a queue.
func (w *Worker) join(queue string) error {
	w.mu.Lock()
	delete(w.refused, queue)
	w.queues[queue] = time.Now()
	w.mu.Unlock()
	err := w.client.Queues().Add(queue, river.QueueConfig{MaxWorkers: chunksAtOnce})
	if _, ok := errors.AsType[*river.QueueAlreadyAddedError](err); ok {
		return nil
	}
	return err
}

// leaveQueues stops to listen to queues that had no run for long, or whose runs this
// worker cannot judge after all.
func (w *Worker) leaveQueues(ctx context.Context, now time.Time) error {
	w.mu.Lock()
	var idle []string
	for queue, last := range w.queues {
		if _, refuses := w.refused[queue]; refuses || now.Sub(last) > idleQueue {
			idle = append(idle, queue)
		}
	}
	w.mu.Unlock()
	for _, queue := range idle {
		// Nothing is fetched any more, but chunks that it has go on. The next beat tries
		// again: it must not wait for them.
		ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		err := w.client.Queues().Remove(ctx, queue)
		cancel()
		if err != nil {
			continue
		}
		w.mu.Lock()
		delete(w.queues, queue)
		w.mu.Unlock()
	}
	return nil
}

// A refusal is why a worker does not judge the runs of a queue.
type refusal struct {
	run, why string
	until    time.Time
}

// refuse remembers that this worker cannot judge the runs of a queue.
func (w *Worker) refuse(queue, run string, why error) {
	w.mu.Lock()
	w.refused[queue] = refusal{run, why.Error(), time.Now().Add(refuseAgain)}
	w.mu.Unlock()
	w.say("run "+run, "run %s is not judged by this worker: %v", run, why)
}

// refuses reports whether this worker cannot judge the runs of a queue.
func (w *Worker) refuses(queue string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.refused[queue]
	return ok
}

// refusals returns why which run is refused.
func (w *Worker) refusals() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := map[string]string{}
	for _, r := range w.refused {
		list[r.run] = r.why
	}
	return list
}

// renewAll settles money and shares.
func (w *Worker) renewAll(ctx context.Context) error {
	w.mu.Lock()
	var list []*engagement
	for _, e := range w.engaged {
		list = append(list, e)
	}
	w.mu.Unlock()
	for _, e := range list {
		if err := e.renew(ctx); err != nil {
			return fmt.Errorf("settle run %s: %w", e.run.ID, err)
		}
	}
	return nil
}

// Ready reports whether the worker works: the database answered lately, and it does not
// drain.
func (w *Worker) Ready() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.draining.Err() == nil && time.Since(w.beaten) < w.o.Dead
}

// reapIfSteady gives back what dead workers had, unless this worker itself could not
// reach the database lately: then the others could not either, and are not dead.
func (w *Worker) reapIfSteady(ctx context.Context) error {
	w.mu.Lock()
	steady := !w.steady.IsZero() && time.Since(w.steady) > w.o.Dead
	w.mu.Unlock()
	if !steady {
		return nil
	}
	return w.reap(ctx)
}
