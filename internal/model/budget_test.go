package model_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/model"
	"deem/internal/money"
	"deem/model/fake"
)

// dear is a price table: a token of input costs a millionth of a dollar, and a token of
// output ten.
var dear = model.Prices{Entries: []model.Price{{Model: "test:", Input: 1_000_000, Output: 10_000_000}}}

// A biller is a model that takes some time and bills a random amount, up to what the
// request allows.
type biller struct {
	bill func(req deem.Request) deem.Usage

	mu     sync.Mutex
	calls  int
	billed int64
}

func (b *biller) Name() string { return "test:biller" }

func (b *biller) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	b.mu.Lock()
	b.calls++
	u := b.bill(req)
	price, _ := dear.Of(b.Name(), "")
	b.billed += price.Cost(u)
	b.mu.Unlock()
	select {
	case <-time.After(time.Second):
		return deem.Reply{Text: "yes", Usage: u}, nil
	case <-ctx.Done():
		return deem.Reply{}, ctx.Err()
	}
}

// budgeted puts the decorators around m with a budget.
func budgeted(m deem.Model, b *money.Budget) deem.Model {
	return model.Assemble(m, model.Options{Budget: b, Prices: dear, Limit: model.LimitOptions{Concurrency: 512}})
}

// TestBudgetHoldsWithManyInFlight makes calls with 512 workers until the money is gone. The
// bill never exceeds the sum, nearly all of the sum is used, and no call is refused while
// money may still be returned.
func TestBudgetHoldsWithManyInFlight(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	tests := map[string]func(deem.Request) deem.Usage{
		"as much as possible": func(req deem.Request) deem.Usage {
			return deem.Usage{Input: len(req.Messages[0].Content), Output: req.MaxTokens}
		},
		"much less": func(deem.Request) deem.Usage { return deem.Usage{Input: 16, Output: 1} },
		"as it comes": func(req deem.Request) deem.Usage {
			return deem.Usage{Input: 16 + rng.IntN(len(req.Messages[0].Content)-16), Output: 1 + rng.IntN(req.MaxTokens)}
		},
	}
	for name, bill := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const sum, worst = 1_000_000, 1000 + 200 + 16 + 64 + 4
				m := &biller{bill: bill}
				budget := money.New(sum)
				whole := budgeted(m, budget)
				errs := spendAll(t.Context(), whole, 512, strings.Repeat("x", 1000), 20)
				if m.billed > sum || budget.Spent() != m.billed {
					t.Errorf("billed %d and spent %d of %d", m.billed, budget.Spent(), sum)
				}
				if left := sum - m.billed; left >= worst {
					t.Errorf("stopped with %d left, which would pay for another call of at most %d", left, worst)
				}
				for _, err := range errs {
					me, ok := errors.AsType[*deem.ModelError](err)
					if !ok || me.Kind != deem.Budget || !me.Fatal || deem.HintOf(err) == "" {
						t.Fatalf("error %v, want a fatal one of kind budget with a hint", err)
					}
				}
			})
		})
	}
}

// spentBefore returns a budget of which a part was spent earlier, as its store knows.
func spentBefore(t *testing.T, sum, before int64) *money.Budget {
	t.Helper()
	b := money.New(sum)
	if err := b.Open(t.Context(), &vault{before: before}, before, 0); err != nil {
		t.Fatal(err)
	}
	return b
}

// A vault is a store for one budget.
type vault struct{ before, spent int64 }

func (v *vault) Demand(_ context.Context, d money.Demand) (b money.Balance, err error) {
	v.spent += d.Spent
	b.Counted, b.Factor = v.before+v.spent, d.Factor
	b.Grant(d)
	return b, nil
}

func (*vault) Leave(context.Context) error { return nil }

func (*vault) Passing(error) bool { return false }

