package run

import (
	"context"
	"errors"
	"iter"

	"deem"
	"deem/internal/store"
)

// A Job judges the items of a run that has begun.
type Job struct {
	Store store.Store
	Run   store.Run // as returned by [store.Store.Begin]
	Judge deem.Judge
	Items iter.Seq2[deem.Item, error]

	// Options sets the concurrency, the number of trials, and when to stop. Without a
	// Done, items that already have a record in the store are skipped.
	Options deem.Options

	// RetryUnjudged judges items again that earlier parts of the run could not judge.
	RetryUnjudged bool

	// GiveUpAfter is the number of consecutive items without a verdict after which the job
	// ends, because the next ones would cost as much and say as little; 0 means never.
	GiveUpAfter int

	// Commits configures how records are grouped. Committed and Waiting are set by Do.
	Commits store.WriterOptions

	// Each, if set, is called for every stored record, one at a time. It must be fast:
	// no other record is stored meanwhile.
	Each func(rec deem.Record)

	// Enough, if set, reports whether a stopped run counts as done.
	Enough func() bool
}

// Do judges the items. Every verdict is stored, however the run ends: when Do returns, all
// records are committed, and the paid calls of unfinished items are in records of kind
// [store.Unfinished]. It returns an error such as [deem.ErrStopped] if the run ended early.
// The run stays claimed in any case; call [End] to end it.
func (job Job) Do(ctx context.Context) error {
	opts := job.Options
	if opts.Done == nil && job.Run.Records > 0 {
		var err error
		if opts.Done, err = Done(ctx, job.Store, job.Run, job.RetryUnjudged); err != nil {
			return err
		}
	}
	judge := &careful{judge: job.Judge, rule: job.Run.Judge.Rule, row: failureRow{most: job.GiveUpAfter}}
	commits := job.Commits
	// A kill loses the records that wait for a commit, and the calls in flight. So the
	// former are limited to the number of the latter, unless that is small.
	commits.Waiting = max(commits.MaxRows*3/4, opts.Concurrency, 96)
	commits.Committed = func(recs []deem.Record) {
		for _, rec := range recs {
			if job.Each != nil {
				job.Each(rec)
			}
		}
	}
	w := store.NewWriter(job.Store, job.Run.ID, commits)
	// A paid call is stored even after cancellation.
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
		// If the stream cannot be read again, the records are stored without
		// positions, so that paid calls are not lost.
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

// An ItemTrial identifies one trial of one item.
type ItemTrial struct {
	ID    string
	Trial int
}

// Unfinished returns the trials of a run that have paid calls but no verdict. They are
// judged when the run resumes.
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

// Done returns a function that reports whether a trial of an item needs no further record.
// If retryUnjudged is true, unjudged items need another one.
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
