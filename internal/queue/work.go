package queue

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"deem"
	"deem/internal/conduct"
	"deem/internal/store"
)

// A chunkWorker is what River calls with a ticket.
type chunkWorker struct {
	river.WorkerDefaults[ticket]
	w *Worker
}

// NextRetry implements [river.Worker]. A ticket fails only when its chunk could not be
// taken, as when the server restarts.
func (cw *chunkWorker) NextRetry(*river.Job[ticket]) time.Time { return time.Now().Add(time.Second) }

// Work takes the chunk of a ticket and judges what it lacks.
func (cw *chunkWorker) Work(ctx context.Context, job *river.Job[ticket]) error {
	w := cw.w
	if w.refuses(job.Queue) {
		return w.pass(ctx, job)
	}
	e, err := w.engage(ctx, job.Args.Run)
	if err != nil {
		if passing(err) || errors.Is(err, context.Canceled) {
			return err
		}
		w.refuse(job.Queue, job.Args.Run, err)
		return w.pass(ctx, job)
	}
	defer e.release()
	t, ok, err := w.take(ctx, e, job)
	if err != nil || !ok {
		return err // Without a chunk the ticket is worth nothing, and is done.
	}
	return t.judge()
}

// passAfter keeps a worker that is about to leave a queue from taking the same ticket
// again and again.
const passAfter = 200 * time.Millisecond

// pass leaves a ticket to others: it is done, and there is a new one at the same place.
func (w *Worker) pass(ctx context.Context, job *river.Job[ticket]) error {
	if err := wait(ctx, passAfter); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, w.c.pool, func(tx pgx.Tx) error {
		chunks, err := chunksOf(ctx, tx, `SELECT n, place FROM queue_chunks WHERE run = $1 AND n = $2 AND worker IS NULL`, job.Args.Run, job.Args.Chunk)
		if err != nil {
			return err
		}
		if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job); err != nil || len(chunks) == 0 {
			return err
		}
		return w.c.reticket(ctx, tx, w.client, job.Args.Run, chunks)
	})
}

// A taken chunk is one that this worker has.
type taken struct {
	w     *Worker
	e     *engagement
	job   *river.Job[ticket]
	river context.Context // of the job

	items      []placed
	place      int64
	token, seq int64
	done       recordedSet

	closing atomic.Bool
	held    []deem.Record // that are committed with the end of the chunk
}