// spendAll makes calls with many workers until each of them gets an error.
func spendAll(ctx context.Context, m deem.Model, workers int, prompt string, maxTokens int) []error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var errs []error
	trial := 0
	for range workers {
		wg.Go(func() {
			for {
				req := deem.Prompt(prompt)
				mu.Lock()
				trial++
				req.Trial, req.MaxTokens = trial, maxTokens
				mu.Unlock()
				if _, err := m.Complete(ctx, req); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	return errs
}

// TestBudgetProperty draws sums, earlier spending, prompts and bills, interrupts some
// callers, and checks that the bill never exceeds the sum.
func TestBudgetProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sum := rapid.Int64Range(0, 50_000).Draw(rt, "sum")
		before := rapid.Int64Range(0, 60_000).Draw(rt, "before")
		share := rapid.IntRange(0, 100).Draw(rt, "share")
		n := rapid.IntRange(1, 64).Draw(rt, "callers")
		synctest.Test(t, func(t *testing.T) {
			m := &biller{bill: func(req deem.Request) deem.Usage {
				return deem.Usage{Input: len(req.Messages[0].Content) * share / 100, Output: req.MaxTokens * share / 100}
			}}
			budget := spentBefore(t, sum, before)
			b := model.Budget(model.Meter(m, dear), budget, dear)
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%5)*900*time.Millisecond)
					defer cancel()
					req := deem.Prompt(strings.Repeat("x", i*37%900))
					req.MaxTokens = 1 + i*13%100
					_, _ = b.Complete(ctx, req)
				})
			}
			wg.Wait()
			if m.billed > max(0, sum-before) {
				t.Fatalf("billed %d of %d when %d were spent before", m.billed, sum, before)
			}
			// Interrupted calls returned their money.
			req := deem.Prompt("")
			req.MaxTokens = 1
			_, err := b.Complete(t.Context(), req)
			if affordable := sum-budget.Spent() >= 200; affordable && err != nil && !refusedBefore(err) {
				t.Fatalf("a small call at the end: %v, with %d of %d spent", err, budget.Spent(), sum)
			}
		})
	})
}

// refusedBefore reports whether the budget was shut by an earlier, larger call.
func refusedBefore(err error) bool {
	return strings.Contains(err.Error(), "used up") || strings.Contains(err.Error(), "one call may cost")
}

func TestBudgetWaitsForWhatMayComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &biller{bill: func(deem.Request) deem.Usage { return deem.Usage{Input: 1, Output: 1} }}
		budget := money.New(700) // one call may cost 84 + 4 + 500, and costs 11
		b := model.Budget(model.Meter(m, dear), budget, dear)
		start := time.Now()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				req := deem.Prompt("q")
				req.MaxTokens = 50
				if _, err := b.Complete(t.Context(), req); err != nil {
					t.Errorf("Complete: %v", err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took != 3*time.Second || budget.Spent() != 33 {
			t.Errorf("three calls took %v and cost %d, want one after the other, 3s and 33", took, budget.Spent())
		}
	})
}

func TestBudgetCountsWhatWasSpentBefore(t *testing.T) {
	m := &biller{bill: func(deem.Request) deem.Usage { return deem.Usage{} }}
	budget := spentBefore(t, 1_000_000, 999_990)
	req := deem.Prompt("q")
	req.MaxTokens = 5
	_, err := budgeted(m, budget).Complete(t.Context(), req)
	want := "the budget of $1.00 is used up: $0.99999 spent, and the next call may cost $0.000135"
	if err == nil || err.Error() != want || m.calls != 0 {
		t.Errorf("error %q after %d calls, want %q and none", err, m.calls, want)
	}
}

func TestBudgetRefusesWhatItCannotPrice(t *testing.T) {
	m, calls := counting()
	unknown := named{Model: m, name: "nobody:knows"}
	_, err := budgeted(unknown, money.New(1_000_000)).Complete(t.Context(), deem.Prompt("q"))
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Fatal || !strings.Contains(deem.HintOf(err), "--prices") || calls.Load() != 0 {
		t.Errorf("error %v (hint %q) after %d calls, want a fatal one that names --prices, and none", err, deem.HintOf(err), calls.Load())
	}
}

// TestBudgetTakesTheLongestReply omits MaxTokens: then a call may cost as much as the
// longest reply.
func TestBudgetTakesTheLongestReply(t *testing.T) {
	m := &biller{bill: func(deem.Request) deem.Usage { return deem.Usage{} }}
	_, err := budgeted(m, money.New(327_000)).Complete(t.Context(), deem.Prompt("q"))
	if err == nil || !strings.Contains(err.Error(), "one call may cost $0.32776") || !strings.Contains(deem.HintOf(err), "--max-tokens") {
		t.Errorf("error %v (hint %q), want one that names the price of 32,768 tokens", err, deem.HintOf(err))
	}
	for name, want := range map[string]int{
		"openai:gpt-4o": 32_768, "openai:o3-mini": 131_072, "openai:gpt-5-mini": 131_072, "google:gemini-2.5-pro": 65_536, "anthropic:claude": 4_096,
	} {
		if got := model.MostUsage(name, deem.Request{}).Output; got != want {
			t.Errorf("longest reply of %s = %d, want %d", name, got, want)
		}
	}
}

