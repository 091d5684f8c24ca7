package run_test

import (
	"context"
	"errors"
	"testing"

	"deem"
	"deem/internal/run"
	"deem/internal/store"
)

// twice is a judge that makes two calls per item. The second call may end the run.
type twice struct {
	second func(it deem.Item) error
	cached bool // the first reply was paid for earlier
}

func (j twice) Name() string { return "twice" }

func (j twice) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	reply := &deem.Reply{Text: "yes", Stop: deem.StopEnd, Key: "first " + it.ID, CostMicros: 700, Attempts: 1, Cached: j.cached}
	deem.NoteCall(ctx, deem.Call{Model: "m", Request: "r1", Reply: reply})
	if j.second != nil {
		if err := j.second(it); err != nil {
			deem.NoteCall(ctx, deem.Call{Model: "m", Request: "r2", Error: err.Error()})
			return deem.Verdict{}, err
		}
	}
	deem.NoteCall(ctx, deem.Call{Model: "m", Request: "r2", Reply: &deem.Reply{Text: "yes", Stop: deem.StopEnd, Key: "second " + it.ID, CostMicros: 300, Attempts: 1}})
	return deem.Verdict{Label: "yes", Score: 1}, nil
}

// wrongKey is an error that ends a run.
var wrongKey = &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: errors.New("the key is not accepted")}

// brokenAt returns a second call that ends the run at one item.
func brokenAt(id string, err error) func(deem.Item) error {
	return func(it deem.Item) error {
		if it.ID == id {
			return err
		}
		return nil
	}
}

// recordOf returns the record of an item.
func recordOf(t *testing.T, st store.Store, row store.Run, id string) (deem.Record, bool) {
	t.Helper()
	for rec, err := range st.Records(t.Context(), row.ID, store.Query{IDs: []string{id}, WithCalls: true}) {
		if err != nil {
			t.Fatal(err)
		}
		return rec, true
	}
	return deem.Record{}, false
}

// TestBrokenOffItemKeepsItsCalls ends a run between two calls for an item: the cost of the
// first counts, its reply is stored, and the item is judged when the run resumes.
func TestBrokenOffItemKeepsItsCalls(t *testing.T) {
	st := open(t)
	row := begin(t, st)
	j := twice{second: brokenAt("q2", wrongKey)}
	reported := 0
	err := run.Job{
		Store: st, Run: row, Judge: j, Items: five(), Options: deem.Options{Concurrency: 1}, Each: func(deem.Record) { reported++ },
	}.Do(t.Context())
	if !errors.Is(err, wrongKey) {
		t.Fatalf("Do = %v, want %v", err, wrongKey)
	}
	if err := run.End(t.Context(), st, row, err); !errors.Is(err, wrongKey) {
		t.Fatalf("End = %v", err)
	}
	row = begin(t, st)
	if row.State != store.Open || row.CostMicros != 2*1000+700 || row.Records != reported {
		t.Errorf("the run is %s, cost %d micros with %d records of %d that were reported, want open, 2700, the same", row.State, row.CostMicros, row.Records, reported)
	}
	rec, ok := recordOf(t, st, row, "q2")
	if !ok || !store.IsUnfinished(rec) || rec.Position != 2 || len(rec.Calls) != 2 {
		t.Errorf("of q2 is kept %+v, want an unfinished record at 2 with two calls", rec)
	}
	if _, ok, err := st.Reply(t.Context(), "first q2"); !ok || err != nil {
		t.Errorf("the reply that was paid for is not in the cache, error %v", err)
	}
	left, err := run.Unfinished(t.Context(), st, row)
	if err != nil || len(left) != 1 || !left[run.ItemTrial{ID: "q2"}] {
		t.Errorf("Unfinished = %v, error %v, want q2", left, err)
	}

	// It resumes, with the first reply from the cache.
	again := run.Job{Store: st, Run: row, Judge: twice{cached: true}, Items: five(), Options: deem.Options{Concurrency: 1}}
	if err := run.End(t.Context(), st, row, again.Do(t.Context())); err != nil {
		t.Fatal(err)
	}
	row = begin(t, st)
	if row.State != store.Done || row.Records != 5 || row.Unjudged != 0 || row.CostMicros != 2700+3*300 {
		t.Errorf("the run is %s with %d records, %d unjudged, cost %d micros, want done, 5, 0, 3600", row.State, row.Records, row.Unjudged, row.CostMicros)
	}
	if rec, _ = recordOf(t, st, row, "q2"); rec.Verdict == nil || len(rec.Calls) != 4 {
		t.Errorf("q2 is %+v, want a verdict, and the calls of both times", rec)
	}
}

// TestNothingPaidNothingKept ends runs before anything was paid for: there is no record.
func TestNothingPaidNothingKept(t *testing.T) {
	for name, j := range map[string]twice{
		"a reply from the cache": {second: brokenAt("q0", wrongKey), cached: true},
		"a failure of the item":  {second: brokenAt("q0", deem.Failf(deem.Timeout, "late"))},
	} {
		t.Run(name, func(t *testing.T) {
			st := open(t)
			row := begin(t, st)
			_ = run.Job{Store: st, Run: row, Judge: j, Items: five(), Options: deem.Options{Concurrency: 1}}.Do(t.Context())
			if rec, ok := recordOf(t, st, row, "q0"); ok && store.IsUnfinished(rec) {
				t.Errorf("of q0 is kept %+v", rec)
			}
		})
	}
}

// TestCancelledBetweenCalls cancels between two calls, which loses nothing either.
func TestCancelledBetweenCalls(t *testing.T) {
	st := open(t)
	row := begin(t, st)
	ctx, cancel := context.WithCancel(t.Context())
	j := twice{second: func(deem.Item) error {
		cancel()
		return ctx.Err()
	}}
	err := run.Job{Store: st, Run: row, Judge: j, Items: five(), Options: deem.Options{Concurrency: 1}}.Do(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Do = %v, want %v", err, context.Canceled)
	}
	rec, ok := recordOf(t, st, row, "q0")
	if now, err := st.Run(t.Context(), row.ID); err != nil || !ok || !store.IsUnfinished(rec) || now.CostMicros != 700 {
		t.Errorf("of q0 is kept %+v, cost %d micros, error %v, want an unfinished record and 700", rec, now.CostMicros, err)
	}
}
