package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// For any vendor limits, each request is in one batch, and no batch exceeds the limits.
func TestCutting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := &vendor{limits: wire.BatchLimits{Lines: rapid.IntRange(1, 9).Draw(rt, "lines"), Bytes: int64(rapid.IntRange(80, 600).Draw(rt, "bytes"))}}
		var prompts, all []string
		for i := range rapid.IntRange(0, 30).Draw(rt, "requests") {
			p := fmt.Sprint(i, strings.Repeat("x", rapid.IntRange(0, 300).Draw(rt, "length")))
			prompts = append(prompts, p)
			all = append(all, p)
			if rapid.Bool().Draw(rt, "again") {
				all = append(all, p)
			}
		}
		m := newMemory()
		o := options(t, m, v, all...)
		o.MaxLines = rapid.IntRange(0, 12).Draw(rt, "max")
		o.Poll = time.Microsecond
		if err := run.Batch(t.Context(), o); err != nil {
			rt.Fatalf("Run: %v", err)
		}
		settled(t, m, v, prompts...)
		for _, h := range v.batches {
			if o.MaxLines > 0 && len(h.ids) > o.MaxLines {
				rt.Errorf("a batch has %d lines, want at most %d", len(h.ids), o.MaxLines)
			}
		}
	})
}

// A process may be killed at every step, before or after the step took effect. However
// often this happens, no request is in two batches and no reply is lost.
func TestKilledAtEveryStep(t *testing.T) {
	for _, blind := range []bool{false, true} {
		for _, after := range []bool{false, true} {
			for at := 1; ; at++ {
				done := false
				synctest.Test(t, func(t *testing.T) {
					prompts := numbered(7)
					m, v := newMemory(), &vendor{limits: wire.BatchLimits{Lines: 3, Bytes: 1 << 20}, ripens: 5 * time.Second, takes: time.Hour, blind: blind}
					r := &reaper{at: at, after: after}
					m.reaper, v.reaper = r, r
					err := run.Batch(t.Context(), options(t, m, v, prompts...))
					done = err == nil
					for kills := 0; err != nil; kills++ {
						if !errors.Is(err, errKilled) || kills > 100 {
							t.Fatalf("killed at step %d: %v", at, err)
						}
						// The next process is killed soon too,
						// twice.
						r.at, r.steps = max(0, 2-kills)*at/2, 0
						err = run.Batch(t.Context(), options(t, m, v, prompts...))
					}
					settled(t, m, v, prompts...)
				})
				if done {
					if at < 12 {
						t.Errorf("a run of three batches has only %d steps", at-1)
					}
					break
				}
			}
		}
	}
}

// After a lost response the batch is not submitted again at once: the vendor is asked
// first, and a batch has time to appear.
func TestLostAnswers(t *testing.T) {
	passing := func(status int) error {
		return &deem.ModelError{Kind: deem.Provider, Passing: true, Status: status, Err: errors.New("hiccup")}
	}
	for name, submit := range map[string]func(n int) (bool, error){
		"taken, and the connection breaks": func(n int) (bool, error) { return true, passing(0) },
		"taken, and a bad gateway":         func(n int) (bool, error) { return true, passing(502) },
		"not taken at first":               func(n int) (bool, error) { return n == 2, map[bool]error{false: passing(0)}[n == 2] },
		"too many requests at first":       func(n int) (bool, error) { return n == 3, map[bool]error{false: passing(429)}[n == 3] },
	} {
		for _, ripens := range []time.Duration{0, 20 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				m, v := newMemory(), &vendor{limits: wire.BatchLimits{Lines: 100, Bytes: 1 << 20}, submit: submit, ripens: ripens, takes: time.Minute}
				if err := run.Batch(t.Context(), options(t, m, v, numbered(5)...)); err != nil {
					t.Fatalf("%s: Run: %v", name, err)
				}
				settled(t, m, v, numbered(5)...)
			})
		}
	}
}

// Permanent errors end Run, and leave nothing behind that the vendor did not accept.
func TestSubmitFails(t *testing.T) {
	for _, me := range []deem.ModelError{{Status: 401, Fatal: true}, {Status: 413}, {Fatal: true}, {Status: 429, Passing: true}} {
		synctest.Test(t, func(t *testing.T) {
			me.Err = errors.New("no")
			m, v := newMemory(), &vendor{limits: wire.BatchLimits{Lines: 100, Bytes: 1 << 20}}
			v.submit = func(int) (bool, error) { return false, &me }
			if err := run.Batch(t.Context(), options(t, m, v, "a")); !errors.Is(err, &me) {
				t.Errorf("%+v: Run: %v", me, err)
			}
			if len(m.batches) != 0 || len(m.lines) != 0 {
				t.Errorf("%+v: what was not taken is still planned: %v", me, m.batches)
			}
			if me.Passing != (v.submissions > 1) {
				t.Errorf("%+v: submitted %d times", me, v.submissions)
			}
		})
	}
}

