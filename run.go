package deem

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"sync"
	"sync/atomic"
)

// Options say how a run goes about its work. The zero value is usable.
type Options struct {
	// Concurrency is how many items are judged at once; 0 means 8.
	Concurrency int

	// Trials is how often each item is judged; 0 means once.
	Trials int

	// Stop, once closed, is the gentle stop: no new item is taken, and calls that
	// are paid for finish and are kept. A model that waits to make a call, or to make
	// it again, learns of it from [Stopping]. Cancelling the context is the hard stop.
	Stop <-chan struct{}

	// Done reports that the run has a record of this trial of the item already,
	// so that a resumed run asks only for what is missing; nil means that it has
	// none. It is called from one goroutine.
	Done func(ctx context.Context, it Item, trial int) (bool, error)
}

// ErrStopped is the last error of a run that was stopped gently before it came to
// the end of its items.
var ErrStopped = errors.New("stopped before the last item")

type stopKey struct{}

// Stopping returns a channel that is closed when the run for which ctx was made is
// stopped gently. A call that waits to be made, as for a place or for an outage to
// pass, ends with [ErrStopped] then, and its item is not done; a call that has begun
// goes on. The channel is nil where there is no such run.
func Stopping(ctx context.Context) <-chan struct{} {
	stop, _ := ctx.Value(stopKey{}).(<-chan struct{})
	return stop
}

// How far the parts of a run may be ahead of each other. The calls of many workers tend
// to end together, and then each wants to hand its record over and to have its next item
// at once: without these it waited for the one that reads items and the one that takes
// records, a third of a millisecond for each call.
const (
	readAhead = 64 // items that wait for a worker at most, and not more than there are workers
	handOver  = 32 // records that wait for the caller at most
)

// Run judges the items and yields a record for each of their trials, in the order
// in which the judge is done with them. It takes items from the stream only as
// fast as it can judge them, a few ahead, so memory does not grow with their number.
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
		if o.Stop != nil {
			ctx = context.WithValue(ctx, stopKey{}, o.Stop)
		}
		r := &runner{
			judge:  j,
			opts:   o,
			tasks:  make(chan task, min(readAhead, or(o.Concurrency, 8))),
			done:   make(chan outcome, handOver),
			ending: make(chan struct{}),
		}
		r.start(ctx, items)

		var fatal error
		open := true // the caller still takes records
		for out := range r.done {
			switch {
			case out.err != nil:
				fatal = cmp.Or(fatal, out.err)
			case open && !yield(out.rec, nil):
				open = false
				r.end()
				cancel()
			}
		}
		if last := cmp.Or(fatal, r.early, ctx.Err()); open && last != nil {
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

	ending  chan struct{} // closed when no new task shall be begun
	endOnce sync.Once

	early error       // why not every item was fed; to be read once done is closed
	left  atomic.Bool // a task was fed, and not begun or not finished because of the gentle stop
}

// end makes the feeder take no further item, and the workers none that was read ahead.
func (r *runner) end() { r.endOnce.Do(func() { close(r.ending) }) }

// start starts the feeder and the workers. They are gone once r.done is closed.
func (r *runner) start(ctx context.Context, items iter.Seq2[Item, error]) {
	var feeder, workers sync.WaitGroup
	feeder.Go(func() {
		defer close(r.tasks)
		r.early = r.feed(ctx, items)
	})
	for range or(r.opts.Concurrency, 8) {
		workers.Go(func() { r.workAll(ctx) })
	}
	go func() {
		feeder.Wait()
		workers.Wait()
		if r.early == nil && r.left.Load() {
			r.early = ErrStopped
		}
		close(r.done)
	}()
}

// workAll judges task after task. What was read ahead when the run came to its end is
// not begun: nobody would wait for it, and it costs money.
func (r *runner) workAll(ctx context.Context) {
	for t := range r.tasks {
		if over, err := r.over(ctx); over {
			if err != nil {
				r.left.Store(true)
			}
			continue
		}
		out, ok := r.work(ctx, t)
		if out.err != nil {
			r.end() // Before the record of another is taken, and a call is made that fails alike.
		}
		if ok {
			r.done <- out
		}
	}
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
			if over, err := r.over(ctx); over {
				return err
			}
			if r.opts.Done != nil {
				if done, err := r.opts.Done(ctx, it, trial); err != nil {
					r.end() // What cannot be looked up can hardly be kept.
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

// over reports whether no task shall be begun any more. The error is [ErrStopped] if
// only the gentle stop is why.
func (r *runner) over(ctx context.Context) (bool, error) {
	select {
	case <-r.ending:
		return true, nil
	case <-ctx.Done():
		return true, nil
	default:
	}
	select {
	case <-r.opts.Stop:
		return true, ErrStopped
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
	if errors.Is(err, ErrStopped) {
		r.left.Store(true)
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
