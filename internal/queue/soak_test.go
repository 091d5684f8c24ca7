//go:build soak

package queue_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"deem/internal/store/postgres"
	"deem/internal/test/storetest"
)

// Twenty thousand items, three workers, five kills, two restarts of Postgres.
func TestSoakKilledWorkers(t *testing.T) {
	killWorkers(t, killing{items: 20_000, kills: 5, restarts: 2, workers: 3, slots: 16, rpm: 7200, window: time.Minute, maxCost: "10"})
}

// writeMany writes n items with responses of the given size.
func writeMany(t testing.TB, dir string, n, size int) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "items.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	filler := strings.Repeat("all work and no play ", size/21)
	for i := range n {
		fmt.Fprintf(w, `{"id":"q%d","category":"c%d","question":"Which number?","reference":"%d","response":"%s %d"}`+"\n", i, i%7, i, filler, i)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A million items are queued in under two minutes, and memory use does not grow with their
// number.
func TestSoakEnqueueAMillion(t *testing.T) {
	enqueue := func(n int) (time.Duration, int64) {
		url := storetest.Database(t)
		dir := t.TempDir()
		writeMany(t, dir, n, 210)
		began := time.Now()
		p := run(t, dir, url, 0, "run", "--data", "items.jsonl", "--detach", "--judge", "universal", "--model", "fake:labels=CORRECT|INCORRECT")
		usage, ok := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			t.Fatal("no usage of resources")
		}
		return time.Since(began), usage.Maxrss << 10
	}
	_, small := enqueue(10_000)
	took, large := enqueue(1_000_000)
	t.Logf("1,000,000 items queued in %v; %d MB, and %d MB for 10,000", took.Round(time.Second), large>>20, small>>20)
	if took > 2*time.Minute {
		t.Errorf("1,000,000 items took %v, want at most two minutes", took)
	}
	if float64(large) > 1.5*float64(small)+float64(30<<20) {
		t.Errorf("1,000,000 items need %d MB and 10,000 need %d: memory grows", large>>20, small>>20)
	}
}

// A worker judges at least half as fast as one process with its run in a file, if judging
// itself takes no time.
func TestSoakOverhead(t *testing.T) {
	const n = 50_000
	dir := t.TempDir()
	writeMany(t, dir, n, 210)
	judge := []string{"--judge", "universal", "--model", "fake:labels=CORRECT|INCORRECT"}
	best := 0.0
	for range 3 { // Other load on the machine must not decide.
		best = max(best, overhead(t, dir, n, judge))
		if best >= 0.5 {
			return
		}
	}
	t.Errorf("a worker reaches %.2f of the rate of one process, want at least 0.5", best)
}

// overhead judges items in one process and then in a worker, and returns the worker's rate
// as a share of the process's rate.
func overhead(t *testing.T, dir string, n int, judge []string) float64 {
	t.Helper()
	began := time.Now()
	run(t, dir, filepath.Join(t.TempDir(), "alone.db"), 0, append([]string{"run", "--data", "items.jsonl", "-j", "16", "--json"}, judge...)...)
	alone := time.Since(began)

	url := storetest.Database(t)
	st, _ := open(t, url)
	id := detach(t, dir, url, judge...)
	ask := connect(t, st)
	const position = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint`
	logged := ask(position)
	began = time.Now()
	start(t, t.TempDir(), url, "worker", "-j", "16")
	finished(t, st, id)
	worker := time.Since(began)
	t.Logf("%d bytes of log for each record, %d connections", (ask(position)-logged)/n,
		ask(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()`))
	logSizes(t, st, n)
	ratio := alone.Seconds() / worker.Seconds()
	t.Logf("alone %.0f/s, a worker %.0f/s: %.2f", float64(n)/alone.Seconds(), float64(n)/worker.Seconds(), ratio)
	checkRecords(t, st, id, n, 1)
	return ratio
}

// logSizes logs the bytes per record of each table, including its indexes.
func logSizes(t *testing.T, st *postgres.Store, records int) {
	t.Helper()
	rows, err := st.Pool().Query(t.Context(), `SELECT relname, pg_total_relation_size(relid), pg_indexes_size(relid), n_live_tup
		FROM pg_stat_user_tables WHERE pg_total_relation_size(relid) > 100000 ORDER BY 2 DESC`)
	if err != nil {
		t.Fatal(err)
	}
	var name string
	var size, indexes, live int64
	total := int64(0)
	_, err = pgx.ForEachRow(rows, []any{&name, &size, &indexes, &live}, func() error {
		total += size
		t.Logf("%-14s %8d rows, %5d bytes for each record, of them %d for indexes", name, live, size/int64(records), indexes/int64(records))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes for each record in all", total/int64(records))
}
