package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/store"
)

// label returns a label of the i-th item.
func label(i int, annotator string, yes bool) store.Label {
	it := deem.Item{ID: fmt.Sprintf("q%03d", i), Response: fmt.Sprint("response ", i)}
	l := store.Label{
		Item: it.Hash(), ID: it.ID, Dataset: "dataset-a", Annotator: annotator, Yes: yes, Label: "no",
		Note: "seen in a test", Drawn: fmt.Sprintf("8c1f-2 %d/700", i+1), Labelled: time.Date(2026, 11, 15, 12, 0, 0, i, time.UTC),
	}
	if yes {
		l.Label, l.Score = "yes", 1
	}
	return l
}

func mustLabel(t *testing.T, st store.Database, list ...store.Label) {
	t.Helper()
	must(t, st.PutLabels(t.Context(), list))
}

func labelsOf(t *testing.T, st store.Database, q store.LabelQuery) []store.Label {
	t.Helper()
	return collect(t, st.Labels(t.Context(), q))
}

// testLabels checks that labels come back unchanged and in order, however many there are,
// also after the store is reopened.
func testLabels(t *testing.T, s suite) {
	st := s.open(t)
	diff(t, "the number of labels of an empty store", len(labelsOf(t, st, store.LabelQuery{})), 0)
	var want []store.Label
	for i := range 700 {
		want = append(want, label(i, "anna", i%3 == 0), label(i, "bert", i%2 == 0))
	}
	strangeOne := label(800, "名 'x'; --", true)
	strangeOne.Note, strangeOne.Dataset, strangeOne.Labelled, strangeOne.Score = "a\x00b\n\"", "", time.Time{}, 0.3
	want = append(want, strangeOne)
	mustLabel(t, st, want[700:]...)
	mustLabel(t, st, want[:700]...)
	diff(t, "labels", labelsOf(t, st, store.LabelQuery{}), want)
	again := s.open(t)
	diff(t, "labels of the store opened again", labelsOf(t, again, store.LabelQuery{}), want)
}

// testLabelsReplace checks that a second label replaces the same person's first one and no
// other, and that an item with another response is another item.
func testLabelsReplace(t *testing.T, s suite) {
	st := s.open(t)
	first, other := label(1, "anna", true), label(1, "bert", true)
	mustLabel(t, st, first, other)
	changed := label(1, "anna", false)
	changed.Dataset, changed.Note = "dataset-b", ""
	moved := first
	moved.Item = deem.Item{ID: first.ID, Response: "another response"}.Hash()
	mustLabel(t, st, changed, moved)
	got := labelsOf(t, st, store.LabelQuery{})
	want := []store.Label{changed, other, moved}
	if moved.Item < changed.Item {
		want = []store.Label{moved, changed, other}
	}
	diff(t, "labels", got, want)
}

// testLabelsDrop checks that a dropped label is gone, that no other is affected, and that
// it can be given again.
func testLabelsDrop(t *testing.T, s suite) {
	st := s.open(t)
	mine, theirs, other := label(1, "anna", true), label(1, "bert", true), label(2, "anna", false)
	mustLabel(t, st, mine, theirs, other)
	drop := func(item, annotator string) {
		t.Helper()
		must(t, st.DropLabel(t.Context(), item, annotator))
	}
	drop(mine.Item, mine.Annotator)
	diff(t, "labels after one was dropped", labelsOf(t, st, store.LabelQuery{}), []store.Label{theirs, other})
	drop(mine.Item, mine.Annotator) // There is nothing left to drop.
	drop("no such item", "bert")
	drop(other.Item, "nobody")
	diff(t, "labels after nothing was dropped", labelsOf(t, st, store.LabelQuery{}), []store.Label{theirs, other})
	mustLabel(t, st, mine)
	diff(t, "labels after one was given again", labelsOf(t, st, store.LabelQuery{}), []store.Label{mine, theirs, other})
}

// testLabelsFilters checks that each field of a query filters.
func testLabelsFilters(t *testing.T, s suite) {
	st := s.open(t)
	a1, a2, b1 := label(1, "anna", true), label(2, "anna", false), label(1, "bert", true)
	b1.Dataset = "dataset-b"
	mustLabel(t, st, a1, a2, b1)
	for _, c := range []struct {
		name string
		q    store.LabelQuery
		want []store.Label
	}{
		{"all", store.LabelQuery{}, []store.Label{a1, b1, a2}},
		{"dataset", store.LabelQuery{Dataset: "dataset-b"}, []store.Label{b1}},
		{"annotator", store.LabelQuery{Annotators: []string{"anna"}}, []store.Label{a1, a2}},
		{"annotators", store.LabelQuery{Annotators: []string{"bert", "anna", "nobody"}}, []store.Label{a1, b1, a2}},
		{"ids", store.LabelQuery{IDs: []string{"q002"}}, []store.Label{a2}},
		{"both", store.LabelQuery{Annotators: []string{"bert"}, IDs: []string{"q001", "q002"}}, []store.Label{b1}},
		{"none", store.LabelQuery{Dataset: "dataset-c"}, nil},
	} {
		diff(t, c.name, labelsOf(t, st, c.q), c.want)
	}
}

// testLabelsRefused checks that an invalid label is refused together with all that came
// with it.
func testLabelsRefused(t *testing.T, s suite) {
	st := s.open(t)
	for name, spoil := range map[string]func(*store.Label){
		"has no item": func(l *store.Label) { l.Item = "" },
		"is empty":    func(l *store.Label) { l.Label = "" },
		"has score":   func(l *store.Label) { l.Score = math.NaN() },
		"score 1.5":   func(l *store.Label) { l.Score = 1.5 },
	} {
		bad := label(2, "anna", true)
		spoil(&bad)
		err := st.PutLabels(t.Context(), []store.Label{label(1, "anna", true), bad})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("PutLabels: %v, want an error that says %q", err, name)
		}
	}
	diff(t, "the number of labels after refusals", len(labelsOf(t, st, store.LabelQuery{})), 0)
}
