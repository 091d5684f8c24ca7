package model

import "deem"

// BatchCost returns what a call of the named model costs in one of its vendor's batches,
// and whether its price is known. Where the share of batches is not known, it is the
// whole price.
func (p Prices) BatchCost(name string, u deem.Usage) (micros int64, known bool) {
	price, ok := p.Of(name)
	if !ok {
		return 0, false
	}
	return p.batchShare(name, price.Cost(u)), true
}

// BatchMost returns the most that a request to the named model can cost in a batch, as
// [Budget] bounds a call, and whether its price is known.
func (p Prices) BatchMost(name string, req deem.Request) (micros int64, known bool) {
	price, ok := p.Of(name)
	if !ok {
		return 0, false
	}
	return p.batchShare(name, price.Cost(mostUsage(name, req))), true
}

// batchShare returns what of a sum is paid in a batch.
func (p Prices) batchShare(name string, micros int64) int64 {
	if share, ok := p.BatchOf(name); ok {
		return share.Of(micros)
	}
	return micros
}
