// Package model decorates models: it tries again, slows down, remembers, counts
// and pays, so that a vendor's package need only speak its wire format.
//
// Each decorator is a [deem.Model] around another one:
//
//   - [Cache] answers from replies that were paid for earlier;
//   - newProbing asks a model alone until it is known to answer;
//   - newBreaker stops the run when the vendor is out of service;
//   - [Budget] starts no call that cannot be paid for;
//   - newRetrier asks again when an error may pass;
//   - [Limit] keeps the number of calls at what the vendor bears;
//   - [Meter] measures each attempt and says what it cost;
//   - [Spare] goes without parameters that the vendor does not support.
//
// [Assemble] puts them around a wire in the one order that makes sense, and [Embed]
// around an embedder. What
// lies inside an assembled model is found again with [As], for instance the
// meter whose totals a progress line shows.
package model

import (
	"context"
	"time"

	"deem"
)

// Options say how [Assemble] decorates a wire. The zero value is a sensible
// choice for every vendor.
type Options struct {
	// Replies is where replies of earlier runs are found; nil means that only
	// this process is remembered.
	Replies ReplyCache

	Cache CacheOptions
	Break breakOptions
	Retry RetryOptions
	Limit LimitOptions

	// Purse pays for the calls of one run, and Total for those of several runs together; nil
	// means that they may cost what they cost.
	Purse, Total *Purse

	// Prices go before the built-in price table; the zero value adds nothing.
	Prices Prices

	// Answered reports whether the model has answered requests of this kind before, for
	// example because the run is resumed. It is asked once, see newProbing; nil means no.
	Answered func() bool
}

// Assemble puts the decorators around wire. From the outside in:
//
//   - the cache is outermost, because a reply that is known must cost neither
//     money nor a place in the queue nor an attempt;
//   - the probe is inside the cache, because a reply that is known tells nothing about
//     the model now, and outside all else, so that those who wait for the first reply hold
//     neither money nor a place;
//   - the breaker is outside the budget, so that those who wait for an outage to
//     pass hold no money, and outside the retries, so that it counts requests that
//     were given up and not attempts;
//   - the budget is inside the cache because cached replies are free, and outside
//     the retries so that one decision covers a request;
//   - retries are outside the limit, so that a request that waits to be made
//     again holds no place that another could use, and so that each attempt
//     queues and each 429 is seen by the limit;
//   - the limit is outside the meter, so that time spent waiting for a place is
//     not mistaken for the model's latency;
//   - the meter sees each attempt as the vendor bills it;
//   - what is asked once more without a parameter is one attempt, since vendors do not
//     charge for a request that they reject.
//
// A wire that [Shared] returned has the limit and what is inside of it already.
func Assemble(wire deem.Model, o Options) deem.Model {
	return Cache(newProbing(resilient(wire, o), o.Answered), o.Replies, o.Cache)
}

// Shared puts around wire what all runs that ask it have in common: the limit and what
// [Assemble] puts inside of it.
func Shared(wire deem.Model, o Options) *Limiter {
	return Limit(Meter(Spare(wire), o.Prices), o.Limit)
}

// resilient is all of [Assemble] but the cache and the probe. Embeddings have it too.
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

// As returns the outermost model of type T in m, which may be m itself or any
// model that it wraps.
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

// Endpoint returns the address of the server that m calls, or "" when there is
// none. The same model name at two addresses is two models: their replies are
// never mixed.
func Endpoint(m deem.Model) string {
	if e, ok := As[interface{ Endpoint() string }](m); ok {
		return e.Endpoint()
	}
	return ""
}

// sleep waits for d, or until ctx is done or the run is stopped, gently or by its breaker,
// in which case it returns the error of that. It does not begin on a dead context.
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

// stopping returns [deem.ErrStopped] once the run of ctx is stopped gently.
func stopping(ctx context.Context) error {
	select {
	case <-deem.Stopping(ctx):
		return deem.ErrStopped
	default:
		return nil
	}
}
