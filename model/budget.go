package model

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"deem"
	"deem/internal/words"
)

// A Purse holds the money that may be spent. Models that share a purse share its
// sum. It is safe for concurrent use.
//
// Before a call begins, the most it can cost is set aside, and when it is over that is
// replaced by what it did cost. So the sum holds however many calls are in flight. A
// caller that finds too little money left, while more is set aside by others, waits until
// they are done, first come, first served. Once a call cannot be paid for although
// nothing is set aside, the purse is shut: that call and all later ones are refused.
//
// A purse that borrows (see [Purse.Borrow]) gets its money from a bank, some calls' worth
// at a time.
type Purse struct {
	sum int64

	mu        sync.Mutex
	funds     int64      // what may be spent now: the sum, or what was spent and borrowed
	spent     int64      // what calls cost, and may have cost
	unsettled int64      // the part of it of which nobody knows whether it was charged
	reserved  int64      // what calls in flight may cost
	waiting   *list.List // of *claim
	shut      error      // why no call is paid for any more

	// A purse that borrows has a bank, which one caller asks at a time. It is not asked
	// again for as much as it refused, or more.
	bank      Bank
	borrowing chan struct{}
	refused   int64
	last      Loan
}

// A claim is a caller who waits for money.
type claim struct {
	need    int64
	settled chan struct{} // closed when err is set
	err     error
}

// NewPurse returns a purse of sum millionths of a US dollar.
func NewPurse(sum int64) *Purse {
	return &Purse{sum: sum, funds: sum, waiting: list.New(), borrowing: make(chan struct{}, 1)}
}

// Sum returns what the purse held at first, in millionths of a US dollar.
func (p *Purse) Sum() int64 { return p.sum }

// Spent returns what was spent so far.
func (p *Purse) Spent() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent
}

// Spend takes what was spent elsewhere out of the purse, as by an earlier part of
// the same run, and what is set aside there for calls of which nobody knows the cost. It
// may overdraw the purse, which then pays for no call.
func (p *Purse) Spend(micros, unsettled int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent += micros + unsettled
	p.unsettled += unsettled
}

// left returns what can be set aside. The caller holds the lock.
func (p *Purse) left() int64 { return p.funds - p.spent - p.reserved }

// reserve sets need aside, or waits until it can. Its error is that of ctx, or a
// fatal [*deem.ModelError] of kind budget.
func (p *Purse) reserve(ctx context.Context, need int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.bank != nil {
		return p.reserveLent(ctx, need)
	}
	return p.claim(ctx, need)
}

// claim is reserve with the money that is in the purse.
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

// leave gives up waiting. A claim that was served in the meantime gives back what it
// got.
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

// serve settles the claims at the head of the line. The caller holds the lock.
func (p *Purse) serve() {
	for e := p.waiting.Front(); e != nil; e = p.waiting.Front() {
		c := e.Value.(*claim)
		switch {
		case p.shut != nil:
			c.err = p.shut
		case c.need <= p.left():
			p.reserved += c.need
		case p.bank != nil && c.need-p.left() < p.refused:
			c.err = errShort
		case p.reserved > 0:
			return // some of it may come back
		default:
			p.shut = p.exhausted(c.need)
			c.err = p.shut
		}
		p.waiting.Remove(e)
		close(c.settled)
	}
}

// extend sets need aside on top of what the caller has set aside already. It never
// waits: two who wait for each other's money would do so for ever.
func (p *Purse) extend(need int64) error {
	p.borrowBriefly(need)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut == nil && need > p.left() {
		p.shut = p.exhausted(need)
		p.serve()
	}
	if p.shut != nil {
		return p.shut
	}
	p.reserved += need
	return nil
}

// settle replaces what a call had set aside by what it cost.
func (p *Purse) settle(h *hold) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved -= h.reserved
	p.spent += h.cost + h.unsettled
	p.unsettled += h.unsettled
	p.serve()
}

// exhausted says that a call cannot be paid for. The caller holds the lock.
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

// ParseDollars reads a sum of money, as "1.50" or "$1.50", as millionths of a
// dollar.
func ParseDollars(text string) (micros int64, err error) {
	micros, ok := parseDollars(strings.TrimPrefix(strings.TrimSpace(text), "$"))
	if !ok {
		return 0, fmt.Errorf("%q is not a sum of dollars, as 1.50, of at most a million and with at most six decimals", text)
	}
	return micros, nil
}

