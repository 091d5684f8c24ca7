package model_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deem"
	"deem/internal/model"
)

// A crowded vendor serves a limited number of concurrent calls and refuses any more with a
// 429. It occasionally fails in other ways, and for some time it refuses everything.
type crowded struct {
	slots   int
	latency time.Duration
	after   time.Duration // its Retry-After
	errors  float64       // share of calls that end in a 500 or a broken connection
	burst   func(since time.Duration) bool
	rng     *rand.Rand

	mu       sync.Mutex
	start    time.Time
	inFlight int
	calls    int
	refused  int         // because all slots were taken
	late     int         // of those, after slow start
	counts   map[int]int // calls of each item
}

// slowStart is the time in which a limiter must find the vendor's capacity.
const slowStart = 3 * time.Second

func (v *crowded) Name() string { return "fake:crowded" }

func (v *crowded) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	err := v.enter(req.Trial)
	if err != nil {
		return deem.Reply{}, err
	}
	defer v.leave()
	select {
	case <-time.After(v.latency):
	case <-ctx.Done():
		return deem.Reply{}, ctx.Err()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.rng.Float64() < v.errors {
		return deem.Reply{}, passing(0)
	}
	return deem.Reply{Text: "yes", Usage: deem.Usage{Input: 10, Output: 1}}, nil
}

func (v *crowded) enter(item int) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls++
	v.counts[item]++
	since := time.Since(v.start)
	full := v.inFlight >= v.slots
	if full {
		v.refused++
		if since > slowStart {
			v.late++
		}
	}
	if full || v.burst != nil && v.burst(since) {
		return &deem.ModelError{Kind: deem.Provider, Status: 429, Passing: true, RetryAfter: v.after, Err: errors.New("slow down")}
	}
	v.inFlight++
	return nil
}

func (v *crowded) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inFlight--
}

// judge asks m about n items with the given number of workers, and returns how long it took
// and how many items got no reply.
func judge(ctx context.Context, m deem.Model, n, workers int) (took time.Duration, lost int) {
	start := time.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	items := make(chan int)
	for range workers {
		wg.Go(func() {
			for i := range items {
				req := deem.Prompt("q")
				req.Trial = i
				if _, err := m.Complete(ctx, req); err != nil {
					mu.Lock()
					lost++
					mu.Unlock()
				}
			}
		})
	}
	for i := range n {
		items <- i
	}
	close(items)
	wg.Wait()
	return time.Since(start), lost
}

