package run_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"deem"
	"deem/internal/run"
	"deem/internal/store"
)

// A judgeFunc is a function that judges an item by its number.
type judgeFunc func(n int) error

func (judgeFunc) Name() string { return "noting" }

func (f judgeFunc) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	var n int
	if _, err := fmt.Sscanf(it.ID, "q%d", &n); err != nil {
		return deem.Verdict{}, err
	}
	err := f(n)
	if fail, ok := err.(*deem.Failure); ok && fail.Kind == deem.Unparseable {
		deem.NoteCall(ctx, deem.Call{Reply: &deem.Reply{Text: "I would say\nthat it depends."}})
	}
	if err != nil {
		return deem.Verdict{}, err
	}
	return deem.Verdict{Label: "yes", Score: 1}, nil
}

func sixtyItems() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for i := range 60 {
			if !yield(deem.Item{ID: fmt.Sprintf("q%d", i), Response: "fine"}, nil) {
				return
			}
		}
	}
}

// TestGiveUp stops a run when twenty items in a row have no verdict for the same reason. One
// verdict in between, or a failure of another type, begins the count again.
func TestGiveUp(t *testing.T) {
	unread := deem.Failf(deem.Unparseable, "the last line of the reply is not %q", "VERDICT: {label}")
	for _, tt := range []struct {
		name string
		fail func(n int) error
		want int // records when it ends
	}{
		{"all unreadable", func(int) error { return unread }, 20},
		{"unreadable in several ways", func(n int) error {
			return deem.Failf([]deem.Kind{deem.Unparseable, deem.Empty, deem.Truncated}[n%3], "x")
		}, 20},
		{"the same error", func(int) error { return deem.Failf(deem.Provider, "400 Bad Request") }, 20},
		{"a verdict in the middle", func(n int) error {
			if n == 19 {
				return nil
			}
			return unread
		}, 40},
		{"another type of failure in the middle", func(n int) error {
			if n == 10 {
				return deem.Failf(deem.Provider, "400 Bad Request")
			}
			return unread
		}, 31},
		{"a verdict every twenty items", func(n int) error {
			if n%20 == 0 {
				return nil
			}
			return unread
		}, 60},
		{"nothing was asked", func(int) error { return deem.Failf(deem.Input, "no references") }, 60},
		{"the judge abstains", func(int) error { return deem.Failf(deem.Unsure, "0.5") }, 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := open(t)
			row := begin(t, st)
			job := run.Job{
				Store: st, Run: row, Judge: judgeFunc(tt.fail), Items: sixtyItems(), GiveUpAfter: 20,
				Options: deem.Options{Concurrency: 1},
			}
			err := run.End(t.Context(), st, row, job.Do(t.Context()))
			row = begin(t, st)
			if row.Records != tt.want || (err != nil) != (tt.want < 60) {
				t.Errorf("ended with %d records and %v, want %d records", row.Records, err, tt.want)
			}
		})
	}
}

// TestGiveUpResumes reads the error of a run that gave up, and resumes it: the finished items
// stay, and the rest is judged.
func TestGiveUpResumes(t *testing.T) {
	st := open(t)
	row := begin(t, st)
	bad := judgeFunc(func(int) error {
		return deem.Failf(deem.Unparseable, "the reply is not one of yes, no alone: I would say")
	})
	job := run.Job{Store: st, Run: row, Judge: bad, Items: sixtyItems(), GiveUpAfter: 20, Options: deem.Options{Concurrency: 8}}
	err := run.End(t.Context(), st, row, job.Do(t.Context()))
	if err == nil {
		t.Fatal("the run did not give up")
	}
	for _, part := range []string{"the last 20 items have no verdict", "not one of yes, no alone", "the whole reply: I would say that it depends."} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
	if hint := deem.HintOf(err); !strings.Contains(hint, "--max-unjudged 100%") {
		t.Errorf("hint %q", hint)
	}
	row = begin(t, st)
	if row.Records < 20 || row.Records > 28 || row.State != store.Open {
		t.Fatalf("the run is %s with %d records, want 20 and at most those in flight", row.State, row.Records)
	}
	kept := row.Records
	job.Run, job.Judge = row, judgeFunc(func(int) error { return nil })
	if err := run.End(t.Context(), st, row, job.Do(t.Context())); err != nil {
		t.Fatal(err)
	}
	if row = begin(t, st); row.State != store.Done || row.Records != 60 || row.Unjudged != kept {
		t.Errorf("the run is %s with %d records, %d unjudged, want done with 60, %d unjudged", row.State, row.Records, row.Unjudged, kept)
	}
}
