package bytask_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/benchmark/internal/bytask"
)

var table = bytask.Table[string]{
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

// TestIdentity pins the JSON that hashes of judges are taken of: another text would
// make every kept verdict one of a stranger.
func TestIdentity(t *testing.T) {
	r, err := bytask.NewRule("somebench", "", 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule bytask.Rule
		want string
	}{
		{r, `{"kind":"rule","name":"somebench","options":{"reading":"upstream"},"version":3}`},
		{bytask.Other(r), `{"kind":"rule","name":"somebench","options":{"reading":"fixed"},"version":3}`},
		{bytask.Other(bytask.Other(r)), `{"kind":"rule","name":"somebench","options":{"reading":"upstream"},"version":3}`},
	} {
		got, err := deem.Canonical(c.rule.Identity())
		if err != nil || string(got) != c.want {
			t.Errorf("Identity = %s, %v, want %s", got, err, c.want)
		}
	}
}

func TestUnknownReading(t *testing.T) {
	_, err := bytask.NewRule("somebench", "Fixed", 1)
	if err == nil || err.Error() != `somebench has no reading "Fixed"` || deem.HintOf(err) != "it may be upstream, fixed" {
		t.Errorf("reading Fixed: %v, hint %q", err, deem.HintOf(err))
	}
}

func TestVerdicts(t *testing.T) {
	judged := &deem.Verdict{Score: 1}
	none := deem.Failf(deem.Empty, "nothing")
	v := bytask.NewVerdicts("somebench", "")
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
	if !v.Comparable() || v.Warning("Some Bench", "rules") != "" || v.Reading() != bytask.Upstream {
		t.Errorf("reading %s of its own judge: Comparable = %t, Warning = %q, want true and none", v.Reading(), v.Comparable(), v.Warning("Some Bench", "rules"))
	}
	v.Add(deem.Record{Judge: "a panel", Verdict: judged})
	v.Add(deem.Record{Judge: "a panel", Verdict: judged})
	want := "the verdicts are of a panel and not of the published rules: the scores are not Some Bench's"
	if got := v.Warning("Some Bench", "rules"); v.Comparable() || got != want {
		t.Errorf("another judge: Comparable = %t, Warning = %q, want %q", v.Comparable(), got, want)
	}
}

func TestFixedIsNotComparable(t *testing.T) {
	v := bytask.NewVerdicts("somebench", bytask.Fixed)
	if got := v.Warning("Some Bench", "rules"); v.Comparable() || !strings.Contains(got, "the reading is fixed") {
		t.Errorf("fixed: Comparable = %t, Warning = %q", v.Comparable(), got)
	}
}
