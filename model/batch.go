package model

import "deem"

// BatchCost returns the cost of a call of the named model in a batch, and whether the
// model's price is known. If the batch discount is unknown, it returns the full price.
func (p Prices) BatchCost(name string, u deem.Usage) (micros int64, known bool) {
	price, ok := p.Of(name)
	if !ok {
		return 0, false
	}
	return p.batchShare(name, price.Cost(u)), true
}

// BatchMost returns the maximum cost of a request to the named model in a batch, with the
// bounds of [Budget], and whether the model's price is known.
func (p Prices) BatchMost(name string, req deem.Request) (micros int64, known bool) {
	price, ok := p.Of(name)
	if !ok {
		return 0, false
	}
	return p.batchShare(name, price.Cost(mostUsage(name, req))), true
}

// batchShare returns the part of a sum that is charged in a batch.
func (p Prices) batchShare(name string, micros int64) int64 {
	if share, ok := p.BatchOf(name); ok {
		return share.Of(micros)
	}
	return micros
}
