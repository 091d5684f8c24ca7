package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestItemIn(t *testing.T) {
	for body, want := range map[string]int{
		"":                                  -1,
		"item-1":                            -1,
		"about item-00042.":                 42,
		"item-00042 and item-00042":         42,
		"item-00042 and item-00043":         -1,
		`{"content":"(note item-99999)\n"}`: 99_999,
	} {
		got, ok := itemIn([]byte(body))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("itemIn(%q) = %d, want %d", body, got, want)
		}
	}
}

// TestItems holds that every item is another request for every contestant, and can be
// found in it.
func TestItems(t *testing.T) {
	questions, responses := map[string]bool{}, map[string]bool{}
	for i, it := range makeItems(1000) {
		if got, ok := itemIn([]byte(it.Response)); !ok || got != i {
			t.Fatalf("item %d has the mark %d in its response (%v)", i, got, ok)
		}
		if strings.Contains(it.Question+it.Reference, "item-") {
			t.Fatalf("item %d has its mark outside of its response", i)
		}
		questions[it.Question], responses[it.Response] = true, true
	}
	if len(responses) != 1000 || len(questions) != 1000 {
		t.Errorf("%d questions and %d responses are different, want 1000 and 1000", len(questions), len(responses))
	}
}

func TestWriteFiles(t *testing.T) {
	dir := t.TempDir()
	items := makeItems(3)
	if err := writeFiles(dir, items); err != nil {
		t.Fatal(err)
	}
	var got []item
	for line := range strings.Lines(read(t, dir, "items.jsonl")) {
		var it item
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			t.Fatal(err)
		}
		got = append(got, it)
	}
	if d := cmp.Diff(items, got); d != "" {
		t.Errorf("items differ (-want +got):\n%s", d)
	}
	first, _, _ := strings.Cut(read(t, dir, "tests.jsonl"), "\n")
	for _, want := range []string{items[0].Question, items[0].Reference, items[0].Response, `"type":"factuality"`} {
		if !strings.Contains(first, want) {
			t.Errorf("promptfoo's first test is %s, want %q in it", first, want)
		}
	}
	if config := read(t, dir, "promptfoo.json"); !strings.Contains(config, "file://"+dir) {
		t.Errorf("promptfoo's config does not name the tests in %s:\n%s", dir, config)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestJudged reads what contestants print.
func TestJudged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		judged func(string) (int, error)
		out    string
		want   int // -1 for an error
	}{
		{"deem", deemJudged, `{"items":1000,"unjudged":3}`, 997},
		{"deem, no report", deemJudged, "error: no key", -1},
		{"script", scriptJudged, `{"judged":1000}` + "\n", 1000},
		{"script, nothing judged", scriptJudged, `{"judged":0}`, 0},
		{"script, silent", scriptJudged, `{}`, -1},
		{"promptfoo", promptfooJudged, "Results:\n  ✓ 1,000 passed (100%)\n  0 failed (0%)\n  0 errors (0%)\n", 1000},
		{"promptfoo, some failed", promptfooJudged, "  ✓ 12 passed (1%)\n  ✗ 980 failed (98%)\n  ✗ 8 errors (1%)\n", 992},
		{"promptfoo, no summary", promptfooJudged, "Starting evaluation\n", -1},
	} {
		got, err := tt.judged(tt.out)
		if err != nil {
			got = -1
		}
		if got != tt.want {
			t.Errorf("%s: judged = %d (%v), want %d", tt.name, got, err, tt.want)
		}
	}
}