// take takes the chunk of a ticket, unless somebody has it, or it is done, or its run
// was halted.
func (w *Worker) take(ctx context.Context, e *engagement, job *river.Job[ticket]) (*taken, bool, error) {
	t := &taken{w: w, e: e, job: job, river: ctx}
	var body []byte
	// A ticket whose chunk was taken by itself was tried before, and the answer of the
	// server was lost.
	err := w.c.pool.QueryRow(ctx, `UPDATE queue_chunks c SET worker = $3, job = $4, token = token + 1, seq = 0, taken_at = now()
		WHERE run = $1 AND n = $2 AND (worker IS NULL OR job = $4)
		AND EXISTS (SELECT FROM queue_runs r WHERE r.run = c.run AND r.state = 'queued' FOR SHARE)
		RETURNING token, place, body`, job.Args.Run, job.Args.Chunk, w.id, job.ID).Scan(&t.token, &t.place, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	// A chunk holds what had no record when it was made, so whoever has it first need not
	// look.
	if t.items, err = unpack(body); err == nil && t.token > 1 {
		t.done, err = recorded(ctx, w.c.st, e.run, t.items, e.o.RetryUnjudged)
	}
	return t, err == nil, err
}

// judge judges what the chunk lacks, and ends it: as done, or given back. Its error is
// for River, which then tries the ticket again.
func (t *taken) judge() error {
	ctx, cancel := context.WithCancel(t.e.ctx)
	defer cancel()
	stop, release := t.stopping(cancel)
	defer release()
	w := store.NewWriter(keeper{t.w.c.st, t}, t.e.run.ID, store.WriterOptions{MaxRows: groupRows, MaxWait: groupWait})
	ended := t.run(ctx, w, stop)
	t.closing.Store(true)
	if err := w.Close(); err != nil {
		ended = err
	}
	switch {
	case errors.Is(ended, errLost):
		return nil
	case ended == nil:
		return t.finish()
	}
	t.explain(ended)
	return t.giveBack()
}

const (
	// groupRows and groupWait bound the records that a kill loses, beside the calls in
	// flight. Commits go over a network, so they are larger than those of one process.
	groupRows = 250
	groupWait = 30 * time.Millisecond
)

// run hands the records to the writer. What ends it early comes as an error.
func (t *taken) run(ctx context.Context, w *store.Writer, stop <-chan struct{}) error {
	places := make(map[string]int, len(t.items))
	for _, it := range t.items {
		places[it.Item.ID] = it.Position
	}
	salvage := conduct.NewSalvage(t.e.judge)
	judge := waiter{judge: salvage, w: t.w, priority: t.e.o.Priority, stop: stop}
	opts := deem.Options{
		Concurrency: min(t.w.o.Slots, len(t.items)*t.e.run.Trials), Trials: t.e.run.Trials, Stop: stop,
		Done: func(_ context.Context, it deem.Item, trial int) (bool, error) {
			return t.done[trialOf{it.ID, trial}], nil
		},
	}
	// What is paid for is kept, also when the calls of others are cancelled.
	keep := context.WithoutCancel(ctx)
	for rec, err := range deem.Run(ctx, t.stream(), judge, opts) {
		if err != nil {
			return errors.Join(err, t.keepLeft(keep, w, salvage, places))
		}
		rec.Position = places[rec.Item.ID]
		t.e.each(rec)
		if err := w.Put(keep, rec); err != nil {
			return err
		}
	}
	return nil
}

// keepLeft keeps what was paid for items that are not done.
func (t *taken) keepLeft(ctx context.Context, w *store.Writer, s *conduct.Salvage, places map[string]int) error {
	left, err := s.Left(t.stream())
	if err != nil {
		return err
	}
	for _, rec := range left {
		rec.Position = places[rec.Item.ID]
		if err := w.Put(ctx, rec); err != nil {
			return err
		}
	}
	return nil
}

func (t *taken) stream() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for _, it := range t.items {
			if !yield(it.Item, nil) {
				return
			}
		}
	}
}

// stopping returns a channel that is closed when no further item is to be taken, because
// the worker drains or the run was halted. Calls in flight have their grace then, before
// cancel is called.
func (t *taken) stopping(cancel context.CancelFunc) (<-chan struct{}, func()) {
	stop := make(chan struct{})
	var once sync.Once
	var mu sync.Mutex
	var timer *time.Timer
	halt := func() {
		once.Do(func() {
			close(stop)
			mu.Lock()
			defer mu.Unlock()
			timer = time.AfterFunc(t.w.o.Grace, cancel)
		})
	}
	first := context.AfterFunc(t.w.draining, halt)
	second := context.AfterFunc(t.e.halted, halt)
	return stop, func() {
		first()
		second()
		mu.Lock()
		defer mu.Unlock()
		if timer != nil {
			timer.Stop()
		}
	}
}

// A keeper is the store as the records of a chunk see it.
type keeper struct {
	store.Store
	t *taken
}

// Append implements [store.Store]. The last records wait for the end of the chunk, to be
// committed with it.
func (k keeper) Append(ctx context.Context, _ string, recs []deem.Record) error {
	t := k.t
	if t.closing.Load() {
		t.held = append(t.held, slices.Clone(recs)...) // The writer uses the memory again.
		return nil
	}
	return t.commit(ctx, recs, nil)
}

// commit appends records under the token of the chunk, and does what else belongs to
// it, all or nothing. It waits for a server that restarts, until the calls in flight are
// cancelled: a worker that is told to go at once goes.
func (t *taken) commit(ctx context.Context, recs []deem.Record, and func(ctx context.Context, tx pgx.Tx) error) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := pgx.BeginFunc(ctx, t.w.c.pool, func(tx pgx.Tx) error { return t.commitTx(ctx, tx, recs, and) })
		if err == nil {
			t.seq++
			t.w.records.Add(int64(len(recs)))
			return nil
		}
		if !passing(err) {
			return err
		}
		if wait(t.w.hard, pause) != nil {
			return err
		}
	}
}