// TestBudgetPaysForWhatNobodySaw makes calls time out. The vendor may have charged for each
// of them, so they count as spent, and no further attempt begins without a reservation.
func TestBudgetPaysForWhatNobodySaw(t *testing.T) {
	const worst = 64 + 16 + 4 + 1 + 10*10
	timeout := &deem.ModelError{Kind: deem.Timeout, Passing: true, Err: errors.New("no answer")}
	tests := []struct {
		name         string
		err          error
		sum          int64
		calls, spent int64
		kind         deem.Kind
	}{
		{"two timeouts", timeout, 1000, 2, 2 * worst, deem.Timeout},
		{"no money for the second", timeout, worst + 1, 1, worst, deem.Budget},
		{"cut twice, no money for the third", &deem.ModelError{Kind: deem.Provider, Passing: true, Billed: true}, 2*worst + 1, 2, 2 * worst, deem.Budget},
		{"cancelled at the vendor", context.Canceled, 1000, 1, worst, ""},
		{"errors are free", passing(0), 1000, 6, 0, deem.Provider},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, calls := failing(100, tt.err)
				budget := money.New(tt.sum)
				req := deem.Prompt("q")
				req.MaxTokens = 10
				_, err := budgeted(named{Model: m, name: "test:x"}, budget).Complete(t.Context(), req)
				me, ok := errors.AsType[*deem.ModelError](err)
				if ok != (tt.kind != "") || ok && me.Kind != tt.kind || int64(calls()) != tt.calls || budget.Spent() != tt.spent {
					t.Errorf("error %v after %d calls, %d spent, want kind %s, %d and %d", err, calls(), budget.Spent(), tt.kind, tt.calls, tt.spent)
				}
			})
		})
	}
}

// TestBudgetMessageAddsUp loses a reply before the money runs out. The sums in the message
// (spent, reserved, next call) add up to more than the budget.
func TestBudgetMessageAddsUp(t *testing.T) {
	lost := &deem.ModelError{Kind: deem.Provider, Billed: true, Err: errors.New("cut")}
	n := 0
	m := fake.Func("test:x", func(context.Context, deem.Request) (deem.Reply, error) {
		if n++; n == 2 {
			return deem.Reply{}, lost
		}
		return deem.Reply{Text: "yes", Usage: deem.Usage{Input: 50, Output: 5}}, nil
	})
	b := model.Budget(model.Meter(m, dear), money.New(400), dear)
	req := deem.Prompt("q")
	req.MaxTokens = 10
	var err error
	for err == nil || errors.Is(err, lost) {
		_, err = b.Complete(t.Context(), req)
	}
	want := "the budget of $0.0004 is used up: $0.0001 spent, $0.000185 set aside for calls whose cost is not known, and the next call may cost $0.000185"
	if err.Error() != want || n != 2 {
		t.Errorf("error %q after %d calls, want %q and 2", err, n, want)
	}
}

// TestBudgetOfTwoBudgets pays for a request from two budgets, as on a server. An attempt that
// timed out counts in both.
func TestBudgetOfTwoBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls := failing(1, &deem.ModelError{Kind: deem.Timeout, Passing: true, Err: errors.New("no answer")})
		inner, outer := money.New(1_000_000), money.New(1_000_000)
		retried := model.Retry(model.Meter(named{Model: m, name: "test:x"}, dear), model.RetryOptions{})
		b := model.Budget(model.Budget(retried, inner, dear), outer, dear)
		if _, err := b.Complete(t.Context(), deem.Prompt("q")); err != nil {
			t.Fatal(err)
		}
		if inner.Spent() != outer.Spent() || inner.Spent() < 327_000 || calls() != 2 {
			t.Errorf("%d and %d spent after %d calls, want the same, with a timeout at its worst price, and 2", inner.Spent(), outer.Spent(), calls())
		}
	})
}

func TestBudgetSurvivesAPanic(t *testing.T) {
	budget := money.New(1000)
	m := fake.Func("test:panic", func(context.Context, deem.Request) (deem.Reply, error) { panic("bug") })
	b := model.Budget(m, budget, dear)
	req := deem.Prompt("q")
	req.MaxTokens = 50
	for range 3 {
		func() {
			defer func() { _ = recover() }()
			_, _ = b.Complete(t.Context(), req)
			t.Error("no panic: the money was kept")
		}()
	}
}
