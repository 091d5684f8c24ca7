package model

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"

	"deem"
	"deem/internal/words"
)

// A Purse holds the money that may be spent. Models that share a purse share its sum. It is
// safe for concurrent use.
//
// Before a call begins, its maximum cost is reserved; when it ends, the reservation is
// replaced by its actual cost. So the sum is never exceeded, however many calls are in
// flight. If too little money is left but other calls hold reservations, a caller waits
// until they end, first come, first served. If a call cannot be paid for although nothing
// is reserved, the purse is shut: that call and all later ones are refused.
//
// A purse that borrows (see [Purse.Borrow]) gets its money from a bank, enough for several
// calls at a time.
type Purse struct {
	sum int64

	mu        sync.Mutex
	funds     int64      // what may be spent now: the sum, or what was spent and borrowed
	spent     int64      // what calls cost, or may have cost
	unsettled int64      // the part of it that may or may not have been charged
	reserved  int64      // the maximum cost of calls in flight
	waiting   *list.List // of *claim
	stopped   error      // why no more calls are paid for

	// The bank of a purse that borrows. One caller asks it at a time. It is not asked again
	// for an amount that it refused, or more.
	bank      Bank
	borrowing chan struct{}
	refused   int64
	last      Loan
}

// A claim is a caller waiting for money.
type claim struct {
	need    int64
	settled chan struct{} // closed when err is set
	err     error
}

// NewPurse returns a purse of sum millionths of a US dollar.
func NewPurse(sum int64) *Purse {
	return &Purse{sum: sum, funds: sum, waiting: list.New(), borrowing: make(chan struct{}, 1)}
}

// Sum returns the initial sum of the purse, in millionths of a US dollar.
func (p *Purse) Sum() int64 { return p.sum }

// Spent returns the sum spent so far.
func (p *Purse) Spent() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent
}

// Spend deducts money spent elsewhere, for example by an earlier part of the same run,
// including unsettled money of calls whose cost is unknown. It may overdraw the purse,
// which then pays for no call.
func (p *Purse) Spend(micros, unsettled int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent += micros + unsettled
	p.unsettled += unsettled
}

// left returns the sum that can be reserved. The caller holds the lock.
func (p *Purse) left() int64 { return p.funds - p.spent - p.reserved }

// reserve reserves need, waiting if necessary. The error is that of ctx, or a fatal
// [*deem.ModelError] of kind budget.
func (p *Purse) reserve(ctx context.Context, need int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for p.bank != nil {
		if err := p.borrow(ctx, need); err != nil {
			return err
		}
		if err := p.claim(ctx, need); !errors.Is(err, errShort) {
			return err
		}
	}
	return p.claim(ctx, need)
}

// claim is reserve with the money already in the purse.
func (p *Purse) claim(ctx context.Context, need int64) error {
	p.mu.Lock()
	c := &claim{need: need, settled: make(chan struct{})}
	e := p.waiting.PushBack(c)
	p.serve()
	p.mu.Unlock()

	select {
	case <-c.settled:
		return c.err
	default:
	}
	select {
	case <-c.settled:
		return c.err
	case <-deem.Stopping(ctx):
		return p.leave(e, deem.ErrStopped)
	case <-ctx.Done():
		return p.leave(e, ctx.Err())
	}
}

// leave gives up waiting. If the claim was served in the meantime, it returns the money.
func (p *Purse) leave(e *list.Element, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := e.Value.(*claim)
	select {
	case <-c.settled:
		if c.err == nil {
			p.reserved -= c.need
		}
	default:
		p.waiting.Remove(e)
	}
	p.serve()
	return err
}

// serve settles the claims at the head of the queue. The caller holds the lock.
func (p *Purse) serve() {
	for e := p.waiting.Front(); e != nil; e = p.waiting.Front() {
		c := e.Value.(*claim)
		switch {
		case p.stopped != nil:
			c.err = p.stopped
		case c.need <= p.left():
			p.reserved += c.need
		case p.bank != nil && c.need-p.left() < p.refused:
			c.err = errShort
		case p.reserved > 0:
			return // some of it may be returned
		default:
			p.stopped = p.exhausted(c.need)
			c.err = p.stopped
		}
		p.waiting.Remove(e)
		close(c.settled)
	}
}

