// Package batch takes the requests of a run through the batch endpoint of a vendor, which
// answers within a day and charges less.
//
// [Run] is the first half: it cuts the requests that the run misses into batches, submits
// them, waits, and keeps what came of each line in the store. It notes what it is about to
// do before it does it, so a process that is killed at any moment leaves a batch behind
// that the next one picks up, and none is submitted twice. See [Run] for how.
//
// [Model] is the second half: a model that answers from what the batches brought, so that
// the run itself goes as it always goes. What no batch answered is asked in the ordinary
// way.
package batch

import (
	"context"
	"fmt"
	"iter"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/usage"
)

// Options say which requests go into batches, and how.
type Options struct {
	Store  store.Batches
	RunID  string
	Vendor deem.Batcher

	// Key returns the content address of the reply to a request, as 64 hexadecimal
	// digits.
	Key func(req deem.Request) string

	// Requests are those that the run misses. The same one may come again. They are
	// gone through more than once, and are the same each time.
	Requests iter.Seq2[deem.Request, error]

	// Cost returns what a reply cost in a batch, and whether that is known.
	Cost func(reply deem.Reply) (micros int64, known bool)

	// Most returns the most that a request can cost in a batch. It is asked only
	// when there is a Budget.
	Most func(req deem.Request) int64

	// Budget is what all batches of the run may cost together, of which records know
	// nothing yet; nil means any sum.
	Budget *int64

	// MaxLines is how many requests a batch has at most; 0 means as many as the vendor
	// takes.
	MaxLines int

	// Poll is how long to wait between two looks at the batches; 0 means five seconds
	// at first, and longer and longer up to a minute.
	Poll time.Duration

	// Settle is how long a batch may take to show up at the vendor after it was
	// submitted; 0 means 30 seconds.
	Settle time.Duration

	// Folder is where lines are kept until they are submitted; "" means that of the
	// system for such files.
	Folder string

	// Tell is told what happens, in words; nil means nobody is.
	Tell func(words string)
}

// The defaults of waiting.
const (
	firstPoll   = 5 * time.Second
	longestPoll = time.Minute
	settle      = 30 * time.Second
)

func (o Options) withDefaults() Options {
	if o.Settle <= 0 {
		o.Settle = settle
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	return o
}

// A BudgetError says that the requests that are missing may cost more than is left.
type BudgetError struct {
	Lines      int   // that are missing
	Most, Left int64 // in millionths of a US dollar
}

// Error returns both sums.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("a batch of %d requests may cost %d millionths of a dollar, and %d are left", e.Lines, e.Most, e.Left)
}

// Run brings the run to where every request that it misses has been in a batch, and all
// that came of the batches is in the store.
//
// A batch goes through three states, and each is in the store before the next step is
// taken. It is planned, with the keys of its requests, before it is submitted; submitted,
// with the vendor's id, when the vendor has said so; and collected when all replies are
// kept. A process that finds a planned batch does not know whether the vendor has it, so the vendor
// is asked, which knows it by our key. Only when the vendor is sure that it has no such batch
// is the plan dropped, and its requests are planned anew.
//
// The error is that of ctx when Run was interrupted; the batches go on, and Run may be
// called again, also by another process. A request that fails does not fail Run.
func Run(ctx context.Context, o Options) error {
	r := &runner{Options: o.withDefaults(), size: o.MaxLines}
	if limit := o.Vendor.BatchLimits().Lines; r.size <= 0 || r.size > limit {
		r.size = limit
	}
	if err := r.recover(ctx); err != nil {
		return err
	}
	if err := r.afford(ctx); err != nil {
		return err
	}
	for {
		if !r.full {
			if err := r.submitMissing(ctx); err != nil {
				return err
			}
		}
		if len(r.running) == 0 {
			return nil
		}
		if err := r.wait(ctx, r.interval(true)); err != nil {
			return err
		}
		if err := r.poll(ctx); err != nil {
			return err
		}
	}
}

// A runner is one call of Run. It belongs to one goroutine.
type runner struct {
	Options
	size int // how many lines a batch has at most

	running []store.Batch // those that the vendor has

	// full means that the vendor takes no more before a batch has ended.
	full bool

	pause time.Duration  // before the next look
	told  map[string]int // how many lines of each batch were done when it was last told
}

// recover finds out what became of the batches of earlier processes.
func (r *runner) recover(ctx context.Context) error {
	list, err := r.Store.Batches(ctx, r.RunID)
	if err != nil {
		return err
	}
	for _, b := range list {
		if b.State == store.BatchSubmitted {
			r.tellf("batch %s resumes: %d requests", b.ID, b.Lines)
			r.running = append(r.running, b)
		}
	}
	for _, b := range list {
		if b.State != store.BatchPlanned {
			continue
		}
		r.tellf("a batch of %d requests was about to be submitted; asking the vendor whether it has it", b.Lines)
		found, err := r.look(ctx, &b)
		if err != nil {
			return err
		}
		if found {
			r.tellf("batch %s was submitted before: %d requests", b.ID, b.Lines)
			continue
		}
		if err := r.Store.DropBatch(ctx, r.RunID, b.Key); err != nil {
			return err
		}
	}
	return nil
}

