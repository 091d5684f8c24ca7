package model_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deem"
	"deem/internal/model"
	"deem/model/fake"
)

// TestAssemble checks the order by its visible effects: a cached reply is free, retries are
// counted, waiting is not latency.
func TestAssemble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{usage: deem.Usage{Input: 10, Output: 1}}
		n := 0
		wire := fake.Func("openai:gpt-4o", func(ctx context.Context, req deem.Request) (deem.Reply, error) {
			if n++; n <= 2 {
				return deem.Reply{}, passing(10 * time.Second)
			}
			return v.Complete(ctx, req)
		})
		m := model.Assemble(wire, model.Options{Limit: model.LimitOptions{Concurrency: 1}})
		if m.Name() != "openai:gpt-4o" {
			t.Errorf("Name() = %q, want that of the wire", m.Name())
		}
		reply, err := m.Complete(t.Context(), deem.Prompt("q"))
		if err != nil {
			t.Fatalf("Complete: %v", err)
		}
		if reply.Attempts != 3 || reply.Latency != time.Second || reply.CostMicros != 35 || reply.Key == "" {
			t.Errorf("reply %+v, want 3 attempts, a latency of one second, 35 micros and a key", reply)
		}
		again, err := m.Complete(t.Context(), deem.Prompt("q"))
		if err != nil || !again.Cached || again.CostMicros != 0 || n != 3 {
			t.Errorf("second reply %+v, error %v after %d calls, want a free one from the cache", again, err, n)
		}
		if got := model.TotalsOf(m); got.Calls != 3 || got.Failures != 2 || got.CostMicros != 35 {
			t.Errorf("Totals = %+v, want 3 calls, 2 failures, 35 micros", got)
		}
	})
}

// TestWaitingRetriesHoldNoPlace makes one request wait for its retry while others use the
// only slot.
func TestWaitingRetriesHoldNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wire := fake.Func("fake:picky", func(_ context.Context, req deem.Request) (deem.Reply, error) {
			if req.Messages[0].Content == "bad" {
				return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Status: 500, Passing: true, Err: errors.New("bad")}
			}
			return deem.Reply{Text: "yes"}, nil
		})
		m := model.Assemble(wire, model.Options{
			Limit: model.LimitOptions{Concurrency: 1},
			Retry: model.RetryOptions{Base: time.Hour, Max: time.Hour, Rand: half},
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = m.Complete(ctx, deem.Prompt("bad")) })
		synctest.Wait()
		start := time.Now()
		if _, err := m.Complete(t.Context(), deem.Prompt("good")); err != nil {
			t.Errorf("Complete: %v", err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("a good request waited %v for a bad one", took)
		}
		wg.Wait()
	})
}

func TestAs(t *testing.T) {
	m, _ := counting()
	whole := model.Assemble(named{Model: m, name: "openai:x", endpoint: "http://here/v1"}, model.Options{})
	if _, ok := model.As[interface{ InFlight() int }](whole); !ok {
		t.Error("As found no limiter")
	}
	if got := model.Endpoint(whole); got != "http://here/v1" {
		t.Errorf("Endpoint() = %q, want that of the wire", got)
	}
	if got := model.Endpoint(m); got != "" {
		t.Errorf("Endpoint() = %q of a model without one, want none", got)
	}
}

// BenchmarkAssembled measures the overhead of the decorators.
func BenchmarkAssembled(b *testing.B) {
	wire, err := fake.New("labels=yes|no")
	if err != nil {
		b.Fatal(err)
	}
	m := model.Assemble(wire, model.Options{})
	req := deem.Prompt("Is the response right? Answer yes or no.")
	b.ReportAllocs()
	for b.Loop() {
		req.Trial++ // so that nothing comes from the cache
		if _, err := m.Complete(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
