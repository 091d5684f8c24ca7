package model_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/model"
	"deem/model/fake"
)

// passing returns a transient error with the given Retry-After.
func passing(after time.Duration) *deem.ModelError {
	return &deem.ModelError{Kind: deem.Provider, Status: 500, Passing: true, RetryAfter: after, Err: errors.New("boom")}
}

// failing returns a model that fails with err the first n times, and a function that
// returns the number of calls.
func failing(n int, err error) (deem.Model, func() int) {
	var mu sync.Mutex
	calls := 0
	m := fake.Func("fake:failing", func(context.Context, deem.Request) (deem.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		if calls <= n {
			return deem.Reply{}, err
		}
		return deem.Reply{Text: "yes", Stop: deem.StopEnd}, nil
	})
	return m, func() int {
		mu.Lock()
		defer mu.Unlock()
		return calls
	}
}

// half is a constant jitter of 0.5.
func half() float64 { return 0.5 }

func TestRetryBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls := failing(5, passing(0))
		start := time.Now()
		reply, err := model.Retry(m, model.RetryOptions{Rand: half}).Complete(t.Context(), deem.Prompt("q"))
		if err != nil {
			t.Fatalf("Complete: %v", err)
		}
		if reply.Attempts != 6 || calls() != 6 {
			t.Errorf("Attempts = %d after %d calls, want 6 and 6", reply.Attempts, calls())
		}
		// Five eighths of 500 ms, 1 s, 2 s, 4 s and 8 s: halfway between a quarter and the
		// whole.
		if took, want := time.Since(start), 15500*time.Millisecond*5/8; took != want {
			t.Errorf("waited %v, want %v", took, want)
		}
	})
}

func TestRetryGivesUp(t *testing.T) {
	tests := []struct {
		name  string
		err   error
		calls int
	}{
		{"passing", passing(0), 6},
		{"timeout", &deem.ModelError{Kind: deem.Timeout, Passing: true, Err: errors.New("no answer")}, 2},
		{"wrapped", errors.Join(passing(0)), 6},
		{"own", &deem.ModelError{Kind: deem.Provider, Status: 400, Err: errors.New("too long")}, 1},
		{"fatal", &deem.ModelError{Kind: deem.Provider, Status: 401, Fatal: true, Err: errors.New("no key")}, 1},
		{"fatal and passing", &deem.ModelError{Fatal: true, Passing: true, Err: errors.New("both")}, 1},
		{"asks for too long", passing(121 * time.Second), 1},
		{"asks for long", passing(119 * time.Second), 6},
		{"foreign", errors.New("foreign"), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, calls := failing(100, tt.err)
				_, err := model.Retry(m, model.RetryOptions{}).Complete(t.Context(), deem.Prompt("q"))
				if calls() != tt.calls {
					t.Errorf("%d calls, want %d", calls(), tt.calls)
				}
				me, ok := errors.AsType[*deem.ModelError](err)
				if !ok {
					if err != tt.err {
						t.Errorf("error %v, want %v", err, tt.err)
					}
					return
				}
				if me.Attempts != tt.calls {
					t.Errorf("Attempts = %d, want %d", me.Attempts, tt.calls)
				}
				if was, _ := errors.AsType[*deem.ModelError](tt.err); was.Attempts != 0 {
					t.Errorf("the error of the wire was changed: Attempts = %d", was.Attempts)
				}
			})
		})
	}
}

func TestRetryAfterIsAFloor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		after := time.Duration(rapid.Int64Range(0, int64(2*time.Minute)).Draw(rt, "after"))
		jitter := rapid.Float64Range(0, 0.999).Draw(rt, "jitter")
		synctest.Test(t, func(t *testing.T) {
			m, _ := failing(1, passing(after))
			r := model.Retry(m, model.RetryOptions{Rand: func() float64 { return jitter }})
			start := time.Now()
			if _, err := r.Complete(t.Context(), deem.Prompt("q")); err != nil {
				t.Fatalf("Complete: %v", err)
			}
			if took := time.Since(start); took < after || took > after+500*time.Millisecond {
				t.Errorf("asked to wait %v with a jitter of %v, waited %v, want at most half a second more", after, jitter, took)
			}
		})
	})
}

func TestRetryPauseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := failing(59, passing(0))
		start := time.Now()
		r := model.Retry(m, model.RetryOptions{Attempts: 60, Max: 2 * time.Second, Rand: func() float64 { return 1 }})
		if _, err := r.Complete(t.Context(), deem.Prompt("q")); err != nil {
			t.Fatalf("Complete: %v", err)
		}
		// 500 ms and 1 s, then 57 times the maximum.
		if took, want := time.Since(start), 1500*time.Millisecond+57*2*time.Second; took != want {
			t.Errorf("waited %v, want %v", took, want)
		}
	})
}

func TestRetryNeverBeginsOnADeadContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &careless{}
	_, err := model.Retry(m, model.RetryOptions{}).Complete(ctx, deem.Prompt("q"))
	if !errors.Is(err, context.Canceled) || m.calls != 0 {
		t.Errorf("error %v after %d calls, want that of the context and none", err, m.calls)
	}
}

// A careless model ignores its context.
type careless struct{ calls int }

func (c *careless) Name() string { return "fake:careless" }

func (c *careless) Complete(context.Context, deem.Request) (deem.Reply, error) {
	c.calls++
	return deem.Reply{Text: "yes"}, nil
}

func TestRetryIsInterruptedWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m, calls := failing(100, passing(time.Minute))
		start := time.Now()
		_, err := model.Retry(m, model.RetryOptions{}).Complete(ctx, deem.Prompt("q"))
		if !errors.Is(err, context.DeadlineExceeded) || calls() != 1 {
			t.Errorf("error %v after %d calls, want that of the context and one", err, calls())
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("waited %v, want one second", took)
		}
	})
}

// TestRetryBudget runs 512 workers against a vendor that is down, and counts the calls.
func TestRetryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls := failing(1<<30, passing(0))
		r := model.Retry(m, model.RetryOptions{Base: time.Millisecond, Max: time.Millisecond})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		for range 512 {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _ = r.Complete(ctx, deem.Prompt("q"))
				}
			})
		}
		wg.Wait()
		// In a minute there are 50 retries and five per second; new requests, which add a
		// fifth each, begin only as old ones end.
		if n := calls(); n < 512+300 || n > 512+512+50+300+100 {
			t.Errorf("%d calls in a minute of outage, want about 512 and 350 retries", n)
		}
	})
}

// TestRetryBudgetGrowsWithRequests makes many requests of which one in twenty fails once.
// So few retries are never delayed.
func TestRetryBudgetGrowsWithRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := fake.Func("fake:flaky", func(context.Context, deem.Request) (deem.Reply, error) {
			if n++; n%20 == 0 {
				return deem.Reply{}, passing(0)
			}
			return deem.Reply{Text: "yes"}, nil
		})
		r := model.Retry(m, model.RetryOptions{Rand: func() float64 { return 0 }})
		start := time.Now()
		for range 10_000 {
			if _, err := r.Complete(t.Context(), deem.Prompt("q")); err != nil {
				t.Fatalf("Complete: %v", err)
			}
		}
		// A quarter of 500 ms for each of the 526 retries, and no wait for the budget.
		if took, want := time.Since(start), 526*125*time.Millisecond; took != want {
			t.Errorf("retries waited %v, want %v", took, want)
		}
	})
}

// TestRetrySurvivesAnOutage makes the vendor unavailable for half a minute: no item may be
// lost.
func TestRetrySurvivesAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := time.Now().Add(30 * time.Second)
		m := fake.Func("fake:outage", func(context.Context, deem.Request) (deem.Reply, error) {
			if time.Now().Before(up) {
				return deem.Reply{}, passing(0)
			}
			return deem.Reply{Text: "yes"}, nil
		})
		r := model.Retry(m, model.RetryOptions{})
		var wg sync.WaitGroup
		var mu sync.Mutex
		lost := 0
		for range 512 {
			wg.Go(func() {
				if _, err := r.Complete(t.Context(), deem.Prompt("q")); err != nil {
					mu.Lock()
					lost++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if lost != 0 {
			t.Errorf("%d of 512 requests lost to an outage of half a minute, want none", lost)
		}
	})
}

func TestRetryKeepsTheHint(t *testing.T) {
	err := deem.WithHint(errors.New("no key"), "set a key")
	m, _ := failing(9, &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: err})
	_, got := model.Retry(m, model.RetryOptions{}).Complete(t.Context(), deem.Prompt("q"))
	if hint := deem.HintOf(got); hint != "set a key" {
		t.Errorf("HintOf = %q, want the hint of the wire", hint)
	}
	if !strings.Contains(got.Error(), "no key") {
		t.Errorf("error %q does not say what the wire said", got)
	}
}
