package model

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"deem"
)

// A Purse holds the money that may be spent. Models that share a purse share its
// sum. It is safe for concurrent use.
//
// A call is paid for twice over: before it begins, the most it can cost is set
// aside, and when it is over that is replaced by what it did cost. So the sum holds
// however many calls are in flight. Who finds too little money left, while more is
// set aside by others, waits until they are done, first come, first served. Once a
// call cannot be paid for although nothing is set aside, the purse is shut: that
// call and all later ones are refused.
type Purse struct {
	sum int64

	mu       sync.Mutex
	spent    int64      // what calls cost, and may have cost
	reserved int64      // what calls in flight may cost
	waiting  *list.List // of *claim
	shut     error      // why no call is paid for any more

	// A purse that borrows has a bank, which one caller asks at a time. It is dry once
	// the bank has no more.
	bank      Bank
	borrowing chan struct{}
	dry       bool
}

// A claim is a caller who waits for money.
type claim struct {
	need    int64
	settled chan struct{} // closed when err is set
	err     error
}

// NewPurse returns a purse of sum millionths of a US dollar.
func NewPurse(sum int64) *Purse {
	return &Purse{sum: sum, waiting: list.New()}
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
// the same run. It may overdraw the purse, which then pays for no call.
func (p *Purse) Spend(micros int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent += micros
}

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
		left := p.sum - p.spent - p.reserved
		switch {
		case p.shut != nil:
			c.err = p.shut
		case c.need <= left:
			p.reserved += c.need
		case p.bank != nil && !p.dry:
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
	if p.shut == nil && need > p.sum-p.spent-p.reserved {
		p.shut = p.exhausted(need)
		p.serve()
	}
	if p.shut != nil {
		return p.shut
	}
	p.reserved += need
	return nil
}

// settle replaces what was set aside by what was spent.
func (p *Purse) settle(reserved, spent int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved -= reserved
	p.spent += spent
	p.serve()
}

// exhausted says that a call cannot be paid for. The caller holds the lock.
func (p *Purse) exhausted(need int64) error {
	var err error
	sum, spent := p.sum, p.spent
	if p.bank != nil {
		sum, spent = p.bank.Sum(), p.bank.Sum()-max(0, p.sum-p.spent)
	}
	if need > sum {
		err = deem.WithHint(fmt.Errorf("one call may cost %s, more than the whole budget of %s", usd(need), usd(sum)),
			"raise --max-cost, or bound the length of replies with --max-tokens, which bounds what a call may cost")
	} else {
		err = deem.WithHint(fmt.Errorf("the budget of %s is used up: %s spent, and the next call may cost %s", usd(sum), usd(spent), usd(need)),
			"what was judged is kept; with a higher --max-cost the same command goes on and repeats nothing")
	}
	return &deem.ModelError{Kind: deem.Budget, Fatal: true, Err: err}
}

// usd writes millionths of a dollar, with cents and what is smaller where there is
// any.
func usd(micros int64) string {
	cents := strings.TrimRight(fmt.Sprintf("%06d", micros%1_000_000), "0")
	return fmt.Sprintf("$%d.%s", micros/1_000_000, cents+strings.Repeat("0", max(0, 2-len(cents))))
}

// ParseDollars reads a sum of money, as "1.50" or "$1.50", as millionths of a
// dollar.
func ParseDollars(text string) (micros int64, err error) {
	micros, ok := parseDollars(strings.TrimPrefix(strings.TrimSpace(text), "$"))
	if !ok {
		return 0, fmt.Errorf("%q is no sum of dollars, as 1.50, of at most a million and with at most six decimals", text)
	}
	return micros, nil
}

// A Budgeted model starts no call that its purse cannot pay for. See [Budget].
type Budgeted struct {
	inner  deem.Model
	purse  *Purse
	price  Price
	priced bool
	tier   string
	output int // the tokens of a reply to a request that does not bound them
}

var (
	_ deem.Model = (*Budgeted)(nil)
	_ Wrapper    = (*Budgeted)(nil)
)

// Budget returns a model that pays for each request out of purse before it is made,
// and starts none that cannot be paid for. Such a request, and one to a model whose
// price is not known, ends in a fatal error of kind budget.
//
// The most that a request can cost is one token for each byte of its input, which
// no vendor's tokens exceed, and MaxTokens of output. A request without MaxTokens is
// taken to have the longest reply that its model can give (see [MaxOutput]); to
// bound replies is what lets many calls be in flight on a small budget.
//
// One reservation covers the attempts of a request, since vendors do not charge for
// errors. An attempt that timed out is another matter: the vendor may have gone on
// and charged for a reply that nobody saw. Before such an attempt is made again its
// price is set aside once more, and in the end it counts as spent, though no record
// shows it. So does a call whose caller was interrupted. The purse thus errs on the
// safe side of the vendor's bill.
func Budget(m deem.Model, purse *Purse, prices Prices) *Budgeted {
	tier := TierOf(m)
	price, ok := prices.OfTier(m.Name(), tier)
	return &Budgeted{inner: m, purse: purse, price: price, priced: ok, tier: tier, output: MaxOutput(m.Name())}
}

// Name returns the name of the model inside.
func (b *Budgeted) Name() string { return b.inner.Name() }

// Unwrap returns the model inside.
func (b *Budgeted) Unwrap() deem.Model { return b.inner }

// Purse returns the purse that pays.
func (b *Budgeted) Purse() *Purse { return b.purse }

// Complete sets the price aside, asks the model inside, and pays.
func (b *Budgeted) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if !b.priced {
		return deem.Reply{}, &deem.ModelError{Kind: deem.Budget, Fatal: true, Err: Unpriced(b.Name(), b.tier)}
	}
	h := &hold{purse: b.purse, worst: b.worst(req)}
	if err := b.purse.reserve(ctx, h.worst); err != nil {
		return deem.Reply{}, err
	}
	h.reserved = h.worst
	defer h.settle() // a panic in the wire must not keep the money
	reply, err := b.inner.Complete(context.WithValue(ctx, holdKey{}, h), req)
	if err != nil {
		h.doubt(err)
		return deem.Reply{}, err
	}
	h.spent += reply.CostMicros
	return reply, nil
}

