package model_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deem"
	"deem/internal/model"
	"deem/model/fake"
)

// outcomes asks m about n items with the given number of workers until an error is fatal,
// as a run does, and counts the outcomes.
func outcomes(ctx context.Context, m deem.Model, n, workers int) (judged, failed int, stopped error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := 0
	for range workers {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				done := i >= n || stopped != nil
				mu.Unlock()
				if done {
					return
				}
				req := deem.Prompt("q")
				req.Trial = i
				_, err := m.Complete(ctx, req)
				me, _ := errors.AsType[*deem.ModelError](err)
				mu.Lock()
				switch {
				case err == nil:
					judged++
				case me != nil && me.Fatal:
					stopped = err
				default:
					failed++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return judged, failed, stopped
}

// TestOutage makes vendors unavailable for good, in several ways. The run stops after few
// calls and few items; a short run ends with failures.
func TestOutage(t *testing.T) {
	refusal := func(after time.Duration) error {
		return &deem.ModelError{Kind: deem.Provider, Status: 429, Passing: true, RetryAfter: after, Err: errors.New("slow down")}
	}
	tests := []struct {
		name           string
		err            error
		items, workers int
		stops          bool
		failed, calls  int // at most
		within         time.Duration
	}{
		{"server errors", passing(0), 10_000, 8, true, 19, (20 + 8) * 6, 10 * time.Minute},
		{"server errors, 512 workers", passing(0), 10_000, 512, true, 19, 2300, 6 * time.Minute},
		{"429 for ever", refusal(0), 10_000, 64, true, 19, 500, 6 * time.Minute},
		{"429 with Retry-After for ever", refusal(2 * time.Second), 10_000, 64, true, 19, 500, 6 * time.Minute},
		{"429 for ever, few items", refusal(0), 12, 8, false, 12, 12 * 6, 10 * time.Minute},
		{"few items", passing(0), 12, 8, false, 12, 12 * 6, 5 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, calls := failing(1<<30, tt.err)
				whole := model.Assemble(m, model.Options{Limit: model.LimitOptions{Concurrency: tt.workers}})
				start := time.Now()
				judged, failed, stopped := outcomes(t.Context(), whole, tt.items, tt.workers)
				t.Logf("%v, %d calls, %d failed: %v", time.Since(start), calls(), failed, stopped)
				if judged != 0 || (stopped != nil) != tt.stops || failed > tt.failed || calls() > tt.calls {
					t.Errorf("%d judged, %d failed, %d calls, stopped by %v, want none, at most %d and %d, and stopped = %v",
						judged, failed, calls(), stopped, tt.failed, tt.calls, tt.stops)
				}
				if !tt.stops && failed != tt.items {
					t.Errorf("%d of %d items failed, want all", failed, tt.items)
				}
				if took := time.Since(start); took > tt.within {
					t.Errorf("it took %v, want at most %v", took, tt.within)
				}
				if tt.stops && (!strings.Contains(stopped.Error(), "out of service") || deem.HintOf(stopped) == "") {
					t.Errorf("stopped by %q (hint %q), want a sentence and a hint", stopped, deem.HintOf(stopped))
				}
			})
		})
	}
}

// TestHangingServer makes each call time out after two minutes. That costs two calls per
// item and not six, and the run stops within the time of a few calls.
func TestHangingServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		var mu sync.Mutex
		m := fake.Func("fake:hanging", func(context.Context, deem.Request) (deem.Reply, error) {
			mu.Lock()
			calls++
			mu.Unlock()
			time.Sleep(2 * time.Minute)
			return deem.Reply{}, &deem.ModelError{Kind: deem.Timeout, Passing: true, Err: errors.New("no answer")}
		})
		whole := model.Assemble(m, model.Options{Limit: model.LimitOptions{Concurrency: 8}})
		start := time.Now()
		_, failed, stopped := outcomes(t.Context(), whole, 1000, 8)
		took := time.Since(start)
		t.Logf("%v, %d calls, %d failed: %v", took, calls, failed, stopped)
		if stopped == nil || took > 7*time.Minute || calls > 24 {
			t.Errorf("stopped by %v after %v and %d calls, want within 7 minutes and 24 calls", stopped, took, calls)
		}
	})
}

