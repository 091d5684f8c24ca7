package run

import (
	"cmp"
	"context"
	"errors"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/wire"
)

// groupLines is the number of lines in one commit.
const groupLines = 256

// collect stores the results of a batch that has ended. It may be repeated: existing
// results are not changed.
func (r *runner) collect(ctx context.Context, b store.Batch) error {
	err := r.withRetries(ctx, func() error { return r.collectOnce(ctx, b) })
	if err != nil {
		return gone(b, err)
	}
	r.full = false
	b.State = store.BatchCollected
	return r.Store.PutBatch(context.WithoutCancel(ctx), r.RunID, b, nil)
}

func (r *runner) collectOnce(ctx context.Context, b store.Batch) error {
	lines := make([]store.BatchLine, 0, groupLines)
	replies, failed := 0, 0
	for reply, err := range r.Vendor.BatchReplies(ctx, b.ID) {
		if err != nil {
			return err
		}
		l, ok := r.line(b, reply)
		if !ok {
			continue
		}
		if l.Reply != nil {
			replies++
		} else {
			failed++
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

// line converts a vendor's result to a line. It reports false if the result does not belong
// to this batch. An error that would end the run counts as transient too: the next command
// reports it with its hint.
func (r *runner) line(b store.Batch, from wire.BatchReply) (store.BatchLine, bool) {
	key, ok := keyOf(b.Key, from.ID)
	if !ok {
		return store.BatchLine{}, false
	}
	l := store.BatchLine{Key: key}
	me, ok := errors.AsType[*deem.ModelError](from.Err)
	switch {
	case from.Err == nil:
		reply := from.Reply
		reply.Key, reply.Batch, reply.Attempts, reply.Latency = key, b.ID, 1, 0
		micros, known := r.Cost(reply)
		reply.CostMicros, reply.Unpriced = micros, !known
		l.Reply = &reply
	case ok:
		l.Failure = &deem.Failure{Kind: cmp.Or(me.Kind, deem.Provider), Detail: me.Error()}
		l.Passing = me.Passing || me.Fatal
	default:
		l.Failure, l.Passing = deem.Failf(deem.Provider, "%v", from.Err), true
	}
	return l, true
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
