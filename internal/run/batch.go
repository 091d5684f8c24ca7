package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"deem"
	"deem/internal/model"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/wire"
)

// BatchOptions configures [Batch].
type BatchOptions struct {
	Store  store.Batches
	RunID  string
	Vendor wire.Batcher

	// Requests are the missing requests of the run, possibly with duplicates. They are
	// iterated more than once, and must be the same each time.
	Requests iter.Seq2[deem.Request, error]

	// Cost returns the cost of a reply in a batch, and reports whether it is known.
	Cost func(reply deem.Reply) (micros int64, known bool)

	// Most returns the maximum cost of a request in a batch. It is called only if there
	// is a Budget.
	Most func(req deem.Request) int64

	// Budget is what all batches of the run whose cost is not yet in records may cost
	// together; nil means no limit.
	Budget *int64

	// MaxLines is the maximum number of requests in a batch; 0 means the vendor's
	// limit.
	MaxLines int

	// Poll is the polling interval; 0 means five seconds at first, growing up to a
	// minute.
	Poll time.Duration

	// Tell, if not nil, is called with progress messages.
	Tell func(words string)
}

const (
	// The default intervals.
	firstPoll   = 5 * time.Second
	longestPoll = time.Minute

	// settle is how long a batch may take to appear at the vendor after it was submitted.
	settle = 30 * time.Second
)

// A BudgetError means that the missing requests may cost more than is left.
type BudgetError struct {
	Lines      int   // missing requests
	Most, Left int64 // in millionths of a US dollar
}

// Error returns both amounts.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("a batch of %d requests may cost %d millionths of a dollar, and %d are left", e.Lines, e.Most, e.Left)
}

