//go:build soak && unix

package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"deem"
	"deem/internal/server"
	"deem/internal/store"
	"deem/judge/match"
)

// TestSoakLargeRuns measures the pages of runs with many records: the median of five times
// that a list, a filter, a search, a sorted list and the page of the run take once the
// report is made. The bound is on the time of the processor, which
// does not depend on what else the machine does.
func TestSoakLargeRuns(t *testing.T) {
	for _, size := range []struct {
		records int
		most    time.Duration
	}{{100_000, 200 * time.Millisecond}, {1_000_000, 300 * time.Millisecond}} {
		t.Run(fmt.Sprint(size.records), func(t *testing.T) {
			st := openStore(t)
			run := manyRecords(t, st, size.records)
			s := newServer(t, server.Options{Store: st})
			base := "/runs/" + run.ID
			for _, page := range []struct{ name, path string }{
				{"run", base},
				{"list", base + "/items"},
				{"filter", base + "/items?category=kind-3&verdict=no"},
				{"search", base + "/items?q=rarely"},
				{"sort", base + "/items?sort=confidence"},
			} {
				var times, used []time.Duration
				for range 7 {
					from, before := time.Now(), cpuTime()
					if answer := get(t, s, page.path); answer.Code != http.StatusOK {
						t.Fatalf("GET %s = %d", page.path, answer.Code)
					}
					times, used = append(times, time.Since(from)), append(used, cpuTime()-before)
				}
				times, used = times[2:], used[2:] // What is counted once is counted.
				slices.Sort(times)
				slices.Sort(used)
				t.Logf("%s: %v, %v of the processor", page.name, times[len(times)/2], used[len(used)/2])
				if used[len(used)/2] > size.most {
					t.Errorf("%s takes %v of the processor at the median, want at most %v", page.name, used[len(used)/2], size.most)
				}
			}
		})
	}
}

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// manyRecords keeps a run with so many records.
func manyRecords(t *testing.T, st store.Store, n int) store.Run {
	t.Helper()
	run, _, err := st.Begin(t.Context(), specOf(t, match.New(), "large.jsonl", n, 1), false)
	if err != nil {
		t.Fatal(err)
	}
	recs := make([]deem.Record, 0, 2000)
	for i := range n {
		sure := float64(i%997) / 997
		v := &deem.Verdict{Label: "correct", Score: 1, Confidence: &sure}
		if i%5 == 0 {
			v.Label, v.Score = "incorrect", 0
		}
		it := deem.Item{ID: fmt.Sprintf("q%07d", i), Category: fmt.Sprintf("kind-%d", i%8), Question: fmt.Sprintf("What is number %d?", i), References: []string{fmt.Sprint(i)}, Response: fmt.Sprintf("It is %d.", i)}
		if i%10_000 == 17 {
			it.Response += " This is rarely said."
		}
		recs = append(recs, deem.Record{Item: it, Position: i, Judge: "match", Verdict: v})
		if len(recs) == cap(recs) || i == n-1 {
			if err := st.Append(t.Context(), run.ID, recs); err != nil {
				t.Fatal(err)
			}
			recs = recs[:0]
		}
	}
	if err := st.Finish(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	if run, err = st.Run(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	return run
}
