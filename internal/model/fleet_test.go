package model_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"deem"
	"deem/internal/model"
	"deem/model/fake"
)

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
