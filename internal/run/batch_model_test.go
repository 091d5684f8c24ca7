package run_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"deem"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/wire"
)

// An ordinary model gives the same reply to everything and counts calls.
type ordinary struct{ calls int }

func (o *ordinary) Name() string { return "fake:batches" }

func (o *ordinary) Complete(context.Context, deem.Request) (deem.Reply, error) {
	o.calls++
	return deem.Reply{Text: "ordinary"}, nil
}

// served returns a model that answers from a batch with the given lines.
func served(only bool, state store.BatchState, lines ...store.BatchLine) (*run.BatchModel, *ordinary, *memory) {
	m, inner := newMemory(), &ordinary{}
	m.batches = []store.Batch{{Key: "b", ID: "batch_1", State: state}}
	for _, l := range lines {
		l.Batch = "b"
		m.lines[l.Key] = l
	}
	served := run.NewBatchModel(inner, only)
	served.Serve(m, "run")
	return served, inner, m
}

func TestModelBeforeItServes(t *testing.T) {
	inner := &ordinary{}
	m := run.NewBatchModel(inner, true)
	if r, err := m.Complete(t.Context(), deem.Prompt("a")); err != nil || r.Text != "ordinary" || m.Name() != "fake:batches" || m.Unwrap() != inner {
		t.Errorf("Complete = %+v, %v from %s", r, err, m.Name())
	}
}

// A reply costs once: the first time, unless a record already has it.
func TestModelGivesRepliesOnceAsNew(t *testing.T) {
	key := keyOf(deem.Prompt("a"))
	reply := deem.Reply{Text: "yes", CostMicros: 5, Attempts: 1, Batch: "batch_1", Key: key}
	m, inner, mem := served(false, store.BatchCollected, store.BatchLine{Key: key, Reply: &reply})
	var wg sync.WaitGroup
	var mu sync.Mutex
	var fresh, cost int
	for range 8 {
		wg.Go(func() {
			r, err := m.Complete(t.Context(), deem.Prompt("a"))
			mu.Lock()
			defer mu.Unlock()
			if err != nil || r.Text != "yes" || r.Key != key || r.Batch != "batch_1" || r.Cached != (r.Attempts == 0) {
				t.Errorf("Complete = %+v, %v", r, err)
			}
			if cost += int(r.CostMicros); !r.Cached {
				fresh++
			}
		})
	}
	wg.Wait()
	if fresh != 1 || cost != 5 || m.CostMicros() != 5 || inner.calls != 0 {
		t.Errorf("%d new replies for %d, the model says %d, and %d ordinary calls; want 1, 5, 5 and 0", fresh, cost, m.CostMicros(), inner.calls)
	}
	// The next process knows it from the store.
	l := mem.lines[key]
	l.Taken = true
	mem.lines[key] = l
	next := run.NewBatchModel(inner, false)
	next.Serve(mem, "run")
	if r, err := next.Complete(t.Context(), deem.Prompt("a")); err != nil || !r.Cached || r.CostMicros != 0 {
		t.Errorf("a reply that a record has = %+v, %v, want it cached", r, err)
	}
}

// An empty reply is evidence for this run and is not cached for others.
func TestModelDoesNotCacheEmptyReplies(t *testing.T) {
	key := keyOf(deem.Prompt("a"))
	m, _, _ := served(false, store.BatchCollected, store.BatchLine{Key: key, Reply: &deem.Reply{Key: key}})
	if r, err := m.Complete(t.Context(), deem.Prompt("a")); err != nil || r.Key != "" {
		t.Errorf("an empty reply = %+v, %v, want it without a key", r, err)
	}
}

func TestModelWithoutAReply(t *testing.T) {
	key := keyOf(deem.Prompt("a"))
	for _, tt := range []struct {
		name     string
		only     bool
		line     store.BatchLine
		ordinary bool
		kind     deem.Kind
	}{
		{"not in a batch", true, store.BatchLine{Key: "other"}, true, ""},
		{"expired", false, store.BatchLine{Key: key, Failure: deem.Failf(deem.Timeout, "late"), Passing: true}, true, ""},
		{"expired, only batches", true, store.BatchLine{Key: key, Failure: deem.Failf(deem.Timeout, "late"), Passing: true}, false, deem.Timeout},
		{"its own error", false, store.BatchLine{Key: key, Failure: deem.Failf(deem.Refused, "late")}, false, deem.Refused},
		{"unanswered", false, store.BatchLine{Key: key}, true, ""},
		{"unanswered, only batches", true, store.BatchLine{Key: key}, false, deem.Provider},
	} {
		m, inner, _ := served(tt.only, store.BatchCollected, tt.line)
		_, err := m.Complete(t.Context(), deem.Prompt("a"))
		me, _ := errors.AsType[*deem.ModelError](err)
		if (inner.calls == 1) != tt.ordinary || (me == nil) != (tt.kind == "") || me != nil && (me.Kind != tt.kind || me.Fatal || me.Passing) {
			t.Errorf("%s: %d ordinary calls and %+v, want ordinary %v and kind %q", tt.name, inner.calls, me, tt.ordinary, tt.kind)
		}
		if me != nil && tt.line.Failure != nil && me.Error() != "late" {
			t.Errorf("%s: error %q, want that of the line", tt.name, me)
		}
	}
}

// A request that is still at the vendor is not paid for again.
func TestModelBeforeCollection(t *testing.T) {
	m, inner, _ := served(false, store.BatchSubmitted, store.BatchLine{Key: keyOf(deem.Prompt("a"))})
	_, err := m.Complete(t.Context(), deem.Prompt("a"))
	if me, ok := errors.AsType[*deem.ModelError](err); !ok || !me.Fatal || inner.calls != 0 {
		t.Errorf("Complete = %v and %d ordinary calls, want a fatal error and none", err, inner.calls)
	}
}

// A line that expires is a transient failure.
func TestExpiredLine(t *testing.T) {
	m, v := newMemory(), &vendor{limits: wire.BatchLimits{Lines: 10, Bytes: 1 << 20}}
	o := options(t, m, v, "expires", "b")
	o.Poll = time.Millisecond
	if err := run.Batch(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	l := m.lines[keyOf(deem.Prompt("expires"))]
	if l.Reply != nil || l.Failure == nil || l.Failure.Kind != deem.Timeout || !l.Passing {
		t.Errorf("the line is %+v", l)
	}
}
