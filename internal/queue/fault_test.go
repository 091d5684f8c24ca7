package queue_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deem/internal/store"
	"deem/internal/test/faultserver"
	"deem/internal/test/storetest"
)

// A vendor is a fault server that records the times of requests.
type vendor struct {
	*faultserver.Server
	url string

	mu    sync.Mutex
	times []time.Time
}

func newVendor(t testing.TB, o faultserver.Options) *vendor {
	t.Helper()
	v := &vendor{Server: faultserver.New(o)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		v.times = append(v.times, time.Now())
		v.mu.Unlock()
		v.ServeHTTP(w, r)
	}))
	v.url = srv.URL + "/v1"
	t.Cleanup(srv.Close)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// most returns the largest number of requests in any window of the given length.
func (v *vendor) most(window time.Duration) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	most, from := 0, 0
	for to := range v.times {
		for v.times[to].Sub(v.times[from]) >= window {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}

// askedSince returns the number of requests after a time.
func (v *vendor) askedSince(at time.Time) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, _ := slices.BinarySearchFunc(v.times, at, time.Time.Compare)
	return len(v.times) - i
}

// asking returns the arguments of a run that uses the vendor.
func (v *vendor) asking(more ...string) []string {
	return append([]string{"--judge", "universal", "--model", "openai:any", "--base-url", v.url}, more...)
}

// worker starts a worker that may use the vendor.
func (v *vendor) worker(t testing.TB, url string, more ...string) *process {
	t.Helper()
	return start(t, t.TempDir(), url, append([]string{"worker", "--base-url", "openai=" + v.url, "--dead-after", "3s"}, more...)...)
}

