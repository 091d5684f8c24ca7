package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deem"
	"deem/internal/store"
)

func testReplies(t *testing.T, s suite) {
	st, run := s.begin(t)
	wantReply(t, st, "q00000000", nil)
	paid := Record(0)
	full := Full[deem.Reply]()
	full.Cached = false
	paid.Calls = append(paid.Calls, deem.Call{Reply: &full})
	plain := Record(1)
	plain.Calls[0].Reply.Key = ""
	mustAppend(t, st, run.ID, paid, plain)
	for _, c := range paid.Calls {
		wantReply(t, st, c.Reply.Key, c.Reply)
	}
	wantReply(t, st, "", nil) // A reply without a key is not cached.

	// Another run finds the reply, and its cost there is zero.
	other, _ := mustBegin(t, st, Spec("other"), false)
	again := Record(0)
	r := again.Calls[0].Reply
	r.Cached, r.Attempts, r.CostMicros, r.Latency = true, 0, 0, time.Millisecond
	mustAppend(t, st, other.ID, again)
	diff(t, "record with a cached reply", all(t, st, other.ID), []deem.Record{again})
	diff(t, "record that paid", all(t, st, run.ID), []deem.Record{paid, plain})
	wantReply(t, st, r.Key, paid.Calls[0].Reply)
}

// testRepliesDiffer checks that a record never shows a reply that its call did not get,
// even if a request was repeated in spite of the cache.
func testRepliesDiffer(t *testing.T, s suite) {
	st, run := s.begin(t)
	first, second := Record(0), Record(1)
	second.Calls[0].Reply.Key = first.Calls[0].Reply.Key
	mustAppend(t, st, run.ID, first)
	mustAppend(t, st, run.ID, second)
	diff(t, "records", all(t, st, run.ID), []deem.Record{first, second})
	wantReply(t, st, first.Calls[0].Reply.Key, first.Calls[0].Reply)
}

func testStatus(t *testing.T, s suite) {
	st, run := s.begin(t)
	other, _ := mustBegin(t, st, Spec("other"), false)
	check := func(id string, trial int, want store.Status) {
		t.Helper()
		got, err := st.Status(t.Context(), run.ID, id, trial)
		if err != nil || got != want {
			t.Errorf("Status(%q, %d) = %v, %v, want %v", id, trial, got, err, want)
		}
	}
	rec := Record(0)
	check(rec.Item.ID, 0, store.Missing)
	mustAppend(t, st, other.ID, rec)
	check(rec.Item.ID, 0, store.Missing)
	mustAppend(t, st, run.ID, Failed(0, deem.Timeout))
	check(rec.Item.ID, 0, store.Unjudged)
	check(rec.Item.ID, 1, store.Missing)
	mustAppend(t, st, run.ID, rec)
	check(rec.Item.ID, 0, store.Judged)
	check(strings.ToUpper(rec.Item.ID), 0, store.Missing)
	for _, text := range strange {
		check(text, 3, store.Missing)
		mustAppend(t, st, run.ID, deem.Record{Item: deem.Item{ID: text}, Trial: 3, Verdict: &deem.Verdict{}})
		check(text, 3, store.Judged)
	}
}

// testOrder checks that records are sorted by position, then trial, however they were
// appended.
func testOrder(t *testing.T, s suite) {
	st, run := s.begin(t)
	var want []deem.Record
	for i := range 120 {
		for trial := range 3 {
			rec := Record(i)
			rec.Position, rec.Trial = i*1000, trial
			want = append(want, rec)
		}
	}
	shuffled := slices.Clone(want)
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for part := range slices.Chunk(shuffled, 70) {
		mustAppend(t, st, run.ID, part...)
	}
	diff(t, "records", all(t, st, run.ID), want)
}

func testTrials(t *testing.T, s suite) {
	const trials = 300
	st := s.open(t)
	spec := Spec("")
	spec.Trials = trials
	run, _ := mustBegin(t, st, spec, false)
	var recs []deem.Record
	for trial := range trials {
		rec := Record(0)
		rec.Trial = trial
		rec.Calls = []deem.Call{Call(fmt.Sprint(trial))}
		recs = append(recs, rec)
	}
	mustAppend(t, st, run.ID, recs...)
	diff(t, "records", all(t, st, run.ID), recs)
	diff(t, "records of trial 7", query(t, st, run.ID, store.Query{Trial: new(7), WithCalls: true}), recs[7:8])
	diff(t, "records of trial 0", query(t, st, run.ID, store.Query{Trial: new(0), WithCalls: true}), recs[:1])
}

// mixed is a run with everything that filters use.
func mixed() []deem.Record {
	kinds := deem.Kinds()
	var recs []deem.Record
	for i := range 200 {
		for trial := range 2 {
			rec := Record(i)
			if i%7 == 0 {
				rec = Failed(i, kinds[i/7%len(kinds)])
			}
			if i%50 == 0 {
				rec.Item.Category = ""
			}
			rec.Trial, rec.Calls = trial, nil
			recs = append(recs, rec)
		}
	}
	return recs
}

