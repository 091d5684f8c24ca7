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

// Options configure a run. The zero value is usable.
type Options struct {
	// Concurrency is how many items are judged at once; 0 means 8.
	Concurrency int

	// Trials is how many times each item is judged; 0 means once.
	Trials int

	// Stop, when closed, stops the run gracefully: no new item is started, and calls in
	// flight finish and are kept. A model that waits before a call or a retry learns of
	// it from [Stopping]. Cancelling the context stops the run immediately.
	Stop <-chan struct{}

	// Done reports whether this trial of the item already has a record, so that a
	// resumed run judges only what is missing; nil means that there are no records. It
	// is called from one goroutine.
	Done func(ctx context.Context, it Item, trial int) (bool, error)
}

// ErrStopped is the last error of a run that was stopped gracefully before its last item.
var ErrStopped = errors.New("stopped before the last item")

type stopKey struct{}

// Stopping returns a channel that is closed when the run that ctx belongs to is stopped
// gracefully. A call that is still waiting, for a free slot or for an outage to pass, then
// returns [ErrStopped], and its item has no record; a call in flight continues. The channel
// is nil if ctx belongs to no run.
func Stopping(ctx context.Context) <-chan struct{} {
	stop, _ := ctx.Value(stopKey{}).(<-chan struct{})
	return stop
}

// Buffer sizes. The calls of many workers tend to end at the same time; without buffers each
// worker waited a third of a millisecond per call for the feeder and the caller.
const (
	readAhead = 64 // items waiting for a worker, at most as many as there are workers
	handOver  = 32 // records waiting for the caller
)

// Run judges the items and yields a record for each trial of each item, in the order in
// which they finish. It reads items only a few ahead of judging, so memory does not grow
// with their number.
//
// A failure of one item is part of its record. An error that ends the run is yielded with
// the zero Record, after the records of all items in flight: an error of the item stream,
// an error of the judge that is not a [*Failure], [ErrStopped], or the error of ctx.
// Interrupted items have no record; a resumed run judges them.
//
// No goroutine outlives the loop. Breaking out of the loop cancels the calls in flight.
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
		open := true // the caller still accepts records
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

// A task is one trial of one item.
type task struct {
	item     Item
	position int
	trial    int
}

// An outcome is the record of a task, or the error that ends the run.
type outcome struct {
	rec Record
	err error
}

// A runner is the state shared by the feeder and the workers.
type runner struct {
	judge Judge
	opts  Options
	tasks chan task
	done  chan outcome

	ending  chan struct{} // closed when no new task may start
	endOnce sync.Once

	early error       // why not every item was fed; read it only after done is closed
	left  atomic.Bool // the graceful stop left a task that was fed without a record
}

// end makes the feeder stop reading items, and the workers skip those already read.
func (r *runner) end() { r.endOnce.Do(func() { close(r.ending) }) }

// start starts the feeder and the workers. All have returned when r.done is closed.
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

// workAll judges one task after another. Once the run is ending it skips tasks that were
// read ahead, because they would cost money and nobody waits for them.
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
			r.end() // Before another worker makes a call that fails the same way.
		}
		if ok {
			r.done <- out
		}
	}
}

// or returns n if it is positive, and otherwise standard.
func or(n, standard int) int {
	if n > 0 {
		return n
	}
	return standard
}

// feed sends the tasks that have no record yet. Its error ends the run.
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
					r.end() // A store that cannot be read can hardly be written.
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

// over reports whether no further task may start. The error is [ErrStopped] if the graceful
// stop is the only reason.
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
	rec := Record{Item: t.item, Position: t.position, Judge: r.judge.Name(), Trial: t.trial, Calls: calls(), Answer: AnswerOf(lctx)}
	if rec.Answer != nil {
		rec.Item.Response = *rec.Answer
	}
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

// check validates a verdict, so that a faulty judge cannot bring an invalid number into a
// report.
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
