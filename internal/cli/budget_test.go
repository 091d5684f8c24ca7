package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deem/internal/store"
)

// A till is a vendor with its own bill: each call that reaches it is generated and billed
// at a millionth of a dollar per token, whatever its reply says.
type till struct {
	url    string
	reply  func(w http.ResponseWriter, n int64, text string, in, out int)
	calls  atomic.Int64
	billed atomic.Int64
	over   chan struct{}
}

func newTill(t *testing.T, reply func(w http.ResponseWriter, n int64, text string, in, out int)) *till {
	t.Helper()
	v := &till{reply: reply, over: make(chan struct{})}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		const text, out = "CORRECT", 3
		in := len(body) / 4
		v.billed.Add(int64(in + out))
		v.reply(w, v.calls.Add(1), text, in, out)
	}))
	v.url = s.URL + "/v1"
	t.Cleanup(s.Close)
	t.Cleanup(sync.OnceFunc(func() { close(v.over) })) // before the server waits for its calls
	return v
}

// writeAnswer writes a reply with the given usage, which may be empty.
func writeAnswer(w io.Writer, text, usage string) {
	fmt.Fprintf(w, `{"id":"1","object":"chat.completion","model":"dear","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]%s}`, text, usage)
}

func usageOf(in, out int) string {
	return fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, in, out, in+out)
}

// arguments returns the arguments of a run with the till and a budget.
func (v *till) arguments(maxCost string, more ...string) []string {
	return append([]string{
		"run", "--data", "items.jsonl", "--judge", "universal", "--model", "openai:dear", "--base-url", v.url,
		"--prices", "dear.json", "--max-cost", maxCost, "--max-tokens", "20", "-j", "8", "--max-unjudged", "100%",
	}, more...)
}

