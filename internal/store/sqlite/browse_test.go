package sqlite

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/store"
	"deem/internal/test/storetest"
)

// TestViewPlans checks that a page by position is read along the index, in order, up to its
// last record: sorting the run for every page would make the first page as slow as any.
// Sorting the page itself is allowed.
func TestViewPlans(t *testing.T) {
	s := openInside(t)
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	from := &store.Place{Cursor: store.Cursor{Position: 7}}
	for _, v := range []store.View{
		{},
		{Descending: true},
		{From: from},
		{From: from, Backward: true, Descending: true},
		{Pass: new(true)},
		{Query: store.Query{Labels: []string{"a"}, Categories: []string{"b", "c"}, Unjudged: true, Brief: true}},
		{Against: run.ID},
	} {
		plan := viewPlan(t, s, run.ID, v)
		// The last step sorts the page that was chosen before.
		chosen, _, _ := strings.Cut(plan, "SCAN (subquery")
		if !strings.Contains(chosen, "records_position (run=?") || strings.Contains(chosen, "FOR ORDER BY") {
			t.Errorf("%+v is read by %s, want the index records_position and no sorting", v, plan)
		}
		if v.From != nil && !strings.Contains(chosen, "position") {
			t.Errorf("%+v is read by %s, want it to begin at its place", v, plan)
		}
	}
}

// TestViewCovered checks that sorting a run reads the index and not the rows:
// in a run of a million records, reading the rows takes more than twice as long.
func TestViewCovered(t *testing.T) {
	s := openInside(t)
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), run.ID, []deem.Record{storetest.Record(0)}); err != nil {
		t.Fatal(err)
	}
	for _, v := range []store.View{
		{Order: store.ByConfidence},
		{Order: store.ByScore, Descending: true},
	} {
		plan := viewPlan(t, s, run.ID, v)
		if chosen, _, _ := strings.Cut(plan, "SCAN (subquery"); !strings.Contains(chosen, "COVERING INDEX records_position") {
			t.Errorf("%+v is read by %s, want the index records_position alone", v, plan)
		}
	}
}

func viewPlan(t *testing.T, s *Store, runID string, v store.View) string {
	t.Helper()
	where, err := s.selects(t.Context(), runID, v)
	if err != nil {
		t.Fatal(err)
	}
	order := store.ViewOrderOf(v)
	if v.From != nil {
		if err := s.continues(t.Context(), &where, order, *v.From); err != nil {
			t.Fatal(err)
		}
	}
	return planOf(t, s, viewQuery(where, order, v), append(where.args, 50)...)
}

// TestTally checks that counts are read correctly, or not at all.
func TestTally(t *testing.T) {
	said := "a\x1fx\x1e\x1dempty\x1ea\x1fx\x1eé\x1f\x1eb\x1fy"
	got, ok := readTally(said, 5)
	if !ok {
		t.Fatalf("readTally(%q) gave up", said)
	}
	want := store.Counts{
		Total: 5, Unjudged: 1,
		Categories: []store.Count{{Name: "a", N: 2}, {Name: "", N: 1}, {Name: "b", N: 1}, {Name: "é", N: 1}},
		Labels:     []store.Count{{Name: "x", N: 2}, {Name: "", N: 1}, {Name: "y", N: 1}},
		Kinds:      []store.Count{{Name: "empty", N: 1}},
	}
	if d := cmp.Diff(want, got.Counts()); d != "" {
		t.Errorf("counts differ (-want +got):\n%s", d)
	}
	for _, strange := range []struct {
		said string
		n    int
	}{
		{"a\x1fx\x1eb\x1fx", 1}, // the label or the category contains the separator of records
		{"a\x1eb\x1fx", 1},      // the category contains it
		{"a\x1fb\x1fx", 1},      // the category or the label contains the separator of labels
		{"a\x1db\x1fx", 1},      // the category contains the separator of failures, or the kind the other
	} {
		if _, ok := readTally(strange.said, strange.n); ok {
			t.Errorf("readTally(%q, %d) was sure of it", strange.said, strange.n)
		}
	}
}

// TestViewBound checks that the bound, which is taken from the first records only, loses no
// record of a page: in both directions, with equal values, and where values are missing.
func TestViewBound(t *testing.T) {
	s := openInside(t)
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	var recs []deem.Record
	for i := range 300 {
		rec := storetest.Record(i)
		if i%7 != 0 {
			rec.Verdict.Confidence = new(float64(i*37%101) / 101)
		}
		recs = append(recs, rec)
	}
	if err := s.Append(t.Context(), run.ID, recs); err != nil {
		t.Fatal(err)
	}
	ids := func(v store.View) (list []string) {
		t.Helper()
		for {
			page, err := s.View(t.Context(), run.ID, v)
			if err != nil {
				t.Fatal(err)
			}
			for _, rec := range page {
				list = append(list, rec.Item.ID)
			}
			if len(page) < v.Limit {
				return list
			}
			last := page[len(page)-1]
			v.From = &store.Place{Value: last.Verdict.Confidence, Cursor: store.Cursor{Position: last.Position, ID: last.Item.ID}}
			if v.Order == store.ByScore {
				v.From.Value = &last.Verdict.Score
			}
		}
	}
	for _, v := range []store.View{{Order: store.ByConfidence}, {Order: store.ByScore}, {Order: store.ByConfidence, Descending: true}, {Order: store.ByScore, Descending: true}} {
		v.Limit = 10
		boundSample = 0 // no bound
		want := ids(v)
		boundSample = 25
		if diff := cmp.Diff(want, ids(v)); diff != "" || len(want) != 300 {
			t.Errorf("%s, descending %v: %d records; with a bound:\n%s", v.Order, v.Descending, len(want), diff)
		}
	}
	boundSample = 20_000
}
