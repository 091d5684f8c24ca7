// Package money keeps what calls cost within a budget, in a process and among processes.
//
// There are two numbers: what calls have cost, and what is reserved for calls in flight.
// Before a call begins, the most that it may cost is reserved; when it ends, the reservation
// is replaced by its cost. A [Budget] may keep its numbers in a store, which reserves for
// several calls at a time before any of them begins, so that a process that is killed, or
// whose disk is full, cannot lose track of what it may have spent.
//
// A vendor may bill more than a request allows. Then the money is gone, but from that reply
// on everything is reserved at the same multiple, also for calls in flight, also in other
// processes and when the run is resumed. Sums of money are in millionths of a US dollar.
package money

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"time"
)

// Most is where sums end: they stay there instead of wrapping around. A few of them can be
// added without a check.
const Most = math.MaxInt64 / 8

// dearest is the most that is reserved for one call, so that calls in flight can be added up.
const dearest = 1 << 44

// Add returns the sum of two amounts, at most [Most].
func Add(a, b int64) int64 { return min(min(a, Most)+min(b, Most), Most) }

// times returns a multiple of an amount, at most [Most].
func times(amount, factor int64) int64 {
	hi, lo := bits.Mul64(uint64(max(0, amount)), uint64(max(0, factor)))
	if hi > 0 || lo > Most {
		return Most
	}
	return int64(lo)
}

// A Budget is a sum that models may spend together. It is safe for concurrent use.
//
// If too little is left but calls are in flight, a caller waits for what they return. If a
// call cannot be paid for and nothing can be returned, the budget is closed: that call and
// all later ones are refused.
type Budget struct {
	sum int64

	mu        sync.Mutex
	spent     int64         // what calls cost, or may have cost
	unsettled int64         // the part of it that may or may not have been charged
	flying    int64         // what calls in flight may cost if vendors bill as agreed
	factor    int64         // the multiple of it that is reserved
	changed   chan struct{} // closed when a call ends; nil if nobody waits for that
	refused   error         // why no more calls are paid for

	store Store         // nil if the numbers are only here
	asked chan struct{} // held by the caller that asks the store
	limit int64         // what the store may count
	funds int64         // spent, and reserved in the store
	told  int64         // the part of spent that the store knows
	last  Balance       // what the store said last
	again time.Time     // when it may say something else, if others have money
}

// New returns a budget of sum.
func New(sum int64) *Budget {
	return &Budget{sum: sum, factor: 1, asked: make(chan struct{}, 1)}
}

// Sum returns the sum that may be spent.
func (b *Budget) Sum() int64 { return b.sum }

// Spent returns what was spent so far, including money whose fate is unknown.
func (b *Budget) Spent() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// reserved returns what is reserved for calls in flight. The caller holds the lock, as for
// the other methods in lower case.
func (b *Budget) reserved() int64 { return times(b.flying, b.factor) }

// left returns what can be reserved here, which is negative after overspending.
func (b *Budget) left() int64 {
	switch {
	case b.spent >= Most: // It cannot grow, and nobody has as much.
		return -Most
	case b.store == nil:
		return min(b.sum, Most) - b.spent - b.reserved()
	default:
		return b.funds - b.spent - b.reserved()
	}
}

// reserve reserves money for a call that costs at most micros if it is billed as agreed. The
// error is that of ctx or of the store, [ErrStopped], or a [*RefusedError].
func (b *Budget) reserve(ctx context.Context, stop <-chan struct{}, micros int64) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.mu.Lock()
		need := times(micros, b.factor)
		var others bool
		short := need - max(0, b.left())
		switch {
		case b.refused != nil:
			err := b.refused
			b.mu.Unlock()
			return err
		case need <= b.left():
			b.flying += micros
			b.mu.Unlock()
			return nil
		case b.store != nil && (short <= b.last.Free || b.last.Others && !time.Now().Before(b.again)):
			b.mu.Unlock()
			if err := b.ask(ctx, micros); err != nil {
				return err
			}
			continue
		case b.flying > 0 || b.last.Others:
			others = b.last.Others
		default:
			b.refused = b.exhausted(need)
			b.announce()
			b.mu.Unlock()
			continue
		}
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		changed := b.changed
		b.mu.Unlock()
		if err := b.wait(ctx, stop, changed, others); err != nil {
			return err
		}
	}
}