// TestPassingOutage makes the vendor unavailable for half a minute: the run continues, and
// few items fail.
func TestPassingOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		calls := 0
		var mu sync.Mutex
		m := fake.Func("fake:outage", func(context.Context, deem.Request) (deem.Reply, error) {
			mu.Lock()
			calls++
			mu.Unlock()
			if since := time.Since(start); since > 10*time.Second && since < 40*time.Second {
				return deem.Reply{}, passing(0)
			}
			time.Sleep(100 * time.Millisecond)
			return deem.Reply{Text: "yes"}, nil
		})
		whole := model.Assemble(m, model.Options{Limit: model.LimitOptions{Concurrency: 8}})
		judged, failed, stopped := outcomes(t.Context(), whole, 2000, 8)
		t.Logf("%d calls, %d judged, %d failed", calls, judged, failed)
		if stopped != nil || failed > 16 || judged != 2000-failed {
			t.Errorf("%d judged, %d failed, stopped by %v, want the run to go on with at most 16 failed", judged, failed, stopped)
		}
	})
}

// TestBreakerHearsAnswers alternates failed requests with answers.
func TestBreakerHearsAnswers(t *testing.T) {
	answers := map[string]error{
		"a reply":             nil,
		"an error of its own": &deem.ModelError{Kind: deem.Provider, Status: 400, Err: errors.New("too long")},
	}
	for name, answer := range answers {
		n := 0
		m := fake.Func("fake:mixed", func(context.Context, deem.Request) (deem.Reply, error) {
			if n++; n%4 == 0 {
				return deem.Reply{Text: "yes"}, answer
			}
			return deem.Reply{}, passing(0)
		})
		b := model.Break(m, nil)
		for range 400 {
			_, err := b.Complete(t.Context(), deem.Prompt("q"))
			if me, ok := errors.AsType[*deem.ModelError](err); ok && me.Fatal {
				t.Fatalf("%s between failures: %v, want the run to go on", name, err)
			}
		}
	}
}

// TestBreakerLetsOneGoAlone holds other requests back during an outage, and releases them
// when the probe succeeds. A caller that is interrupted meanwhile leaves nothing behind.
func TestBreakerLetsOneGoAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inFlight, high, n := 0, 0, 0
		var mu sync.Mutex
		m := fake.Func("fake:sick", func(ctx context.Context, _ deem.Request) (deem.Reply, error) {
			mu.Lock()
			n++
			well := n > 8
			inFlight++
			high = max(high, inFlight)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			inFlight--
			mu.Unlock()
			if well {
				return deem.Reply{Text: "yes"}, nil
			}
			return deem.Reply{}, passing(0)
		})
		b := model.Break(m, nil)
		for range 5 {
			_, _ = b.Complete(t.Context(), deem.Prompt("q"))
		}
		start := time.Now()
		var wg sync.WaitGroup
		var late int
		for i := range 50 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%7*10)*time.Second+time.Millisecond)
				defer cancel()
				if _, err := b.Complete(ctx, deem.Prompt("q")); errors.Is(err, context.DeadlineExceeded) {
					mu.Lock()
					late++
					mu.Unlock()
				}
			})
		}
		time.Sleep(3500 * time.Millisecond)
		mu.Lock()
		if high != 1 {
			t.Errorf("%d calls at once in trouble, want 1", high)
		}
		mu.Unlock()
		wg.Wait()
		// Three probes fail, the fourth succeeds, and then the rest go together.
		if took := time.Since(start); took != 5*time.Second || high < 35 {
			t.Errorf("it took %v with %d at once in the end, want 5s and the rest", took, high)
		}
		if late == 0 {
			t.Error("nobody was interrupted: the test checks nothing")
		}
	})
}