func TestWhole(t *testing.T) {
	full := tally{asked: []int{1, 1}, answered: []int{1, 1}}
	for _, tt := range []struct {
		name   string
		tally  tally
		judged int
		ok     bool
	}{
		{"one request and verdict each", full, 2, true},
		{"a verdict is missing", full, 1, false},
		{"an item was asked twice", tally{asked: []int{2, 1}, answered: []int{2, 1}}, 2, false},
		{"an item was not asked", tally{asked: []int{2, 0}, answered: []int{2, 0}}, 2, false},
		{"a request was about nothing", tally{asked: []int{1, 1}, answered: []int{1, 1}, strange: 1}, 2, false},
	} {
		if err := whole(tt.tally, tt.judged, 2); (err == nil) != tt.ok {
			t.Errorf("%s: whole = %v, want it to hold: %v", tt.name, err, tt.ok)
		}
	}
}

func TestSpentOf(t *testing.T) {
	got := spentOf(&syscall.Rusage{Utime: syscall.Timeval{Sec: 1, Usec: 500_000}, Stime: syscall.Timeval{Usec: 250_000}, Maxrss: 2048})
	if got.cpu != 1750*time.Millisecond {
		t.Errorf("cpu = %v, want user and system together, 1.75s", got.cpu)
	}
	if got.rss < 2048 {
		t.Errorf("rss = %d, want at least 2048", got.rss)
	}
}

func TestMedian(t *testing.T) {
	c := cost{}
	for _, s := range []int{9, 2, 4, 3} {
		c.runs = append(c.runs, spent{cpu: time.Duration(s) * time.Second, rss: int64(s)})
	}
	if got := c.median(); got.cpu != 4*time.Second || got.rss != 4 {
		t.Errorf("median = %v with %d bytes, want the run of 4 s", got.cpu, got.rss)
	}
	if low, high := c.spread(); low != 2*time.Second || high != 9*time.Second {
		t.Errorf("spread = %v to %v, want 2s to 9s", low, high)
	}
}

// TestInstalled holds that another version is not taken for the one that is measured, and
// that a folder of the user's is not removed.
func TestInstalled(t *testing.T) {
	in := installation{dir: t.TempDir(), keep: true}
	put := func(name, version string) {
		dir := filepath.Join(in.dir, "node_modules", name)
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"version":"`+version+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if in.check() == nil {
		t.Error("nothing is installed, and check does not say so")
	}
	for name, version := range wanted() {
		put(name, version)
	}
	if err := in.check(); err != nil {
		t.Errorf("all is installed, and check says %v", err)
	}
	put(promptfoo, "0.1.0")
	if err := in.check(); err == nil || !strings.Contains(err.Error(), "promptfoo is 0.1.0") {
		t.Errorf("check = %v, want the wrong version", err)
	}
	if err := in.writeScripts(); err != nil {
		t.Fatal(err)
	}
	in.remove()
	if !strings.Contains(read(t, in.dir, "autoevals.mjs"), "Factuality") {
		t.Error("the script of autoevals is not beside node_modules")
	}
}

// TestRemove holds that a folder of our own is removed.
func TestRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "peers")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	installation{dir: dir}.remove()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "https://example.org")
	t.Setenv("PROMPTFOO_CACHE_ENABLED", "false")
	t.Setenv("PEERS_TEST_KEPT", "yes")
	env := environment()
	if slices.Contains(env, "OPENAI_BASE_URL=https://example.org") || slices.Contains(env, "PROMPTFOO_CACHE_ENABLED=false") {
		t.Error("the environment still says where to call and what to keep")
	}
	if !slices.Contains(env, "PEERS_TEST_KEPT=yes") {
		t.Error("the environment has lost what concerns nobody")
	}
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-n", "1"}, {"-n", "100001"}, {"-j", "0"}, {"-runs", "0"}, {"-kills", "0"}, {"-latency", "soon"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("parse(%v) takes it", args)
		}
	}
	o, err := parse([]string{"-deem", "x/deem", "-keep", "y"})
	if err != nil || !filepath.IsAbs(o.deem) || !filepath.IsAbs(o.keep) {
		t.Errorf("parse = %q, %q, %v, want absolute names: contestants run in folders of their own", o.deem, o.keep, err)
	}
}
