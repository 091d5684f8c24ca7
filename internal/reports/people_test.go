package reports_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/reports"
	"deem/internal/reports/agree"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

// keep returns a store with a run of n items. Every seventh item is unjudged.
func keep(t *testing.T, n int) (*sqlite.Store, store.Run, []deem.Item) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "deem.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	run, _, err := st.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	items := make([]deem.Item, n)
	recs := make([]deem.Record, n)
	for i := range items {
		items[i] = deem.Item{ID: fmt.Sprint("q", i), Category: fmt.Sprint("c", i%3), Response: fmt.Sprint("answer ", i), Fields: map[string]string{"system": "m", "dialogue": "long"}}
		recs[i] = deem.Record{Item: items[i], Position: i, Verdict: &deem.Verdict{Label: "no"}}
		switch {
		case i%7 == 6:
			recs[i].Verdict, recs[i].Failure = nil, deem.Failf(deem.Empty, "")
		case i%4 != 0:
			recs[i].Verdict = &deem.Verdict{Label: "yes", Score: 1}
		}
	}
	if err := st.Append(t.Context(), run.ID, recs); err != nil {
		t.Fatal(err)
	}
	return st, run, items
}

// The order of labelling has every judged item once, is reproducible, and begins like a
// draw of that size.
func TestDrawOrder(t *testing.T) {
	st, run, items := keep(t, 300)
	order, err := reports.DrawOrder(t.Context(), st, run, 50, 9)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, d := range order.Items {
		if seen[d.Position] || d.ID != items[d.Position].ID || d.Position%7 == 6 {
			t.Errorf("%+v is there twice, is another item, or has no verdict", d)
		}
		seen[d.Position] = true
	}
	if want := 300 - 300/7; len(order.Items) != want {
		t.Errorf("the order has %d items, want %d", len(order.Items), want)
	}
	drawn, free, err := reports.Draw(t.Context(), st, run, reports.Written("", nil), 50, 9)
	if err != nil || free != len(order.Items) {
		t.Fatalf("Draw: %d free of %d, %v", free, len(order.Items), err)
	}
	var first, chosen []int
	design := order.Design(50)
	for i, d := range order.Items[:50] {
		first, chosen = append(first, d.Position), append(chosen, drawn[i].Place)
		if design[i].N != drawn[i].Drawn || design[i].Of != drawn[i].Of {
			t.Errorf("item %d was drawn as %v, want %d of %d as the draw says", i, design[i], drawn[i].Drawn, drawn[i].Of)
		}
	}
	// A second draw extends the first within the same strata.
	for i, d := range order.Design(100)[:50] {
		if d.Stratum != design[i].Stratum || d.Of != design[i].Of || d.N < design[i].N {
			t.Errorf("item %d was drawn as %v of 100 and as %v of 50", i, d, design[i])
		}
	}
	if diff := cmp.Diff(chosen, first); diff != "" {
		t.Errorf("the order begins with other items than a draw (-draw +order):\n%s", diff)
	}
	again, err := reports.DrawOrder(t.Context(), st, run, 50, 9)
	if err != nil || !slices.Equal(order.Items, again.Items) {
		t.Errorf("the same seed gives another order (%v)", err)
	}
}

// Labels in a store and the same labels in a file give the same result, although items are
// read differently.
func TestBesidePeople(t *testing.T) {
	st, run, items := keep(t, 100)
	var kept []store.Label
	for i, it := range items[:60] {
		l := store.Label{Item: it.Hash(), ID: it.ID, Annotator: "anna", Yes: i%3 == 0, Label: "x"}
		if i%10 == 0 { // of a different response
			other := it
			other.Response = "another"
			l.Item = other.Hash()
		}
		kept = append(kept, l)
	}
	if err := st.PutLabels(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	people, err := reports.Kept(t.Context(), st, store.LabelQuery{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	n := 0
	err = reports.EachWithPeople(t.Context(), st, run, people, agree.Options{}, func(p agree.Pair) {
		n++
		if p.Truth == nil {
			return
		}
		got[p.Item.ID] = p.Truth.Yes
		if p.Item.Fields["system"] != "m" || p.Item.Fields["dialogue"] != "" {
			t.Errorf("item %s has fields %v, want who answered and nothing else", p.Item.ID, p.Item.Fields)
		}
	})
	if err != nil || n != 100 {
		t.Fatalf("%d items were visited, want 100: %v", n, err)
	}
	want := map[string]bool{}
	for i, it := range items[:60] {
		if i%10 != 0 {
			want[it.ID] = i%3 == 0
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what people say (-want +got):\n%s", diff)
	}
}
