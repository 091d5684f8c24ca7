package model

import (
	"context"
	"errors"
	"math"
	"time"
)

// A Fleet is a set of processes that call one model and share its limits. A model asks it
// before each call, after its own limits, and reports how the call ended.
type Fleet interface {
	// Begin waits until a call that may use about that many tokens can begin without
	// exceeding the shared limits. The error is that of ctx. Every Begin without an error
	// has an End.
	Begin(ctx context.Context, tokens int) error

	// End reports that a call has ended, how many tokens were passed to Begin, and how many
	// it used. If that is unknown, used is the estimate; if no call was made, it is 0.
	End(estimate, used int)
}

// A Bank lends money to a purse.
type Bank interface {
	// Draw lends at least need, and more if further calls at the given price are likely. It
	// waits while others may return money, and lends nothing if there is too little and no
	// other purse holds any.
	Draw(ctx context.Context, need, price int64) (Loan, error)
}

// A Loan is the money that a bank lent, and the parts of its sum that other purses have.
type Loan struct {
	Got          int64
	Spent, Aside int64 // by others, and reserved by others
}

// Borrow limits the purse to money borrowed from b from now on, in addition to what it has
// spent. If b is nil, the purse may spend its sum again. No call may be in flight.
func (p *Purse) Borrow(b Bank) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bank, p.refused, p.last = b, math.MaxInt64, Loan{}
	if p.funds = p.spent; b == nil {
		p.funds = p.sum
	}
}

// Repay takes the money that no call needs, except for keep, out of a purse that borrows, and
// returns the total spent so far and the sum taken out, which the caller owes to the bank.
func (p *Purse) Repay(keep int64) (spent, back int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if idle := p.left() - keep; idle > 0 && p.waiting.Len() == 0 {
		back = idle
		p.funds -= back
	}
	return p.spent, back
}

// errShort is returned by a claim if money has to be borrowed first.
var errShort = errors.New("too little money was borrowed")

// borrow makes sure that need can be reserved, if the bank has the money.
func (p *Purse) borrow(ctx context.Context, need int64) error {
	select {
	case p.borrowing <- struct{}{}: // One caller asks the bank at a time.
		defer func() { <-p.borrowing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	short, bank := need-p.left(), p.bank
	settled := short <= 0 || short >= p.refused || p.stopped != nil
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

// briefly is how long a call in progress waits for more money.
const briefly = 2 * time.Second
