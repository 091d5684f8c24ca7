package model_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deem"
	"deem/model"
	"deem/model/fake"
)

// A vault is a bank for tests.
type vault struct {
	mu    sync.Mutex
	left  int64
	draws int
}

func (v *vault) Draw(_ context.Context, need, _ int64) (model.Loan, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.draws++
	if need > v.left {
		return model.Loan{}, nil
	}
	v.left -= need
	return model.Loan{Got: need}, nil
}

// A purse borrows the maximum cost of calls, returns the rest, and is shut once the bank
// has too little.
func TestLentPurse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bank := &vault{left: 1000}
		purse := model.NewPurse(1000)
		purse.Borrow(bank)
		prices := model.Prices{Entries: []model.Price{{Model: "paid:", Input: 1_000_000, Output: 1_000_000}}}
		cost := func(context.Context, deem.Request) (deem.Reply, error) {
			time.Sleep(time.Second)
			return deem.Reply{Text: "yes", CostMicros: 10}, nil
		}
		m := model.Budget(fake.Func("paid:m", cost), purse, prices)
		req := deem.Request{MaxTokens: 100} // 64 and 100 tokens at most: 164 micros
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				if _, err := m.Complete(t.Context(), req); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		drawn := 1000 - bank.left
		if spent, back := purse.Repay(0); spent != 60 || back != drawn-60 {
			t.Errorf("Repay = %d spent, %d back, want 60 and %d", spent, back, drawn-60)
		}
		bank.left = 100 // Other purses spent the rest.
		_, err := m.Complete(t.Context(), req)
		if me, ok := errors.AsType[*deem.ModelError](err); !ok || me.Kind != deem.Budget || !me.Fatal {
			t.Errorf("a call that the bank cannot pay ends in %v, want a fatal error of kind budget", err)
		}
	})
}

// A counter is a fleet that counts calls.
type counter struct {
	mu     sync.Mutex
	begun  int
	ends   [][2]int // estimate and used tokens
	refuse error
}

func (c *counter) Begin(context.Context, int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuse != nil {
		return c.refuse
	}
	c.begun++
	return nil
}

func (c *counter) End(estimate, used int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends = append(c.ends, [2]int{estimate, used})
}

// The limit asks the fleet before each call and reports the tokens used.
func TestLimitAsksTheFleet(t *testing.T) {
	fleet := &counter{}
	refused := &deem.ModelError{Kind: deem.Provider, Status: 429, Passing: true, RetryAfter: 3 * time.Second}
	calls := 0
	m := model.Limit(fake.Func("fake:m", func(context.Context, deem.Request) (deem.Reply, error) {
		if calls++; calls == 2 {
			return deem.Reply{}, refused
		}
		return deem.Reply{Text: "yes", Usage: deem.Usage{Input: 5, Output: 2}}, nil
	}), model.LimitOptions{Fleet: fleet})
	for range 2 {
		_, _ = m.Complete(t.Context(), deem.Request{MaxTokens: 10})
	}
	if fleet.begun != 2 || len(fleet.ends) != 2 {
		t.Fatalf("%d calls begun, %d ended, want 2 and 2", fleet.begun, len(fleet.ends))
	}
	if got, want := fleet.ends[0], [2]int{10, 7}; got != want {
		t.Errorf("the first call ended as %v, want %v", got, want)
	}
	if got, want := fleet.ends[1], [2]int{10, 10}; got != want {
		t.Errorf("the second call ended as %v, want %v", got, want)
	}
	fleet.refuse = context.Canceled
	if _, err := m.Complete(t.Context(), deem.Request{}); !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("a call that the fleet does not allow ends in %v after %d calls, want that of the fleet and 2", err, calls)
	}
}
