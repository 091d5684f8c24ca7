//go:build soak

package cli_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/store/sqlite"
)

// Runs of 100,000 items are compared in seconds, with too little memory for their texts,
// even if the second run has its items in reverse order.
func TestSoakCompare(t *testing.T) { compareMany(t, 100_000, 20*time.Second, 250<<20) }

// compareMany compares two runs of n items within limits of time and memory.
func compareMany(t *testing.T, n int, most time.Duration, mostBytes int64) {
	dir := t.TempDir()
	st, err := sqlite.Open(t.Context(), filepath.Join(dir, ".deem", "deem.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		writeManyItems(t, st, n, i)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, second := range []string{"last~1", "last"} {
		began := time.Now()
		p := run(t, dir, 0, "compare", "first=last~2", "second="+second)
		took := time.Since(began)
		peak := int64(0)
		if usage, ok := p.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" {
			peak = usage.Maxrss << 10
		}
		t.Logf("%d items twice: %v, %d MB at most", n, took.Round(time.Millisecond), peak>>20)
		if !strings.Contains(p.out.String(), fmt.Sprintf("%d,000 in every run", n/1000)) {
			t.Errorf("not all items were paired:\n%s", p.out.String())
		}
		if took > most || peak > mostBytes {
			t.Errorf("comparing took %v and %d MB, want at most %v and %d MB", took, peak>>20, most, mostBytes>>20)
		}
	}
}

// writeManyItems writes a run of n items as a judge would have made it. Run 2 has its items
// in reverse order.
func writeManyItems(t *testing.T, st store.Store, n, which int) {
	t.Helper()
	spec := store.Spec{
		Judge: store.JudgeSpec{Name: "exact", Hash: "e", Rule: true}, Trials: 1,
		Dataset: store.DatasetSpec{Names: []string{fmt.Sprint("run", which)}, Hash: fmt.Sprint(which), Items: n},
	}
	r, _, err := st.Begin(t.Context(), spec, true)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a response of some length ", 20)
	recs := make([]deem.Record, 0, 1000)
	for i := range n {
		id := i
		if which == 2 {
			id = n - 1 - i
		}
		v := deem.Verdict{Label: "differ"}
		if (id*7+which*id%11)%10 < 7 {
			v = deem.Verdict{Label: "match", Score: 1}
		}
		recs = append(recs, deem.Record{Position: i, Judge: "exact", Verdict: &v, Item: deem.Item{
			ID: fmt.Sprintf("item-%06d", id), Category: fmt.Sprint("category ", id%8), Question: fmt.Sprintf("what about %d?", id),
			References: []string{fmt.Sprint(id)}, Response: long + fmt.Sprint(which, id),
		}})
		if len(recs) == cap(recs) {
			if err := st.Append(t.Context(), r.ID, recs); err != nil {
				t.Fatal(err)
			}
			recs = recs[:0]
		}
	}
	if err := st.Finish(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
}
