package money

import (
	"context"
	"fmt"
	"math"
	"time"
)

// A Demand tells a store what a holder of money has spent and reserved, and asks for more.
type Demand struct {
	Spent    int64 // since the last demand
	Reserved int64 // for calls in flight and calls to come, in total
	Factor   int64 // the multiple of what requests allow that is reserved
	Limit    int64 // what may be counted in all

	// Need is how much more to reserve. Up to Ahead more is reserved for calls to come, but
	// at most a quarter of what is left, so that the last calls can be paid for.
	Need, Ahead int64
}

// A Balance is what a store answers to a demand.
type Balance struct {
	Granted  int64 // 0 if less than the demand needs is left
	Free     int64 // what is left
	Counted  int64 // what counts as spent, by all holders
	Recorded int64 // the part of it that is in records
	Factor   int64 // the highest of all holders
	Others   bool  // another holder has money that it may return
}

// Grant completes a balance for a demand, when everything but the demand's reservation is
// counted.
func (b *Balance) Grant(d Demand) {
	b.Counted = min(max(0, b.Counted)+d.Reserved, Most)
	b.Free = d.Limit - b.Counted
	if d.Need > 0 && b.Free >= d.Need {
		b.Granted = d.Need + max(0, min(d.Ahead, (b.Free-d.Need)/4))
	}
	b.Counted, b.Free = b.Counted+b.Granted, b.Free-b.Granted
}

// A Store keeps the numbers of a budget. What it knows of a holder that is gone counts as
// spent.
type Store interface {
	// Demand replaces what the store knows of the holder, and reserves more for it.
	Demand(ctx context.Context, d Demand) (Balance, error)

	// Leave counts what the holder has reserved as spent.
	Leave(ctx context.Context) error

	// Passing reports whether an error is transient and worth another attempt.
	Passing(err error) bool
}

const (
	// askEvery is the interval between attempts while others may return money.
	askEvery = 250 * time.Millisecond

	// ahead is the number of calls that the store reserves for at a time.
	ahead = 20

	// briefly is how long a call in progress waits for the store.
	briefly = 2 * time.Second

	// leaveTimeout limits the time for returning money. Money that was not returned counts
	// as spent.
	leaveTimeout = 10 * time.Second
)

// Open keeps the numbers in st from now on, until Close. The part of the sum that is not
// spent yet is the limit there, and before and aside are what counts there already: the cost
// in records and what else counts as spent. No call may be in flight.
func (b *Budget) Open(ctx context.Context, st Store, before, aside int64) error {
	b.mu.Lock()
	b.store, b.limit, b.refused = st, b.sum-b.spent, nil
	b.spent, b.unsettled = Add(b.spent, Add(before, aside)), Add(b.unsettled, aside)
	b.funds, b.told, b.last = b.spent, b.spent, Balance{Free: math.MaxInt64}
	b.mu.Unlock()
	return b.tell(ctx)
}

// ask reserves more in the store, unless another caller has reserved enough meanwhile. It
// waits if the store is away for the time being.
func (b *Budget) ask(ctx context.Context, micros int64) error {
	select {
	case b.asked <- struct{}{}: // One caller asks the store at a time.
		defer func() { <-b.asked }()
	case <-ctx.Done():
		return ctx.Err()
	}
	b.mu.Lock()
	need, st := times(micros, b.factor), b.store
	short := need - max(0, b.left())
	useless := short <= 0 || short > b.last.Free && !(b.last.Others && !time.Now().Before(b.again)) || b.refused != nil
	b.mu.Unlock()
	if useless {
		return nil
	}
	err := b.tellAlone(ctx, need, times(need, ahead-1))
	if err != nil && st.Passing(err) {
		return b.wait(ctx, nil, nil, true)
	}
	return err
}

// tell is tellAlone for callers that do not ask.
func (b *Budget) tell(ctx context.Context) error {
	b.asked <- struct{}{}
	defer func() { <-b.asked }()
	return b.tellAlone(ctx, 0, 0)
}

// tellAlone tells the store what is spent and reserved, and reserves what is missing of need,
// and if so some more for calls to come. With neither, it returns what no call needs.
func (b *Budget) tellAlone(ctx context.Context, need, more int64) error {
	b.mu.Lock()
	st, spent, idle := b.store, b.spent, max(0, b.left())
	if st == nil {
		b.mu.Unlock()
		return nil
	}
	if need == 0 {
		idle = 0
	}
	d := Demand{Spent: spent - b.told, Reserved: b.reserved() + idle, Factor: b.factor, Limit: b.limit, Need: max(0, need-idle), Ahead: more}
	// What is returned must not be spent while the store is asked.
	b.funds = min(b.funds, spent+d.Reserved)
	b.mu.Unlock()
	got, err := st.Demand(ctx, d)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told, b.last, b.factor = spent, got, max(b.factor, got.Factor)
	b.funds = spent + d.Reserved + got.Granted
	b.again = time.Now().Add(askEvery)
	b.announce()
	return nil
}

// Return gives the money that no call needs back to the store.
func (b *Budget) Return(ctx context.Context) error { return b.tell(ctx) }

// Close returns what is left to the store, and separates the budget from it. No call may be
// in flight, and all records must be in the store.
func (b *Budget) Close(ctx context.Context) error {
	if b == nil || b.store == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	err := b.tell(ctx)
	if err == nil {
		err = b.store.Leave(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.store, b.last = nil, Balance{}
	if err != nil {
		return fmt.Errorf("%w; what the run had set aside counts as spent", err)
	}
	return nil
}
