package deem

import (
	"context"
	"errors"
	"iter"
	"math"
	"sync"
)

// Options say how a run goes about its work. The zero value is usable.
type Options struct {
	// Concurrency is how many items are judged at once; 0 means 8.
	Concurrency int

	// Trials is how often each item is judged; 0 means once.
	Trials int

	// Stop, once closed, is the gentle stop: no new item is taken, and calls that
	// are paid for finish and are kept. Cancelling the context is the hard stop.
	Stop <-chan struct{}

	// Done reports that the run has a record of this trial of the item already,
	// so that a resumed run asks only for what is missing; nil means that it has
	// none. It is called from one goroutine.
	Done func(ctx context.Context, it Item, trial int) (bool, error)
}

// ErrStopped is the last error of a run that was stopped gently before it came to
// the end of its items.
var ErrStopped = errors.New("stopped before the last item")

// Run judges the items and yields a record for each of their trials, in the order
// in which the judge is done with them. It takes items from the stream only as
// fast as it can judge them, so memory does not grow with their number.
//
// A failure of one item is data and comes in its record. What ends the run comes
// as an error with the zero Record, after the records of all items in flight: an
// error of the item stream, an error of the judge that is no [*Failure],
// [ErrStopped], or the error of ctx. Items that were interrupted have no record;
// they are simply not done yet.
//
// No goroutine outlives the loop. Breaking out of it cancels what is in flight.
func Run(ctx context.Context, items iter.Seq2[Item, error], j Judge, o Options) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := &runner{
			judge:  j,
			opts:   o,
			tasks:  make(chan task),
			done:   make(chan outcome),
			ending: make(chan struct{}),
		}
		r.start(ctx, items)

		var last error
		open := true // the caller still takes records
		for out := range r.done {
			switch {
			case out.err != nil && last == nil:
				last = out.err
				r.end()
			case out.err == nil && open && !yield(out.rec, nil):
				open = false
				r.end()
				cancel()
			}
		}
		if last == nil {
			last = ctx.Err()
		}
		if open && last != nil {
			yield(Record{}, last)
		}
	}
}

// A task is one trial of one item on its way to a worker.
type task struct {
	item     Item
	position int
	trial    int
}

// An outcome is the record of a task, or what ends the run.
type outcome struct {
	rec Record
	err error
}

// A runner holds what one feeder and its workers share.
type runner struct {
	judge Judge
	opts  Options
	tasks chan task
	done  chan outcome

	ending  chan struct{} // closed when no new task shall be taken
	endOnce sync.Once
}

// end makes the feeder take no further item.
func (r *runner) end() { r.endOnce.Do(func() { close(r.ending) }) }

// start starts the feeder and the workers. They are gone once r.done is closed.
func (r *runner) start(ctx context.Context, items iter.Seq2[Item, error]) {
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(r.tasks)
		if err := r.feed(ctx, items); err != nil {
			r.done <- outcome{err: err}
		}
	})
	for range or(r.opts.Concurrency, 8) {
		wg.Go(func() {
			for t := range r.tasks {
				if out, ok := r.work(ctx, t); ok {
					r.done <- out
				}
			}
		})
	}
	go func() {
		wg.Wait()
		close(r.done)
	}()
}

// or returns n, or otherwise when n is not positive.
func or(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// feed sends the tasks that are not done yet. Its error ends the run.
func (r *runner) feed(ctx context.Context, items iter.Seq2[Item, error]) error {
	position := 0
	for it, err := range items {
		if err != nil {
			return err
		}
		for trial := range or(r.opts.Trials, 1) {
			if stopped, err := r.stopped(ctx); stopped {
				return err
			}
			if r.opts.Done != nil {
				if done, err := r.opts.Done(ctx, it, trial); err != nil {
					return err
				} else if done {
					continue
				}
			}
			select {
			case r.tasks <- task{it, position, trial}:
			case <-r.opts.Stop:
				return ErrStopped
			case <-r.ending:
				return nil
			case <-ctx.Done():
				return nil
			}
		}
		position++
	}
	return nil
}

// stopped looks whether the feeder should stop, so that a long stretch of items
// that are done already can be interrupted too.
func (r *runner) stopped(ctx context.Context) (bool, error) {
	select {
	case <-r.opts.Stop:
		return true, ErrStopped
	case <-r.ending:
		return true, nil
	case <-ctx.Done():
		return true, nil
	default:
		return false, nil
	}
}

// work judges one task. It reports false when the task was interrupted.
func (r *runner) work(ctx context.Context, t task) (outcome, bool) {
	lctx, calls := WithLedger(ctx, t.trial)
	v, err := r.judge.Judge(lctx, t.item)
	if err != nil && ctx.Err() != nil {
		return outcome{}, false
	}
	rec := Record{Item: t.item, Position: t.position, Judge: r.judge.Name(), Trial: t.trial, Calls: calls()}
	if err == nil {
		err = v.check()
	}
	if err == nil {
		rec.Verdict = &v
		return outcome{rec: rec}, true
	}
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		return outcome{err: err}, true
	}
	rec.Failure = f
	return outcome{rec: rec}, true
}

// check holds a verdict to its promise, so that no judge, however careless, can
// bring a number into a report that is not one.
func (v Verdict) check() error {
	switch {
	case math.IsNaN(v.Score) || v.Score < 0 || v.Score > 1:
		return Failf(OutOfRange, "score %v lies outside 0 to 1", v.Score)
	case v.Confidence != nil && (math.IsNaN(*v.Confidence) || *v.Confidence < 0 || *v.Confidence > 1):
		return Failf(OutOfRange, "confidence %v lies outside 0 to 1", *v.Confidence)
	case v.Label == "":
		return Failf(Unparseable, "verdict without a label")
	}
	return nil
}