// afford refuses to begin what may cost more than is left: nothing is submitted then.
func (r *runner) afford(ctx context.Context) error {
	if r.Budget == nil {
		return nil
	}
	e := &BudgetError{Left: *r.Budget}
	list, err := r.Store.Batches(ctx, r.RunID)
	if err != nil {
		return err
	}
	for _, b := range list {
		if b.State == store.BatchCollected {
			e.Left -= b.OwedMicros
		} else {
			e.Left -= b.MostMicros
		}
	}
	seen := map[string]bool{}
	for req, err := range r.missing(ctx) {
		if err != nil {
			return err
		}
		if key := r.Key(req); !seen[key] {
			seen[key] = true
			e.Lines++
			e.Most += r.Most(req)
		}
	}
	if e.Lines > 0 && e.Most > e.Left {
		return e
	}
	return nil
}

// missing yields the requests that are in no batch yet.
func (r *runner) missing(ctx context.Context) iter.Seq2[deem.Request, error] {
	return func(yield func(deem.Request, error) bool) {
		for req, err := range r.Requests {
			known := false
			if err == nil {
				_, known, err = r.Store.BatchLine(ctx, r.RunID, r.Key(req))
			}
			if known {
				continue
			}
			if !yield(req, err) || err != nil {
				return
			}
		}
	}
}

// poll looks at each batch that the vendor has, and collects those that have ended.
func (r *runner) poll(ctx context.Context) error {
	var still []store.Batch
	for i, b := range r.running {
		st, err := r.status(ctx, b)
		if err != nil {
			return err
		}
		over := true
		switch st.State {
		case deem.BatchEnded:
			err = r.collect(ctx, b)
		case deem.BatchRefused:
			err = r.refused(ctx, b, st.Err, len(still)+len(r.running)-i-1)
		default:
			over = false
			r.tellProgress(b, st)
		}
		if err != nil {
			return err
		}
		if !over {
			still = append(still, b)
		}
	}
	r.running = still
	return nil
}

// refused gives the requests of a batch back that the vendor did not begin. When it has too
// much to do already, they are submitted again once one of the other batches has ended. If
// there is no other, the batch itself is too much, and is cut in two.
func (r *runner) refused(ctx context.Context, b store.Batch, why error, others int) error {
	if err := r.Store.DropBatch(ctx, r.RunID, b.Key); err != nil {
		return err
	}
	if !passing(why) {
		return why
	}
	switch {
	case others > 0:
		r.full = true
		r.tellf("the vendor has no room for batch %s yet; it is submitted again when another has ended", b.ID)
	case b.Lines > 1:
		r.size, r.full = (b.Lines+1)/2, false
		r.tellf("the vendor has no room for a batch of %d requests; trying %d", b.Lines, r.size)
	default:
		return deem.WithHint(why, "the vendor has no room for a single request; run the same command again later")
	}
	return nil
}

// tellProgress says how far a batch is when that has changed.
func (r *runner) tellProgress(b store.Batch, st deem.BatchStatus) {
	if r.told == nil {
		r.told = map[string]int{}
	}
	if last, ok := r.told[b.ID]; ok && last == st.Done {
		return
	}
	r.told[b.ID] = st.Done
	r.pause = 0 // It moves, so the next look may be soon.
	r.tellf("batch %s: %d of %d done", b.ID, st.Done, max(st.Total, b.Lines))
}

func (r *runner) tellf(format string, args ...any) { r.Tell(fmt.Sprintf(format, args...)) }

// Refuse returns an error for a run whose requests are in batches. Who asks them in another
// way pays for them twice.
func Refuse(ctx context.Context, st store.Store, runID string) error {
	bs, ok := st.(store.Batches)
	if !ok {
		return nil
	}
	list, err := bs.Batches(ctx, runID)
	if err != nil || len(list) == 0 {
		return err
	}
	return usage.Mark(deem.WithHint(fmt.Errorf("run %s has requests in batches, which would be paid for twice", runID),
		"deem run --batch resumes it, and deem run --fresh starts over"))
}

// Forget forgets the batches of a run that is done: its records have what they brought.
func Forget(ctx context.Context, st store.Store, runID string) error {
	bs, ok := st.(store.Batches)
	if !ok {
		return nil
	}
	list, err := bs.Batches(ctx, runID)
	for _, b := range list {
		if err == nil && b.State == store.BatchCollected {
			err = bs.DropBatch(ctx, runID, b.Key)
		}
	}
	return err
}
