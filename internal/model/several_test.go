package model_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deem"
	"deem/internal/model"
)

// A throttle is a vendor that serves a number of calls per second, like a token bucket, and
// refuses some for other reasons.
type throttle struct {
	after time.Duration // Retry-After of a refusal

	mu      sync.Mutex
	rate    float64 // capacity in calls per second
	stray   float64 // share of calls refused regardless of their rate
	down    bool    // refuses everything
	level   float64 // of the bucket
	filled  time.Time
	began   time.Time
	random  *rand.Rand
	served  []int // by second
	refused []int
}

// newThrottle returns a vendor for a test of length seconds.
func newThrottle(rate, stray float64, after time.Duration, length int) *throttle {
	now := time.Now()
	return &throttle{
		after: after, rate: rate, stray: stray, level: rate / 2, filled: now, began: now,
		random: rand.New(rand.NewPCG(7, 11)), served: make([]int, length+1), refused: make([]int, length+1),
	}
}

func (v *throttle) Name() string { return "test:throttle" }

func (v *throttle) Complete(context.Context, deem.Request) (deem.Reply, error) {
	v.mu.Lock()
	now := time.Now()
	v.level = min(v.rate/2, v.level+v.rate*now.Sub(v.filled).Seconds())
	v.filled = now
	second := int(now.Sub(v.began) / time.Second)
	ok := !v.down && v.random.Float64() >= v.stray && v.level >= 1
	took := time.Duration(150+v.random.IntN(100)) * time.Millisecond
	if ok {
		v.level--
		v.served[second]++
	} else {
		v.refused[second]++
		took /= 10
	}
	v.mu.Unlock()
	time.Sleep(took)
	if !ok {
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Status: 429, Passing: true, RetryAfter: v.after}
	}
	return deem.Reply{}, nil
}

// change changes the vendor after some time.
func (v *throttle) change(after time.Duration, how func(*throttle)) {
	time.AfterFunc(after, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		how(v)
	})
}

// between returns how many calls per second were served from one second to another, and the
// share of calls refused.
func (v *throttle) between(from, to int) (served, share float64) {
	yes, no := 0, 0
	for s := from; s < to; s++ {
		yes, no = yes+v.served[s], no+v.refused[s]
	}
	return float64(yes) / float64(to-from), float64(no) / float64(max(1, yes+no))
}

// askFor makes three independent processes, each with up to 40 concurrent calls, call the
// vendor for length seconds of simulated time. A refused call waits for its Retry-After, as
// a retry does.
func (v *throttle) askFor(t *testing.T, length int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(length)*time.Second-300*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	for range 3 {
		l := model.Limit(v, model.LimitOptions{Concurrency: 40})
		for range 40 {
			all.Go(func() {
				for tries := 0; ctx.Err() == nil; {
					if _, err := l.Complete(ctx, deem.Request{}); err == nil {
						tries = 0
						continue
					}
					select {
					case <-time.After(max(v.after, 250*time.Millisecond<<min(tries, 6))):
					case <-ctx.Done():
					}
					tries++
				}
			})
		}
	}
	all.Wait()
}

// Several processes together find a vendor's capacity quickly and with few refusals, even
// if it changes suddenly. Each process always makes at least one call at a time, so if the
// capacity is below that, many calls are refused: then the user has to configure a rate.
func TestSeveralFindTheLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate, then float64
		after      time.Duration
		refused    float64 // share, at most
	}{
		{rate: 100, then: 50, refused: 0.12},
		{rate: 100, then: 50, after: time.Second, refused: 0.12},
		{rate: 100, then: 200, refused: 0.12},
		{rate: 100, then: 200, after: time.Second, refused: 0.12},
		{rate: 10, then: 5, refused: 0.6},
		{rate: 10, then: 20, after: time.Second, refused: 0.3},
	} {
		t.Run(fmt.Sprintf("%v then %v after %v", c.rate, c.then, c.after), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v := newThrottle(c.rate, 0, c.after, 120)
				v.change(time.Minute, func(v *throttle) { v.rate = c.then })
				v.askFor(t, 120)
				for from, rate := range map[int]float64{10: c.rate, 85: c.then} {
					served, share := v.between(from, from+35)
					t.Logf("of %v a second %.1f were served, and %.1f%% refused", rate, served, 100*share)
					if served < 0.85*rate || share > c.refused {
						t.Errorf("from second %d on %.1f calls a second were served and %.1f%% refused, want %.1f and at most %.0f%%", from, served, 100*share, 0.85*rate, 100*c.refused)
					}
				}
			})
		})
	}
}

// A vendor that occasionally refuses calls, regardless of the rate, is still called.
func TestSeveralBearStrayRefusals(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, time.Second} {
		for stray, want := range map[float64]float64{0.01: 150, 0.02: 110, 0.05: 35, 0.1: 15} {
			t.Run(fmt.Sprintf("%v after %v", stray, after), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					v := newThrottle(200, stray, after, 120)
					v.askFor(t, 120)
					served, share := v.between(20, 119)
					t.Logf("%.1f calls a second were served, and %.1f%% refused", served, 100*share)
					if served < want {
						t.Errorf("%.1f calls a second were served, want %.0f", served, want)
					}
				})
			})
		}
	}
}

// A vendor that refuses everything is rarely called, and called normally once it is back.
func TestSeveralOutlastAnOutage(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, time.Second, 5 * time.Second} {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v := newThrottle(200, 0, after, 150)
				v.change(30*time.Second, func(v *throttle) { v.down = true })
				v.change(90*time.Second, func(v *throttle) { v.down = false })
				v.askFor(t, 150)
				vain := 0
				for _, n := range v.refused[36:90] {
					vain += n
				}
				back, _ := v.between(100, 110)
				t.Logf("%.2f calls a second were made in vain, and %.1f were served ten seconds later", float64(vain)/54, back)
				if vain > 4*54 || back < 100 {
					t.Errorf("%.1f calls a second were made in vain and %.1f served afterwards, want 4 and at least 100", float64(vain)/54, back)
				}
			})
		})
	}
}