// TestCrowdedVendor checks that the limiter works near the vendor's capacity, with few
// calls in vain, and rarely exceeds the capacity once it is known.
func TestCrowdedVendor(t *testing.T) {
	every := func(period, length time.Duration) func(time.Duration) bool {
		return func(since time.Duration) bool { return since > period && since%period < length }
	}
	tests := []struct {
		name           string
		items, workers int
		vendor         *crowded
		wall, requests float64 // at most, as multiples of the ideal
	}{
		// A pause of a second is a sixth of the ideal time here.
		{"slots with Retry-After", 500, 64, &crowded{slots: 16, latency: 200 * time.Millisecond, after: time.Second}, 1.5, 1.15},
		{"slots without Retry-After", 500, 64, &crowded{slots: 16, latency: 200 * time.Millisecond}, 1.3, 1.15},
		{"slots, 512 workers", 500, 512, &crowded{slots: 16, latency: 200 * time.Millisecond, after: time.Second}, 1.5, 1.15},
		{"three slots", 150, 64, &crowded{slots: 3, latency: 200 * time.Millisecond, after: time.Second}, 1.3, 1.15},
		{"slots above the workers", 2000, 64, &crowded{slots: 100, latency: 200 * time.Millisecond}, 1.15, 1},
		{"errors and bursts", 10_000, 64, &crowded{slots: 48, latency: 100 * time.Millisecond, errors: 0.07, burst: every(4*time.Second, 200*time.Millisecond)}, 2, 1.15},
		{"errors and bursts with Retry-After", 10_000, 64, &crowded{slots: 48, latency: 100 * time.Millisecond, after: time.Second, errors: 0.07, burst: every(10*time.Second, time.Second)}, 1.7, 1.15},
		{"long bursts", 5_000, 64, &crowded{slots: 48, latency: 100 * time.Millisecond, burst: every(10*time.Second, 2*time.Second)}, 2, 1.15},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := tt.vendor
				v.rng, v.counts, v.start = rand.New(rand.NewPCG(1, 2)), map[int]int{}, time.Now()
				m := model.Assemble(v, model.Options{Limit: model.LimitOptions{Concurrency: tt.workers}})
				took, lost := judge(t.Context(), m, tt.items, tt.workers)
				ideal := time.Duration(float64(tt.items) / float64(min(v.slots, tt.workers)) * float64(v.latency))
				wall, requests := took.Seconds()/ideal.Seconds(), float64(v.calls)/float64(tt.items)
				t.Logf("%v, %.2f of the ideal; %.3f requests for each item; %d refused for want of a slot, %d of them late", took, wall, requests, v.refused, v.late)
				if wall > tt.wall || requests > tt.requests {
					t.Errorf("%.2f of the ideal time and %.3f requests for each item, want at most %v and %v", wall, requests, tt.wall, tt.requests)
				}
				if v.late > 3+v.calls/100 {
					t.Errorf("%d of %d calls went beyond the slots after slow start, want at most one in a hundred", v.late, v.calls)
				}
				// With all kinds of trouble, six attempts may fail once in a while.
				if lost > tt.items/5000 {
					t.Errorf("%d items lost, want at most %d", lost, tt.items/5000)
				}
				for item, n := range v.counts {
					if n > 6 {
						t.Errorf("item %d was asked about %d times, want at most 6", item, n)
					}
				}
			})
		})
	}
}

// TestPerMinuteVendor limits calls per minute instead of concurrent calls: few calls may be
// in vain in each window.
func TestPerMinuteVendor(t *testing.T) {
	for _, after := range []bool{true, false} {
		t.Run(fmt.Sprint("Retry-After ", after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &windowed{allowed: 300, window: 10 * time.Second, start: time.Now(), after: after}
				m := model.Assemble(v, model.Options{Limit: model.LimitOptions{Concurrency: 64}})
				took, lost := judge(t.Context(), m, 3000, 64)
				t.Logf("%v, %d calls for 3000 items, %d lost", took, v.calls, lost)
				most := 3000 * 115 / 100
				if !after {
					most = 3000 * 125 / 100 // the limit has to be found by trial
				}
				if took > 150*time.Second || v.calls > most || lost > 0 {
					t.Errorf("%v, %d calls and %d items lost, want at most 150s, %d and none", took, v.calls, lost, most)
				}
			})
		})
	}
}

// A windowed vendor allows a fixed number of calls in each time window.
type windowed struct {
	allowed int
	window  time.Duration
	after   bool

	mu    sync.Mutex
	start time.Time
	used  map[int]int
	calls int
}

func (v *windowed) Name() string { return "fake:windowed" }

func (v *windowed) Complete(context.Context, deem.Request) (deem.Reply, error) {
	v.mu.Lock()
	if v.used == nil {
		v.used = map[int]int{}
	}
	since := time.Since(v.start)
	n := int(since / v.window)
	v.calls++
	v.used[n]++
	ok := v.used[n] <= v.allowed
	v.mu.Unlock()
	if ok {
		time.Sleep(200 * time.Millisecond)
		return deem.Reply{Text: "yes"}, nil
	}
	err := &deem.ModelError{Kind: deem.Provider, Status: 429, Passing: true, Err: errors.New("slow down")}
	if v.after {
		err.RetryAfter = v.window - since%v.window
	}
	return deem.Reply{}, err
}
