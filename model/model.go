// Package model opens models by name, with everything that a run needs around them: a cache,
// retries, a limit on calls in flight, a budget and a meter.
//
// [Open] opens "openai:gpt-4o-mini", "anthropic:...", "ollama:..." and all other models that
// the command knows (docs/providers.md). For a client of your own, or one of the vendors'
// packages below this one, use [Options.Wrap].
package model

import (
	"fmt"
	"math"
	"time"

	"deem"
	"deem/internal/model"
	"deem/internal/money"
	"deem/internal/vendors"
)

// Options say how a model is called. The zero value works for every vendor.
type Options struct {
	// BaseURL is the address of a server other than the vendor's own. It, Timeout and Vendor
	// are for [Options.Open].
	BaseURL string
	Timeout time.Duration     // of an attempt; 0 means the default of the vendor's package
	Vendor  map[string]string // options of the vendor, for example "thinking": "low"

	Concurrency int  // calls in flight; 0 means 16
	PerMinute   int  // calls per minute; 0 means no limit
	Attempts    int  // for each request, after transient errors; 0 means 6
	Uncached    bool // every request is a call, also one that was answered before

	// Budget is the largest sum in US dollars for all calls of the model; 0 means no limit.
	// No call starts that could exceed it.
	Budget float64
}

// Open opens the model with the given name and default options.
func Open(name string) (deem.Model, error) { return Options{}.Open(name) }

// Open opens the model with the given name. Keys come from the environment, or from the file
// .env in the current folder. A missing key is an error here, before any call.
func (o Options) Open(name string) (deem.Model, error) {
	env, err := vendors.ReadEnvironment(".env")
	if err != nil {
		return nil, err
	}
	m, err := env.Open(vendors.Options{Name: name, BaseURL: o.BaseURL, Timeout: o.Timeout, Options: o.Vendor, Parallel: o.Concurrency})
	if err != nil {
		return nil, err
	}
	return o.Wrap(m)
}

// Wrap puts cache, budget, retries, limit and meter around m, which makes one call for each
// request.
func (o Options) Wrap(m deem.Model) (deem.Model, error) {
	with := model.Options{
		Cache: model.CacheOptions{Off: o.Uncached},
		Retry: model.RetryOptions{Attempts: o.Attempts},
		Limit: model.LimitOptions{Concurrency: o.Concurrency, RPM: o.PerMinute},
	}
	if o.Budget != 0 {
		if !(o.Budget > 0 && o.Budget < 1e9) {
			return nil, fmt.Errorf("a budget of %v dollars: it is a positive sum", o.Budget)
		}
		if _, known := with.Prices.Of(m.Name(), model.TierOf(m)); !known {
			return nil, fmt.Errorf("the price of %s is not known, so no budget can hold", m.Name())
		}
		with.Budget = money.New(int64(math.Round(o.Budget * 1e6)))
	}
	return model.Assemble(m, with), nil
}

// Totals are what a model has used so far.
type Totals struct {
	Calls, Failures int // attempts, and those without a reply
	Usage           deem.Usage
	Cost            float64 // in US dollars
	Unpriced        int     // calls that Cost lacks, because their price is unknown
}

// TotalsOf returns the totals of a model that [Open] or [Options.Wrap] returned, and zeros
// for others. It may be called at any time.
func TotalsOf(m deem.Model) Totals {
	t := model.TotalsOf(m)
	return Totals{Calls: int(t.Calls), Failures: int(t.Failures), Usage: t.Usage, Cost: float64(t.CostMicros) / 1e6, Unpriced: int(t.Unpriced)}
}
