// Package model decorates models with retries, rate limits, caching, metering and budgets,
// so that a vendor's package only implements its wire format.
//
// Each decorator is a [deem.Model] around another one:
//
//   - the cache answers from replies that were paid for earlier;
//   - the probe makes the first call alone, until the model is known to answer;
//   - the breaker stops the run if the vendor is out of service;
//   - the budget starts no call that cannot be paid for;
//   - the retrier retries transient errors;
//   - the limiter keeps the number of calls near the vendor's capacity;
//   - the meter measures each attempt and computes its cost;
//   - the innermost one drops parameters that the vendor does not support.
//
// [Assemble] puts them around a wire in the required order. [TotalsOf] returns the counts of
// the meter, and [As] finds any other part of an assembled model.
package model

import (
	"context"
	"time"

	"deem"
	"deem/internal/money"
)

// Options configure [Assemble]. The zero value works for every vendor.
type Options struct {
	// Replies finds replies of earlier runs; nil means that only replies of this process
	// are reused.
	Replies ReplyCache

	Cache CacheOptions
	Retry RetryOptions
	Limit LimitOptions

	// Budget pays for the calls of one run, and Total for those of several runs together;
	// nil means no limit.
	Budget, Total *money.Budget

	// Prices take precedence over the built-in price table; the zero value adds nothing.
	Prices Prices

	// Answered reports whether the model has answered requests of this kind before, for
	// example because the run is resumed. It is called at most once; nil means no.
	Answered func() bool

	// OnAbsence is called once, without delay, with the first error that says that the
	// server is absent, if the server has never answered. Retries would hide that error
	// for a while. It may be nil.
	OnAbsence func(error)
}

// Assemble puts the decorators around wire. From the outside in:
//
//   - the cache is outermost, because a cached reply must cost neither money nor a
//     slot nor an attempt;
//   - the probe is inside the cache, because a cached reply says nothing about the
//     model now, and outside all else, so that callers waiting for the first reply hold
//     neither money nor a slot;
//   - the breaker is outside the budget, so that callers waiting for the end of an
//     outage hold no money, and outside the retries, so that it counts failed requests
//     and not attempts;
//   - the budget is inside the cache because cached replies are free, and outside
//     the retries so that one decision covers a request;
//   - retries are outside the limit, so that a request waiting for its retry holds no
//     slot, and so that each attempt queues and the limit sees each 429;
//   - the limit is outside the meter, so that waiting for a slot does not count as the
//     model's latency;
//   - the meter sees each attempt as the vendor bills it;
//   - repeating a request without a parameter counts as one attempt, since vendors do
//     not charge for a request that they reject.
//
// A wire returned by [Shared] already has the limit and everything inside it.
func Assemble(wire deem.Model, o Options) deem.Model {
	if _, ok := wire.(*limiter); !ok {
		wire = Shared(wire, o)
	}
	m := deem.Model(newRetrier(wire, o.Retry))
	for _, b := range []*money.Budget{o.Total, o.Budget} {
		if b != nil {
			m = newBudgeted(m, b, o.Prices)
		}
	}
	m = newBreaker(m, o.OnAbsence)
	m = newProbing(m, o.Answered)
	if o.Cache.Off {
		return m
	}
	return Cache(m, o.Replies, o.Cache)
}

// Shared puts around wire the decorators that all of its runs share: the limit and
// everything that [Assemble] puts inside it.
func Shared(wire deem.Model, o Options) deem.Model {
	return newLimiter(newMeter(newParamFilter(wire), o.Prices), o.Limit)
}

// A decorator is the part that all decorators have in common: the model inside.
type decorator struct{ inner deem.Model }

// Name returns the name of the model inside.
func (d decorator) Name() string { return d.inner.Name() }

// Unwrap returns the model inside.
func (d decorator) Unwrap() deem.Model { return d.inner }

// As returns the outermost model of type T in m: m itself or a model that it wraps. A
// decorator has a method Unwrap that returns the model inside.
func As[T any](m deem.Model) (T, bool) {
	for m != nil {
		if found, ok := m.(T); ok {
			return found, true
		}
		w, ok := m.(interface{ Unwrap() deem.Model })
		if !ok {
			break
		}
		m = w.Unwrap()
	}
	var none T
	return none, false
}

// Endpoint returns the address of the server that m calls, or "" if there is none. The same
// model name at two addresses is two models: their replies are never mixed.
func Endpoint(m deem.Model) string {
	if e, ok := As[interface{ Endpoint() string }](m); ok {
		return e.Endpoint()
	}
	return ""
}

// sleep waits for d. If ctx is done, or the run is stopped gracefully or by its breaker, it
// returns that error, without waiting if this was already so.
func sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	over, why := stopped(ctx)
	select {
	case <-t.C:
		return nil
	case <-over:
		return why()
	case <-deem.Stopping(ctx):
		return deem.ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stopping returns [deem.ErrStopped] once the run of ctx is stopped gracefully.
func stopping(ctx context.Context) error {
	select {
	case <-deem.Stopping(ctx):
		return deem.ErrStopped
	default:
		return nil
	}
}
