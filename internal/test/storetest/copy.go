package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/store"
)

// TestCopy runs the suite for stores that import runs of others. The function open returns
// an empty store of the given test, a different one for each name.
func TestCopy(t *testing.T, open func(t *testing.T, name string) store.Database) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, from, to store.Database)
	}{
		{"Whole", testCopyWhole},
		{"Chosen", testCopyChosen},
		{"Interrupted", testCopyInterrupted},
		{"Conflict", testCopyConflict},
		{"Replies", testCopyReplies},
		{"Labels", testCopyLabels},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			named := func(name string) store.Database {
				return suite{func(t *testing.T) store.Database { return open(t, name) }}.open(t)
			}
			tt.run(t, named("from"), named("to"))
		})
	}
}

// FillForCopy fills a store with runs of every kind, including everything that belongs to
// them, and returns their ids, the oldest first.
func FillForCopy(t *testing.T, st store.Database) (ids []string) {
	t.Helper()
	run, _ := mustBegin(t, st, Spec("first"), false)
	var recs []deem.Record
	for i := range 300 {
		rec := Record(i)
		if i%9 == 0 {
			rec = Failed(i, deem.Kinds()[i%11])
		}
		// Several items share a position, not in the order of their ids.
		rec.Position, rec.Item.ID = i/3, fmt.Sprintf("q%03d", i*7%300)
		rec.Item.Fields = map[string]string{"dialogue": Text(fmt.Sprint("dialogue ", i/20), 2000)}
		recs = append(recs, rec)
	}
	recs = append(recs, strangeRecord("NUL", "a\x00b\x01"))
	mustAppend(t, st, run.ID, recs...)
	again, lost := recs[9], recs[10] // These replace others.
	again.Calls = []deem.Call{Call("again")}
	lost.Verdict, lost.Failure = nil, deem.Failf(deem.Timeout, "too late")
	mustAppend(t, st, run.ID, again, lost)
	must(t, st.Finish(t.Context(), run.ID))
	ids = append(ids, run.ID)
	mustEdit(t, st, run.ID, func(a *store.About) { a.Name, a.Tags, a.Note = "the first", []string{"baseline"}, "a note" })

	// A run with cached replies, not done, with batches.
	run, _ = mustBegin(t, st, Spec("second"), false)
	var cached []deem.Record
	for i := range 20 {
		rec := Record(i + 1)
		rec.Calls[0].Reply.Cached, rec.Calls[0].Reply.Attempts, rec.Calls[0].Reply.CostMicros = true, 0, 0
		cached = append(cached, rec)
	}
	b, lines := planned("b1", "k1", "k2", "k3")
	b.State, b.ID = store.BatchCollected, "batch_1"
	lines[0], lines[1] = answered("k1", 7), store.BatchLine{Key: "k2", Failure: deem.Failf(deem.Timeout, "late"), Passing: true}
	mustPut(t, st, run.ID, b, lines...)
	b2, _ := planned("b2")
	mustPut(t, st, run.ID, b2)
	taken := Record(400)
	taken.Calls[0].Reply = mustLine(t, st, run.ID, "k1").Reply
	mustAppend(t, st, run.ID, append(cached, taken)...)
	ids = append(ids, run.ID)

	run, _ = mustBegin(t, st, Full[store.Spec](), false) // A run without records.
	ids = append(ids, run.ID)

	// The first run is resumed, so that it is the last.
	run, _ = mustBegin(t, st, Spec("first"), false)
	must(t, st.Release(run.ID))
	mustLabel(t, st, label(1, "anna", true), label(2, "bert", false))
	return ids
}

// SameForCopy fails the test unless both stores have the same contents.
func SameForCopy(t *testing.T, want, got store.Database) {
	t.Helper()
	runs := collect(t, want.Runs(t.Context()))
	copies := collect(t, got.Runs(t.Context()))
	diff(t, "runs in the order in which they were begun last", byAsked(copies), byAsked(runs))
	diff(t, "runs", withoutAsked(copies), withoutAsked(runs))
	for _, run := range runs {
		recs := all(t, want, run.ID)
		diff(t, "records of run "+run.ID, all(t, got, run.ID), recs)
		sameReplies(t, want, got, recs)
		batches := mustBatches(t, want, run.ID)
		diff(t, "batches", mustBatches(t, got, run.ID), batches)
		for _, b := range batches {
			diff(t, "lines of batch "+b.Key, collect(t, got.BatchLines(t.Context(), run.ID, b.Key)),
				collect(t, want.BatchLines(t.Context(), run.ID, b.Key)))
		}
	}
	diff(t, "labels", labelsOf(t, got, store.LabelQuery{}), labelsOf(t, want, store.LabelQuery{}))
}

// byAsked returns the ids of runs, the one begun last first.
func byAsked(runs []store.Run) []string {
	runs = slices.SortedFunc(slices.Values(runs), func(a, b store.Run) int { return cmp.Compare(b.Asked, a.Asked) })
	ids := make([]string, len(runs))
	for i, run := range runs {
		ids[i] = run.ID
	}
	return ids
}

// withoutAsked returns the runs without the numbers that order them in a store.
func withoutAsked(runs []store.Run) []store.Run {
	runs = slices.Clone(runs)
	for i := range runs {
		runs[i].Asked = 0
	}
	return runs
}