// extend adds need to the caller's reservation. It never waits: two callers waiting for
// each other's money would deadlock.
func (p *Purse) extend(need int64) error {
	if p.bank != nil {
		ctx, cancel := context.WithTimeout(context.Background(), briefly)
		defer cancel()
		_ = p.borrow(ctx, need) // If the loan fails, the reservation fails below and reports it.
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped == nil && need > p.left() {
		p.stopped = p.exhausted(need)
		p.serve()
	}
	if p.stopped != nil {
		return p.stopped
	}
	p.reserved += need
	return nil
}

// exhausted returns the error for a call that cannot be paid for. The caller holds the
// lock.
func (p *Purse) exhausted(need int64) error {
	var err error
	sum, spent, aside := p.sum, p.last.Spent+p.spent-p.unsettled, p.last.Aside+p.unsettled+p.reserved
	switch {
	case need > sum:
		err = deem.WithHint(fmt.Errorf("one call may cost %s, more than the whole budget of %s", words.ExactDollars(need), words.ExactDollars(sum)),
			"raise --max-cost, or bound the length of replies with --max-tokens, which bounds what a call may cost")
	case aside > 0:
		err = deem.WithHint(fmt.Errorf("the budget of %s is used up: %s spent, %s set aside for calls whose cost is not known, and the next call may cost %s",
			words.ExactDollars(sum), words.ExactDollars(spent), words.ExactDollars(aside), words.ExactDollars(need)),
			"what was judged is kept; the same command resumes with a higher --max-cost, or once `deem runs settle RUN` releases what the vendor did not charge")
	default:
		err = deem.WithHint(fmt.Errorf("the budget of %s is used up: %s spent, and the next call may cost %s", words.ExactDollars(sum), words.ExactDollars(spent), words.ExactDollars(need)),
			"what was judged is kept; with a higher --max-cost the same command resumes and repeats nothing")
	}
	return &deem.ModelError{Kind: deem.Budget, Fatal: true, Err: err}
}

// A budgeted model starts no call that its purse cannot pay for. See newBudgeted.
type budgeted struct {
	decorator
	purse  *Purse
	price  Price
	priced bool
	tier   string
	room   int // tokens added to the limit of a request for thinking
}

// newBudgeted returns a model that reserves the cost of each request in purse before the request
// is made. A request that cannot be paid for, or to a model with an unknown price, ends in
// a fatal error of kind budget.
//
// The maximum cost of a request is one token for each byte of its input, which no vendor's
// tokenizer exceeds, MaxTokens of output, and the room for thinking. A request without
// MaxTokens is assumed to get the longest reply of its model (see [MostUsage]); bounded
// replies allow many calls in flight on a small budget.
//
// One reservation covers all attempts of a request, since vendors do not charge for errors.
// They may charge for an attempt whose reply was lost: it timed out or was interrupted, or
// the reply was truncated or could not be read. Such an attempt counts as spent at its
// maximum cost, although no record shows it, and another reservation is made before the
// next attempt. The purse thus never counts less than the vendor's bill.
//
// The model inside has a meter, which sees the attempts and computes their cost.
func newBudgeted(m deem.Model, purse *Purse, prices Prices) deem.Model {
	tier := TierOf(m)
	price, ok := prices.Of(m.Name(), tier)
	return &budgeted{decorator: decorator{m}, purse: purse, price: price, priced: ok, tier: tier, room: RoomOf(m)}
}

// Complete reserves the maximum cost, calls the model inside, and settles.
func (b *budgeted) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if !b.priced {
		return deem.Reply{}, &deem.ModelError{Kind: deem.Budget, Fatal: true, Err: Unpriced(b.Name(), b.tier)}
	}
	bounded := req
	if req.MaxTokens > 0 {
		bounded.MaxTokens += b.room
	}
	h := &hold{purse: b.purse, worst: b.price.Cost(MostUsage(b.Name(), bounded))}
	h.outer, _ = ctx.Value(holdKey{}).(*hold)
	if err := b.purse.reserve(ctx, h.worst); err != nil {
		return deem.Reply{}, err
	}
	h.reserved = h.worst
	defer func() { // A panic in the wire must not keep the money.
		p := b.purse
		p.mu.Lock()
		defer p.mu.Unlock()
		p.reserved -= h.reserved
		p.spent += h.cost + h.unsettled
		p.unsettled += h.unsettled
		p.serve()
	}()
	reply, err := b.inner.Complete(context.WithValue(ctx, holdKey{}, h), req)
	if err != nil {
		return deem.Reply{}, err
	}
	h.cost = reply.CostMicros
	return reply, nil
}

// Unpriced returns the error of a budget for a model whose price is unknown, in general or
// for the requested service tier.
func Unpriced(name, tier string) error {
	full := name
	if tier != "" {
		full += " with service-tier=" + tier
	}
	return deem.WithHint(fmt.Errorf("the price of %s is not known, so no budget can hold", full),
		`give its price for a million tokens with --prices prices.json, a file with {"prices": [{"model": %q, "input": 0.50, "output": 1.50}]}, or leave --max-cost out`, name)
}

// A hold is the reservation of one request. It travels in the context: the meter records
// attempts that may be charged, and retries extend it. It belongs to one goroutine.
type hold struct {
	purse           *Purse
	outer           *hold // of another purse that pays for the same request; may be nil
	worst           int64 // the maximum cost of one attempt
	reserved        int64
	cost, unsettled int64 // of the reply, and of attempts without one
}

type holdKey struct{}

// attemptEnded counts an attempt that ended in err as spent if the vendor may charge for it
// although no reply arrived.
func attemptEnded(ctx context.Context, err error) {
	billed := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if me, ok := errors.AsType[*deem.ModelError](err); ok {
		billed = me.Billed || me.Kind == deem.Timeout && me.Status == 0
	}
	for h, _ := ctx.Value(holdKey{}).(*hold); h != nil && billed; h = h.outer {
		h.unsettled += h.worst
	}
}

// again reserves enough for another attempt.
func again(ctx context.Context) error {
	for h, _ := ctx.Value(holdKey{}).(*hold); h != nil; h = h.outer {
		if h.unsettled+h.worst <= h.reserved {
			continue
		}
		if err := h.purse.extend(h.worst); err != nil {
			return err
		}
		h.reserved += h.worst
	}
	return nil
}
