package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deem"
	"deem/internal/model"
	"deem/model/fake"
)

// A vendor is a fake that takes a second for each call, and refuses calls beyond its
// capacity with a 429.
type vendor struct {
	capacity int
	after    time.Duration // its Retry-After
	usage    deem.Usage

	mu       sync.Mutex
	inFlight int
	high     int // the maximum number of concurrent calls
	calls    int
	refused  int
	times    []time.Duration // times of calls, since the start
	start    time.Time
}

func (v *vendor) Name() string { return "fake:vendor" }

func (v *vendor) Complete(ctx context.Context, _ deem.Request) (deem.Reply, error) {
	if !v.enter() {
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Status: 429, Passing: true, RetryAfter: v.after, Err: errors.New("slow down")}
	}
	defer v.leave()
	select {
	case <-time.After(time.Second):
		return deem.Reply{Text: "yes", Usage: v.usage}, nil
	case <-ctx.Done():
		return deem.Reply{}, ctx.Err()
	}
}

func (v *vendor) enter() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.start.IsZero() {
		v.start = time.Now()
	}
	v.calls++
	v.times = append(v.times, time.Since(v.start))
	if v.capacity > 0 && v.inFlight >= v.capacity {
		v.refused++
		return false
	}
	v.inFlight++
	v.high = max(v.high, v.inFlight)
	return true
}

func (v *vendor) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inFlight--
}

// hammer calls m with many workers for a while and returns the number of replies.
func hammer(ctx context.Context, m deem.Model, workers int, d time.Duration) int {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	replies := 0
	for range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := m.Complete(ctx, deem.Prompt("q")); err == nil {
					mu.Lock()
					replies++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return replies
}

func TestLimitIsACeiling(t *testing.T) {
	for _, concurrency := range []int{1, 7, 100} {
		t.Run(fmt.Sprint(concurrency), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &vendor{}
				l := model.Limit(v, model.LimitOptions{Concurrency: concurrency})
				hammer(t.Context(), l, 200, 20*time.Second)
				if v.high != concurrency || l.Current() != concurrency {
					t.Errorf("%d calls at once at a limit of %d, want %d", v.high, l.Current(), concurrency)
				}
				if n := l.InFlight(); n != 0 {
					t.Errorf("InFlight() = %d at the end, want 0", n)
				}
			})
		})
	}
}

func TestLimitStartsSlowlyAndDoubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{}
		l := model.Limit(v, model.LimitOptions{Concurrency: 512})
		if got := l.Current(); got != 16 {
			t.Errorf("Current() = %d at first, want 16", got)
		}
		// Rounds of 16, 32, 64, 128 and 256 calls, and then 512.
		got := hammer(t.Context(), l, 1024, 10*time.Second+500*time.Millisecond)
		if want := 16 + 32 + 64 + 128 + 256 + 5*512; got != want {
			t.Errorf("%d replies in ten rounds, want %d", got, want)
		}
	})
}

// TestLimitFindsTheCapacity uses a vendor with 40 slots and a ceiling of 512: most of the
// capacity must be used, and few calls refused.
func TestLimitFindsTheCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{capacity: 40}
		m := model.Retry(model.Limit(v, model.LimitOptions{Concurrency: 512}), model.RetryOptions{})
		got := hammer(t.Context(), m, 512, 10*time.Minute)
		if ideal := 40 * 600; got < ideal*65/100 {
			t.Errorf("%d replies, want at least 65%% of %d", got, ideal)
		}
		if v.refused > v.calls/20 {
			t.Errorf("%d of %d calls refused, want at most a twentieth", v.refused, v.calls)
		}
	})
}

// TestLimitGrowsOnlyWhenReached makes one call after the other: this does not show that
// more would be accepted.
func TestLimitGrowsOnlyWhenReached(t *testing.T) {
	m, _ := counting()
	l := model.Limit(m, model.LimitOptions{Concurrency: 512})
	for range 100 {
		if _, err := l.Complete(t.Context(), deem.Prompt("q")); err != nil {
			t.Fatalf("Complete: %v", err)
		}
	}
	if got := l.Current(); got != 16 {
		t.Errorf("Current() = %d after calls one by one, want 16", got)
	}
}

// TestLimitFallsToWhatIsServed makes eight calls to a vendor with five slots. Of the three
// that are refused at the same moment, those that have not left yet may be counted as
// served.
func TestLimitFallsToWhatIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{capacity: 5}
		m := fake.Func("fake:vendor", func(ctx context.Context, req deem.Request) (deem.Reply, error) {
			reply, err := v.Complete(ctx, req)
			if err != nil {
				time.Sleep(time.Millisecond) // Wait until all calls are in.
			}
			return reply, err
		})
		l := model.Limit(m, model.LimitOptions{Concurrency: 32})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { _, _ = l.Complete(t.Context(), deem.Prompt("q")) })
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if got := l.Current(); got < 5 || got > 7 || v.refused != 3 {
			t.Errorf("Current() = %d after %d refusals of 8 calls, want 5 to 7 after 3", got, v.refused)
		}
		wg.Wait()
	})
}

