package store

import "context"

// A Draw requests money of a run before calls are made.
type Draw struct {
	// Holder is the id of a worker, or "" for the process that has the claim on the run.
	Holder string

	// Spent is what the holder has spent so far, and Lent what it may still spend. They are
	// totals and not differences, so that writing them twice does no harm.
	Spent, Lent int64

	// Limit is the budget of the run.
	Limit int64

	// Need is how much more the holder must have. Up to Ahead more is lent, but no more
	// than a quarter of what is left, so that the last calls can be paid for.
	Need, Ahead int64
}

// A Balance is the result of a draw.
type Balance struct {
	Got  int64 // the sum lent; 0 if less than Need is left
	Free int64 // what is left

	// Counted is what counts as spent without this holder: recorded calls, money that was
	// never settled, and the money of other holders. Recorded is the part of all money that
	// is in records.
	Counted, Recorded int64

	Others bool // another holder has money that may be returned
}

// Money is a store that keeps reservations of money for the calls of its runs. Money is
// reserved for several calls at a time, before any of them is made. If a holder is killed,
// its money counts as spent, except for recorded costs, until [Money.Settle]: see
// [Run.SetAsideMicros].
type Money interface {
	// Draw records what a holder has, and lends it more if it needs it and enough is left.
	// From the first draw of a run on, the cost of its records is assumed to be part of
	// what holders spent.
	Draw(ctx context.Context, runID string, d Draw) (Balance, error)

	// Leave returns the money that a holder did not spend. The records of its calls have
	// been appended; what it spent in addition stays reserved. It does nothing if the
	// holder has nothing.
	Leave(ctx context.Context, runID, holder string, spent int64) error

	// Settle releases the money of a run that was reserved and never settled, and returns
	// the amount. It returns [ErrBusy] while a process has claimed the run.
	Settle(ctx context.Context, runID string) (released int64, err error)
}

// Lend sets how much a draw gets and what is left, if the other holders have the given money.
func (b *Balance) Lend(d Draw, others int64) {
	b.Counted += others
	b.Free, b.Got = d.Limit-b.Counted-d.Spent-d.Lent, 0
	if d.Need > 0 && b.Free >= d.Need {
		b.Got = d.Need + max(0, min(d.Ahead, (b.Free-d.Need)/4))
	}
	b.Free -= b.Got
}