// TestFatalErrorIsTheLast rejects a key while many calls wait. No call begins after the
// first rejection is known; calls in flight may finish.
func TestFatalErrorIsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		var mu sync.Mutex
		m := fake.Func("fake:locked", func(context.Context, deem.Request) (deem.Reply, error) {
			mu.Lock()
			calls++
			n := calls
			mu.Unlock()
			time.Sleep(time.Duration(n) * time.Second)
			if n == 1 {
				return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Status: 401, Fatal: true, Err: deem.WithHint(errors.New("no key"), "set a key")}
			}
			return deem.Reply{Text: "yes"}, nil
		})
		whole := model.Assemble(m, model.Options{Limit: model.LimitOptions{Concurrency: 64}})
		judged, failed, stopped := 0, 0, 0
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				req := deem.Prompt("q")
				req.Trial = i
				_, err := whole.Complete(t.Context(), req)
				me, _ := errors.AsType[*deem.ModelError](err)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					judged++
				case me != nil && me.Fatal && deem.HintOf(err) == "set a key":
					stopped++
				default:
					failed++
				}
			})
		}
		wg.Wait()
		if calls != 16 || judged != 15 || stopped != 49 || failed != 0 {
			t.Errorf("%d calls, %d judged, %d stopped, %d failed, want the 16 of slow start, 15, 49 and none", calls, judged, stopped, failed)
		}
	})
}

// TestNobodyThere calls an absent vendor. If the server has never answered, this is
// reported at once, and the run stops in seconds without a failure. A server that is
// starting, or that answered before, gets the usual patience.
func TestNobodyThere(t *testing.T) {
	absent := &deem.ModelError{Kind: deem.Provider, Passing: true, Absent: true, Err: deem.WithHint(errors.New("connection refused"), "is it running?")}
	after := func(d time.Duration) func(int, time.Duration) error {
		return func(_ int, since time.Duration) error {
			if since < d {
				return absent
			}
			return nil
		}
	}
	tests := []struct {
		name           string
		answer         func(call int, since time.Duration) error
		items, workers int
		attempts       int // 0 means 6
		stops, told    bool
		failed, calls  int // exactly, and at most
		within         time.Duration
	}{
		{"few items", after(time.Hour), 7, 8, 0, true, true, 0, 7 * 6, 10 * time.Second},
		{"many items", after(time.Hour), 1000, 64, 0, true, true, 0, 64 + 50 + 64, 6 * time.Second},
		{"one at a time", after(time.Hour), 100, 1, 0, true, true, 0, 6, 16 * time.Second},
		{"it starts", after(2 * time.Second), 100, 8, 0, false, true, 0, 200, 15 * time.Second},
		{"no retries", after(time.Hour), 7, 8, 1, false, true, 7, 7, time.Second},
		{"somebody was there", func(call int, _ time.Duration) error {
			if call == 1 {
				return nil
			}
			return absent
		}, 7, 1, 0, false, false, 6, 1 + 6*6, 5 * time.Minute},
		{"somebody is there", func(call int, _ time.Duration) error {
			if call == 2 { // After the first call has found nobody.
				time.Sleep(time.Millisecond)
				return passing(0)
			}
			return absent
		}, 7, 8, 0, false, true, 7, 7 * 6, 5 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, calls, told := time.Now(), 0, 0
				var mu sync.Mutex
				m := model.Assemble(fake.Func("fake:absent", func(context.Context, deem.Request) (deem.Reply, error) {
					mu.Lock()
					calls++
					call := calls
					mu.Unlock()
					return deem.Reply{Text: "yes"}, tt.answer(call, time.Since(start))
				}), model.Options{Limit: model.LimitOptions{Concurrency: tt.workers}, Retry: model.RetryOptions{Attempts: tt.attempts}, OnAbsence: func(err error) {
					told++
					if since := time.Since(start); since != 0 || deem.HintOf(err) != "is it running?" {
						t.Errorf("told of %v (hint %q) after %v, want at once", err, deem.HintOf(err), since)
					}
				}})
				_, failed, stopped := outcomes(t.Context(), m, tt.items, tt.workers)
				took := time.Since(start)
				t.Logf("%v, %d calls, %d failed: %v", took, calls, failed, stopped)
				if (stopped != nil) != tt.stops || failed != tt.failed || calls > tt.calls || took > tt.within {
					t.Errorf("%d failed, %d calls, stopped by %v after %v, want %d, at most %d, stopped = %v within %v",
						failed, calls, stopped, took, tt.failed, tt.calls, tt.stops, tt.within)
				}
				if tt.stops && (took < 3*time.Second || !strings.Contains(stopped.Error(), "connection refused") || deem.HintOf(stopped) != "is it running?") {
					t.Errorf("stopped by %v (hint %q) after %v", stopped, deem.HintOf(stopped), took)
				}
				if want := map[bool]int{true: 1}[tt.told]; told != want {
					t.Errorf("told %d times, want %d", told, want)
				}
			})
		})
	}
}
