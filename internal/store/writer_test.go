package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/store"
	"deem/internal/test/storetest"
)

// A slowStore takes some time for each append, and fails on demand.
type slowStore struct {
	store.Store
	takes time.Duration
	fail  func(commit int) error

	mu      sync.Mutex
	commits []commit
}

// A commit is the number of records in a commit, and its time.
type commit struct {
	Rows  int
	After time.Duration
}

func (s *slowStore) Append(_ context.Context, runID string, recs []deem.Record) error {
	if runID != "run" {
		panic("append to run " + runID)
	}
	time.Sleep(s.takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		if err := s.fail(len(s.commits)); err != nil {
			return err
		}
	}
	s.commits = append(s.commits, commit{len(recs), time.Since(start)})
	return nil
}

// start is the initial time of every synctest bubble.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

const ms = time.Millisecond

func put(t *testing.T, w *store.Writer, n int) {
	t.Helper()
	for i := range n {
		if err := w.Put(t.Context(), storetest.Record(i)); err != nil {
			t.Fatalf("Put: %v", err)
		}
	}
}

func TestWriterGroups(t *testing.T) {
	for _, tt := range []struct {
		name  string
		takes time.Duration
		opts  store.WriterOptions
		do    func(t *testing.T, w *store.Writer)
		want  []commit
	}{
		{"nothing", 0, store.WriterOptions{}, func(*testing.T, *store.Writer) {}, nil},
		{"a record waits", 0, store.WriterOptions{}, func(t *testing.T, w *store.Writer) {
			time.Sleep(5 * ms)
			put(t, w, 1)
			time.Sleep(7 * ms)
			put(t, w, 1)
			time.Sleep(20 * ms)
			put(t, w, 1)
			time.Sleep(20 * ms)
		}, []commit{{2, 15 * ms}, {1, 42 * ms}}},
		{"many records do not wait", 0, store.WriterOptions{}, func(t *testing.T, w *store.Writer) {
			put(t, w, 600)
			synctest.Wait()
			time.Sleep(20 * ms)
		}, []commit{{128, 0}, {128, 0}, {128, 0}, {128, 0}, {88, 10 * ms}}},
		{
			"close does not wait", 0,
			store.WriterOptions{MaxWait: time.Hour},
			func(t *testing.T, w *store.Writer) { put(t, w, 3) },
			[]commit{{3, 0}},
		},
		{"options", 0, store.WriterOptions{MaxRows: 2, MaxWait: time.Minute}, func(t *testing.T, w *store.Writer) {
			put(t, w, 5)
			time.Sleep(2 * time.Minute)
		}, []commit{{2, 0}, {2, 0}, {1, time.Minute}}},
		{
			"bytes", 0,
			store.WriterOptions{MaxBytes: 1},
			func(t *testing.T, w *store.Writer) { put(t, w, 2) },
			[]commit{{1, 0}, {1, 0}},
		},
		{
			// A record that arrives during a commit has waited long enough when the commit
			// ends.
			"waiting counts from the arrival", 30 * ms, store.WriterOptions{}, func(t *testing.T, w *store.Writer) {
				put(t, w, 1)
				time.Sleep(12 * ms) // The commit has begun.
				put(t, w, 2)
				time.Sleep(100 * ms)
			}, []commit{{1, 40 * ms}, {2, 70 * ms}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slowStore{takes: tt.takes}
				w := store.NewWriter(s, "run", tt.opts)
				tt.do(t, w)
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(tt.want, s.commits); d != "" {
					t.Errorf("commits differ (-want +got):\n%s", d)
				}
			})
		})
	}
}

// TestWriterBounded checks that Put waits if the store is too slow, and that an
// interruption ends the wait.
func TestWriterBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{takes: time.Second}
		w := store.NewWriter(s, "run", store.WriterOptions{MaxRows: 4, Waiting: 2})
		put(t, w, 4)
		synctest.Wait()
		put(t, w, 2) // The queue.
		ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
		defer cancel()
		if err := w.Put(ctx, storetest.Record(9)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Put into a full queue: error = %v, want context.DeadlineExceeded", err)
		}
		put(t, w, 1)
		if got := time.Since(start); got != time.Second {
			t.Errorf("Put waited %v, want 1s", got)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([]commit{{4, time.Second}, {2, 2 * time.Second}, {1, 3 * time.Second}}, s.commits); d != "" {
			t.Errorf("commits differ (-want +got):\n%s", d)
		}
	})
}

// TestWriterSticky checks that after an error every Put and Close return it, that no caller
// hangs, and that nothing is committed after the gap.
func TestWriterSticky(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := deem.WithHint(errors.New("the disk is full"), "free some space")
		s := &slowStore{takes: 5 * ms, fail: func(n int) error {
			if n == 1 {
				return full
			}
			return nil
		}}
		w := store.NewWriter(s, "run", store.WriterOptions{MaxRows: 2})
		var wg sync.WaitGroup
		var mu sync.Mutex
		taken, refused := 0, 0
		for range 10 {
			wg.Go(func() {
				err := w.Put(t.Context(), storetest.Record(0))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					taken++
				case errors.Is(err, full):
					refused++
				default:
					t.Errorf("Put: %v", err)
				}
			})
		}
		wg.Wait()
		time.Sleep(time.Second)
		if err := w.Put(t.Context(), storetest.Record(0)); !errors.Is(err, full) {
			t.Errorf("Put after the error: %v, want %v", err, full)
		}
		err := w.Close()
		if !errors.Is(err, full) || deem.HintOf(err) != "free some space" {
			t.Errorf("Close: %v with hint %q, want %v with its hint", err, deem.HintOf(err), full)
		}
		if again := w.Close(); again == nil || again.Error() != err.Error() {
			t.Errorf("second Close: %v, want %v", again, err)
		}
		if len(s.commits) != 1 || s.commits[0].Rows != 2 {
			t.Errorf("commits = %v, want one of 2", s.commits)
		}
		if refused+taken != 10 || refused == 0 {
			t.Errorf("%d taken, %d refused, want 10 in all and some refused", taken, refused)
		}
		if want := fmt.Sprintf("%d records", taken-2); !strings.Contains(err.Error(), want) {
			t.Errorf("Close: %q does not say that %s were not kept", err, want)
		}
	})
}

func TestWriterClosed(t *testing.T) {
	w := store.NewWriter(&slowStore{}, "run", store.WriterOptions{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if err := w.Put(t.Context(), storetest.Record(0)); err == nil {
		t.Error("Put after Close gave no error")
	}
}

// TestWriterLosesNothing checks that every record accepted by Put is committed and reported
// exactly once, even if Put and Close race.
func TestWriterLosesNothing(t *testing.T) {
	for range 200 {
		s := &slowStore{}
		told := 0
		w := store.NewWriter(s, "run", store.WriterOptions{
			MaxRows: 3, MaxWait: time.Microsecond,
			Committed: func(recs []deem.Record) { told += len(recs) },
		})
		var wg sync.WaitGroup
		var mu sync.Mutex
		taken := 0
		for range 4 {
			wg.Go(func() {
				for w.Put(t.Context(), deem.Record{}) == nil {
					mu.Lock()
					taken++
					mu.Unlock()
				}
			})
		}
		time.Sleep(50 * time.Microsecond)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		kept := 0
		for _, c := range s.commits {
			kept += c.Rows
		}
		if kept != taken || told != taken {
			t.Fatalf("%d records were taken, %d committed, %d told of", taken, kept, told)
		}
	}
}