// budgetFolder returns a folder with items and with prices of one dollar per million
// tokens.
func budgetFolder(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	writeItems(t, dir, n, func(i int) string { return fmt.Sprintf("it is %d", i) })
	prices := `{"version": "test", "date": "2026-11-15", "prices": [{"model": "openai:dear", "input": 1, "output": 1}]}`
	if err := os.WriteFile(filepath.Join(dir, "dear.json"), []byte(prices), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// checkBill checks that the recorded cost plus the money set aside is within the budget,
// and not less than the vendor's bill.
func checkBill(t *testing.T, dir string, v *till, most int64) store.Run {
	t.Helper()
	var runs []store.Run
	if err := json.Unmarshal([]byte(run(t, dir, 0, "list", "runs", "--all", "--json").out.String()), &runs); err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	r, billed := runs[0], v.billed.Load()
	t.Logf("%d calls billed %d; %d records cost %d, %d set aside, of %d", v.calls.Load(), billed, r.Records, r.CostMicros, r.SetAsideMicros, most)
	if counted := r.CostMicros + r.SetAsideMicros; counted > most || counted < billed {
		t.Errorf("%d recorded and %d set aside, want at most %d and at least the bill of %d", r.CostMicros, r.SetAsideMicros, most, billed)
	}
	return r
}

// TestBudget uses vendors that hide the cost of a call in every way, and runs the same
// command three times.
func TestBudget(t *testing.T) {
	whole := func(usage func(n int64, in, out int) string) func(w http.ResponseWriter, n int64, text string, in, out int) {
		return func(w http.ResponseWriter, n int64, text string, in, out int) {
			writeAnswer(w, text, usage(n, in, out))
		}
	}
	for _, tt := range []struct {
		name      string
		reply     func(w http.ResponseWriter, n int64, text string, in, out int)
		estimated bool // some records are estimated
	}{
		{"usage", whole(func(_ int64, in, out int) string { return usageOf(in, out) }), false},
		{"no usage", whole(func(int64, int, int) string { return "" }), true},
		{"null usage", whole(func(int64, int, int) string { return `,"usage":null` }), true},
		{"usage in every second reply", whole(func(n int64, in, out int) string { return usageOf(in*int(n%2), out*int(n%2)) }), true},
		{"zero usage", whole(func(int64, int, int) string { return usageOf(0, 0) }), true},
		{"negative usage", whole(func(_ int64, in, out int) string { return usageOf(-in, -out) }), true},
		{"tiny usage", whole(func(int64, int, int) string { return usageOf(1, 1) }), true},
		{"every second body cut", func(w http.ResponseWriter, n int64, text string, in, out int) {
			if n%2 == 0 {
				w.Header().Set("Content-Length", "1000")
			}
			writeAnswer(w, text, usageOf(in, out))
		}, false},
		{"every second body not JSON", func(w http.ResponseWriter, n int64, text string, in, out int) {
			if n%2 == 0 {
				_, _ = io.WriteString(w, `{"choices": [oops`)
				return
			}
			writeAnswer(w, text, usageOf(in, out))
		}, false},
		{"half of JSON", func(w http.ResponseWriter, n int64, text string, in, out int) {
			if n%2 == 0 {
				_, _ = io.WriteString(w, `{"id":"1","choices":[{"index":0,"message":{"role":"assi`)
				return
			}
			writeAnswer(w, text, usageOf(in, out))
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, dir := newTill(t, tt.reply), budgetFolder(t, 60)
			for range 3 {
				start(t, dir, v.arguments("0.006", "--retries", "1")...).wait(t)
				checkBill(t, dir, v, 6000)
			}
			if n := v.calls.Load(); n < 5 {
				t.Errorf("%d calls, want that some are paid for", n)
			}
			var found struct {
				Calls struct{ Estimated int }
			}
			p := start(t, dir, "report", "--json", "--max-unjudged", "100%")
			p.wait(t)
			if err := json.Unmarshal([]byte(p.out.String()), &found); err != nil || (found.Calls.Estimated > 0) != tt.estimated {
				t.Errorf("%d calls are estimated, %v", found.Calls.Estimated, err)
			}
		})
	}
}

// TestBudgetHung makes every fourth call hang. The money set aside for it counts each time
// the command is run again, until the user releases it.
func TestBudgetHung(t *testing.T) {
	t.Parallel()
	var v *till
	v = newTill(t, func(w http.ResponseWriter, n int64, text string, in, out int) {
		if n%4 == 0 {
			<-v.over
			return
		}
		writeAnswer(w, text, usageOf(in, out))
	})
	dir := budgetFolder(t, 60)
	for range 4 {
		start(t, dir, v.arguments("0.008", "--timeout", "200ms", "--retries", "0", "--retry-unjudged")...).wait(t)
		checkBill(t, dir, v, 8000)
	}
	before := checkBill(t, dir, v, 8000)
	if before.SetAsideMicros == 0 {
		t.Error("nothing is set aside after calls that timed out")
	}
	run(t, dir, 0, "queue", "settle", "last")
	var runs []store.Run
	if err := json.Unmarshal([]byte(run(t, dir, 0, "list", "runs", "--json").out.String()), &runs); err != nil || runs[0].SetAsideMicros != 0 || runs[0].CostMicros != before.CostMicros {
		t.Errorf("after settle: %+v, %v", runs, err)
	}
}

// TestBudgetKilled kills the command ten times while calls are in flight, and resumes it.
func TestBudgetKilled(t *testing.T) {
	notQuick(t)
	t.Parallel()
	v := newTill(t, func(w http.ResponseWriter, _ int64, text string, in, out int) {
		time.Sleep(20 * time.Millisecond)
		writeAnswer(w, text, usageOf(in, out))
	})
	dir := budgetFolder(t, 600)
	for kill := range 10 {
		p, before := start(t, dir, v.arguments("0.2")...), v.calls.Load()
		for deadline := time.Now().Add(longest); v.calls.Load() < before+int64(10+kill) && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		_ = p.cmd.Process.Kill()
		p.wait(t)
		checkBill(t, dir, v, 200_000)
	}
	start(t, dir, v.arguments("0.2")...).wait(t)
	if r := checkBill(t, dir, v, 200_000); r.Records < 100 {
		t.Errorf("%d records, want that most of the budget is used", r.Records)
	}
}
