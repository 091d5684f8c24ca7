// Package conduct takes a run to its end: it lets a judge go through the items that the
// run has no record of, and keeps every record the moment it exists.
//
// Commands and the server conduct runs alike, because they do it here. What they add
// around it is their own: a command shows progress on a terminal, and the server tells
// whoever asked over HTTP.
package conduct

import (
	"context"
	"errors"
	"iter"

	"deem"
	"deem/internal/store"
)

// Describe returns what a store keeps of a judge. A rule is a judge that asks no model.
func Describe(j deem.Judge, rule bool) (store.JudgeSpec, error) {
	hash, err := deem.JudgeHash(j)
	if err != nil {
		return store.JudgeSpec{}, err
	}
	s := store.JudgeSpec{Name: j.Name(), Hash: hash, Rule: rule}
	if ij, ok := j.(deem.Identified); ok {
		s.Identity, err = deem.Canonical(ij.Identity())
	}
	return s, err
}

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
}

// Do goes through the items. What was judged is kept, however the run ends: when it is
// over, every record is committed, and the calls of items that were broken off after one
// that was paid for stand in records of kind [store.Unfinished]. What ends it early comes
// as an error, as [deem.ErrStopped]; the run is then still claimed, as it is when all
// went well, and [End] says how it ended.
func (job Job) Do(ctx context.Context) error {
	opts := job.Options
	if opts.Done == nil && job.Run.Records > 0 {
		unfinished, err := Unfinished(ctx, job.Store, job.Run)
		if err != nil {
			return err
		}
		opts.Done = func(ctx context.Context, it deem.Item, trial int) (bool, error) {
			if unfinished[ItemTrial{it.ID, trial}] {
				return false, nil
			}
			return job.done(ctx, it, trial)
		}
	}
	judge, salvage := job.Judge, NewSalvage(job.Judge)
	if !job.Run.Judge.Rule { // A rule asks nobody, or once for all.
		judge = salvage
	}
	commits := job.Commits
	commits.Waiting, commits.Committed = max(commits.MaxRows*3/4, waiting(opts.Concurrency)), job.tell
	w := store.NewWriter(job.Store, job.Run.ID, commits)
	// A call that was paid for is kept even when nobody waits for it any more.
	keep := context.WithoutCancel(ctx)
	var ended error
	put := func(rec deem.Record) error { return w.Put(keep, rec) }
	for rec, err := range deem.Run(ctx, job.Items, judge, opts) {
		if err == nil {
			err = put(rec)
		}
		if err != nil {
			ended = err
			break
		}
	}
	if ended != nil {
		if err := job.keepLeft(salvage, put); err != nil {
			ended = errors.Join(ended, err)
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return ended
}

// tell tells of records that are kept. That is some milliseconds after they were judged,
// when the next calls are on their way: before, it would keep these waiting.
func (job Job) tell(recs []deem.Record) {
	if job.Each == nil {
		return
	}
	for _, rec := range recs {
		job.Each(rec)
	}
}

// waiting returns how many records may wait for a commit: a kill costs them, as it costs
// the calls in flight, so that they are not more than these unless these are few.
func waiting(concurrency int) int { return max(96, concurrency) }

// keepLeft keeps what was paid for items that are not done. A stream that cannot be read
// again is no reason to lose it: the places of the items are then not known.
func (job Job) keepLeft(s *Salvage, put func(deem.Record) error) error {
	left, err := s.Left(job.Items)
	if err != nil {
		left = s.left
	}
	for _, rec := range left {
		if err := put(rec); err != nil {
			return err
		}
	}
	return nil
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

// done reports whether the run needs no further record of an item and trial.
func (job Job) done(ctx context.Context, it deem.Item, trial int) (bool, error) {
	status, err := job.Store.Status(ctx, job.Run.ID, it.ID, trial)
	return status == store.Judged || status == store.Unjudged && !job.RetryUnjudged, err
}

// End marks a run as done if err is nil. Otherwise it gives up the claim on it, so that
// somebody can go on with it later, and returns err.
func End(ctx context.Context, st store.Store, run store.Run, err error) error {
	if err != nil {
		// A claim that cannot be given up dies with the process.
		_ = st.Release(run.ID)
		return err
	}
	return st.Finish(ctx, run.ID)
}
