package model

import (
	"context"
	"sync/atomic"
	"time"

	"deem"
	"deem/internal/money"
)

// Totals are counts of the calls of a model.
type Totals struct {
	Calls      int64 // attempts that ended, with a reply or without
	Failures   int64 // attempts without a reply
	Unpriced   int64 // replies of a model with unknown price
	Estimated  int64 // replies without a usable token count
	Usage      deem.Usage
	CostMicros int64 // millionths of a US dollar
	Latency    time.Duration
}

// A metered model measures another. See newMeter.
type metered struct {
	decorator
	price  Price
	priced bool

	calls, failures, unpriced, estimated  atomic.Int64
	input, output, cachedInput, reasoning atomic.Int64
	cost, latency                         atomic.Int64
}

// newMeter returns a model that adds to each reply the duration and cost of the attempt,
// computed from prices and then the built-in table. If neither has the model, the reply is
// marked Unpriced: its cost is unknown, which is not the same as zero. If a call is not
// free and the reply's token count is missing or impossible, the usage is replaced by an
// upper bound and marked as estimated.
func newMeter(m deem.Model, prices Prices) *metered {
	price, ok := prices.Of(m.Name(), TierOf(m))
	return &metered{decorator: decorator{m}, price: price, priced: ok}
}

// Complete calls the model inside and measures the call.
func (mt *metered) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	start := time.Now()
	reply, err := mt.inner.Complete(ctx, req)
	took := time.Since(start)

	mt.calls.Add(1)
	mt.latency.Add(int64(took))
	if err != nil {
		if billed(err) {
			money.Lost(ctx)
		}
		mt.failures.Add(1)
		return deem.Reply{}, err
	}
	reply.Latency = took
	reply.Attempts = max(1, reply.Attempts)
	reply.Unpriced = !mt.priced
	if !mt.priced {
		mt.unpriced.Add(1)
	} else {
		free := mt.price.Input == 0 && mt.price.Output == 0
		if !free && !believable(reply.Usage, req, reply) {
			reply.Usage = estimateUsage(mt.Name(), req, reply)
			mt.estimated.Add(1)
		}
		reply.CostMicros = mt.price.Cost(reply.Usage)
	}
	mt.input.Add(int64(reply.Usage.Input))
	mt.output.Add(int64(reply.Usage.Output))
	mt.cachedInput.Add(int64(reply.Usage.CachedInput))
	mt.reasoning.Add(int64(reply.Usage.Reasoning))
	mt.cost.Add(reply.CostMicros)
	return reply, nil
}

// TotalsOf returns the counts so far of the meter in m, or zeros if m has none. It may be
// called concurrently with calls; a call that is just ending may then be counted in part.
func TotalsOf(m deem.Model) Totals {
	mt, ok := As[*metered](m)
	if !ok {
		return Totals{}
	}
	return Totals{
		Calls:    mt.calls.Load(),
		Failures: mt.failures.Load(),
		Unpriced: mt.unpriced.Load(), Estimated: mt.estimated.Load(),
		Usage: deem.Usage{
			Input:       int(mt.input.Load()),
			Output:      int(mt.output.Load()),
			CachedInput: int(mt.cachedInput.Load()),
			Reasoning:   int(mt.reasoning.Load()),
		},
		CostMicros: mt.cost.Load(),
		Latency:    time.Duration(mt.latency.Load()),
	}
}
