package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/store"
)

func mustView(t *testing.T, st store.Database, runID string, v store.View) []deem.Record {
	t.Helper()
	recs, err := st.View(t.Context(), runID, v)
	if err != nil {
		t.Fatalf("View(%+v): %v", v, err)
	}
	return recs
}

// A browsed run is the reference for a view: all records, and those of the run it may be
// compared with.
type browsed struct {
	recs    []deem.Record
	against map[string]deem.Record // by item and trial
}

// words are the words in the records of browsedRecord. Some share a prefix.
var words = []string{"tower", "towers", "bridge", "harbour", "42", "pier", "piece"}

// browsedRecord returns the i-th record of a run with many ties.
func browsedRecord(i int) deem.Record {
	rec := Record(i / 3)
	rec.Trial, rec.Calls = i%3, nil
	it := &rec.Item
	it.Category = []string{"", "a", "b", "c c"}[i/3%4]
	it.Question, it.References = "What of the "+words[i/3%len(words)]+"?", []string{"It is " + words[i/3%5]}
	it.Response = "The " + words[i/3%3] + " is there."
	v := &deem.Verdict{Label: "no", Score: float64(i*7%5) / 4, Reason: "it says " + words[i*5%len(words)]}
	if v.Score == 1 {
		v.Label = "yes"
	}
	if i%4 == 0 {
		v.Confidence = new(float64(i%3) / 2)
	}
	switch i % 6 {
	case 1:
		v.Pass = new(true)
	case 2:
		v.Pass = new(false)
	}
	if rec.Verdict = v; i%9 == 4 {
		rec.Verdict, rec.Failure = nil, deem.Failf(deem.Kinds()[i%4], "there was no %s", words[i%7])
	}
	return rec
}

// has reports whether text selects a record, for texts of plain words and prefixes.
func has(rec deem.Record, text string) bool {
	it := rec.Item
	said := it.ID + " " + it.Question + " " + strings.Join(it.References, " ") + " " + it.Response
	if rec.Verdict != nil {
		said += " " + rec.Verdict.Reason
	} else {
		said += " " + string(rec.Failure.Kind) + " " + rec.Failure.Detail
	}
	list := strings.FieldsFunc(strings.ToLower(said), func(r rune) bool { return strings.ContainsRune(" ?.-", r) })
	for _, want := range strings.Fields(strings.ToLower(text)) {
		beginning, prefix := strings.CutSuffix(want, "*")
		if !slices.ContainsFunc(list, func(word string) bool {
			return word == want || prefix && strings.HasPrefix(word, beginning)
		}) {
			return false
		}
	}
	return true
}

// yes returns the decision of a record: yes, no or nothing.
func yes(rec deem.Record) string {
	if rec.Verdict == nil {
		return "unjudged"
	}
	return fmt.Sprint(rec.Verdict.Yes())
}

func recordKey(rec deem.Record) string { return fmt.Sprint(rec.Trial, rec.Item.ID) }

// selected returns the records that a view selects, ignoring its order, place and limit.
func (b browsed) selected(v store.View) []deem.Record {
	var list []deem.Record
	for _, rec := range b.recs {
		other, both := b.against[recordKey(rec)]
		if meets(rec, v.Query) && has(rec, v.Text) && (v.Pass == nil || yes(rec) == fmt.Sprint(*v.Pass)) &&
			(v.Against == "" || both && yes(other) != yes(rec)) {
			list = append(list, rec)
		}
	}
	return list
}

// compare is a reference implementation of the order of a view.
func compare(v store.View, a, b deem.Record) int {
	p, q := store.PlaceOf(a, v.Order), store.PlaceOf(b, v.Order)
	places := cmp.Or(cmp.Compare(p.Position, q.Position), cmp.Compare(p.Trial, q.Trial))
	switch {
	case v.Order == "" || v.Order == store.ByPosition:
		if v.Descending {
			return -places
		}
		return places
	case p.Value == nil && q.Value == nil:
		return places
	case p.Value == nil:
		return 1
	case q.Value == nil:
		return -1
	case v.Descending:
		return cmp.Or(cmp.Compare(*q.Value, *p.Value), places)
	default:
		return cmp.Or(cmp.Compare(*p.Value, *q.Value), places)
	}
}

