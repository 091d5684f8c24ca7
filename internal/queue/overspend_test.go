package queue_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deem/internal/test/storetest"
)

// A run whose vendor bills, from some call on, a multiple of what requests allow is stopped
// on all workers: it costs no more than its budget and the calls in flight, and its report
// says so. Usage that no reply can have is not believed.
func TestOverspend(t *testing.T) {
	const absurd = 1_000_000_000_000_000
	for _, times := range []int{20, 600, absurd} {
		for _, j := range []int{1, 8, 16} {
			t.Run(fmt.Sprintf("%d times with -j %d", times, j), func(t *testing.T) {
				t.Parallel()
				overspend(t, times, j, times == absurd)
			})
		}
	}
}

func overspend(t *testing.T, times, j int, absurd bool) {
	const n, quiet, asAgreed, budget, workers = 300, 20, 1500, 60_000, 2
	var calls, billed, most atomic.Int64
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		time.Sleep(5 * time.Millisecond)
		in, out := len(body)/4, 3
		if calls.Add(1) > quiet {
			out = times * asAgreed
		}
		billed.Add(int64(in + out))
		for old := most.Load(); int64(in+out) > old && !most.CompareAndSwap(old, int64(in+out)); old = most.Load() {
		}
		fmt.Fprintf(w, `{"id":"1","object":"chat.completion","model":"any","choices":[{"index":0,"message":{"role":"assistant","content":"CORRECT"},
			"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, in, out, in+out)
	}))
	t.Cleanup(vendor.Close)
	url := storetest.Database(t)
	st, c := open(t, url)
	dir := t.TempDir()
	writeItems(t, dir, n)
	writePrices(t, dir)
	id := detach(t, dir, url, "--judge", "universal", "--model", "openai:any", "--base-url", vendor.URL+"/v1",
		"--max-cost", "0.06", "--prices", "prices.json", "--max-tokens", "16")
	for range workers {
		start(t, t.TempDir(), url, "worker", "--base-url", "openai="+vendor.URL+"/v1", "-j", fmt.Sprint(j))
	}
	until(t, "the run to be stopped", func() bool {
		s, err := c.Run(t.Context(), id)
		return err == nil && s.State == "stopped" && s.ReservedMicros == 0
	})
	r, err := st.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	counted := r.CostMicros + r.SetAsideMicros
	t.Logf("%d calls; %d billed; %d recorded, %d set aside of %d", calls.Load(), billed.Load(), r.CostMicros, r.SetAsideMicros, budget)
	p := start(t, dir, url, "report", id, "--json", "--max-unjudged", "100%")
	p.wait(t)
	var found struct {
		Notes     []string
		Overspent *struct {
			Over int64 `json:"over_micros"`
		}
	}
	if err := json.Unmarshal([]byte(p.out.String()), &found); err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(found.Notes, "\n")
	switch bound := budget + int64(workers*j)*most.Load(); {
	case calls.Load() <= quiet:
		t.Errorf("%d calls, want some that cost too much", calls.Load())
	case absurd:
		if counted > budget || !strings.Contains(notes, "no believable number of tokens") {
			t.Errorf("%d counted of %d, notes:\n%s", counted, budget, notes)
		}
	case billed.Load() > bound || counted < billed.Load():
		t.Errorf("%d billed and %d counted, want at most %d", billed.Load(), counted, bound)
	case counted > budget && (found.Overspent == nil || found.Overspent.Over != counted-budget):
		t.Errorf("the report says %+v, want %d too much; notes:\n%s", found.Overspent, counted-budget, notes)
	}
}
