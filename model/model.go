// Package model decorates models with retries, rate limits, caching, metering and budgets,
// so that a vendor's package only implements its wire format.
//
// Each decorator is a [deem.Model] around another one:
//
//   - [Cache] answers from replies that were paid for earlier;
//   - newProbing makes the first call alone, until the model is known to answer;
//   - newBreaker stops the run if the vendor is out of service;
//   - [Budget] starts no call that cannot be paid for;
//   - newRetrier retries transient errors;
//   - [Limit] keeps the number of calls near the vendor's capacity;
//   - [Meter] measures each attempt and computes its cost;
//   - [Spare] drops parameters that the vendor does not support.
//
// [Assemble] puts them around a wire in the required order, and [Embed] around an embedder.
// [As] finds a model inside an assembled one, for example the meter whose totals a progress
// line shows.
package model

import (
	"context"
	"time"

	"deem"
)

// Options configure [Assemble]. The zero value works for every vendor.
type Options struct {
	// Replies finds replies of earlier runs; nil means that only replies of this process
	// are reused.
	Replies ReplyCache

	Cache CacheOptions
	Break breakOptions
	Retry RetryOptions
	Limit LimitOptions

	// Purse pays for the calls of one run, and Total for those of several runs together;
	// nil means no limit.
	Purse, Total *Purse

	// Prices take precedence over the built-in price table; the zero value adds nothing.
	Prices Prices

	// Answered reports whether the model has answered requests of this kind before, for
	// example because the run is resumed. It is called once, see newProbing; nil means no.
	Answered func() bool
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
	return Cache(newProbing(resilient(wire, o), o.Answered), o.Replies, o.Cache)
}

// Shared puts around wire the decorators that all of its runs share: the limit and
// everything that [Assemble] puts inside it.
func Shared(wire deem.Model, o Options) *Limiter {
	return Limit(Meter(Spare(wire), o.Prices), o.Limit)
}

// resilient is [Assemble] without the cache and the probe. Embeddings use it too.
func resilient(wire deem.Model, o Options) deem.Model {
	shared, ok := wire.(*Limiter)
	if !ok {
		shared = Shared(wire, o)
	}
	m := deem.Model(newRetrier(shared, o.Retry))
	for _, purse := range []*Purse{o.Total, o.Purse} {
		if purse != nil {
			m = Budget(m, purse, o.Prices)
		}
	}
	return newBreaker(m, o.Break)
}

// A Wrapper is a model around another one. All decorators of this package are
// wrappers.
type Wrapper interface {
	Unwrap() deem.Model
}

// As returns the outermost model of type T in m: m itself or a model that it wraps.
func As[T any](m deem.Model) (T, bool) {
	for m != nil {
		if found, ok := m.(T); ok {
			return found, true
		}
		w, ok := m.(Wrapper)
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
