package model

import (
	"context"
	"errors"
	"math"
	"time"
)

// A Fleet is several processes that ask one model and share its limits. [Limit] asks it
// before each call, after its own limits, and tells it how the call ended.
type Fleet interface {
	// Begin waits until a call that may use about so many tokens can begin without
	// exceeding what all processes may do together. Its error is that of ctx. Every
	// Begin without an error has an End.
	Begin(ctx context.Context, tokens int) error

	// End says how a call ended.
	End(c FleetCall)
}

// A FleetCall is the end of a call as the others of a fleet need to know it.
type FleetCall struct {
	Estimate int  // tokens, as Begin was told
	Used     int  // tokens, 0 when nobody knows
	Unmade   bool // the call was not made after all
}

// fleetBegin waits for the fleet. A run that is over meanwhile makes no call.
func (l *Limiter) fleetBegin(ctx context.Context, estimate float64) error {
	if l.fleet == nil {
		return nil
	}
	if err := l.fleet.Begin(ctx, int(estimate)); err != nil {
		return err
	}
	if err := over(ctx); err != nil {
		l.fleet.End(FleetCall{Estimate: int(estimate), Unmade: true})
		return err
	}
	return nil
}

// A Bank lends money to a purse.
type Bank interface {
	// Draw lends at least need, and more if calls at the given price are likely to want
	// it. It waits while others may give money back, and lends nothing when there is too
	// little and nobody else has any.
	Draw(ctx context.Context, need, price int64) (Loan, error)
}

// A Loan is what a bank lent, and what others than the purse have of its sum.
type Loan struct {
	Got          int64
	Spent, Aside int64 // by others, and set aside by others
}

// Borrow lets the purse spend only what it borrows from b from now on, on top of what it
// has spent. If b is nil, the purse may spend its sum again. No call may be in flight.
func (p *Purse) Borrow(b Bank) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bank, p.refused, p.last = b, math.MaxInt64, Loan{}
	if p.funds = p.spent; b == nil {
		p.funds = p.sum
	}
}

// Repay takes what no call needs out of a purse that borrows, except for keep, and returns
// it: it is the bank's again. It also returns what was spent so far in all.
func (p *Purse) Repay(keep int64) (spent, back int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if idle := p.left() - keep; idle > 0 && p.waiting.Len() == 0 {
		back = idle
		p.funds -= back
	}
	return p.spent, back
}

// errShort is what a claim on a purse gets when money has to be borrowed first.
var errShort = errors.New("too little money was borrowed")

// borrow makes sure that need can be set aside, as far as the bank has it.
func (p *Purse) borrow(ctx context.Context, need int64) error {
	select {
	case p.borrowing <- struct{}{}: // One asks the bank at a time.
		defer func() { <-p.borrowing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	short, bank := need-p.left(), p.bank
	settled := short <= 0 || short >= p.refused || p.shut != nil
	p.mu.Unlock()
	if settled {
		return nil
	}
	loan, err := bank.Draw(ctx, short, need)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.funds += loan.Got
	p.last, p.refused = loan, math.MaxInt64
	if loan.Got == 0 {
		p.refused = short
	}
	return nil
}

// briefly is how long a call that was begun waits for money to go on with.
const briefly = 2 * time.Second

// borrowBriefly is borrow for a call that has money set aside already, and must not wait
// for others who do.
func (p *Purse) borrowBriefly(need int64) {
	if p.bank == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), briefly)
	defer cancel()
	_ = p.borrow(ctx, need) // What was not borrowed cannot be set aside, which is told then.
}

// reserveLent is reserve for a purse that borrows.
func (p *Purse) reserveLent(ctx context.Context, need int64) error {
	for {
		if err := p.borrow(ctx, need); err != nil {
			return err
		}
		if err := p.claim(ctx, need); !errors.Is(err, errShort) {
			return err
		}
	}
}
