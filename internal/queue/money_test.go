package queue

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"deem"
	"deem/internal/model"
	"deem/internal/money"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/test/storetest"
	"deem/model/fake"
)

// newTestControl returns the queue of a new database with one run.
func newTestControl(t *testing.T, micros int64) (*Control, string) {
	t.Helper()
	st, err := postgres.Open(t.Context(), storetest.Database(t), postgres.Options{Conns: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	c, err := Open(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := st.Begin(t.Context(), store.Spec{
		Judge: store.JudgeSpec{Name: "any", Hash: "any"}, Trials: 1, Dataset: store.DatasetSpec{Hash: "any", Items: 1},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	items := func(yield func(deem.Item, error) bool) { yield(deem.Item{ID: "q0"}, nil) }
	if _, err := c.Enqueue(t.Context(), Work{Run: r, Items: items, Options: Options{MaxMicros: &micros}}); err != nil {
		t.Fatal(err)
	}
	return c, r.ID
}

// newBudget returns the budget of a worker.
func newBudget(t *testing.T, c *Control, run, holder string, sum int64) *money.Budget {
	t.Helper()
	b := money.New(sum)
	if err := b.Open(t.Context(), store.Purse(c.st, run, holder, passing), 0, 0); err != nil {
		t.Fatal(err)
	}
	return b
}

// Three workers spend the whole budget of a run: never more, and everything that can pay
// for a call, including money that others reserved and did not need.
func TestWorkersShareTheMoney(t *testing.T) {
	t.Parallel()
	const sum, cost = 100_000, 900
	c, run := newTestControl(t, sum)
	prices := model.Prices{Entries: []model.Price{{Model: "paid:", Input: 1_000_000, Output: 1_000_000}}}
	var mu sync.Mutex
	billed := int64(0)
	ask := func(context.Context, deem.Request) (deem.Reply, error) {
		time.Sleep(time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		billed += cost
		return deem.Reply{Text: "yes", Usage: deem.Usage{Input: 1, Output: cost - 1}}, nil
	}
	var wg sync.WaitGroup
	for _, worker := range []string{"a", "b", "c"} {
		b := newBudget(t, c, run, worker, sum)
		m := model.Assemble(fake.Func("paid:m", ask), model.Options{Budget: b, Prices: prices, Cache: model.CacheOptions{Off: true}})
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() {
				for {
					// At most 64 and 936 tokens: 1000 micros.
					_, err := m.Complete(t.Context(), deem.Request{MaxTokens: 936})
					if me, ok := errors.AsType[*deem.ModelError](err); ok && me.Kind == deem.Budget {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Go(func() {
			over := make(chan struct{})
			go func() {
				callers.Wait()
				close(over)
			}()
			for done := false; !done; {
				select {
				case <-over:
					done = true
				case <-time.After(20 * time.Millisecond):
				}
				if err := b.Return(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if err := b.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, err := c.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if s.SpentMicros != billed || s.ReservedMicros != 0 {
		t.Errorf("%d spent and %d reserved, want the %d that were billed and none", s.SpentMicros, s.ReservedMicros, billed)
	}
	// The last call may cost up to 1000, so at most that much is left, and each worker may
	// give up while another has the rest.
	if billed > sum || billed < sum-5*1000 {
		t.Errorf("%d were spent of %d", billed, sum)
	}
}

// What a worker that died reserved counts as spent.
func TestMoneyOfTheDead(t *testing.T) {
	t.Parallel()
	const sum = 100_000
	c, run := newTestControl(t, sum)
	got, err := c.st.Demand(t.Context(), run, "dead#1", money.Demand{Limit: sum, Need: 1000, Factor: 1})
	if err != nil || got.Granted != 1000 {
		t.Fatalf("Demand = %+v, %v", got, err)
	}
	w, err := NewWorker(c, WorkerOptions{Dead: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.pool.Exec(t.Context(), `INSERT INTO queue_workers (id, version, state, slots, seen) VALUES ('dead', '', '', 1, now() - interval '1 minute')`); err != nil {
		t.Fatal(err)
	}
	w.steady = time.Now().Add(-time.Hour)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // The server must have been up for a second.
		if err := w.forgetDead(t.Context()); err != nil {
			t.Fatal(err)
		}
		s, err := c.Run(t.Context(), run)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%+v, %v", s, err)
		}
		if s.SpentMicros == got.Granted && s.ReservedMicros == 0 {
			break
		}
	}
}

// Two workers that share a rate limit make no more calls together than one worker may.
func TestLimitsShareThePace(t *testing.T) {
	t.Parallel()
	c, _ := newTestControl(t, 1)
	const rpm = 6000
	var mu sync.Mutex
	var times []time.Time
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 2 {
		l := c.newLimit(Model{Name: "m"}, Options{RPM: rpm}, nil)
		for range 8 {
			wg.Go(func() {
				for l.Begin(ctx, 10) == nil {
					mu.Lock()
					times = append(times, time.Now())
					mu.Unlock()
					l.End(10, 10)
				}
			})
		}
	}
	wg.Wait()
	from := 0
	for to := range times {
		for times[to].Sub(times[from]) >= time.Second {
			from++
		}
		// Slots may be used up to 300 ms late.
		if n := to - from + 1; n > rpm/60*14/10 {
			t.Fatalf("%d calls in a second, want %d", n, rpm/60)
		}
	}
	t.Logf("%d calls in 3 s", len(times))
	if len(times) > 3*rpm/60+rpm/60/3 || len(times) < rpm/60 {
		t.Errorf("%d calls in 3 s, want about %d", len(times), 3*rpm/60)
	}
}

// The token limit applies to two workers together, and tokens that a call did not use of
// its estimate are used by others.
func TestLimitsShareTokens(t *testing.T) {
	t.Parallel()
	c, _ := newTestControl(t, 1)
	const tpm, estimate, used = 60_000, 100, 50 // a thousand tokens a second
	var mu sync.Mutex
	spent := 0
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 2 {
		l := c.newLimit(Model{Name: "m"}, Options{TPM: tpm}, nil)
		for range 4 {
			wg.Go(func() {
				for l.Begin(ctx, estimate) == nil {
					mu.Lock()
					spent += used
					mu.Unlock()
					l.End(estimate, used)
				}
			})
		}
	}
	wg.Wait()
	t.Logf("%d tokens in 4 s", spent)
	if most := 4*tpm/60 + tpm/60; spent > most || spent < tpm/60 {
		t.Errorf("%d tokens in 4 s, want %d at most, and some", spent, most)
	}
}