// wait waits until a call has ended or, if others may have returned money, for a while.
func (b *Budget) wait(ctx context.Context, stop, changed <-chan struct{}, others bool) error {
	var soon <-chan time.Time
	if others {
		t := time.NewTimer(askEvery)
		defer t.Stop()
		soon = t.C
	}
	select {
	case <-changed:
	case <-soon:
	case <-stop:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// announce wakes the callers that wait.
func (b *Budget) announce() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// ErrStopped is returned to callers that wait for money when they are told to stop.
var ErrStopped = errors.New("stopped while waiting for money")

// A RefusedError means that a call cannot be paid for.
type RefusedError struct {
	Sum, Spent int64
	Aside      int64 // what counts as spent because its fate is unknown
	Need       int64 // what the call may cost
	Factor     int64 // the multiple of what its request allows that it may cost
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("a call may cost %d, and %d of %d are spent and %d set aside", e.Need, e.Spent, e.Sum, e.Aside)
}

// exhausted returns the error for a call that cannot be paid for.
func (b *Budget) exhausted(need int64) error {
	e := &RefusedError{Sum: b.sum, Spent: b.spent - b.unsettled, Aside: b.unsettled + b.reserved(), Need: need, Factor: b.factor}
	if others := b.last.Counted - b.funds; b.store != nil && others > 0 { // Other processes have it.
		recorded := min(others, max(0, b.last.Recorded-e.Spent))
		e.Spent, e.Aside = e.Spent+recorded, e.Aside+others-recorded
	}
	return e
}

// A Hold is the reservation of one request. It travels in the context of the call, where
// retries and the meter find it. It belongs to one goroutine.
type Hold struct {
	b      *Budget
	outer  *Hold // of another budget that pays for the same request; may be nil
	micros int64 // what one attempt costs at most if it is billed as agreed
	paid   int64 // the number of attempts that are reserved
	lost   int64 // the number of attempts that may be billed although no reply came
}

type holdKey struct{}

// Begin reserves money for a request that costs at most micros if it is billed as agreed. It
// stops waiting for money when stop is closed. The context is for the call; the caller must
// end the hold.
func (b *Budget) Begin(ctx context.Context, stop <-chan struct{}, micros int64) (context.Context, *Hold, error) {
	h := &Hold{b: b, micros: min(max(0, micros), dearest), paid: 1}
	h.outer, _ = ctx.Value(holdKey{}).(*Hold)
	if err := b.reserve(ctx, stop, h.micros); err != nil {
		return ctx, nil, err
	}
	return context.WithValue(ctx, holdKey{}, h), h, nil
}

// Lost notes that the current attempt of the request of ctx may be billed although no reply
// came.
func Lost(ctx context.Context) {
	for h, _ := ctx.Value(holdKey{}).(*Hold); h != nil; h = h.outer {
		h.lost++
	}
}

// Again reserves money for another attempt at the request of ctx, if earlier ones may be
// billed. It does not wait for calls in flight: two that wait for each other would not end.
func Again(ctx context.Context) error {
	for h, _ := ctx.Value(holdKey{}).(*Hold); h != nil; h = h.outer {
		if h.lost < h.paid {
			continue
		}
		if err := h.b.extend(h.micros); err != nil {
			return err
		}
		h.paid++
	}
	return nil
}

// extend is reserve without waiting.
func (b *Budget) extend(micros int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), briefly)
	defer cancel()
	if b.store != nil {
		_ = b.ask(ctx, micros) // If it fails, there is too little money below.
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if need := times(micros, b.factor); b.refused == nil && need > b.left() {
		b.refused = b.exhausted(need)
		b.announce()
	}
	if b.refused == nil {
		b.flying += micros
	}
	return b.refused
}

// End replaces the reservation by what the request cost. If that is more than was reserved,
// all that is reserved from now on, for calls in flight too, grows by the same factor.
func (h *Hold) End(ctx context.Context, cost int64) {
	b := h.b
	b.mu.Lock()
	lost := times(times(h.micros, h.lost), b.factor)
	b.flying -= h.micros * h.paid
	b.spent = Add(b.spent, Add(max(0, cost), lost))
	b.unsettled = Add(b.unsettled, lost)
	more := cost > times(h.micros, b.factor)
	if more {
		b.factor = max(b.factor, (cost-1)/max(1, h.micros)+1)
	}
	tell := more && b.store != nil
	b.announce()
	b.mu.Unlock()
	if tell { // If it fails, the next reservation tells.
		_ = b.tell(context.WithoutCancel(ctx))
	}
}
