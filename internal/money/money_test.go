package money_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deem/internal/money"
)

// A vault is a store that several budgets share. It is money of one run.
type vault struct {
	mu       sync.Mutex
	spent    int64
	reserved map[string]int64
	factor   int64
	asked    int
}

// of returns the part of one holder.
func (v *vault) of(holder string) money.Store { return part{v, holder} }

type part struct {
	v      *vault
	holder string
}

func (p part) Demand(_ context.Context, d money.Demand) (b money.Balance, err error) {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	p.v.asked++
	p.v.spent += d.Spent
	p.v.factor = max(p.v.factor, d.Factor)
	b.Counted, b.Factor = p.v.spent, p.v.factor
	for holder, sum := range p.v.reserved {
		if holder != p.holder {
			b.Counted += sum
			b.Others = b.Others || sum > 0
		}
	}
	b.Grant(d)
	p.v.reserved[p.holder] = d.Reserved + b.Granted
	return b, nil
}

func (p part) Leave(context.Context) error {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	p.v.spent += p.v.reserved[p.holder]
	delete(p.v.reserved, p.holder)
	return nil
}

func (part) Passing(error) bool { return false }

// open returns a budget of sum that keeps its numbers in v.
func open(t *testing.T, v *vault, holder string, sum int64) *money.Budget {
	t.Helper()
	b := money.New(sum)
	if err := b.Open(t.Context(), v.of(holder), 0, 0); err != nil {
		t.Fatal(err)
	}
	return b
}

// spend makes calls until one is refused, each of which may cost worst, takes a second, and
// costs what bill says. It returns the sum of the bills and the error.
func spend(t *testing.T, b *money.Budget, callers int, worst int64, bill func() int64) (billed int64, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for {
				ctx, h, refused := b.Begin(t.Context(), nil, worst)
				if refused != nil {
					mu.Lock()
					err = refused
					mu.Unlock()
					return
				}
				time.Sleep(time.Second)
				mu.Lock()
				cost := bill()
				billed = money.Add(billed, cost)
				mu.Unlock()
				h.End(ctx, cost)
			}
		})
	}
	wg.Wait()
	return billed, err
}

// A reply that costs more than its request allows ends the spending: only the calls that are
// in flight at that time can cost too much, too. That holds with and without a store, and
// for every multiple.
func TestOverspent(t *testing.T) {
	for _, stored := range []bool{false, true} {
		for _, factor := range []int64{2, 20, 600, 1_000_000_000_000_000} {
			for _, callers := range []int{1, 8, 16} {
				synctest.Test(t, func(t *testing.T) {
					const sum, worst = 10_000, 100
					v := &vault{reserved: map[string]int64{}}
					b := money.New(sum)
					if stored {
						b = open(t, v, "a", sum)
					}
					calls := 0
					billed, err := spend(t, b, callers, worst, func() int64 {
						if calls++; calls <= 20 {
							return 50
						}
						return 100 * factor
					})
					bound := money.Add(sum, int64(callers)*100*factor)
					if billed > bound {
						t.Errorf("%d times, %d callers: %d billed, want at most %d", factor, callers, billed, bound)
					}
					if e, ok := errors.AsType[*money.RefusedError](err); !ok || e.Factor != factor || e.Spent != billed {
						t.Errorf("%d billed, error %v, want a refusal because of a factor of %d", billed, err, factor)
					}
					if b.Spent() != billed {
						t.Errorf("%d spent, want the %d that were billed", b.Spent(), billed)
					}
					if !stored {
						return
					}
					if err := b.Close(t.Context()); err != nil || v.spent != billed {
						t.Errorf("the store counts %d, %v, want %d", v.spent, err, billed)
					}
					if _, _, err := open(t, v, "b", math.MaxInt64).Begin(t.Context(), nil, 1); err == nil && v.reserved["b"] < factor {
						t.Errorf("%d reserved by the next process for a call, want at least %d", v.reserved["b"], factor)
					}
				})
			}
		}
	}
}

// Two budgets share a store: together they spend nearly all of the sum and never more, also
// what the other one reserved and did not need.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sum, worst = 10_000, 100
		v := &vault{reserved: map[string]int64{}}
		a, b := open(t, v, "a", sum), open(t, v, "b", sum)
		over := make(chan struct{})
		go func() { // as workers do at each heartbeat
			for {
				select {
				case <-over:
					return
				case <-time.After(2 * time.Second):
					_, _ = a.Return(t.Context()), b.Return(t.Context())
				}
			}
		}()
		var wg sync.WaitGroup
		for _, budget := range []*money.Budget{a, b} {
			wg.Go(func() { _, _ = spend(t, budget, 4, worst, func() int64 { return 10 }) })
		}
		wg.Wait()
		close(over)
		synctest.Wait()
		if got := a.Spent() + b.Spent(); got > sum || got <= sum-2*worst {
			t.Errorf("%d of %d spent", got, sum)
		}
		if v.asked > 500 {
			t.Errorf("the store was asked %d times for %d calls", v.asked, sum/10)
		}
	})
}

// What a process had reserved when it was killed counts as spent.
func TestKilled(t *testing.T) {
	v := &vault{reserved: map[string]int64{}}
	if _, _, err := open(t, v, "dead", 1000).Begin(t.Context(), nil, 600); err != nil {
		t.Fatal(err)
	}
	if err := v.of("dead").Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, err := open(t, v, "next", 1000).Begin(t.Context(), nil, 600)
	if e, ok := errors.AsType[*money.RefusedError](err); !ok || e.Aside != 700 {
		t.Errorf("error %v, want one that says what is set aside", err)
	}
}

func TestAdd(t *testing.T) {
	for _, tt := range [][3]int64{{1, 2, 3}, {money.Most, 1, money.Most}, {math.MaxInt64, math.MaxInt64, money.Most}, {-5, 3, -2}} {
		if got := money.Add(tt[0], tt[1]); got != tt[2] {
			t.Errorf("Add(%d, %d) = %d, want %d", tt[0], tt[1], got, tt[2])
		}
	}
}
