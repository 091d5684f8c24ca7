// Package conduct takes a run to its end: it lets a judge go through the items that the
// run has no record of, and keeps every record the moment it exists.
//
// Commands and the server conduct runs alike, because they do it here. What they add
// around it is their own: a command shows progress on a terminal, and the server tells
// whoever asked over HTTP.
package conduct

import (
	"context"
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
	// Done is set here: what the run has a record of is not asked again.
	Options deem.Options

	// RetryUnjudged judges again what earlier parts of the run could not judge.
	RetryUnjudged bool

	// Each, if it is set, is told of every record that was handed to the store, one at
	// a time. It must not take long: no other record is kept meanwhile.
	Each func(rec deem.Record)
}

// Do goes through the items. What was judged is kept, however the run ends: when it is
// over, every record is committed. What ends it early comes as an error, as
// [deem.ErrStopped]; the run is then still claimed, as it is when all went well, and
// [End] says how it ended.
func (job Job) Do(ctx context.Context) error {
	opts := job.Options
	if job.Run.Records > 0 {
		opts.Done = job.done
	}
	w := store.NewWriter(job.Store, job.Run.ID, store.WriterOptions{})
	// A call that was paid for is kept even when nobody waits for it any more.
	keep := context.WithoutCancel(ctx)
	var ended error
	for rec, err := range deem.Run(ctx, job.Items, job.Judge, opts) {
		if err == nil {
			err = w.Put(keep, rec)
		}
		if err != nil {
			ended = err
			break
		}
		if job.Each != nil {
			job.Each(rec)
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return ended
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
