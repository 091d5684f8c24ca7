package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem/internal/store"
)

func TestTally(t *testing.T) {
	var tally store.Tally
	// An empty tally has empty lists, not null.
	want := store.Counts{Categories: []store.Count{}, Labels: []store.Count{}, Kinds: []store.Count{}}
	if d := cmp.Diff(want, tally.Counts()); d != "" {
		t.Errorf("counts of nothing differ (-want +got):\n%s", d)
	}
	tally.Add("b", "yes", false, 2)
	tally.Add("a", "no", false, 1)
	tally.Add("a", "", false, 1)
	tally.Add("", "timeout", true, 3)
	tally.Add("", "yes", false, 1)
	want = store.Counts{
		Total: 8, Unjudged: 3,
		Categories: []store.Count{{Name: "", N: 4}, {Name: "a", N: 2}, {Name: "b", N: 2}},
		Labels:     []store.Count{{Name: "yes", N: 3}, {Name: "", N: 1}, {Name: "no", N: 1}},
		Kinds:      []store.Count{{Name: "timeout", N: 3}},
	}
	if d := cmp.Diff(want, tally.Counts()); d != "" {
		t.Errorf("counts differ (-want +got):\n%s", d)
	}
}