func (t *taken) commitTx(ctx context.Context, tx pgx.Tx, recs []deem.Record, and func(ctx context.Context, tx pgx.Tx) error) error {
	had, err := t.fence(ctx, tx)
	if err != nil || had {
		return err
	}
	if err := t.w.c.st.AppendTx(ctx, tx, t.e.run.ID, recs); err != nil {
		return err
	}
	if and == nil {
		return nil
	}
	return and(ctx, tx)
}

// fence makes sure that the chunk is ours, and stays so until the transaction ends. It
// reports true when this very commit happened before, and only the answer was lost.
func (t *taken) fence(ctx context.Context, tx pgx.Tx) (had bool, err error) {
	run, n := t.job.Args.Run, t.job.Args.Chunk
	tag, err := tx.Exec(ctx, `UPDATE queue_chunks SET seq = seq + 1 WHERE run = $1 AND n = $2 AND token = $3 AND seq = $4`, run, n, t.token, t.seq)
	if err != nil || tag.RowsAffected() == 1 {
		return false, err
	}
	var token, seq int64
	err = tx.QueryRow(ctx, `SELECT token, seq FROM queue_chunks WHERE run = $1 AND n = $2`, run, n).Scan(&token, &seq)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, errLost // Or it is done, which comes to the same.
	case err != nil:
		return false, err
	case token == t.token && seq == t.seq+1:
		return true, nil
	}
	return false, errLost
}

// finish commits the last records, the end of the chunk and that of the ticket together.
func (t *taken) finish() error {
	err := t.commit(context.WithoutCancel(t.river), t.held, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM queue_chunks WHERE run = $1 AND n = $2`, t.job.Args.Run, t.job.Args.Chunk); err != nil {
			return err
		}
		return t.complete(ctx, tx)
	})
	if errors.Is(err, errLost) {
		return nil
	}
	if err != nil {
		return err
	}
	return t.w.c.finishIfDone(t.river, t.job.Args.Run)
}

// complete ends the ticket.
func (t *taken) complete(ctx context.Context, tx pgx.Tx) error {
	_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, t.job)
	return err
}

// giveBack commits the last records and lets others have the rest of the chunk: at once,
// unless the run was halted. The ticket is done, and there is a new one.
func (t *taken) giveBack() error {
	run, n := t.job.Args.Run, t.job.Args.Chunk
	err := t.commit(context.WithoutCancel(t.river), t.held, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE queue_chunks SET worker = NULL, job = NULL, taken_at = NULL WHERE run = $1 AND n = $2`, run, n); err != nil {
			return err
		}
		if err := t.complete(ctx, tx); err != nil {
			return err
		}
		return t.w.c.reticket(ctx, tx, t.w.client, run, []numbered{{n, t.place}})
	})
	if errors.Is(err, errLost) {
		return nil
	}
	return err
}

// reticket makes new tickets for chunks that were given back, if their run goes on.
func (c *Control) reticket(ctx context.Context, tx pgx.Tx, client *river.Client[pgx.Tx], run string, chunks []numbered) error {
	var state State
	var queue string
	var p Priority
	err := tx.QueryRow(ctx, `SELECT state, queue, priority FROM queue_runs WHERE run = $1 FOR SHARE`, run).Scan(&state, &queue, &p)
	if err != nil || state != Queued {
		return err
	}
	return addTickets(ctx, client, tx, run, queue, p, chunks)
}

// explain says why a chunk is given back, and draws the conclusion: a run whose money is
// spent is stopped, and one that this worker cannot judge it leaves to others.
func (t *taken) explain(err error) {
	if errors.Is(err, deem.ErrStopped) || errors.Is(err, errGivenBack) || errors.Is(err, context.Canceled) {
		return
	}
	run := t.job.Args.Run
	if me, ok := errors.AsType[*deem.ModelError](err); ok && me.Kind == deem.Budget {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.river), beatTimeout)
		defer cancel()
		reason := err.Error()
		stopped, serr := t.w.c.stop(ctx, run, t.e.changed, reason)
		if stopped {
			t.w.say("run "+run, "run %s is stopped: %s", run, reason)
		}
		if serr == nil {
			t.w.disengage(t.e)
			return
		}
	}
	t.w.refuse(t.e.queue, run, err)
	t.w.disengage(t.e)
}