// Unpriced is the error of a budget for a model whose price nobody knows, or nobody for
// the class of service for which it is asked.
func Unpriced(name, tier string) error {
	return deem.WithHint(fmt.Errorf("the price of %s is not known, so no budget can hold", AtTier(name, tier)),
		"give its price in a file with --prices, or leave --max-cost out")
}

// What comes on top of the bytes of a request, in tokens: the marks around each
// message, and the words with which vendors ask for JSON.
const (
	perMessage = 16
	perRequest = 64
	perSchema  = 1024
)

// worst returns the most that a request can cost.
func (b *Budgeted) worst(req deem.Request) int64 {
	u := deem.Usage{Input: perRequest, Output: req.MaxTokens}
	for _, m := range req.Messages {
		u.Input += perMessage + len(m.Role) + len(m.Content)
	}
	if req.JSON || len(req.Schema) > 0 {
		u.Input += perSchema + len(req.Schema)
	}
	if u.Output <= 0 {
		u.Output = b.output
	}
	return b.price.Cost(u)
}

// longestReplies are the families of models whose longest reply is known. Those that
// think before they answer have the long ones.
var longestReplies = []struct {
	prefix string
	tokens int
}{
	{"openai:o1", 131_072},
	{"openai:o3", 131_072},
	{"openai:o4", 131_072},
	{"openai:gpt-5", 131_072},
	{"anthropic:", 4_096}, // model/anthropic asks for no more
	{"google:", 65_536},
}

// MaxOutput returns how many tokens a reply of the named model has at most when a
// request does not bound it: 131,072 for openai's models that reason, 65,536 for
// google, 4,096 for anthropic, whose requests always have a bound, and 32,768 for all
// others. These are the vendors' own limits, rounded up.
func MaxOutput(name string) int {
	for _, l := range longestReplies {
		if strings.HasPrefix(name, l.prefix) {
			return l.tokens
		}
	}
	return 32_768
}

// A hold is what one request has set aside. It travels in the context, so that the
// retries inside can ask for more. It belongs to one goroutine.
type hold struct {
	purse           *Purse
	worst           int64 // the price of one attempt at most
	reserved, spent int64
}

type holdKey struct{}

// again sets the price of another attempt aside if the last one, which ended in
// err, may have been charged for.
func again(ctx context.Context, err error) error {
	h, ok := ctx.Value(holdKey{}).(*hold)
	if !ok || !unseen(err) {
		return nil
	}
	if err := h.purse.extend(h.worst); err != nil {
		return err
	}
	h.reserved += h.worst
	h.spent += h.worst
	return nil
}

// doubt counts the last attempt as spent if it may have been charged for.
func (h *hold) doubt(err error) {
	if unseen(err) {
		h.spent += h.worst
	}
}

// settle pays.
func (h *hold) settle() { h.purse.settle(h.reserved, h.spent) }

// unseen reports whether err is that of an attempt which may have been charged for
// though no answer came: we stopped listening, and the vendor may not have noticed.
func unseen(err error) bool {
	if me, ok := errors.AsType[*deem.ModelError](err); ok {
		return me.Kind == deem.Timeout && me.Status == 0
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