// page returns the records that a view shows; from is the record after or before which it
// continues.
func (b browsed) page(v store.View, from *deem.Record) []deem.Record {
	list := b.selected(v)
	slices.SortFunc(list, func(x, y deem.Record) int { return compare(v, x, y) })
	if from != nil {
		list = slices.DeleteFunc(list, func(rec deem.Record) bool {
			c := compare(v, rec, *from)
			return c == 0 || (c < 0) != v.Backward
		})
	}
	if v.Backward {
		slices.Reverse(list)
	}
	list = list[:min(len(list), cmp.Or(v.Limit, store.DefaultLimit))]
	for i := range list {
		if v.Brief {
			withoutTexts(&list[i].Item)
		}
	}
	return list
}

// counts returns the expected counts of a view.
func (b browsed) counts(v store.View) store.Counts {
	var counts store.Counts
	categories, labels, kinds := map[string]int{}, map[string]int{}, map[string]int{}
	for _, rec := range b.selected(v) {
		counts.Total++
		categories[rec.Item.Category]++
		if rec.Verdict != nil {
			labels[rec.Verdict.Label]++
		} else {
			counts.Unjudged++
			kinds[string(rec.Failure.Kind)]++
		}
	}
	counts.Categories, counts.Labels, counts.Kinds = ranked(categories), ranked(labels), ranked(kinds)
	return counts
}