// A Budgeted model starts no call that its purse cannot pay for. See [Budget].
type budgeted struct {
	inner  deem.Model
	purse  *Purse
	price  Price
	priced bool
	tier   string
	room   int // the tokens that are added for thoughts to the limit of a request
}

var (
	_ deem.Model = (*budgeted)(nil)
	_ Wrapper    = (*budgeted)(nil)
)

// Budget returns a model that pays for each request out of purse before it is made,
// and starts none that cannot be paid for. Such a request, and one to a model whose
// price is not known, ends in a fatal error of kind budget.
//
// The most that a request can cost is one token for each byte of its input, which
// no vendor's tokens exceed, MaxTokens of output, and the room for thoughts. A request without MaxTokens is
// taken to have the longest reply that its model can give (see [MaxOutput]); to
// bound replies is what lets many calls be in flight on a small budget.
//
// One reservation covers the attempts of a request, since vendors do not charge for
// errors. They may charge for an attempt whose reply got lost: it timed out or was
// interrupted, or the answer was cut or could not be read. Such an attempt counts as
// spent at the most that it can cost, although no record shows it, and before another
// one is made its price is set aside again. The purse thus errs on the safe side of the
// vendor's bill.
//
// The model inside has a [Meter], which sees the attempts and says what they cost.
func Budget(m deem.Model, purse *Purse, prices Prices) deem.Model {
	tier := TierOf(m)
	price, ok := prices.OfTier(m.Name(), tier)
	return &budgeted{inner: m, purse: purse, price: price, priced: ok, tier: tier, room: RoomOf(m)}
}

// Name returns the name of the model inside.
func (b *budgeted) Name() string { return b.inner.Name() }

// Unwrap returns the model inside.
func (b *budgeted) Unwrap() deem.Model { return b.inner }

// Complete sets the price aside, asks the model inside, and pays.
func (b *budgeted) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if !b.priced {
		return deem.Reply{}, &deem.ModelError{Kind: deem.Budget, Fatal: true, Err: Unpriced(b.Name(), b.tier)}
	}
	bounded := req
	if req.MaxTokens > 0 {
		bounded.MaxTokens += b.room
	}
	h := &hold{purse: b.purse, worst: b.price.Cost(mostUsage(b.Name(), bounded))}
	h.outer, _ = ctx.Value(holdKey{}).(*hold)
	if err := b.purse.reserve(ctx, h.worst); err != nil {
		return deem.Reply{}, err
	}
	h.reserved = h.worst
	defer func() { h.purse.settle(h) }() // A panic in the wire must not keep the money.
	reply, err := b.inner.Complete(context.WithValue(ctx, holdKey{}, h), req)
	if err != nil {
		return deem.Reply{}, err
	}
	h.cost = reply.CostMicros
	return reply, nil
}

// Unpriced is the error of a budget for a model whose price nobody knows, or nobody for
// the class of service for which it is asked.
func Unpriced(name, tier string) error {
	return deem.WithHint(fmt.Errorf("the price of %s is not known, so no budget can hold", AtTier(name, tier)),
		`give its price for a million tokens with --prices prices.json, a file with {"prices": [{"model": %q, "input": 0.50, "output": 1.50}]}, or leave --max-cost out`, name)
}

// A hold is what one request has set aside. It travels in the context, where the meter
// notes attempts that may be charged for, and retries ask for more. It belongs to one
// goroutine.
type hold struct {
	purse           *Purse
	outer           *hold // of another purse that pays for the same request; nil for none
	worst           int64 // the price of one attempt at most
	reserved        int64
	cost, unsettled int64 // of the reply, and of attempts without one
}

type holdKey struct{}

// attemptEnded counts an attempt that ended in err as spent if it may be charged for.
func attemptEnded(ctx context.Context, err error) {
	if !mayBeBilled(err) {
		return
	}
	for h, _ := ctx.Value(holdKey{}).(*hold); h != nil; h = h.outer {
		h.unsettled += h.worst
	}
}

// again makes sure that enough is set aside for another attempt.
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

// mayBeBilled reports whether err is that of an attempt for which the vendor may charge
// although no reply came of it.
func mayBeBilled(err error) bool {
	if me, ok := errors.AsType[*deem.ModelError](err); ok {
		return me.Billed || me.Kind == deem.Timeout && me.Status == 0
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