// TestLimitHalvesWhenTheCutDoesNotHelp refuses calls regardless of their number. The limit
// at one moment depends on the order of calls, so all calls of a minute are counted.
func TestLimitHalvesWhenTheCutDoesNotHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		m := fake.Func("fake:odd", func(context.Context, deem.Request) (deem.Reply, error) {
			time.Sleep(time.Second)
			if n.Add(1)%3 == 0 {
				return deem.Reply{}, &deem.ModelError{Status: 429, Passing: true, Err: errors.New("slow down")}
			}
			return deem.Reply{Text: "yes"}, nil
		})
		l := model.Limit(m, model.LimitOptions{Concurrency: 64})
		hammer(t.Context(), l, 64, time.Minute)
		// It is usually 170, and occasionally some hundreds; without a limit it is 3,840.
		if n.Load() > 1920 {
			t.Errorf("%d calls in a minute in which each third was refused, want at most half of those that 64 at once make", n.Load())
		}
	})
}

func TestLimitNeverFallsBelowOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := failing(100, &deem.ModelError{Status: 429, Passing: true, Err: errors.New("slow down")})
		l := model.Limit(m, model.LimitOptions{Concurrency: 8})
		start := time.Now()
		for range 20 {
			_, _ = l.Complete(t.Context(), deem.Prompt("q"))
		}
		if got := l.Current(); got != 1 {
			t.Errorf("Current() = %d, want 1", got)
		}
		// 100, 200, 400 and 800 ms, and then a second each.
		if took, want := time.Since(start), 1500*time.Millisecond+15*time.Second; took != want {
			t.Errorf("20 refusals took %v, want %v", took, want)
		}
	})
}

func TestLimitHeedsOnlyOverload(t *testing.T) {
	tests := []struct {
		err  *deem.ModelError
		want int
	}{
		{&deem.ModelError{Status: 429, Passing: true}, 1}, // while no other call is served
		{&deem.ModelError{Status: 503, Passing: true}, 8}, // a single one
		{&deem.ModelError{Status: 529, Passing: true}, 8},
		{&deem.ModelError{Status: 503, Passing: true, RetryAfter: time.Second}, 1},
		{&deem.ModelError{Status: 500, Passing: true, RetryAfter: time.Second}, 1},
		{&deem.ModelError{Status: 500, Passing: true}, 8},
		{&deem.ModelError{Status: 400}, 8},
		{&deem.ModelError{Status: 429, Fatal: true}, 8}, // an exhausted quota
	}
	for _, tt := range tests {
		tt.err.Err = errors.New("trouble")
		m, _ := failing(1, tt.err)
		l := model.Limit(m, model.LimitOptions{Concurrency: 8})
		_, _ = l.Complete(t.Context(), deem.Prompt("q"))
		if got := l.Current(); got != tt.want {
			t.Errorf("Current() = %d after %v, want %d", got, tt.err, tt.want)
		}
	}
}

// TestLimitHeedsTroubleThatStays returns an occasional 503, and then only 503s.
func TestLimitHeedsTroubleThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, down := 0, false
		m := fake.Func("fake:troubled", func(context.Context, deem.Request) (deem.Reply, error) {
			if n++; n%20 == 0 || down {
				return deem.Reply{}, &deem.ModelError{Status: 503, Passing: true, Err: errors.New("trouble")}
			}
			return deem.Reply{Text: "yes"}, nil
		})
		l := model.Limit(m, model.LimitOptions{Concurrency: 8})
		for range 1000 {
			_, _ = l.Complete(t.Context(), deem.Prompt("q"))
		}
		if got := l.Current(); got != 8 {
			t.Errorf("Current() = %d after a 503 in twenty calls, want 8", got)
		}
		down = true
		for range 3 {
			_, _ = l.Complete(t.Context(), deem.Prompt("q"))
		}
		if got := l.Current(); got != 1 {
			t.Errorf("Current() = %d after three 503 in a row, want 1", got)
		}
	})
}

func TestLimitPausesAsLongAsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls := failing(1, passing(20*time.Second))
		l := model.Limit(m, model.LimitOptions{Concurrency: 8})
		start := time.Now()
		_, _ = l.Complete(t.Context(), deem.Prompt("a"))
		if _, err := l.Complete(t.Context(), deem.Prompt("b")); err != nil {
			t.Fatalf("Complete: %v", err)
		}
		if took := time.Since(start); took != 20*time.Second || calls() != 2 {
			t.Errorf("the next call came after %v, want 20s", took)
		}
	})
}

func TestLimitDoesNotPauseForHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := failing(1, passing(3*time.Hour))
		l := model.Limit(m, model.LimitOptions{Concurrency: 8})
		start := time.Now()
		_, _ = l.Complete(t.Context(), deem.Prompt("a"))
		_, _ = l.Complete(t.Context(), deem.Prompt("b"))
		if took := time.Since(start); took > time.Second {
			t.Errorf("the next call came after %v, want hardly any wait", took)
		}
	})
}

func TestLimitRequestsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{}
		l := model.Limit(v, model.LimitOptions{Concurrency: 64, RPM: 120})
		hammer(t.Context(), l, 64, 10*time.Minute)
		if v.calls < 1190 || v.calls > 1202 {
			t.Errorf("%d calls in ten minutes, want about 1200", v.calls)
		}
		if most := mostWithin(v.times, time.Minute); most > 122 {
			t.Errorf("%d calls within a minute, want at most 122", most)
		}
	})
}

// TestInterruptedCallsUseNoRate interrupts many waiting callers. Later callers must not
// wait for calls that were never made.
func TestInterruptedCallsUseNoRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := model.Limit(&vendor{}, model.LimitOptions{Concurrency: 100, RPM: 60})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { _, _ = l.Complete(ctx, deem.Prompt("q")) })
		}
		wg.Wait()
		start := time.Now()
		if _, err := l.Complete(t.Context(), deem.Prompt("q")); err != nil {
			t.Fatalf("Complete: %v", err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("the next call took %v, want at most a second of waiting and one of work", took)
		}
	})
}

// mostWithin returns the largest number of sorted times in a window of length d.
func mostWithin(times []time.Duration, d time.Duration) int {
	most, from := 0, 0
	for i, at := range times {
		for at-times[from] >= d {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// TestLimitSettlesTokens makes calls that use far less than their limit, and calls that use
// more than estimated.
func TestLimitSettlesTokens(t *testing.T) {
	for _, used := range []int{100, 1000, 3000} {
		t.Run(fmt.Sprint(used), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &vendor{usage: deem.Usage{Input: used / 2, Output: used / 2}}
				l := model.Limit(v, model.LimitOptions{Concurrency: 64, TPM: 60_000})
				req := deem.Prompt("q")
				req.MaxTokens = 1000
				start := time.Now()
				for time.Since(start) < 10*time.Minute {
					if _, err := l.Complete(t.Context(), req); err != nil {
						t.Fatalf("Complete: %v", err)
					}
				}
				perMinute := v.calls * used / 10
				if perMinute > 61_000 {
					t.Errorf("%d tokens a minute, want at most 60,000", perMinute)
				}
				// Sequential calls take a second each, so that small calls cannot use up
				// the allowance.
				if want := min(58_000, 59*used); perMinute < want {
					t.Errorf("%d tokens a minute, want at least %d", perMinute, want)
				}
			})
		})
	}
}

func TestLimitLetsALargeRequestThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := model.Limit(&vendor{}, model.LimitOptions{TPM: 600})
		_, err := l.Complete(t.Context(), deem.Prompt(strings.Repeat("long ", 10_000)))
		if err != nil {
			t.Errorf("Complete: %v", err)
		}
	})
}

func TestLimitWaitingIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := model.Limit(&vendor{}, model.LimitOptions{Concurrency: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := l.Complete(t.Context(), deem.Prompt("first")); err != nil {
				t.Errorf("first: %v", err)
			}
		})
		synctest.Wait()
		if _, err := l.Complete(ctx, deem.Prompt("second")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("second: error %v, want that of its context", err)
		}
		wg.Wait()
		if _, err := l.Complete(t.Context(), deem.Prompt("third")); err != nil {
			t.Errorf("third: %v", err)
		}
		if n := l.InFlight(); n != 0 {
			t.Errorf("InFlight() = %d, want 0", n)
		}
	})
}

// TestLimitLosesNoPlace interrupts many callers at the moment at which slots become free.
func TestLimitLosesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := model.Limit(&vendor{}, model.LimitOptions{Concurrency: 4})
		var wg sync.WaitGroup
		for i := range 400 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*time.Second)
				defer cancel()
				_, _ = l.Complete(ctx, deem.Prompt("q"))
			})
		}
		wg.Wait()
		if n := l.InFlight(); n != 0 {
			t.Fatalf("InFlight() = %d, want 0", n)
		}
		if got := hammer(t.Context(), l, 8, 10*time.Second+time.Millisecond); got != 40 {
			t.Errorf("%d replies in ten seconds of four places, want 40", got)
		}
	})
}

func TestLimitSurvivesAPanic(t *testing.T) {
	m := fake.Func("fake:panic", func(context.Context, deem.Request) (deem.Reply, error) { panic("bug") })
	l := model.Limit(m, model.LimitOptions{Concurrency: 1})
	func() {
		defer func() { _ = recover() }()
		_, _ = l.Complete(t.Context(), deem.Prompt("q"))
	}()
	if n := l.InFlight(); n != 0 {
		t.Errorf("InFlight() = %d after a panic, want 0", n)
	}
}
