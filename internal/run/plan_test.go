package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/model"
	"deem/internal/run"
)

var update = flag.Bool("update", false, "write the golden files")

// prompt returns the n-th request of a judge that expects a label.
func prompt(n int) deem.Request {
	req := deem.Prompt(strings.Repeat("Does the response say what the reference says?\n", 30) + fmt.Sprintf("Response %d: he moved in 2021.", n))
	req.MaxTokens = 10
	return req
}

// TestText checks the output for people. Each file has the text and, after an empty line,
// the one-line form.
func TestText(t *testing.T) {
	ctx := t.Context()
	for name, tt := range map[string]struct {
		o   run.PlanOptions
		add func(p *run.Planner) error
	}{
		"plain": {run.PlanOptions{Model: "openai:gpt-4o-mini"}, func(p *run.Planner) error { return many(ctx, p, 1000) }},
		"everything": {
			run.PlanOptions{
				Model: "openai:gpt-4o-mini", Concurrency: 16, RPM: 500, TPM: 30_000_000, Latency: 900 * time.Millisecond, Trials: 3, Output: 2,
				Cached: func(_ context.Context, req deem.Request) (bool, error) { return req.Trial == 0, nil },
			},
			func(p *run.Planner) error {
				p.AddDone()
				p.AddDecided()
				p.AddUnjudgeable(errors.New("no reference"))
				p.AddUnjudgeable(errors.New("no response"))
				return errors.Join(many(ctx, p, 2000), p.AddMissing(ctx, []int{1, 2}, prompt(3000)), p.Add(ctx, prompt(7)))
			},
		},
		"estimate": {run.PlanOptions{Model: "anthropic:claude-opus-5", TPM: 20_000}, func(p *run.Planner) error {
			for i := range 50 {
				req := prompt(i)
				req.MaxTokens, req.JSON = 400, true
				if err := p.Add(ctx, req); err != nil {
					return err
				}
			}
			return nil
		}},
		"unpriced": {run.PlanOptions{Model: "openai:meta-llama/llama-4"}, func(p *run.Planner) error { return p.Add(ctx, deem.Prompt("Is it so?")) }},
		"free":     {run.PlanOptions{Model: "ollama:llama3.2", Latency: 400 * time.Millisecond}, func(p *run.Planner) error { return many(ctx, p, 3) }},
		"thinks":   {run.PlanOptions{Model: "openai:gpt-5-mini", Room: 8192}, func(p *run.Planner) error { return many(ctx, p, 1) }},
		"too-long": {run.PlanOptions{Model: "openai:gpt-4"}, func(p *run.Planner) error {
			return errors.Join(p.Add(ctx, prompt(0)), p.Add(ctx, deem.Prompt(strings.Repeat("word ", 8200))))
		}},
		"nothing": {run.PlanOptions{Model: "openai:gpt-4o"}, func(p *run.Planner) error {
			for range 1200 {
				p.AddDone()
			}
			p.AddDecided()
			return nil
		}},
		"empty": {run.PlanOptions{Model: "openai:gpt-4o"}, func(*run.Planner) error { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			p := run.NewPlanner(tt.o)
			if err := tt.add(p); err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := p.Plan().Text(&b); err != nil {
				t.Fatal(err)
			}
			checkGolden(t, name+".txt", b.String()+"\n"+p.Plan().Line()+"\n")
		})
	}
}

func many(ctx context.Context, p *run.Planner, n int) error {
	for i := range n {
		if err := p.Add(ctx, prompt(i)); err != nil {
			return err
		}
	}
	return nil
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestJSON(t *testing.T) {
	p := run.NewPlanner(run.PlanOptions{Model: "openai:gpt-4o-mini", RPM: 60})
	if err := many(t.Context(), p, 2); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(p.Plan(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "plan.json", string(text)+"\n")
}

// TestCounts checks that requests are the sum of duplicates, cached replies and calls.
func TestCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trials := rapid.IntRange(0, 3).Draw(t, "trials")
		asked := map[string]bool{}
		p := run.NewPlanner(run.PlanOptions{Model: "openai:gpt-4o", Trials: trials, Cached: func(_ context.Context, req deem.Request) (bool, error) {
			if asked[req.Hash()] {
				t.Errorf("Cached is asked twice about trial %d of %q", req.Trial, req.Messages[0].Content)
			}
			asked[req.Hash()] = true
			return strings.HasSuffix(req.Messages[0].Content, "1"), nil
		}})
		list := rapid.SliceOf(rapid.IntRange(0, 5)).Draw(t, "prompts")
		distinct := map[int]bool{}
		for _, n := range list {
			distinct[n] = true
			if err := p.Add(t.Context(), deem.Prompt(fmt.Sprint(n))); err != nil {
				t.Fatal(err)
			}
		}
		got, times := p.Plan(), max(trials, 1)
		cached := 0
		if distinct[1] {
			cached = times
		}
		want := []int{len(list), len(list) * times, cached, len(distinct)*times - cached, (len(list) - len(distinct)) * times}
		if diff := cmp.Diff(want, []int{got.Items, got.Requests, got.Cached, got.Calls, got.Duplicates}); diff != "" {
			t.Errorf("items, requests, cached, calls, duplicates of %v (-want +got):\n%s", list, diff)
		}
	})
}