// meets is a reference implementation of a query.
func meets(rec deem.Record, q store.Query) bool {
	oneOf := func(list []string, got string) bool { return len(list) == 0 || slices.Contains(list, got) }
	label, kind := "\x00none", deem.Kind("\x00none")
	if rec.Verdict != nil {
		label = rec.Verdict.Label
	} else {
		kind = rec.Failure.Kind
	}
	return oneOf(q.Labels, label) && oneOf(q.Categories, rec.Item.Category) && oneOf(q.IDs, rec.Item.ID) &&
		(len(q.Kinds) == 0 || slices.Contains(q.Kinds, kind)) &&
		(!q.Unjudged || rec.Failure != nil) && (q.Trial == nil || *q.Trial == rec.Trial)
}

// testFilters checks filters of every kind, including some that match nothing.
func testFilters(t *testing.T, s suite) {
	st, run := s.begin(t)
	recs := mixed()
	mustAppend(t, st, run.ID, recs...)
	other, _ := mustBegin(t, st, Spec("other"), false)
	mustAppend(t, st, other.ID, recs[:100]...) // These must not show up.
	var some, many []string
	for i := 0; i < len(recs); i += 3 {
		many = append(many, recs[i].Item.ID)
		if i%30 == 0 {
			some = append(some, recs[i].Item.ID)
		}
	}
	for name, q := range map[string]store.Query{
		"all":                 {},
		"a label":             {Labels: []string{"CORRECT"}},
		"two labels":          {Labels: []string{"CORRECT", "INCORRECT"}},
		"a label nobody has":  {Labels: []string{"correct"}},
		"a category":          {Categories: []string{"category-2"}},
		"two categories":      {Categories: []string{"category-2", "category-4"}},
		"no category":         {Categories: []string{""}},
		"a kind":              {Kinds: []deem.Kind{deem.Timeout}},
		"three kinds":         {Kinds: []deem.Kind{deem.Timeout, deem.Empty, "unheard of"}},
		"unjudged":            {Unjudged: true},
		"unjudged of a kind":  {Unjudged: true, Kinds: []deem.Kind{deem.Input}},
		"label and kind":      {Labels: []string{"CORRECT"}, Kinds: []deem.Kind{deem.Timeout}},
		"label and category":  {Labels: []string{"INCORRECT"}, Categories: []string{"category-1"}},
		"an id":               {IDs: []string{recs[8].Item.ID}},
		"some ids":            {IDs: some},
		"many ids":            {IDs: many},
		"ids twice":           {IDs: append(slices.Clone(some), some...)},
		"a trial":             {Trial: new(1)},
		"a trial that is not": {Trial: new(2)},
		"everything at once": {
			IDs: many, Trial: new(0), Unjudged: true, Categories: []string{"category-0", "category-1"}, Kinds: deem.Kinds(),
		},
	} {
		var want []deem.Record
		for _, rec := range recs {
			if meets(rec, q) {
				want = append(want, rec)
			}
		}
		diff(t, name, query(t, st, run.ID, q), want)
		q.Limit = 5
		diff(t, name+", limited", query(t, st, run.ID, q), want[:min(5, len(want))])
	}
}

// testPages checks that the pages together are the whole, whatever their size, even if
// items share a position.
func testPages(t *testing.T, s suite) {
	st, run := s.begin(t)
	recs := mixed()
	for i := range recs {
		recs[i].Position = recs[i].Position / 40 * 40
	}
	mustAppend(t, st, run.ID, recs...)
	for _, q := range []store.Query{{}, {Labels: []string{"CORRECT"}}, {Unjudged: true}, {Trial: new(1)}} {
		want := query(t, st, run.ID, q)
		if !slices.IsSortedFunc(want, func(a, b deem.Record) int {
			return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Trial, b.Trial))
		}) {
			t.Errorf("records are not by position, then trial")
		}
		for _, limit := range []int{1, 29, 257} {
			if limit == 1 && len(want) > 100 {
				continue // Slow, and covers nothing that 29 does not.
			}
			var got []deem.Record
			for q := q; ; {
				q.Limit = limit
				page := query(t, st, run.ID, q)
				if len(page) == 0 {
					break
				}
				got = append(got, page...)
				q.After = store.CursorOf(page[len(page)-1])
			}
			diff(t, fmt.Sprintf("pages of %d", limit), got, want)
		}
	}
	// A place without a record is still valid.
	got := query(t, st, run.ID, store.Query{After: &store.Cursor{Position: 100, Trial: 1 << 20}, Limit: 1})
	if len(got) != 1 || got[0].Position != 120 {
		t.Errorf("after position 100 came %v, want position 120", got)
	}
}

