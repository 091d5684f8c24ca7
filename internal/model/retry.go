package model

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"deem"
	"deem/internal/money"
)

// RetryOptions say how often a request is repeated after a transient error.
type RetryOptions struct {
	Attempts int           // maximum number of attempts per request; 0 means 6, 1 means no retry
	Base     time.Duration // upper bound of the first pause, doubled after each attempt; 0 means 500 ms
	Max      time.Duration // the longest pause; 0 means 30 s

	// Rand returns the jitter, from 0 up to 1; nil means a random one.
	Rand func() float64
}

// The retries of a run have a budget, so that an outage cannot cause a retry storm. It holds
// fifty retries, and gains a fifth of a retry for each new request and five per second.
//
// If the budget is used up, a retry waits for its turn. It does not fail at once, as in a
// server that sheds load: here the next item would only call the same vendor, and an outage
// of a minute would cost thousands of verdicts.
const (
	budgetBurst      = 50
	budgetPerRequest = 0.2
	budgetPerSecond  = 5
)

const (
	// maxTimeouts is the maximum number of timeouts among the attempts of a request.
	maxTimeouts = 2

	// patience is the longest Retry-After, and the longest wait for the retry budget, before
	// the request is given up.
	patience = 2 * time.Minute
)

// A retrier is a model with retries. See newRetrier.
type retrier struct {
	decorator
	o      RetryOptions
	budget *bucket
}

// newRetrier returns a model that repeats a request while m returns a transient
// [*deem.ModelError]. Between attempts it waits a random time up to a bound that doubles,
// in addition to the vendor's Retry-After. The reply, or the last error, has the number of
// attempts. In a run that is stopped gracefully, only first attempts are made: see
// [deem.Stopping].
//
// A timeout is retried only once. It has already cost minutes and perhaps money, and a
// server that hangs usually keeps hanging.
func newRetrier(m deem.Model, o RetryOptions) *retrier {
	o.Attempts = cmp.Or(max(o.Attempts, 0), 6)
	o.Base = cmp.Or(max(o.Base, 0), 500*time.Millisecond)
	o.Max = cmp.Or(max(o.Max, 0), 30*time.Second)
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return &retrier{decorator: decorator{m}, o: o, budget: newBucket(budgetBurst, budgetPerSecond)}
}

// Complete returns the reply of the first attempt that succeeds.
func (r *retrier) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	r.budget.give(budgetPerRequest)
	timeouts := 0
	for attempt := 1; ; attempt++ {
		// An attempt that begins after the context is done would be paid for and discarded.
		if err := ctx.Err(); err != nil {
			return deem.Reply{}, err
		}
		start := time.Now()
		reply, err := r.inner.Complete(ctx, req)
		if err == nil {
			reply.Attempts = attempt
			return reply, nil
		}
		if me, ok := errors.AsType[*deem.ModelError](err); ok && me.Kind == deem.Timeout {
			timeouts++
		}
		pause, more := r.pause(err, attempt, timeouts)
		if !more {
			return deem.Reply{}, withAttempts(err, attempt)
		}
		if err := attempted(ctx, start, err); err != nil {
			return deem.Reply{}, withAttempts(err, attempt)
		}
		if err := money.Again(ctx); err != nil {
			return deem.Reply{}, withAttempts(refusal(err), attempt)
		}
		if err := cmp.Or(sleep(ctx, pause), stopping(ctx)); err != nil {
			return deem.Reply{}, err
		}
	}
}

// pause returns how long to wait after the given attempt, and false if there is no further
// attempt.
func (r *retrier) pause(err error, attempt, timeouts int) (time.Duration, bool) {
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Passing || me.Fatal || attempt >= r.o.Attempts || timeouts >= maxTimeouts || me.RetryAfter > patience {
		return 0, false
	}
	turn, ok := r.budget.take(1, patience)
	if !ok {
		return 0, false
	}
	if me.RetryAfter > 0 {
		// The vendor's Retry-After is a lower bound. Jitter is added so that clients
		// refused together do not return together; it does not double, because the vendor
		// knows better.
		return max(turn, me.RetryAfter+r.jitter(1)), true
	}
	return max(turn, r.jitter(attempt)), true
}

// jitter returns a random time up to Base doubled with each attempt, at most Max. It is at
// least a quarter of that: otherwise one request in six would by chance use up all attempts
// within two seconds of trouble.
func (r *retrier) jitter(attempt int) time.Duration {
	bound := r.o.Max
	if shift := attempt - 1; shift < 30 && r.o.Base<<shift < bound {
		bound = r.o.Base << shift
	}
	return bound/4 + time.Duration(r.o.Rand()*float64(bound-bound/4))
}

// withAttempts returns err with the number of attempts. It copies, because a wire may
// return the same error to many callers.
func withAttempts(err error, attempts int) error {
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok {
		return err
	}
	counted := *me
	counted.Attempts = attempts
	if err != error(me) { //nolint:errorlint // the question is whether anything is wrapped around it
		counted.Err = err // keep the wrapping error
	}
	return &counted
}