// TestCost checks the sums against the cost that a meter computes for such calls.
func TestCost(t *testing.T) {
	req := deem.Request{Messages: []deem.Message{{Role: "system", Content: "You are a helpful assistant."}, {Role: "user", Content: "Hello!"}}, MaxTokens: 100}
	prices := model.Prices{Entries: []model.Price{{Model: "openai:gpt-4o", Input: 1_000_000, Output: 2_000_000}}}
	p := run.NewPlanner(run.PlanOptions{Model: "openai:gpt-4o", Prices: prices, Trials: 5, Output: 7})
	if err := p.Add(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := p.Plan()
	if got.InputTokens != 5*20 || got.OutputTokens != 5*7 || got.OutputTokensMax != 5*100 {
		t.Errorf("tokens %d, %d, at most %d, want 100, 35, 500", got.InputTokens, got.OutputTokens, got.OutputTokensMax)
	}
	for name, pair := range map[string][2]int64{
		"cost": {*got.CostMicros, 5 * (20 + 14)}, "at most": {*got.CostMaxMicros, 5 * (26 + 200)},
		"batch": {*got.BatchCostMicros, 85}, "batch at most": {*got.BatchCostMaxMicros, 565},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s = %d, want %d", name, pair[0], pair[1])
		}
	}
}

// TestOutput checks the guesses given in the documentation.
func TestOutput(t *testing.T) {
	object := []byte(`{"type":"object"}`)
	for _, tt := range []struct {
		model string
		room  int
		req   deem.Request
		o     int
		want  int64
	}{
		{"openai:gpt-4o", 0, deem.Request{MaxTokens: 10}, 0, 3},
		{"openai:gpt-4o", 0, deem.Request{MaxTokens: 2}, 0, 2},
		{"openai:gpt-4o", 0, deem.Request{MaxTokens: 400, JSON: true}, 0, 60},
		{"openai:gpt-4o", 0, deem.Request{Schema: object}, 0, 60},
		{"openai:gpt-4o", 0, deem.Request{}, 0, 120},
		{"openai:gpt-4o", 0, deem.Request{MaxTokens: 50}, 0, 50},
		{"openai:gpt-5", 8192, deem.Request{}, 0, 420},
		{"openai:gpt-5", 8192, deem.Request{MaxTokens: 10}, 0, 303},
		{"openai:gpt-5", 200, deem.Request{MaxTokens: 10}, 0, 203},
		{"openai:gpt-5", 8192, deem.Request{MaxTokens: 10}, 700, 700},
		{"openai:gpt-4o", 0, deem.Request{MaxTokens: 400}, 33, 33},
		{"openai:gpt-4o", 0, deem.Request{MaxTokens: 20}, 33, 20},
	} {
		p := run.NewPlanner(run.PlanOptions{Model: tt.model, Room: tt.room, Output: tt.o})
		if err := p.Add(t.Context(), tt.req); err != nil {
			t.Fatal(err)
		}
		if got := p.Plan().OutputTokens; got != tt.want {
			t.Errorf("%s, at most %d: output %d, want %d", tt.model, tt.req.MaxTokens, got, tt.want)
		}
	}
}

