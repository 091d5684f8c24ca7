package store

import (
	"context"

	"deem/internal/money"
)

// Money is a store that keeps the budgets of its runs. For each holder of money in a run it
// has two numbers: what the holder spent in calls that no record has, and what it reserved.
// With the cost in records, and of replies of batches that no record has yet, they are what
// counts as spent. If a holder is killed, its money stays counted until [Money.Settle]: see
// [Run.SetAsideMicros].
type Money interface {
	// Demand replaces what is reserved for a holder, adds what it spent since its last
	// demand, and reserves more for it if enough is left. From then on until it leaves, the
	// cost of records that are appended through this store is taken out of what it spent.
	Demand(ctx context.Context, runID, holder string, d money.Demand) (money.Balance, error)

	// Leave counts what a holder reserved as spent, and forgets the holder. It does nothing
	// if there is no such holder.
	Leave(ctx context.Context, runID, holder string) error

	// Settle releases the money of a run that no record shows, and returns the amount. It
	// returns [ErrBusy] while a process has claimed the run.
	Settle(ctx context.Context, runID string) (released int64, err error)
}

// Claimant is the holder of money that has claimed the run.
const Claimant = "claim"

// Purse returns the money of a run for a budget. An error that passing accepts is transient;
// nil means that none is.
func Purse(st Money, runID, holder string, passing func(error) bool) money.Store {
	return purse{st, runID, holder, passing}
}

type purse struct {
	st          Money
	run, holder string
	passing     func(error) bool
}

func (p purse) Demand(ctx context.Context, d money.Demand) (money.Balance, error) {
	return p.st.Demand(ctx, p.run, p.holder, d)
}

func (p purse) Leave(ctx context.Context) error { return p.st.Leave(ctx, p.run, p.holder) }

func (p purse) Passing(err error) bool { return p.passing != nil && p.passing(err) }
