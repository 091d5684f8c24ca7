package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"deem"
	"deem/internal/run"
	"deem/internal/store"
)

// A chunkWorker handles River jobs.
type chunkWorker struct {
	river.WorkerDefaults[chunk]
	w *Worker
}

// NextRetry implements [river.Worker]. Jobs fail if the database does not answer, and are
// rescued if their worker died; neither needs a long backoff.
func (cw *chunkWorker) NextRetry(*river.Job[chunk]) time.Time { return time.Now().Add(time.Second) }

// Work judges the items of a chunk that have no record. Items that it does not get to
// return to the queue.
func (cw *chunkWorker) Work(ctx context.Context, job *river.Job[chunk]) error {
	w := cw.w
	w.mu.Lock()
	e := w.engaged[job.Args.Run]
	w.jobs[job.ID] = true
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.jobs, job.ID)
		w.mu.Unlock()
	}()
	err := e.judgeChunk(ctx, job.Args)
	switch {
	case err == nil || passing(err):
		return err
	case errors.Is(err, deem.ErrStopped) || errors.Is(err, context.Canceled):
		return river.JobSnooze(0)
	}
	// A run whose budget is spent is stopped, and a run that this worker cannot judge is left
	// to others.
	defer e.stop()
	run := e.run.ID
	if me, ok := errors.AsType[*deem.ModelError](err); ok && me.Kind == deem.Budget {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), beatTimeout)
		defer cancel()
		stopped, serr := w.c.stop(ctx, run, e.changed, err.Error())
		if stopped {
			w.say("run "+run, "run %s is stopped: %v", run, err)
		}
		if serr == nil {
			return river.JobSnooze(time.Second)
		}
	}
	w.refuse(run, err)
	return river.JobSnooze(time.Second)
}

// judgeChunk judges the items of a chunk that have no record. It stops early if the job
// times out, the worker drains or the run is halted. Calls in flight then finish, and their
// results are kept; after a drain or halt they have the grace period.
func (e *engagement) judgeChunk(ctx context.Context, c chunk) error {
	items, err := c.unpack()
	if err != nil {
		return err
	}
	done, err := recorded(ctx, e.w.c.st, e.run, items, e.o.RetryUnjudged)
	if err != nil {
		return err
	}
	judging, cancel := context.WithCancel(e.ctx)
	defer cancel()
	stop := make(chan struct{})
	halt := sync.OnceFunc(func() { close(stop) })
	defer context.AfterFunc(ctx, halt)()
	haltAndCancel := func() {
		halt()
		if wait(judging, e.w.o.Grace) == nil {
			cancel()
		}
	}
	defer context.AfterFunc(e.w.draining, haltAndCancel)()
	defer context.AfterFunc(e.halted, haltAndCancel)()
	stream := func(yield func(deem.Item, error) bool) {
		for _, it := range items {
			if !yield(it.Item, nil) {
				return
			}
		}
	}
	k := keeper{Store: e.w.c.st, e: e, places: make(map[string]int, len(items))}
	for _, it := range items {
		k.places[it.Item.ID] = it.Position
	}
	return run.Job{
		Store: k, Run: e.run, Judge: waiter{judge: e.judge, w: e.w, priority: e.o.Priority}, Items: stream, Each: e.tel.Add,
		// Commits go over a network, so they are larger than those of a single process.
		Commits: store.WriterOptions{MaxRows: 250, MaxWait: 30 * time.Millisecond},
		Options: deem.Options{
			Concurrency: min(e.w.o.Slots, len(items)*e.run.Trials), Trials: e.run.Trials, Stop: stop,
			Done: func(_ context.Context, it deem.Item, trial int) (bool, error) {
				return done[trialOf{it.ID, trial}], nil
			},
		},
	}.Do(judging)
}

// A keeper is the store for the records of a chunk.
type keeper struct {
	store.Store
	e      *engagement
	places map[string]int // position of each item in the dataset
}

// Append implements [store.Store]. It drops records of items that another worker has judged
// meanwhile. It waits for a server that restarts, until the calls in flight are cancelled,
// so that a worker that must stop at once does.
func (k keeper) Append(ctx context.Context, runID string, recs []deem.Record) error {
	for i := range recs {
		recs[i].Position = k.places[recs[i].Item.ID]
	}
	w := k.e.w
	for {
		err := w.c.st.AppendMissing(ctx, runID, recs, k.e.o.RetryUnjudged)
		if err == nil {
			w.records.Add(int64(len(recs)))
		}
		if !passing(err) || wait(w.hard, time.Second) != nil {
			return err
		}
	}
}
