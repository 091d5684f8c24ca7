package run_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"deem"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

// A judge records the items it was asked about. It says yes, fails on odd items, and calls
// before first.
type judge struct {
	before func(it deem.Item)

	mu    sync.Mutex
	asked []string
}

func (j *judge) Name() string { return "noting" }

func (j *judge) Judge(_ context.Context, it deem.Item) (deem.Verdict, error) {
	if j.before != nil {
		j.before(it)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = append(j.asked, it.ID)
	if it.Response == "odd" {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "odd")
	}
	return deem.Verdict{Label: "yes", Score: 1}, nil
}

func (j *judge) names() []string {
	slices.Sort(j.asked)
	return j.asked
}

// five yields the items q0 to q4, of which q3 cannot be judged.
func five() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for i := range 5 {
			it := deem.Item{ID: fmt.Sprintf("q%d", i), Response: "fine"}
			if i == 3 {
				it.Response = "odd"
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// begin begins or resumes the run of the items in a store.
func begin(t *testing.T, st store.Store) store.Run {
	t.Helper()
	row, _, err := st.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func open(t *testing.T) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "deem.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// TestStoppedRunGoesOn stops a run after its second item and resumes it: only missing items
// are judged, and the failure again only if requested.
func TestStoppedRunGoesOn(t *testing.T) {
	st := open(t)
	stop := make(chan struct{})
	first := &judge{before: func(it deem.Item) {
		if it.ID == "q1" {
			close(stop)
		}
	}}
	row := begin(t, st)
	reported := 0
	job := run.Job{
		Store: st, Run: row, Judge: first, Items: five(), Options: deem.Options{Concurrency: 1, Stop: stop},
		Each: func(deem.Record) { reported++ },
	}
	err := job.Do(t.Context())
	if !errors.Is(err, deem.ErrStopped) {
		t.Fatalf("Do of a run that is stopped = %v, want %v", err, deem.ErrStopped)
	}
	if err := run.End(t.Context(), st, row, err); !errors.Is(err, deem.ErrStopped) {
		t.Errorf("End = %v, want %v", err, deem.ErrStopped)
	}
	if row = begin(t, st); row.Records != reported || reported < 2 || row.State != store.Open {
		t.Fatalf("after the stop the run is %s with %d records, and %d were reported", row.State, row.Records, reported)
	}
	second := &judge{}
	job = run.Job{Store: st, Run: row, Judge: second, Items: five()}
	if err := run.End(t.Context(), st, row, job.Do(t.Context())); err != nil {
		t.Fatal(err)
	}
	if all := append(first.names(), second.names()...); len(all) != 5 {
		t.Errorf("asked about %v, want each of five items once", all)
	}
	if row = begin(t, st); row.State != store.Done || row.Records != 5 || row.Unjudged != 1 {
		t.Errorf("the run is %s with %d records, %d unjudged, want done with 5, 1 unjudged", row.State, row.Records, row.Unjudged)
	}
	third := &judge{}
	job = run.Job{Store: st, Run: row, Judge: third, Items: five(), RetryUnjudged: true}
	if err := job.Do(t.Context()); err != nil || !slices.Equal(third.names(), []string{"q3"}) {
		t.Errorf("with RetryUnjudged asked about %v, error %v, want q3", third.names(), err)
	}
}

// TestCancelledRunKeepsWhatIsPaid cancels while an item is judged; the judge finishes it
// anyway.
func TestCancelledRunKeepsWhatIsPaid(t *testing.T) {
	st := open(t)
	row := begin(t, st)
	ctx, cancel := context.WithCancel(t.Context())
	j := &judge{before: func(deem.Item) { cancel() }}
	job := run.Job{Store: st, Run: row, Judge: j, Items: five(), Options: deem.Options{Concurrency: 1}}
	if err := job.Do(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Do = %v, want %v", err, context.Canceled)
	}
	now, err := st.Run(t.Context(), row.ID)
	if err != nil || now.Records != len(j.names()) || now.Records == 0 {
		t.Errorf("%d records are kept of %d that were judged, error %v", now.Records, len(j.names()), err)
	}
}

// A full store accepts no record.
type full struct{ store.Store }

var errFull = errors.New("no space left")

func (full) Append(context.Context, string, []deem.Record) error { return errFull }

func TestFullStoreEndsTheRun(t *testing.T) {
	st := full{open(t)}
	row := begin(t, st)
	err := run.Job{Store: st, Run: row, Judge: &judge{}, Items: five()}.Do(t.Context())
	if !errors.Is(err, errFull) {
		t.Errorf("Do = %v, want %v", err, errFull)
	}
	if err := run.End(t.Context(), st, row, err); !errors.Is(err, errFull) {
		t.Errorf("End = %v, want %v", err, errFull)
	}
	if _, _, err := st.Begin(t.Context(), storetest.Spec(""), false); err != nil {
		t.Errorf("the claim was not given up: %v", err)
	}
}

// TestDescribe checks that the hash is that of the identity.
func TestDescribe(t *testing.T) {
	s, err := run.Describe(&judge{}, true)
	if want, _ := deem.Hash("noting"); err != nil || s.Hash != want || s.Identity != nil || !s.Rule {
		t.Errorf("Describe of a judge without an identity = %+v, error %v, want the hash %s of its name", s, err, want)
	}
	s, err = run.Describe(identified{&judge{}}, false)
	if want, _ := deem.Hash(map[string]string{"who": "me"}); err != nil || s.Hash != want || string(s.Identity) != `{"who":"me"}` || s.Rule {
		t.Errorf("Describe = %+v with identity %s, error %v, want hash %s", s, s.Identity, err, want)
	}
}

type identified struct{ *judge }

func (identified) Identity() any { return map[string]string{"who": "me"} }
