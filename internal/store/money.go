package store

import "context"

// A Draw asks for money of a run before calls are made that cost it.
type Draw struct {
	// Holder is who asks: a worker by its id, or "" for the process that has the claim on
	// the run.
	Holder string

	// Spent is what the holder has spent so far, and Lent what it may still spend. They
	// are sums and not differences, so that writing them twice does no harm.
	Spent, Lent int64

	// Limit is what the run may cost in all.
	Limit int64

	// Need is how much more the holder must have. It is lent up to Ahead on top, but no
	// more than a quarter of what is left, so that the last calls can be paid for.
	Need, Ahead int64
}

// A Balance is what became of a draw.
type Balance struct {
	Got  int64 // what was lent: 0 when less than Need is left
	Free int64 // what is left

	// Counted is what counts as spent without this holder: recorded calls, money that was
	// never settled, and what others have. Recorded is the part of all money that is in
	// records.
	Counted, Recorded int64

	Others bool // somebody else has money that may come back
}

// Money is a store that keeps which money is set aside for the calls of its runs. It is
// set aside for several calls at a time, before any of them is made. What a holder had
// when it was killed counts as spent, as far as no record says what came of it, until
// [Money.Settle]: see [Run.SetAsideMicros].
type Money interface {
	// Draw writes down what a holder has, and lends it more if it needs it and that is
	// there. From the first draw of a run on the cost of its records is taken to be part
	// of what holders spent.
	Draw(ctx context.Context, runID string, d Draw) (Balance, error)

	// Leave gives back what a holder did not spend. The records of its calls were
	// appended; what it spent on top of those stays set aside. It does nothing when the
	// holder has nothing.
	Leave(ctx context.Context, runID, holder string, spent int64) error

	// Settle releases the money of a run that was set aside and never settled, and
	// returns how much that was. It is [ErrBusy] while a process has claimed the run.
	Settle(ctx context.Context, runID string) (released int64, err error)
}

// Lend returns how much of what is free a draw gets.
func (d Draw) Lend(free int64) int64 {
	if d.Need <= 0 || free < d.Need {
		return 0
	}
	return d.Need + max(0, min(d.Ahead, (free-d.Need)/4))
}