// sameReplies compares the cached replies under the keys of records.
func sameReplies(t *testing.T, want, got store.Database, recs []deem.Record) {
	t.Helper()
	for _, rec := range recs {
		for _, c := range rec.Calls {
			if c.Reply == nil || c.Reply.Key == "" {
				continue
			}
			r, _, err := want.Reply(t.Context(), c.Reply.Key)
			must(t, err)
			wantReply(t, got, c.Reply.Key, &r)
		}
	}
}

// mustCopy copies and fails the test on an error.
func mustCopy(t *testing.T, from, to store.Database, ids ...string) store.Copied {
	t.Helper()
	done, err := store.Copy(t.Context(), from, to, ids...)
	must(t, err)
	return done
}

// testCopyWhole checks that everything is copied, once.
func testCopyWhole(t *testing.T, from, to store.Database) {
	ids := FillForCopy(t, from)
	diff(t, "Copy", mustCopy(t, from, to), store.Copied{Runs: 3, Records: 322, Labels: 2})
	SameForCopy(t, from, to)
	diff(t, "a second copy", mustCopy(t, from, to), store.Copied{Runs: 3, There: 3})
	SameForCopy(t, from, to)
	// The copy can be resumed.
	run, resumed := mustBegin(t, to, Spec("second"), false)
	if !resumed || run.ID != ids[1] {
		t.Errorf("Begin = %s, %v, want to continue %s", run.ID, resumed, ids[1])
	}
	mustAppend(t, to, run.ID, Record(500))
	if got := mustRun(t, to, run.ID); got.Records != 22 || got.State != store.Open {
		t.Errorf("the copy has %d records and is %s, want 22 and open", got.Records, got.State)
	}
}

// testCopyChosen checks that a single run can be copied.
func testCopyChosen(t *testing.T, from, to store.Database) {
	ids := FillForCopy(t, from)
	if done := mustCopy(t, from, to, ids[1]); done.Runs != 1 || done.Labels != 0 {
		t.Errorf("Copy = %+v, want 1 run and no labels", done)
	}
	diff(t, "records", all(t, to, ids[1]), all(t, from, ids[1]))
	sameReplies(t, from, to, all(t, from, ids[1])) // Their original cost, although the run that paid for them is not there.
	_, err := store.Copy(t.Context(), from, to, "nobody")
	wantError(t, "Copy of an unknown run", err, store.ErrNotFound, "")
}

// A brittle store fails after some appends.
type brittle struct {
	store.Database
	left int
}

var errBrittle = errors.New("it broke")

func (b *brittle) Append(ctx context.Context, runID string, recs []deem.Record) error {
	if b.left--; b.left < 0 {
		return errBrittle
	}
	return b.Database.Append(ctx, runID, recs)
}

// testCopyInterrupted checks that the next copy completes an interrupted one, without
// duplicates.
func testCopyInterrupted(t *testing.T, from, to store.Database) {
	FillForCopy(t, from)
	for left := range 3 {
		if _, err := store.Copy(t.Context(), from, &brittle{to, left}); !errors.Is(err, errBrittle) {
			t.Fatalf("Copy that breaks: %v", err)
		}
	}
	mustCopy(t, from, to)
	SameForCopy(t, from, to)
}

// testCopyConflict checks that different existing data is neither replaced nor mixed with
// the copy.
func testCopyConflict(t *testing.T, from, to store.Database) {
	ids := FillForCopy(t, from)
	mustCopy(t, from, to, ids[1])
	mustAppend(t, to, ids[1], Record(500))
	_, err := store.Copy(t.Context(), from, to, ids[1])
	if err == nil || !strings.Contains(err.Error(), ids[1]) || deem.HintOf(err) == "" {
		t.Errorf("Copy over a run that has gone on: %v, want an error with a hint", err)
	}
	run := mustRun(t, from, ids[0])
	run.Dataset.Hash = "another"
	_, err = to.Import(t.Context(), run)
	must(t, err)
	_, err = store.Copy(t.Context(), from, to, ids[0])
	if err == nil || deem.HintOf(err) == "" {
		t.Errorf("Copy over another run with that id: %v, want an error with a hint", err)
	}
	diff(t, "the number of records of the other run", len(all(t, to, ids[0])), 0)
}

// testCopyReplies checks that the first reply of a key stays.
func testCopyReplies(t *testing.T, _, st store.Database) {
	first, second := *Call("k").Reply, *Call("k").Reply
	second.Text = "something else"
	noKey := *Call("").Reply
	noKey.Key = ""
	for _, list := range [][]deem.Reply{{first, second, noKey}, {second}, nil} {
		must(t, st.PutReplies(t.Context(), list))
	}
	wantReply(t, st, "k", &first)
}

// testCopyLabels checks that the newer of two labels stays.
func testCopyLabels(t *testing.T, from, to store.Database) {
	older, newer := label(1, "anna", true), label(1, "anna", false)
	newer.Labelled = newer.Labelled.Add(1)
	other := label(2, "anna", true)
	mustLabel(t, from, older, other)
	mustLabel(t, to, newer)
	diff(t, "Copy", mustCopy(t, from, to), store.Copied{Labels: 1})
	diff(t, "labels", labelsOf(t, to, store.LabelQuery{}), []store.Label{newer, other})
}