// Batch ensures that every missing request of the run has been in a batch, and that all
// results of the batches are in the store.
//
// A batch has three states, and each is stored before the next step is taken. It is
// planned, with the keys of its requests, before it is submitted; submitted, with the
// vendor's id, when the vendor has confirmed it; and collected when all replies are stored.
// A process that finds a planned batch does not know whether the vendor has it, so it asks
// the vendor, which can find it by its key. Only if the vendor is sure that the batch does
// not exist is the plan dropped, and its requests are planned again.
//
// If Batch is interrupted, it returns the error of ctx. The batches continue, and Batch may be
// called again, also by another process. A request that fails does not fail Batch.
func Batch(ctx context.Context, o BatchOptions) error {
	r := &runner{BatchOptions: o, size: o.MaxLines, reported: map[string]int{}}
	if r.Tell == nil {
		r.Tell = func(string) {}
	}
	if limit := o.Vendor.BatchLimits().Lines; r.size <= 0 || r.size > limit {
		r.size = limit
	}
	// Determine the state of the batches of earlier processes.
	list, err := r.Store.Batches(ctx, r.RunID)
	if err != nil {
		return err
	}
	for _, b := range list {
		if b.State == store.BatchSubmitted {
			r.reportf("batch %s resumes: %d requests", b.ID, b.Lines)
			r.running = append(r.running, b)
		}
	}
	for _, b := range list {
		if b.State != store.BatchPlanned {
			continue
		}
		r.reportf("a batch of %d requests was about to be submitted; asking the vendor whether it has it", b.Lines)
		found, err := r.look(ctx, &b)
		if err != nil {
			return err
		}
		if found {
			r.reportf("batch %s was submitted before: %d requests", b.ID, b.Lines)
			continue
		}
		if err := r.Store.DropBatch(ctx, r.RunID, b.Key); err != nil {
			return err
		}
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
	BatchOptions
	size int // maximum number of lines in a batch

	running []store.Batch // batches at the vendor

	// full means that the vendor accepts no more until a batch has ended.
	full bool

	pause    time.Duration  // before the next poll
	reported map[string]int // number of finished lines of each batch in the last message
}

// afford returns an error, before anything is submitted, if the requests may cost more than
// is left.
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
		if key := model.Key(r.Vendor, req); !seen[key] {
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

// missing yields the requests that are not yet in a batch.
func (r *runner) missing(ctx context.Context) iter.Seq2[deem.Request, error] {
	return func(yield func(deem.Request, error) bool) {
		for req, err := range r.Requests {
			known := false
			if err == nil {
				_, known, err = r.Store.BatchLine(ctx, r.RunID, model.Key(r.Vendor, req))
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

// poll checks each batch at the vendor, and collects those that have ended.
func (r *runner) poll(ctx context.Context) error {
	var still []store.Batch
	for i, b := range r.running {
		var st wire.BatchStatus
		err := r.withRetries(ctx, func() (err error) {
			st, err = r.Vendor.BatchStatus(ctx, b.ID)
			return err
		})
		if err != nil {
			return gone(b, err)
		}
		switch st.State {
		case wire.BatchEnded:
			if err := r.withRetries(ctx, func() error { return r.collect(ctx, b) }); err != nil {
				return gone(b, err)
			}
			r.full = false
			b.State = store.BatchCollected
			err = r.Store.PutBatch(context.WithoutCancel(ctx), r.RunID, b, nil)
		case wire.BatchRefused:
			err = r.refused(ctx, b, st.Err, len(still)+len(r.running)-i-1)
		default:
			still = append(still, b)
			if last, ok := r.reported[b.ID]; !ok || last != st.Done {
				r.reported[b.ID] = st.Done
				r.pause = 0 // There was progress, so poll again soon.
				r.reportf("batch %s: %d of %d done", b.ID, st.Done, max(st.Total, b.Lines))
			}
		}
		if err != nil {
			return err
		}
	}
	r.running = still
	return nil
}

// refused releases the requests of a batch that the vendor did not begin. If the vendor is
// overloaded, they are submitted again after one of the other batches has ended. If there
// is no other, the batch itself is too large, and is split in two.
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
		r.reportf("the vendor has no room for batch %s yet; it is submitted again when another has ended", b.ID)
	case b.Lines > 1:
		r.size, r.full = (b.Lines+1)/2, false
		r.reportf("the vendor has no room for a batch of %d requests; trying %d", b.Lines, r.size)
	default:
		return deem.WithHint(why, "the vendor has no room for a single request; run the same command again later")
	}
	return nil
}

func (r *runner) reportf(format string, args ...any) { r.Tell(fmt.Sprintf(format, args...)) }

// RefuseBatch returns an error for a run whose requests are in batches, because direct calls
// would be paid for twice.
func RefuseBatch(ctx context.Context, st store.Store, runID string) error {
	bs, ok := st.(store.Batches)
	if !ok {
		return nil
	}
	list, err := bs.Batches(ctx, runID)
	if err != nil || len(list) == 0 {
		return err
	}
	return usage.Mark(deem.WithHint(fmt.Errorf("run %s has requests in batches, which would be paid for twice", runID),
		"resume it with --batch, or start over with --fresh"))
}

// ForgetBatch removes the batches of a run that is done: its records contain the results.
func ForgetBatch(ctx context.Context, st store.Store, runID string) error {
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

// groupLines is the number of lines in one commit.
const groupLines = 256

// collect stores the results of a batch that has ended. It may be repeated: existing
// results are not changed. An error that would end the run counts as transient too: the
// next command reports it with its hint.
func (r *runner) collect(ctx context.Context, b store.Batch) error {
	lines := make([]store.BatchLine, 0, groupLines)
	replies, failed := 0, 0
	for result, err := range r.Vendor.BatchReplies(ctx, b.ID) {
		if err != nil {
			return err
		}
		key, ok := keyOf(b.Key, result.ID)
		if !ok {
			continue // It does not belong to this batch.
		}
		l := store.BatchLine{Key: key}
		if result.Err == nil {
			replies++
			reply := result.Reply
			reply.Key, reply.Batch, reply.Attempts, reply.Latency = key, b.ID, 1, 0
			micros, known := r.Cost(reply)
			reply.CostMicros, reply.Unpriced = micros, !known
			l.Reply = &reply
		} else {
			failed++
			l.Failure, l.Passing = deem.Failf(deem.Provider, "%v", result.Err), true
			if me, ok := errors.AsType[*deem.ModelError](result.Err); ok {
				l.Failure = &deem.Failure{Kind: cmp.Or(me.Kind, deem.Provider), Detail: me.Error()}
				l.Passing = me.Passing || me.Fatal
			}
		}
		if lines = append(lines, l); len(lines) == groupLines {
			if err := r.Store.PutBatch(ctx, r.RunID, b, lines); err != nil {
				return err
			}
			lines = lines[:0]
		}
	}
	if err := r.Store.PutBatch(ctx, r.RunID, b, lines); err != nil {
		return err
	}
	r.reportf("batch %s has ended: %d answered, %d not", b.ID, replies, max(failed, b.Lines-replies))
	return nil
}

// withRetries retries do after transient errors.
func (r *runner) withRetries(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil || !passing(err) || ctx.Err() != nil || try >= tries {
			return err
		}
		me, _ := errors.AsType[*deem.ModelError](err)
		if err := r.wait(ctx, max(me.RetryAfter, backOff(try))); err != nil {
			return err
		}
	}
}

// gone adds a hint to the error of a batch that the vendor no longer has: results are kept
// for some weeks.
func gone(b store.Batch, err error) error {
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || me.Status != 404 {
		return err
	}
	return deem.WithHint(err, "the vendor has no batch %s for this key: use the key that submitted it, or start over with --fresh", b.ID)
}

// passing reports whether an error is transient.
func passing(err error) bool {
	me, ok := errors.AsType[*deem.ModelError](err)
	return ok && me.Passing
}

// backOff returns the time to wait after the n-th error in a row.
func backOff(n int) time.Duration {
	return min(time.Second<<min(n-1, 6), longestPoll)
}

// interval returns the time to wait before the next poll. It grows each time.
func (r *runner) interval(grow bool) time.Duration {
	if r.Poll > 0 {
		return r.Poll
	}
	if r.pause <= 0 {
		r.pause = firstPoll
	}
	d := r.pause
	if grow {
		r.pause = min(r.pause*3/2, longestPoll)
	}
	return d
}

// wait waits, or returns the error of ctx.
func (r *runner) wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
