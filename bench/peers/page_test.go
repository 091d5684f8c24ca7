package main

import (
	"strings"
	"testing"
	"time"
)

// found returns findings in which deem took so long and promptfoo so many times that.
func found(cpu time.Duration, times int, twice int) findings {
	f := findings{
		options: options{n: 1000, calls: 32, runs: 1, kills: 5, latency: 50 * time.Millisecond},
		version: "deem v0",
		node:    "v24.0.0",
		start:   spent{cpu: 2400 * time.Millisecond},
		began:   time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC),
	}
	for _, c := range contestants() {
		s := spent{cpu: cpu, wall: time.Second, rss: 64 << 20}
		if c.name == promptfoo {
			s.cpu *= time.Duration(times)
		}
		f.costs = append(f.costs, cost{c, []spent{s}})
	}
	f.reruns = []rerun{
		{contestant: contestants()[0], restart: same[0], latency: f.latency, answered: 510, twice: twice},
		{contestant: contestants()[0], restart: same[0], answered: 510, twice: 99},
	}
	return f
}

// TestPromises holds that each promise can fail, at its edge, and that the server without
// latency is not part of it.
func TestPromises(t *testing.T) {
	for _, tt := range []struct {
		times, twice int
		want         [2]bool
	}{
		{50, 32, [2]bool{true, true}},
		{49, 32, [2]bool{false, true}},
		{50, 33, [2]bool{true, false}},
	} {
		ps := promises(found(200*time.Millisecond, tt.times, tt.twice))
		if len(ps) != 2 {
			t.Fatalf("%d promises, want 2: %v", len(ps), ps)
		}
		if got := [2]bool{ps[0].kept, ps[1].kept}; got != tt.want {
			t.Errorf("%d times and %d asked again: kept = %v, want %v", tt.times, tt.twice, got, tt.want)
		}
	}
	f := found(200*time.Millisecond, 60, 3)
	f.reruns[0].never = 1
	if promises(f)[1].kept {
		t.Error("an item has no verdict in the end, and the promise is kept")
	}
}

func TestPage(t *testing.T) {
	got := page(found(250*time.Millisecond, 64, 7))
	for _, want := range []string{
		"on 2026-11-16, on ",
		"deem v0; promptfoo " + promptfooVersion + " and autoevals " + autoevalsVersion + " from npm, on Node v24.0.0.",
		"| deem | 0.25 s | 0.25 to 0.25 s | 0.25 ms | 1.0 times | 1.00 s | 64 MB |",
		"| promptfoo | 16.00 s | 16.00 to 16.00 s | 16.00 ms | 64 times | 1.00 s | 64 MB |",
		"| deem | the same command again | 50 ms | 510 | **7** | 1,000 |",
		"| deem | the same command again | none | 510 | **99** | 1,000 |",
		"- kept: at least 50 times less CPU per verdict than promptfoo: 64 times.",
		"- kept: no more items asked again after a kill than calls in flight, at a server that takes 50 ms: 7, with 32 in flight.",
		"deem run --data LAB/items.jsonl --judge universal --model openai:test --base-url URL -j 32 --json\n",
		"PEERS/node_modules/.bin/promptfoo eval -c LAB/promptfoo.json -j 32 --no-table --no-progress-bar --no-share --no-cache\n",
		"`promptfoo --version` alone took 2.4 s",
		"npm install --ignore-scripts autoevals@" + autoevalsVersion,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "%!") {
		t.Errorf("the page has a hole:\n%s", got)
	}
	if got := page(found(250*time.Millisecond, 10, 7)); !strings.Contains(got, "- NOT KEPT: at least 50") {
		t.Errorf("the page hides a promise that does not hold:\n%s", got)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12_045: "12,045", 1_000_007: "1,000,007"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}