func testBrief(t *testing.T, s suite) {
	st, run := s.begin(t)
	rec := Full[deem.Record]()
	rec.Failure = nil
	mustAppend(t, st, run.ID, rec, Failed(9999, deem.Budget))
	got := query(t, st, run.ID, store.Query{Brief: true, WithCalls: true})
	want := []deem.Record{rec, Failed(9999, deem.Budget)}
	for i := range want {
		withoutTexts(&want[i].Item)
		want[i].Calls = slices.Clone(want[i].Calls)
		for k := range want[i].Calls {
			if c := &want[i].Calls[k]; c.Reply != nil {
				c.Reply = new(*c.Reply)
				c.Reply.Text, c.Reply.Refusal, c.Reply.Logprobs = "", "", nil
			}
		}
	}
	diff(t, "brief records", got, want)
	rec.Calls = nil
	diff(t, "records without calls", query(t, st, run.ID, store.Query{Limit: 1}), []deem.Record{rec})
}

// testNested checks that reading holds no resource that others need: a caller in the middle
// of many concurrent reads can still read and write.
func testNested(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustAppend(t, st, run.ID, Record(0), Record(1))
	var nest func(depth int)
	nest = func(depth int) {
		if depth == 0 {
			mustAppend(t, st, run.ID, Record(2))
			return
		}
		for range st.Records(t.Context(), run.ID, store.Query{WithCalls: true}) {
			for range st.Runs(t.Context()) {
				nest(depth - 1)
				return
			}
		}
	}
	nest(20)
	diff(t, "records", all(t, st, run.ID), []deem.Record{Record(0), Record(1), Record(2)})
}

// testReadWhileWriting checks that readers see complete appends, in order, during writes in
// the same store and in another.
func testReadWhileWriting(t *testing.T, s suite) {
	st, run := s.begin(t)
	other := s.open(t)
	const groups, size = 20, 15
	writing := make(chan struct{})
	var wg sync.WaitGroup
	for _, reader := range []store.Database{st, other, other} {
		wg.Go(func() {
			for last := 0; ; {
				select {
				case <-writing:
					return
				default:
				}
				last = readOnce(t, reader, run.ID, size, last)
			}
		})
	}
	for g := range groups {
		var recs []deem.Record
		for i := range size {
			recs = append(recs, Record(g*size+i))
		}
		mustAppend(t, st, run.ID, recs...)
	}
	close(writing)
	wg.Wait()
	diff(t, "the number of records in the end", readOnce(t, other, run.ID, size, 0), groups*size)
}

// readOnce reads the run and returns the number of its records.
func readOnce(t *testing.T, st store.Database, runID string, size, last int) int {
	run, err := st.Run(t.Context(), runID)
	if err != nil {
		t.Errorf("Run: %v", err)
		return last
	}
	if run.Records%size != 0 || run.Records < last {
		t.Errorf("run has %d records after %d, want whole groups of %d", run.Records, last, size)
	}
	n := 0
	for rec, err := range st.Records(t.Context(), runID, store.Query{WithCalls: true}) {
		if err != nil {
			t.Errorf("Records: %v", err)
			return last
		}
		if rec.Position != n || len(rec.Calls) != 1 || rec.Calls[0].Reply.Key != rec.Item.ID {
			t.Errorf("record %d has position %d and %d calls", n, rec.Position, len(rec.Calls))
		}
		n++
	}
	if n < run.Records {
		t.Errorf("%d records were read, but the run had %d before", n, run.Records)
	}
	return run.Records
}

// testWriters checks that two stores that write concurrently into two runs wait for each
// other instead of failing.
func testWriters(t *testing.T, s suite) {
	stores := []store.Database{s.open(t), s.open(t)}
	var wg sync.WaitGroup
	for i, st := range stores {
		run, _ := mustBegin(t, st, Spec(fmt.Sprint(i)), false)
		w := store.NewWriter(st, run.ID, store.WriterOptions{MaxRows: 10})
		for worker := range 2 {
			wg.Go(func() {
				for k := range 60 {
					if err := w.Put(t.Context(), Record(k*2+worker)); err != nil {
						t.Errorf("Put: %v", err)
						return
					}
				}
			})
		}
		defer func() {
			if err := w.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			diff(t, fmt.Sprintf("the number of records of run %d", i), len(all(t, st, run.ID)), 120)
		}()
	}
	wg.Wait()
}

func testReopen(t *testing.T, s suite) {
	first := s.openRaw(t)
	run, _ := mustBegin(t, first, Spec(""), false)
	mustAppend(t, first, run.ID, mixed()...)
	want, wantRun := all(t, first, run.ID), mustRun(t, first, run.ID)
	must(t, first.Close())
	if err := first.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	st := s.open(t)
	diff(t, "run", mustRun(t, st, "last"), wantRun)
	diff(t, "records", all(t, st, run.ID), want)
}
