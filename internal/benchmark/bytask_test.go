package benchmark_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark"
)

var table = benchmark.ByTask[string]{
	Title: "Some Bench", Tasks: []string{"translate", "count", "code"},
	Name: func(name string) string { return name },
}

func TestTable(t *testing.T) {
	for _, c := range []struct {
		name  string
		rank  int
		known bool
	}{{"translate", 0, true}, {"code", 2, true}, {"cod", 3, false}, {"", 3, false}} {
		task, ok := table.Of(c.name)
		if table.Rank(c.name) != c.rank || ok != c.known || ok && task != c.name {
			t.Errorf("%q: Rank = %d, Of = %q, %t, want %d and %t", c.name, table.Rank(c.name), task, ok, c.rank, c.known)
		}
	}
	if got, want := table.Unknown("cuont"), "Some Bench has no task 'cuont'; did you mean count?"; got != want {
		t.Errorf("Unknown = %q, want %q", got, want)
	}
	if got, want := table.Unknown("summarise everything"), "Some Bench has no task 'summarise everything'"; got != want {
		t.Errorf("Unknown = %q, want %q", got, want)
	}
	missing := table.Missing(map[string]bool{"count": true}, func(task string) bool { return task != "code" })
	if diff := cmp.Diff([]string{"translate"}, missing); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
}

// byReading returns the reading as the label, so that a test sees which one was used.
func byReading(_ deem.Item, reading string) (deem.Verdict, error) {
	return deem.Verdict{Label: reading}, nil
}

// rule returns the rule under a reading, and under the other one.
func rule(t *testing.T, reading string) (r, other *benchmark.Rule) {
	t.Helper()
	j, err := benchmark.NewRule("somebench", benchmark.Readings(), reading, 3, byReading)
	if err != nil {
		t.Fatal(err)
	}
	r = j.(*benchmark.Rule)
	return r, r.Reread().(*benchmark.Rule)
}

// TestIdentity pins the JSON that the hashes of judges are computed from: a change would
// disconnect all stored verdicts from their judge.
func TestIdentity(t *testing.T) {
	up, fixed := rule(t, "")
	same, again := rule(t, benchmark.Fixed)
	for _, c := range []struct {
		rule    *benchmark.Rule
		reading string
	}{{up, "upstream"}, {fixed, "fixed"}, {same, "fixed"}, {again, "upstream"}} {
		got, err := deem.Canonical(c.rule.Identity())
		want := `{"kind":"rule","name":"somebench","reading":"` + c.reading + `","version":3}`
		if err != nil || string(got) != want {
			t.Errorf("Identity = %s, %v, want %s", got, err, want)
		}
		v, err := c.rule.Judge(t.Context(), deem.Item{})
		if err != nil || v.Label != c.reading || c.rule.Reading() != c.reading {
			t.Errorf("Judge gave %q, %v under %s, want %s", v.Label, err, c.rule.Reading(), c.reading)
		}
	}
}

func TestCancelled(t *testing.T) {
	r, _ := rule(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Judge(ctx, deem.Item{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want context.Canceled", err)
	}
}

func TestUnknownReading(t *testing.T) {
	_, err := benchmark.NewRule("somebench", benchmark.Readings(), "Fixed", 1, byReading)
	if err == nil || err.Error() != `somebench has no reading "Fixed"` || deem.HintOf(err) != "it may be upstream, fixed" {
		t.Errorf("reading Fixed: %v, hint %q", err, deem.HintOf(err))
	}
}

func TestVerdicts(t *testing.T) {
	judged := &deem.Verdict{Score: 1}
	none := deem.Failf(deem.Empty, "nothing")
	v := benchmark.NewVerdicts("somebench", "")
	for _, c := range []struct {
		rec  deem.Record
		want bool
	}{
		{deem.Record{Item: deem.Item{ID: "b"}, Judge: "somebench", Failure: none}, true},
		{deem.Record{Item: deem.Item{ID: "a"}, Judge: "somebench", Failure: none}, true},
		{deem.Record{Item: deem.Item{ID: "c"}, Judge: "somebench", Verdict: judged}, true},
		{deem.Record{Item: deem.Item{ID: "c"}, Judge: "other", Trial: 1, Failure: none}, false},
	} {
		if got := v.Add(c.rec); got != c.want {
			t.Errorf("Add(%s, trial %d) = %t, want %t", c.rec.Item.ID, c.rec.Trial, got, c.want)
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, v.Unjudged()); diff != "" {
		t.Errorf("Unjudged (-want +got):\n%s", diff)
	}
	if !v.Comparable() || v.Warning("Some Bench", "rules") != "" || v.Reading() != benchmark.Upstream {
		t.Errorf("reading %s of its own judge: Comparable = %t, Warning = %q, want true and none", v.Reading(), v.Comparable(), v.Warning("Some Bench", "rules"))
	}
	if got := v.Unscored(); !strings.HasSuffix(got, "where upstream would have stopped") {
		t.Errorf("Unscored of its own judge = %q", got)
	}
	v.Add(deem.Record{Judge: "a panel", Verdict: judged})
	v.Add(deem.Record{Judge: "a panel", Verdict: judged})
	if got := v.Unscored(); strings.Contains(got, "upstream") {
		t.Errorf("Unscored of another judge = %q, and upstream has nothing to do with it", got)
	}
	want := "the verdicts are of a panel and not of the published rules: the scores are not Some Bench's"
	if got := v.Warning("Some Bench", "rules"); v.Comparable() || got != want {
		t.Errorf("another judge: Comparable = %t, Warning = %q, want %q", v.Comparable(), got, want)
	}
}

func TestFixedIsNotComparable(t *testing.T) {
	v := benchmark.NewVerdicts("somebench", benchmark.Fixed)
	if got := v.Warning("Some Bench", "rules"); v.Comparable() || !strings.Contains(got, "the reading is fixed") {
		t.Errorf("fixed: Comparable = %t, Warning = %q", v.Comparable(), got)
	}
}