func TestTime(t *testing.T) {
	for _, tt := range []struct {
		o     run.PlanOptions
		want  time.Duration
		bound run.Bound
	}{
		{run.PlanOptions{Latency: time.Second}, 125 * time.Second / 10, run.ByConcurrency}, // 100 calls, 8 at a time
		{run.PlanOptions{Latency: time.Second, Concurrency: 500}, time.Second, run.ByConcurrency},
		{run.PlanOptions{Latency: time.Second, Concurrency: 500, RPM: 60}, 100 * time.Second, run.ByRequests},
		{run.PlanOptions{Latency: time.Second, RPM: 6000}, 125 * time.Second / 10, run.ByConcurrency},
		{run.PlanOptions{Latency: time.Second, RPM: 60, TPM: 320}, 5 * time.Minute, run.ByTokens},
		{run.PlanOptions{Concurrency: 1}, 100 * 660 * time.Millisecond, run.ByConcurrency}, // 0.6 s plus three tokens
	} {
		tt.o.Model = "openai:gpt-4o"
		p := run.NewPlanner(tt.o)
		for i := range 100 {
			req := deem.Prompt(strings.Repeat("a ", i%2) + fmt.Sprint(i))
			req.MaxTokens = 3
			if err := p.Add(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		got := p.Plan()
		if tt.bound == run.ByTokens {
			tt.want = time.Duration(float64(got.InputTokens+got.OutputTokens) / float64(tt.o.TPM) * float64(time.Minute))
		}
		if got.Time != tt.want || got.Bound != tt.bound {
			t.Errorf("%+v: %v by %s, want %v by %s", tt.o, got.Time, got.Bound, tt.want, tt.bound)
		}
	}
}

func TestErrors(t *testing.T) {
	p := run.NewPlanner(run.PlanOptions{Model: "openai:gpt-4o", Cached: func(context.Context, deem.Request) (bool, error) { return false, os.ErrPermission }})
	if err := p.Add(t.Context(), prompt(1)); !errors.Is(err, os.ErrPermission) {
		t.Errorf("Add = %v, want the error of the cache", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Add(ctx, prompt(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("Add = %v, want that of the context", err)
	}
}

// TestSeveralRequests checks that several requests of an item count as one item.
func TestSeveralRequests(t *testing.T) {
	p := run.NewPlanner(run.PlanOptions{Model: "openai:gpt-4o"})
	if err := p.Add(t.Context(), prompt(1), prompt(2), prompt(1)); err != nil {
		t.Fatal(err)
	}
	if err := p.AddMissing(t.Context(), nil, prompt(3)); err != nil {
		t.Fatal(err)
	}
	if got := p.Plan(); got.Items != 2 || got.Calls != 2 || got.Duplicates != 1 || got.Done != 1 {
		t.Errorf("%d items, %d calls, %d duplicates, %d done, want 2, 2, 1, 1", got.Items, got.Calls, got.Duplicates, got.Done)
	}
}

// TestPlanTwice checks that a plan can be read before all items are added, and does not
// change afterwards.
func TestPlanTwice(t *testing.T) {
	p := run.NewPlanner(run.PlanOptions{Model: "openai:gpt-4o"})
	if err := p.Add(t.Context(), prompt(1)); err != nil {
		t.Fatal(err)
	}
	before := p.Plan()
	cost := *before.CostMicros
	if err := p.Add(t.Context(), prompt(2)); err != nil {
		t.Fatal(err)
	}
	if after := p.Plan(); *before.CostMicros != cost || *after.CostMicros <= cost {
		t.Errorf("cost %d became %d, and %d after another", cost, *before.CostMicros, *after.CostMicros)
	}
}

// TestMemory checks that only a few bytes per request are kept.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	const n = 40_000
	p := run.NewPlanner(run.PlanOptions{Model: "anthropic:claude-opus-5"})
	before := heap()
	for i := range n {
		if err := p.Add(t.Context(), deem.Prompt(fmt.Sprint(i, strings.Repeat("x", 500)))); err != nil {
			t.Fatal(err)
		}
	}
	each := float64(heap()-before) / n
	t.Logf("%.1f bytes for each request", each)
	if each > 40 {
		t.Errorf("%.0f bytes are kept of each request, want at most 40", each)
	}
	if got := p.Plan().Calls; got != n {
		t.Errorf("Calls = %d, want %d", got, n)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A plan of the first items is extrapolated to all items; a plan of all items is not.
func TestPlanOfFirstItems(t *testing.T) {
	p := run.NewPlanner(run.PlanOptions{Model: "openai:gpt-4o-mini"})
	for i := range 100 {
		if err := p.Add(t.Context(), deem.Prompt(fmt.Sprintf("Is item %d right?", i))); err != nil {
			t.Fatal(err)
		}
	}
	part, all := p.PlanOf(1000), p.Plan()
	if part.Calls != 1000 || part.Items != 1000 || part.InputTokens != 10*all.InputTokens || *part.CostMicros != 10**all.CostMicros {
		t.Errorf("PlanOf(1000) = %+v, want ten times %+v", part, all)
	}
	if again := p.PlanOf(100); again.Calls != all.Calls || again.InputTokens != all.InputTokens {
		t.Errorf("PlanOf(100) = %+v, want %+v", again, all)
	}
}
