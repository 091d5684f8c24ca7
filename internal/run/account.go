package run

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"deem/internal/store"
	"deem/model"
)

// AccountOptions configures an account that several processes share.
type AccountOptions struct {
	Holder string // the holder of the money; "" is the process that has claimed the run

	// Limit returns what the run may cost now; nil means the sum of the purse.
	Limit func(ctx context.Context) (int64, error)

	// Passing reports whether an error of the store is transient and retried; nil means
	// none is.
	Passing func(err error) bool
}

// An Account lends the money of a run to a purse: money that the purse may spend is first
// reserved in the store, for several calls at a time. So a process that is killed, or whose
// disk is full, cannot lose track of what it may have spent.
type Account struct {
	st    store.Money
	run   string
	o     AccountOptions
	purse *model.Purse
	limit int64 // the limit of the run if the options have none
	start int64 // spent by the purse before the account was opened

	mu      sync.Mutex // held during calls of the store
	granted int64      // in total, without what was returned
	last    int64      // the largest loan so far
	free    int64      // what was left for all at that time
	closed  bool
}

var _ model.Bank = (*Account)(nil)

const (
	// drawEvery is the interval between attempts while others may return money.
	drawEvery = 250 * time.Millisecond

	// ahead is the number of calls that one loan covers.
	ahead = 20

	// closeTimeout limits the time for returning money. Money that was not returned
	// counts as spent.
	closeTimeout = 10 * time.Second
)

// OpenAccount deducts the cost of earlier parts of a run, and what is reserved for it, from
// the purse, which spends the money of the run until the account is closed. It returns nil
// if there is no purse, or if the store does not keep accounts.
func OpenAccount(st store.Store, run store.Run, purse *model.Purse) *Account {
	if purse == nil {
		return nil
	}
	elsewhere := purse.Spent() // on other runs
	purse.Spend(run.CostMicros, run.SetAsideMicros)
	money, ok := st.(store.Money)
	if !ok {
		return nil
	}
	return newAccount(money, run.ID, purse, purse.Sum()-elsewhere, AccountOptions{})
}

// ShareAccount returns the account of one of several processes that judge a run, with a
// separate purse.
func ShareAccount(st store.Money, runID string, sum int64, o AccountOptions) *Account {
	return newAccount(st, runID, model.NewPurse(sum), sum, o)
}

func newAccount(st store.Money, runID string, purse *model.Purse, limit int64, o AccountOptions) *Account {
	a := &Account{st: st, run: runID, o: o, purse: purse, limit: limit, start: purse.Spent()}
	purse.Borrow(a)
	return a
}

// Purse returns the purse that spends the money.
func (a *Account) Purse() *model.Purse { return a.purse }

// Draw implements [model.Bank].
func (a *Account) Draw(ctx context.Context, need, price int64) (model.Loan, error) {
	for {
		loan, others, err := a.draw(ctx, need, price)
		switch {
		case err != nil && (a.o.Passing == nil || !a.o.Passing(err)):
			return model.Loan{}, err
		case err == nil && (loan.Got > 0 || !others):
			return loan, nil
		}
		t := time.NewTimer(drawEvery)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return model.Loan{}, ctx.Err()
		}
	}
}

// draw tries to reserve money, and reports whether others hold some.
func (a *Account) draw(ctx context.Context, need, price int64) (loan model.Loan, others bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return model.Loan{}, false, nil
	}
	limit := a.limit
	if a.o.Limit != nil {
		if limit, err = a.o.Limit(ctx); err != nil {
			return model.Loan{}, false, err
		}
	}
	d := a.has(math.MaxInt64)
	d.Limit, d.Need, d.Ahead = limit, need, (ahead-1)*price
	b, err := a.st.Draw(ctx, a.run, d)
	if err != nil {
		return model.Loan{}, false, err
	}
	a.granted += b.Got
	a.free = b.Free
	a.last = max(a.last, b.Got)
	if a.o.Holder == "" {
		// The purse includes what earlier parts of the run spent, and no other
		// process spends now.
		return model.Loan{Got: b.Got}, false, nil
	}
	recorded := min(b.Counted, max(0, b.Recorded-d.Spent))
	return model.Loan{Got: b.Got, Spent: recorded, Aside: b.Counted - recorded}, b.Others, nil
}

// has returns what the purse has spent and holds, after it returned everything that no call
// needs, except for keep. The caller holds the lock.
func (a *Account) has(keep int64) store.Draw {
	spent, back := a.purse.Repay(keep)
	a.granted -= back // It has left the purse, whether the store is updated now or later.
	spent -= a.start
	return store.Draw{Holder: a.o.Holder, Spent: spent, Lent: max(0, a.granted-spent)}
}

// Settle reports what was spent, and returns what is not needed. While there is plenty, the
// purse keeps what its next calls will cost.
func (a *Account) Settle(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.granted == 0 {
		return nil
	}
	keep := a.last
	if a.free < 10*a.last {
		keep = 0
	}
	_, err := a.st.Draw(ctx, a.run, a.has(keep))
	return err
}

// Close reports the final amount spent and returns the rest. No call may be in flight, and
// all records must be in the store.
func (a *Account) Close(ctx context.Context) error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	d, drawn := a.has(0), a.last > 0
	if drawn {
		// Money is returned even after an interruption.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if err := a.st.Leave(ctx, a.run, a.o.Holder, d.Spent); err != nil {
			return fmt.Errorf("%w; what the run had set aside counts as spent", err)
		}
	}
	a.closed = true
	a.purse.Borrow(nil)
	return nil
}

// Abandon closes an account whose money was counted as spent because its holder was
// considered dead.
func (a *Account) Abandon() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
}
