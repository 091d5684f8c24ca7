package run_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"deem"
	"deem/internal/money"
	"deem/internal/run"
	"deem/internal/store"
)

// A rule is a choice without a model.
type rule struct{ deem.Judge }

func (c rule) Wires() []deem.Model                    { return nil }
func (c rule) Build([]deem.Model) (deem.Judge, error) { return c.Judge, nil }
func (rule) Models() (names, endpoints string)        { return "", "" }
func (rule) Asks() bool                               { return false }

// match returns a run of a rule over five items that has not begun.
func match(t *testing.T, st store.Store, edit func(*run.Setup)) *run.Run {
	t.Helper()
	s := run.Setup{
		Store: st, Choice: rule{&judge{}}, Dataset: store.DatasetSpec{Names: []string{"five"}, Hash: "five", Items: 5},
		Options: run.Options{Concurrency: 2, Trials: 1},
	}
	if edit != nil {
		edit(&s)
	}
	r, err := run.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRunOfOthersIsRefused begins runs that workers have, or whose requests are in batches.
// Both would be paid for twice.
func TestRunOfOthersIsRefused(t *testing.T) {
	st := open(t)
	r := match(t, st, nil)
	if err := r.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.End(t.Context(), deem.ErrStopped); !errors.Is(err, deem.ErrStopped) {
		t.Fatalf("End = %v, want %v", err, deem.ErrStopped)
	}
	taken := errors.New("workers have it")
	busy := func(_ context.Context, id string) error {
		if id != r.ID {
			t.Errorf("asked about run %q, want %q", id, r.ID)
		}
		return taken
	}
	if err := match(t, st, func(s *run.Setup) { s.Busy = busy }).Begin(t.Context()); !errors.Is(err, taken) {
		t.Errorf("Begin of a run that workers have = %v, want %v", err, taken)
	}
	b := store.Batch{Key: "b1", ID: "batch_1", State: store.BatchSubmitted, Lines: 1, Planned: time.Now()}
	if err := st.(store.Batches).PutBatch(t.Context(), r.ID, b, []store.BatchLine{{Key: "line"}}); err != nil {
		t.Fatal(err)
	}
	if err := match(t, st, nil).Begin(t.Context()); err == nil {
		t.Error("a run with requests in batches was begun without them")
	}
	// Each rejected run released its claim.
	if err := match(t, st, func(s *run.Setup) { s.Batched = true }).Begin(t.Context()); err != nil {
		t.Errorf("Begin of a run that goes on with its batches = %v", err)
	}
}

// TestUnpricedModelIsRefused checks that a model without a known price is rejected if there
// is a budget.
func TestUnpricedModelIsRefused(t *testing.T) {
	for _, o := range []run.Options{{Budget: money.New(1)}, {Total: money.New(1)}} {
		if err := o.Affordable("nobody:knows", ""); err == nil {
			t.Error("a model without a price was accepted with a budget")
		}
	}
	if err := (run.Options{}).Affordable("nobody:knows", ""); err != nil {
		t.Errorf("Affordable without a budget = %v", err)
	}
}

// TestPanicEndsTheRun has a judge that panics on the fourth item. The process continues,
// and verdicts and paid calls are stored.
func TestPanicEndsTheRun(t *testing.T) {
	for _, isRule := range []bool{true, false} {
		t.Run(fmt.Sprint("rule ", isRule), func(t *testing.T) {
			st := open(t)
			row := begin(t, st)
			row.Judge.Rule = isRule
			j := twice{second: func(it deem.Item) error {
				if it.ID == "q3" {
					panic("bug")
				}
				return nil
			}}
			err := run.Job{Store: st, Run: row, Judge: j, Items: five(), Options: deem.Options{Concurrency: 1}}.Do(t.Context())
			bug, ok := errors.AsType[*run.PanicError](err)
			if !ok || bug.Item != "q3" || fmt.Sprint(bug.Value) != "bug" || len(bug.Stack) == 0 {
				t.Fatalf("Do = %v, want the panic on q3 with its stack", err)
			}
			for _, id := range []string{"q0", "q1", "q2"} {
				if rec, ok := recordOf(t, st, row, id); !ok || rec.Verdict == nil {
					t.Errorf("the verdict on %s is lost", id)
				}
			}
			if rec, ok := recordOf(t, st, row, "q3"); ok == isRule || ok && !store.IsUnfinished(rec) {
				t.Errorf("q3 has the record %+v (%v), want its calls, and no verdict", rec, ok)
			}
		})
	}
}

// TestDone checks items that are judged, unjudged, paid for but not judged, and new.
func TestDone(t *testing.T) {
	st := open(t)
	row := begin(t, st)
	recs := []deem.Record{
		{Item: deem.Item{ID: "judged"}, Judge: "j", Verdict: &deem.Verdict{Label: "yes", Score: 1}},
		{Item: deem.Item{ID: "unjudged"}, Position: 1, Judge: "j", Failure: deem.Failf(deem.Unparseable, "odd")},
		{Item: deem.Item{ID: "unfinished"}, Position: 2, Judge: "j", Failure: deem.Failf(store.Unfinished, "stopped")},
	}
	if err := st.Append(t.Context(), row.ID, recs); err != nil {
		t.Fatal(err)
	}
	row, err := st.Run(t.Context(), row.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, retry := range []bool{false, true} {
		done, err := run.Done(t.Context(), st, row, retry)
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]bool{"judged": true, "unjudged": !retry, "unfinished": false, "new": false} {
			if got, err := done(t.Context(), deem.Item{ID: id}, 0); err != nil || got != want {
				t.Errorf("with retry %v, done of %s = %v, %v, want %v", retry, id, got, err, want)
			}
		}
	}
}

// TestRecord stores verdicts twice: the second time the store has them already.
func TestRecord(t *testing.T) {
	st := open(t)
	spec := store.Spec{
		Judge:   store.JudgeSpec{Name: "people", Hash: "h", Rule: true},
		Dataset: store.DatasetSpec{Names: []string{"two"}, Hash: "two", Items: 2}, Trials: 1,
	}
	records := func(yield func(deem.Record) bool) {
		for i, id := range []string{"a", "b"} {
			it := deem.Item{ID: id, Response: "x"}
			if !yield(deem.Record{Item: it, Position: i, Judge: "people", Verdict: &deem.Verdict{Label: "yes", Score: 1}}) {
				return
			}
		}
	}
	first, had, err := run.Record(t.Context(), st, spec, records, false)
	if err != nil || had || first.State != store.Done || first.Records != 2 {
		t.Fatalf("run %+v, had %v, %v", first, had, err)
	}
	again, had, err := run.Record(t.Context(), st, spec, records, false)
	if err != nil || !had || again.ID != first.ID {
		t.Errorf("the second time: run %s, had %v, %v; want run %s", again.ID, had, err, first.ID)
	}
	broken := func(yield func(deem.Record) bool) { yield(deem.Record{}) }
	spec.Dataset.Hash = "other"
	if _, _, err := run.Record(t.Context(), st, spec, broken, false); err == nil {
		t.Error("a record without an item causes no error")
	}
	if _, _, err := run.Record(t.Context(), st, spec, records, false); err != nil {
		t.Errorf("the run cannot be filled after an error: %v", err)
	}
}
