package model

import (
	"context"
	"errors"
	"time"

	"deem"
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
	Estimate   int           // tokens, as Begin was told
	Used       int           // tokens, 0 when nobody knows
	Unmade     bool          // the call was not made after all
	Refused    bool          // the vendor said that too much is asked
	RetryAfter time.Duration // how long it wants to be left alone
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

// fleetEnd tells the fleet how a call ended.
func (l *Limiter) fleetEnd(estimate float64, reply deem.Reply, err error) {
	if l.fleet == nil {
		return
	}
	after, sign := overload(err)
	l.fleet.End(FleetCall{
		Estimate: int(estimate), Used: reply.Usage.Input + reply.Usage.Output,
		Refused: sign == plain, RetryAfter: after,
	})
}

// A Bank lends money that several processes share to their purses.
type Bank interface {
	// Sum returns the money of all.
	Sum() int64

	// Draw lends need at least, and more if that is likely to be wanted. It waits while
	// others may give money back, and returns 0 when there is too little and nobody
	// else has any.
	Draw(ctx context.Context, need int64) (int64, error)
}

// NewLentPurse returns a purse that is empty and borrows from a bank what its calls may
// cost.
func NewLentPurse(b Bank) *Purse {
	p := NewPurse(0)
	p.bank, p.borrowing = b, make(chan struct{}, 1)
	return p
}

// Repay takes what no call needs out of the purse, but for as much as keep, and returns
// it: it is the bank's again. It also returns what was spent so far in all.
func (p *Purse) Repay(keep int64) (spent, back int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if idle := p.sum - p.spent - p.reserved - keep; idle > 0 && p.waiting.Len() == 0 {
		back = idle
		p.sum -= back
	}
	return p.spent, back
}

// errShort is what a claim on a lent purse gets when money has to be borrowed first.
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
	short := need - (p.sum - p.spent - p.reserved)
	settled := short <= 0 || p.shut != nil
	p.mu.Unlock()
	if settled {
		return nil
	}
	got, err := p.bank.Draw(ctx, short)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sum += got
	p.dry = err == nil && got == 0
	return err
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