func ranked(counts map[string]int) []store.Count {
	list := []store.Count{}
	for name, n := range counts {
		list = append(list, store.Count{Name: name, N: n})
	}
	slices.SortFunc(list, func(a, b store.Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// browsedRun fills a store with a run and another that differs in half of its records.
func browsedRun(t *testing.T, st store.Database) (b browsed, runID, otherID string) {
	t.Helper()
	run, _ := mustBegin(t, st, Spec(""), false)
	other, _ := mustBegin(t, st, Spec("other"), false)
	b.against = map[string]deem.Record{}
	var others []deem.Record
	for i := range 120 {
		rec := browsedRecord(i)
		rec.Position *= 2 // Leave gaps: places between records are valid too.
		b.recs = append(b.recs, rec)
		if i%5 == 0 {
			continue
		}
		said := browsedRecord(i + i%2)
		rec.Verdict, rec.Failure = said.Verdict, said.Failure
		others = append(others, rec)
		b.against[recordKey(rec)] = rec
	}
	shuffled := slices.Clone(b.recs)
	slices.SortFunc(shuffled, func(a, b deem.Record) int { return cmp.Compare(a.Item.Hash(), b.Item.Hash()) })
	mustAppend(t, st, other.ID, others[:50]...)
	for part := range slices.Chunk(shuffled, 40) {
		mustAppend(t, st, run.ID, part...)
	}
	mustAppend(t, st, other.ID, others[50:]...)
	return b, run.ID, other.ID
}

// drawView returns a random view of the run. Against is the id of the other run, if it is
// used.
func drawView(rt *rapid.T, other string) store.View {
	some := func(label string, of ...string) []string {
		return rapid.OneOf(rapid.Just[[]string](nil), rapid.Just[[]string](nil),
			rapid.SliceOfN(rapid.SampledFrom(of), 1, 2)).Draw(rt, label)
	}
	v := store.View{
		Order:      rapid.SampledFrom(append(store.Orders(), "")).Draw(rt, "order"),
		Descending: rapid.Bool().Draw(rt, "descending"),
		Against:    rapid.SampledFrom([]string{"", "", other}).Draw(rt, "against"),
		Text: strings.Join(some("text", "Tower", "tower*", "bridge", "42", "pie*", "says", "q00000007", "q0000001*",
			"unparseable", "Refused", "nowhere"), " "),
	}
	v.Labels, v.Categories = some("labels", "yes", "no", "maybe"), some("categories", "", "a", "b", "c c", "d")
	v.IDs = some("ids", "q00000003", "q00000004", "q00000017", "none")
	v.Unjudged = rapid.SampledFrom([]bool{false, false, false, true}).Draw(rt, "unjudged")
	for _, kind := range some("kinds", "unparseable", "refused", "timeout") {
		v.Kinds = append(v.Kinds, deem.Kind(kind))
	}
	v.Pass = rapid.SampledFrom([]*bool{nil, nil, new(true), new(false)}).Draw(rt, "pass")
	v.Trial = rapid.SampledFrom([]*int{nil, nil, nil, new(0), new(2), new(3)}).Draw(rt, "trial")
	v.Limit = rapid.SampledFrom([]int{0, 1, 2, 7, 1000}).Draw(rt, "limit")
	v.Brief = rapid.Bool().Draw(rt, "brief")
	return v
}

// testBrowse checks random views against a reference implementation: filters, orders,
// directions and places, all at once.
func testBrowse(t *testing.T, s suite) {
	st := s.open(t)
	model, run, other := browsedRun(t, st)
	rapid.Check(t, func(rt *rapid.T) {
		v := drawView(rt, other)
		var from *deem.Record
		if rapid.Bool().Draw(rt, "continues") {
			from = new(rapid.SampledFrom(model.recs).Draw(rt, "from"))
			v.From, v.Backward = store.PlaceOf(*from, v.Order), rapid.Bool().Draw(rt, "backward")
		}
		got, err := st.View(t.Context(), run, v)
		if err != nil {
			rt.Fatalf("View(%+v): %v", v, err)
		}
		if d := gocmp.Diff(model.page(v, from), got, cmpopts.EquateEmpty()); d != "" {
			rt.Fatalf("View(%+v) differs (-want +got):\n%s", v, shorten(d))
		}
		counts, err := st.Count(t.Context(), run, v)
		if err != nil {
			rt.Fatalf("Count(%+v): %v", v, err)
		}
		if d := gocmp.Diff(model.counts(v), counts, cmpopts.EquateEmpty()); d != "" {
			rt.Fatalf("Count(%+v) differs (-want +got):\n%s", v, shorten(d))
		}
	})
}

// withoutTexts removes what a brief record omits.
func withoutTexts(it *deem.Item) {
	it.Question, it.Response, it.References, it.Fields, it.Messages = "", "", nil, nil, nil
}

// testBrowsePages checks that the pages together are the whole, forward and backward, in
// every order, even if items share a position and a trial.
func testBrowsePages(t *testing.T, s suite) {
	st, run := s.begin(t)
	var recs []deem.Record
	for i := range 48 {
		rec := browsedRecord(i)
		rec.Item.ID, rec.Position, rec.Trial = fmt.Sprintf("q%03d", i*37%48), i/12, i%2
		recs = append(recs, rec)
	}
	mustAppend(t, st, run.ID, recs...)
	for _, order := range store.Orders() {
		for _, v := range []store.View{{}, {Descending: true}, {Pass: new(true)}, {Descending: true, Query: store.Query{Labels: []string{"no"}}}} {
			v.Order = order
			want := browsed{recs: recs}.selected(v)
			forward := pages(t, st, run.ID, v)
			if !slices.IsSortedFunc(forward, func(x, y deem.Record) int { return compare(v, x, y) }) {
				t.Errorf("records by %s, descending %v, are not in order", order, v.Descending)
			}
			if v.From = store.PlaceOf(forward[len(forward)-1], order); len(forward) > 1 {
				v.Backward = true
				backward := append(forward[len(forward)-1:len(forward):len(forward)], pages(t, st, run.ID, v)...)
				slices.Reverse(backward)
				diff(t, fmt.Sprintf("pages by %s, descending %v, backward", order, v.Descending), backward, forward)
			}
			byKey := func(x, y deem.Record) int { return strings.Compare(recordKey(x), recordKey(y)) }
			slices.SortFunc(forward, byKey)
			slices.SortFunc(want, byKey)
			diff(t, fmt.Sprintf("pages by %s, descending %v", order, v.Descending), forward, want)
		}
	}
}

// testBrowseNames checks that categories and labels with any name are counted and selected.
func testBrowseNames(t *testing.T, s suite) {
	st, run := s.begin(t)
	signs := []string{"", "a", "a\x00b", "\x1d", "\x1e", "\x1f", "a\x1fb", "a\x1fb\x1ec", "\x1fa", "b\x1e", "1:a", "null"}
	check := func(names []string) {
		t.Helper()
		var recs []deem.Record
		for i, name := range names {
			for k := range i%3 + 1 {
				rec := deem.Record{Item: deem.Item{ID: fmt.Sprint("q", i, " ", k), Category: name}, Position: i, Trial: k}
				if k == 1 {
					rec.Failure = &deem.Failure{Kind: deem.Kind(name)}
				} else {
					rec.Verdict = &deem.Verdict{Label: names[len(names)-1-i]}
				}
				recs = append(recs, rec)
			}
		}
		mustAppend(t, st, run.ID, recs...)
		model := browsed{recs: recs}
		for _, v := range []store.View{
			{},
			{Query: store.Query{Categories: names[1:3]}},
			{Query: store.Query{Labels: names[2:3]}},
			{Query: store.Query{Kinds: []deem.Kind{deem.Kind(names[4])}}},
		} {
			got, err := st.Count(t.Context(), run.ID, v)
			must(t, err)
			diff(t, fmt.Sprintf("counts of %+v", v), got, model.counts(v))
		}
	}
	check([]string{"x", "y", "z", "", "w", "v"})
	check(append(signs, strange...))
}

// pages returns all records of a view from its place on, in pages of 7.
func pages(t *testing.T, st store.Database, runID string, v store.View) []deem.Record {
	t.Helper()
	var got []deem.Record
	for v.Limit = 7; ; {
		page := mustView(t, st, runID, v)
		if len(page) == 0 {
			return got
		}
		if got = append(got, page...); len(got) > 10_000 {
			t.Fatalf("pages of %+v do not come to an end", v)
		}
		v.From = store.PlaceOf(page[len(page)-1], v.Order)
	}
}

// testBrowseWhole checks that a page has complete records: long texts, and calls if
// requested; and that the number of records is right.
func testBrowseWhole(t *testing.T, s suite) {
	st, run := s.begin(t)
	full := Full[deem.Record]()
	full.Failure, full.Position = nil, 1_000_000
	long := textItem("everywhere another", Text("someone", 6000))
	recs := []deem.Record{long}
	for i := range 100 {
		recs = append(recs, Record(i+1))
	}
	recs = append(recs, full)
	mustAppend(t, st, run.ID, recs...)
	diff(t, "all records", mustView(t, st, run.ID, store.View{Query: store.Query{WithCalls: true, Limit: 1000}}), recs)
	diff(t, "the first page", mustView(t, st, run.ID, store.View{Query: store.Query{WithCalls: true}}), recs[:store.DefaultLimit])
	full.Calls = nil
	diff(t, "the last record without calls", mustView(t, st, run.ID, store.View{Descending: true, Query: store.Query{Limit: 1}}), []deem.Record{full})
	diff(t, "pages without a limit that are empty", len(mustView(t, st, run.ID, store.View{Query: store.Query{IDs: []string{"nobody"}}})), 0)
}

// testBrowseRefused checks the errors for invalid views.
func testBrowseRefused(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustAppend(t, st, run.ID, Record(0))
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	ways := map[string]func(ctx context.Context, runID string, v store.View) error{
		"View":  func(ctx context.Context, id string, v store.View) error { _, err := st.View(ctx, id, v); return err },
		"Count": func(ctx context.Context, id string, v store.View) error { _, err := st.Count(ctx, id, v); return err },
	}
	for name, ask := range ways {
		for _, v := range []store.View{{Order: "colour"}, {Backward: true}, {Query: store.Query{Limit: -1}}} {
			if err := ask(t.Context(), run.ID, v); err == nil {
				t.Errorf("%s(%+v) gave no error", name, v)
			}
		}
		wantError(t, name+" of no run", ask(t.Context(), "nowhere", store.View{}), store.ErrNotFound, "")
		wantError(t, name+" against no run", ask(t.Context(), run.ID, store.View{Against: "nowhere"}), store.ErrNotFound, "")
		wantError(t, name+" with a cancelled context", ask(dead, run.ID, store.View{}), context.Canceled, "")
	}
}

// testBrowseEmpty checks that a run without records can be viewed and searched.
func testBrowseEmpty(t *testing.T, s suite) {
	st, run := s.begin(t)
	for _, v := range []store.View{{}, {Text: "lighthouse"}, {Order: store.ByScore, Descending: true}, {Against: run.ID}} {
		got, err := st.View(t.Context(), run.ID, v)
		counts, countErr := st.Count(t.Context(), run.ID, v)
		if len(got) != 0 || counts.Total != 0 || err != nil || countErr != nil {
			t.Errorf("an empty run shows %d records, %+v, %v, %v, want nothing", len(got), counts, err, countErr)
		}
	}
}