// writePrices writes a price list: one dollar per million tokens.
func writePrices(t testing.TB, dir string) {
	t.Helper()
	text := `{"version": "test", "date": "2026-11-15", "prices": [{"model": "openai:any", "input": 1, "output": 1}]}`
	if err := os.WriteFile(filepath.Join(dir, "prices.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A killing configures killWorkers.
type killing struct {
	items, kills, workers, slots, rpm int
	restarts                          int           // of Postgres
	window                            time.Duration // in which requests are counted
	late                              int           // calls that may arrive late in a window
	maxCost                           string
}

// killWorkers repeatedly kills a worker and starts another in its place. It checks that
// every item has one record, that hardly any call was made twice, that all workers together
// kept to the requests per minute, and that the budget was not exceeded.
func killWorkers(t *testing.T, k killing) {
	var url string
	var c *storetest.Cluster
	if k.restarts > 0 {
		c = storetest.Start(t, storetest.Options{Template: makeTables})
		url = c.Database(t)
	} else {
		url = storetest.Database(t)
	}
	st, _ := open(t, url)
	v := newVendor(t, faultserver.Options{Latency: 50 * time.Millisecond, Jitter: 50 * time.Millisecond})
	dir := t.TempDir()
	writeItems(t, dir, k.items)
	writePrices(t, dir)
	id := detach(t, dir, url, v.asking("--rpm", fmt.Sprint(k.rpm), "--max-cost", k.maxCost, "--prices", "prices.json")...)
	var fleet []*process
	for range k.workers {
		fleet = append(fleet, v.worker(t, url, "-j", fmt.Sprint(k.slots)))
	}
	began := time.Now()
	moments := make([]int, k.kills)
	for i := range moments {
		moments[i] = k.items/20 + rand.IntN(k.items*8/10)
	}
	slices.Sort(moments)
	t.Logf("killed after %v requests", moments)
	for i, after := range moments {
		until(t, "requests", func() bool { return v.Stats().Requests >= after })
		if i < k.restarts {
			c.Shutdown(t, i%2 == 0)
			time.Sleep(500 * time.Millisecond)
			c.Resume(t)
		}
		i := rand.IntN(len(fleet))
		fleet[i].kill()
		fleet[i] = v.worker(t, url, "-j", fmt.Sprint(k.slots))
	}
	r := finished(t, st, id)
	s := v.Stats()
	most := v.most(k.window)
	// A call may reach the vendor later than it was sent. On a machine that stalls for a
	// second, a second's worth of calls does. In a window of a minute that does not matter.
	allowed := int(float64(k.rpm)*k.window.Minutes()*1.05) + k.late
	t.Logf("%d items in %v: %d requests, %d answered twice; at most %d requests in %v, %d allowed; %d micros",
		k.items, time.Since(began).Round(time.Second), s.Requests, s.Duplicates, most, k.window, allowed, r.CostMicros)
	checkRecords(t, st, id, k.items, 1)
	// Calls in flight, plus records waiting for a commit: one group that is being collected
	// and one being written.
	const groups = 2 * 250
	if again := s.Requests - k.items; again > k.kills*(k.slots+groups) {
		t.Errorf("%d requests were made again, want at most %d for each kill", again, k.slots+groups)
	}
	if most > allowed {
		t.Errorf("%d requests in %v, want at most %d", most, k.window, allowed)
	}
	perCall := r.CostMicros / int64(k.items)
	var limit float64
	if _, err := fmt.Sscan(k.maxCost, &limit); err != nil {
		t.Fatal(err)
	}
	// The vendor's bill is between the counted cost and the budget: money lent to killed
	// workers is set aside.
	counted, billed := r.CostMicros+r.SetAsideMicros, perCall*int64(s.Answered)
	t.Logf("%d micros billed, %d recorded, %d set aside", billed, r.CostMicros, r.SetAsideMicros)
	if counted > int64(limit*1e6) || billed > counted {
		t.Errorf("%d micros are recorded and %d set aside, want at most %s dollars and at least the %d that are billed", r.CostMicros, r.SetAsideMicros, k.maxCost, billed)
	}
}

// Killing workers costs hardly any extra calls.
func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	killWorkers(t, killing{items: 600, kills: 2, workers: 3, slots: 8, rpm: 3600, window: 5 * time.Second, late: 60, maxCost: "3"})
}

// Workers wait for a Postgres that is restarted during a run: nothing is lost or
// duplicated.
func TestPostgresRestart(t *testing.T) {
	t.Parallel()
	c := storetest.Start(t, storetest.Options{Template: makeTables})
	url := c.Database(t)
	v := newVendor(t, faultserver.Options{Latency: 20 * time.Millisecond})
	dir := t.TempDir()
	const n = 600
	writeItems(t, dir, n)
	id := detach(t, dir, url, v.asking()...)
	for range 2 {
		v.worker(t, url, "-j", "4")
	}
	for i, atOnce := range []bool{true, false} {
		until(t, "requests", func() bool { return v.Stats().Requests >= (i+1)*n/4 })
		c.Shutdown(t, atOnce)
		time.Sleep(500 * time.Millisecond)
		c.Resume(t)
	}
	st, _ := open(t, url)
	finished(t, st, id)
	checkRecords(t, st, id, n, 1)
	if s := v.Stats(); s.Duplicates > 0 {
		t.Errorf("%d requests were answered twice, want none", s.Duplicates)
	}
}

// A cancelled run stops on all workers within seconds, keeps the results that were paid
// for, and continues when it is resumed.
func TestCancelAndResume(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	st, _ := open(t, url)
	v := newVendor(t, faultserver.Options{Latency: 100 * time.Millisecond})
	dir := t.TempDir()
	const n = 500
	writeItems(t, dir, n)
	id := detach(t, dir, url, v.asking()...)
	for range 2 {
		v.worker(t, url, "-j", "4")
	}
	until(t, "requests", func() bool { return v.Stats().Requests >= n/5 })
	run(t, dir, url, 0, "queue", "cancel", id)
	cancelled := time.Now()
	until(t, "the last request", func() bool {
		return time.Since(cancelled) > time.Second && v.askedSince(time.Now().Add(-time.Second)) == 0
	})
	asked := v.Stats().Requests
	t.Logf("%d requests came after the cancel", v.askedSince(cancelled))
	if asked >= n {
		t.Fatalf("all %d items were asked about in spite of the cancel", n)
	}
	until(t, "what was paid for to be kept", func() bool {
		r, err := st.Run(t.Context(), id)
		return err == nil && r.Records == asked
	})
	p := run(t, dir, url, 0, "queue", "status", id)
	if !strings.Contains(p.out.String(), "cancelled, ") {
		t.Errorf("deem queue says:\n%s", p.out.String())
	}
	run(t, dir, url, 0, "report", id, "--max-unjudged", "1")
	run(t, dir, url, 0, "queue", "resume", id)
	v.askedOnce(t, st, id, n)
}

// askedOnce waits for the end of a run and checks that each of its n items has a record and
// caused one call.
func (v *vendor) askedOnce(t *testing.T, st store.Store, id string, n int) {
	t.Helper()
	finished(t, st, id)
	checkRecords(t, st, id, n, 1)
	if s := v.Stats(); s.Requests != n {
		t.Errorf("%d requests for %d items", s.Requests, n)
	}
}

// A worker that is stopped returns the items that it has not begun at once.
func TestDrain(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	st, _ := open(t, url)
	v := newVendor(t, faultserver.Options{Latency: 100 * time.Millisecond})
	dir := t.TempDir()
	const n = 300
	writeItems(t, dir, n)
	id := detach(t, dir, url, v.asking()...)
	first := v.worker(t, url, "-j", "4", "--dead-after", "1h")
	until(t, "requests", func() bool { return v.Stats().Requests >= n/10 })
	if err := first.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := first.wait(t); code != 0 {
		t.Fatalf("exit code %d, want 0\n%s", code, first.err.String())
	}
	asked := v.Stats().Requests
	if r, err := st.Run(t.Context(), id); err != nil || r.Records != asked {
		t.Errorf("%d records after %d requests, %v", r.Records, asked, err)
	}
	v.worker(t, url, "-j", "16", "--dead-after", "1h") // No worker is declared dead in this test.
	v.askedOnce(t, st, id, n)
}

// A run is stopped before it exceeds its budget, and continues with a larger one.
func TestBudget(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	st, c := open(t, url)
	v := newVendor(t, faultserver.Options{Latency: 10 * time.Millisecond})
	dir := t.TempDir()
	const n = 200
	writeItems(t, dir, n)
	writePrices(t, dir)
	id := detach(t, dir, url, v.asking("--max-cost", "0.012", "--prices", "prices.json", "--max-tokens", "16")...)
	for range 2 {
		v.worker(t, url, "-j", "4")
	}
	until(t, "the run to be stopped", func() bool {
		s, err := c.Run(t.Context(), id)
		return err == nil && s.State == "stopped"
	})
	r, err := st.Run(t.Context(), id)
	if err != nil || r.Records == 0 || r.Records == n || r.CostMicros > 12_000 {
		t.Fatalf("%d of %d records for %d micros, %v, want some for 12000 at most", r.Records, n, r.CostMicros, err)
	}
	run(t, dir, url, 0, "queue", "resume", id, "--max-cost", "10")
	finished(t, st, id)
	checkRecords(t, st, id, n, 1)
}

// A worker refuses a run whose model is at a different address, and says why.
func TestRefusedAddress(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	st, c := open(t, url)
	v := newVendor(t, faultserver.Options{})
	dir := t.TempDir()
	writeItems(t, dir, 20)
	id := detach(t, dir, url, v.asking()...)
	stranger := start(t, t.TempDir(), url, "worker")
	until(t, "the refusal", func() bool {
		s, err := c.Run(t.Context(), id)
		return err == nil && len(s.Refused) == 1
	})
	if want := "this worker would ask it at https://api.openai.com"; !strings.Contains(stranger.err.String(), want) {
		t.Errorf("no %q in:\n%s", want, stranger.err.String())
	}
	if n := v.Stats().Requests; n > 0 {
		t.Errorf("%d requests were made", n)
	}
	v.worker(t, url)
	finished(t, st, id)
}
