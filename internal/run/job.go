package run

import (
	"context"
	"errors"
	"iter"

	"deem"
	"deem/internal/store"
)

// A Job is a run that was begun, with what it takes to judge its items.
type Job struct {
	Store store.Store
	Run   store.Run // as [store.Store.Begin] returned it
	Judge deem.Judge
	Items iter.Seq2[deem.Item, error]

	// Options say how many items are judged at once, how often, and when to stop.
	// Without a Done the store says what the run has a record of and is not asked again.
	Options deem.Options

	// RetryUnjudged judges again what earlier parts of the run could not judge.
	RetryUnjudged bool

	// Commits say how records are grouped. Committed and Waiting are set here.
	Commits store.WriterOptions

	// Each, if it is set, is told of every record that was kept, one at a time. It must
	// not take long: no other record is kept meanwhile.
	Each func(rec deem.Record)

	// Enough, if it is set, reports whether a run that was stopped is done all the same.
	Enough func() bool
}

// Do goes through the items. What was judged is kept, however the run ends: when it is
// over, every record is committed, and the calls of items that were broken off after one
// that was paid for stand in records of kind [store.Unfinished]. What ends it early comes
// as an error, as [deem.ErrStopped]; the run is then still claimed, as it is when all
// went well, and [End] says how it ended.
func (job Job) Do(ctx context.Context) error {
	opts := job.Options
	if opts.Done == nil && job.Run.Records > 0 {
		var err error
		if opts.Done, err = Done(ctx, job.Store, job.Run, job.RetryUnjudged); err != nil {
			return err
		}
	}
	judge := &careful{judge: job.Judge, rule: job.Run.Judge.Rule}
	commits := job.Commits
	// A kill costs the records that wait for a commit, as it costs the calls in flight. So
	// they are not more than these, unless these are few.
	commits.Waiting = max(commits.MaxRows*3/4, opts.Concurrency, 96)
	commits.Committed = func(recs []deem.Record) {
		for _, rec := range recs {
			if job.Each != nil {
				job.Each(rec)
			}
		}
	}
	w := store.NewWriter(job.Store, job.Run.ID, commits)
	// A call that was paid for is kept even when nobody waits for it any more.
	keep := context.WithoutCancel(ctx)
	var ended error
	for rec, err := range deem.Run(ctx, job.Items, judge, opts) {
		if err == nil {
			err = w.Put(keep, rec)
		}
		if err != nil {
			ended = err
			break
		}
	}
	if ended != nil {
		// A stream that cannot be read again is no reason to lose what was paid: the positions
		// are then not known.
		_ = judge.place(job.Items)
		for _, rec := range judge.left {
			if err := w.Put(keep, rec); err != nil {
				ended = errors.Join(ended, err)
				break
			}
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if errors.Is(ended, deem.ErrStopped) && job.Enough != nil && job.Enough() {
		return nil
	}
	return ended
}

// An ItemTrial is one trial of one item, by its id.
type ItemTrial struct {
	ID    string
	Trial int
}

// Unfinished returns what a run has paid for and not judged. It is to be judged when the
// run goes on.
func Unfinished(ctx context.Context, st store.Store, run store.Run) (map[ItemTrial]bool, error) {
	list := map[ItemTrial]bool{}
	if run.Unjudged == 0 {
		return list, nil
	}
	for rec, err := range st.Records(ctx, run.ID, store.Query{Kinds: []deem.Kind{store.Unfinished}, Brief: true}) {
		if err != nil {
			return nil, err
		}
		list[ItemTrial{rec.Item.ID, rec.Trial}] = true
	}
	return list, nil
}

// Done returns a function that reports whether a run needs no further record of a trial of
// an item. What is unjudged needs another one if it is to be judged again.
func Done(ctx context.Context, st store.Store, run store.Run, retryUnjudged bool) (func(ctx context.Context, it deem.Item, trial int) (bool, error), error) {
	unfinished, err := Unfinished(ctx, st, run)
	return func(ctx context.Context, it deem.Item, trial int) (bool, error) {
		if unfinished[ItemTrial{it.ID, trial}] {
			return false, nil
		}
		status, err := st.Status(ctx, run.ID, it.ID, trial)
		return status == store.Judged || status == store.Unjudged && !retryUnjudged, err
	}, err
}