// A vendor at capacity gets as much as it accepts, and each request once.
func TestNoRoom(t *testing.T) {
	for _, capacity := range []int{1, 3, 10, 25} {
		synctest.Test(t, func(t *testing.T) {
			m, v := newMemory(), &vendor{limits: wire.BatchLimits{Lines: 10, Bytes: 1 << 20}, capacity: capacity, takes: 10 * time.Minute}
			if err := run.Batch(t.Context(), options(t, m, v, numbered(40)...)); err != nil {
				t.Fatalf("room for %d: Run: %v", capacity, err)
			}
			settled(t, m, v, numbered(40)...)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		m, v := newMemory(), &vendor{limits: wire.BatchLimits{Lines: 10, Bytes: 1 << 20}, capacity: -1}
		v.capacity = 1
		v.batches = []*held{{id: "other", ids: []string{"x"}, taken: time.Now()}}
		v.takes = 100 * time.Hour // Another customer's batch fills the vendor.
		err := run.Batch(t.Context(), options(t, m, v, numbered(4)...))
		if me, ok := errors.AsType[*deem.ModelError](err); !ok || me.Code != "token_limit_exceeded" || deem.HintOf(err) == "" {
			t.Errorf("no room at all: %v", err)
		}
		if len(m.lines) != 0 {
			t.Errorf("no room at all, and %d lines are planned", len(m.lines))
		}
	})
}

// Status requests may fail for a while; a batch that the vendor no longer has ends Run.
func TestLooking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m, v := newMemory(), &vendor{limits: wire.BatchLimits{Lines: 10, Bytes: 1 << 20}, takes: time.Hour}
		v.status = func() error {
			if n++; n%3 != 0 {
				return &deem.ModelError{Passing: true, Status: 503, Err: errors.New("busy")}
			}
			return nil
		}
		began := time.Now()
		if err := run.Batch(t.Context(), options(t, m, v, numbered(3)...)); err != nil {
			t.Fatalf("Run: %v", err)
		}
		settled(t, m, v, numbered(3)...)
		if took := time.Since(began); took < time.Hour || took > time.Hour+2*time.Minute {
			t.Errorf("a batch of an hour took %v", took)
		}
		if n < 60*3 || n > 300 {
			t.Errorf("%d looks in an hour, want about one a minute", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m, v := newMemory(), &vendor{limits: wire.BatchLimits{Lines: 10, Bytes: 1 << 20}}
		v.status = func() error { return &deem.ModelError{Status: 404, Fatal: true, Err: errors.New("no such batch")} }
		err := run.Batch(t.Context(), options(t, m, v, "a"))
		if err == nil || !strings.Contains(deem.HintOf(err), "batch_0") {
			t.Errorf("a batch that is gone: %v, hint %q", err, deem.HintOf(err))
		}
	})
}

// An interruption leaves the batch running.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, v := newMemory(), &vendor{limits: wire.BatchLimits{Lines: 10, Bytes: 1 << 20}, takes: time.Hour}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := run.Batch(ctx, options(t, m, v, numbered(3)...)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run: %v, want the error of its context", err)
		}
		if len(m.batches) != 1 || m.batches[0].State != store.BatchSubmitted {
			t.Errorf("after the interruption the batches are %+v", m.batches)
		}
		if err := run.Batch(t.Context(), options(t, m, v, numbered(3)...)); err != nil {
			t.Fatal(err)
		}
		settled(t, m, v, numbered(3)...)
	})
}

// Nothing is submitted that may cost more than is left, and the possible cost of earlier
// batches counts.
func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		budget int64
		ok     bool
	}{{10, true}, {29, false}, {30, true}} {
		m, v := newMemory(), &vendor{limits: wire.BatchLimits{Lines: 10, Bytes: 1 << 20}}
		prompts := numbered(3)
		if tt.budget == 10 {
			prompts = prompts[:1]
		}
		o := options(t, m, v, append(prompts, prompts...)...)
		o.Poll, o.Budget, o.Most = time.Millisecond, &tt.budget, func(deem.Request) int64 { return 10 }
		err := run.Batch(t.Context(), o)
		be, poor := errors.AsType[*run.BudgetError](err)
		if tt.ok != (err == nil) || !tt.ok && (!poor || be.Lines != 3 || be.Most != 30 || be.Left != 29 || len(v.batches) > 0) {
			t.Errorf("a budget of %d: %v, and %d batches", tt.budget, err, len(v.batches))
		}
		if tt.budget != 30 {
			continue
		}
		// After two batches, 7 of each reply are owed, which leaves 9 of 30.
		o.Requests = requests(append(prompts, "one more")...)
		if be, poor := errors.AsType[*run.BudgetError](run.Batch(t.Context(), o)); !poor || be.Left != 9 || be.Lines != 1 {
			t.Errorf("one more: %+v, want 9 left", be)
		}
	}
}

// An error of the items ends Run before anything is submitted.
func TestRequestsFail(t *testing.T) {
	m, v := newMemory(), &vendor{limits: wire.BatchLimits{Lines: 10, Bytes: 1 << 20}}
	o := options(t, m, v)
	o.Requests = func(yield func(deem.Request, error) bool) {
		_ = yield(deem.Prompt("a"), nil) && yield(deem.Request{}, errKilled)
	}
	if err := run.Batch(t.Context(), o); !errors.Is(err, errKilled) || len(v.batches) != 0 {
		t.Errorf("Run: %v, and %d batches", err, len(v.batches))
	}
}
