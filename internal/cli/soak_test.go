//go:build soak

package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"deem/report"
)

// Memory use does not grow with the number of items: a million items of a kilobyte stay
// under 200 MB, and under one and a half times what ten thousand need.
func TestSoakMemoryIsFlat(t *testing.T) {
	small := soak(t, 10_000)
	large := soak(t, 1_000_000)
	t.Logf("resident memory: %d MB for 10,000 items, %d MB for 1,000,000", small>>20, large>>20)
	if large > 200<<20 {
		t.Errorf("1,000,000 items need %d MB, want at most 200", large>>20)
	}
	if float64(large) > 1.5*float64(small) {
		t.Errorf("1,000,000 items need %.2f times the memory of 10,000, want at most 1.5", float64(large)/float64(small))
	}
}

// soak judges n items of a kilobyte and returns the largest resident memory in bytes.
func soak(t *testing.T, n int) int64 {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "items.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	filler := strings.Repeat("all work and no play ", 45)
	for i := range n {
		fmt.Fprintf(w, `{"id":"item-%d","category":"c%d","question":"Which number?","reference":"%d","response":"%s %d"}`+"\n", i, i%7, i, filler, i)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	p := run(t, dir, 0, "run", "--data", "items.jsonl", "--judge", "universal", "--model", "fake:labels=CORRECT|INCORRECT", "-j", "64", "--json")
	var r report.Report
	if err := json.Unmarshal([]byte(p.out.String()), &r); err != nil {
		t.Fatal(err)
	}
	if r.Items != n || r.Unjudged != 0 {
		t.Fatalf("%d items, %d unjudged, want %d and 0", r.Items, r.Unjudged, n)
	}
	usage := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	t.Logf("%d items: %v, %v of CPU, %v each", n, time.Since(began).Round(time.Millisecond), cpu.Round(time.Millisecond), (cpu / time.Duration(n)).Round(time.Microsecond))
	return usage.Maxrss << 10
}
