package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deem/internal/store"
)

// A greedy vendor bills, from some call on, a multiple of what a request allows.
type greedy struct {
	*till
	most atomic.Int64 // the highest bill of one call
	sum  atomic.Int64
}

// quiet is the number of calls that a greedy vendor bills as agreed, so that calls are in
// flight when the first of the others ends.
const quiet = 20

// asAgreed is what a call of these tests costs at most if its vendor keeps to the request.
const asAgreed = 1500

func newGreedy(t *testing.T, times int) *greedy {
	t.Helper()
	g := &greedy{}
	g.till = newTill(t, func(w http.ResponseWriter, n int64, text string, in, out int) {
		time.Sleep(5 * time.Millisecond)
		if n > quiet {
			out = times * asAgreed
		}
		bill := int64(in + out)
		g.sum.Add(bill)
		for most := g.most.Load(); bill > most && !g.most.CompareAndSwap(most, bill); most = g.most.Load() {
		}
		writeAnswer(w, text, usageOf(in, out))
	})
	return g
}

// absurd is a factor that no reply can have: its usage is not believed.
const absurd = 1_000_000_000_000_000

// checkGreedy checks the end of a run on a budget: it cost no more than the budget and the
// calls in flight, and its report says so.
func checkGreedy(t *testing.T, g *greedy, r store.Run, report string, times, j int, budget int64) {
	t.Helper()
	counted := r.CostMicros + r.SetAsideMicros
	t.Logf("%d calls; %d recorded, %d set aside of %d, the dearest call %d", g.calls.Load(), r.CostMicros, r.SetAsideMicros, budget, g.most.Load())
	if g.calls.Load() <= quiet {
		t.Errorf("%d calls, want some that cost too much", g.calls.Load())
	}
	var found struct {
		Notes []string
		Calls struct{ Estimated int }
		Over  *struct {
			Max   int64 `json:"max_micros"`
			Over  int64 `json:"over_micros"`
			Times int64
		} `json:"overspent"`
	}
	if err := json.Unmarshal([]byte(report), &found); err != nil {
		t.Fatalf("%v in %s", err, report)
	}
	notes := strings.Join(found.Notes, "\n")
	if times == absurd {
		if counted > budget || found.Calls.Estimated == 0 || !strings.Contains(notes, "no believable number of tokens") {
			t.Errorf("%d counted of %d, %d calls estimated, notes:\n%s", counted, budget, found.Calls.Estimated, notes)
		}
		return
	}
	if billed, bound := g.sum.Load(), budget+int64(j)*g.most.Load(); billed > bound || counted < billed {
		t.Errorf("%d billed and %d counted, want at most %d and %d calls in flight: %d", billed, counted, budget, j, bound)
	}
	if counted <= budget { // The first such reply left some money, but less than another may cost.
		if found.Over != nil || times > 20 {
			t.Errorf("%d counted of %d, and the report says %+v", counted, budget, found.Over)
		}
		return
	}
	if o := found.Over; o == nil || o.Max != budget || o.Over != counted-budget || o.Times < 2 || !strings.Contains(notes, "more than its budget of") {
		t.Errorf("the report says %+v, want %d above %d, notes:\n%s", o, counted-budget, budget, notes)
	}
}

// TestOverspend runs commands on a budget with a vendor that bills far more than a request
// allows. The runs end, and stay ended when they are resumed.
func TestOverspend(t *testing.T) {
	for _, times := range []int{20, 600, absurd} {
		for _, j := range []int{1, 8, 16} {
			t.Run(fmt.Sprintf("%d times with -j %d", times, j), func(t *testing.T) {
				t.Parallel()
				const budget = 50_000
				g, dir := newGreedy(t, times), budgetFolder(t, 300)
				args := g.arguments("0.05", "-j", fmt.Sprint(j))
				var before int64
				for part := range 2 {
					if code := start(t, dir, args...).wait(t); code != 1 {
						t.Errorf("exit code %d, want 1", code)
					}
					if part == 1 && times != absurd && g.calls.Load() != before {
						t.Errorf("%d further calls of an overspent run that was resumed", g.calls.Load()-before)
					}
					before = g.calls.Load()
				}
				var runs []store.Run
				if err := json.Unmarshal([]byte(run(t, dir, 0, "list", "runs", "--json").out.String()), &runs); err != nil || len(runs) != 1 {
					t.Fatalf("%d runs, %v", len(runs), err)
				}
				p := start(t, dir, "report", "--json", "--max-unjudged", "100%")
				p.wait(t)
				checkGreedy(t, g, runs[0], p.out.String(), times, j, budget)
				if text := start(t, dir, "report", "--max-unjudged", "100%"); times == 600 {
					if text.wait(t); !strings.Contains(text.out.String(), "budget") {
						t.Errorf("the text does not say it:\n%s", text.out.String())
					}
				}
			})
		}
	}
}

// TestOverspendOnAServer is TestOverspend over HTTP. One server limits each run, and the
// other all runs together.
func TestOverspendOnAServer(t *testing.T) {
	for _, times := range []int{20, 600, absurd} {
		for _, j := range []int{1, 8, 16} {
			for _, flag := range []string{"--max-cost", "--max-total"} {
				t.Run(fmt.Sprintf("%d times with -j %d %s", times, j, flag), func(t *testing.T) {
					t.Parallel()
					overspendOnAServer(t, times, j, flag)
				})
			}
		}
	}
}

func overspendOnAServer(t *testing.T, times, j int, flag string) {
	const budget = 50_000
	g, dir := newGreedy(t, times), budgetFolder(t, 0)
	s := startServer(t, dir, []string{"OPENAI_API_KEY=sk-test-0123456789abcdef"}, "--model", "openai:dear", "--base-url", g.url,
		"--prices", "dear.json", "-j", fmt.Sprint(j), flag, "0.05")
	var items []map[string]any
	for i := range 300 {
		items = append(items, map[string]any{"id": fmt.Sprint("q", i), "question": "Which number?", "references": []string{fmt.Sprint(i)}, "response": fmt.Sprint("it is ", i)})
	}
	body, err := json.Marshal(map[string]any{"items": items, "judge": "universal"})
	if err != nil {
		t.Fatal(err)
	}
	status, got := s.ask(t, http.MethodPost, "/api/v1/runs", string(body))
	id, _ := got["id"].(string)
	if status >= 300 || id == "" {
		t.Fatalf("status %d, %v", status, got)
	}
	var state any
	until(t, "the run to end", func() bool {
		_, got := s.ask(t, http.MethodGet, "/api/v1/runs/"+id, "")
		state = got["state"]
		time.Sleep(20 * time.Millisecond)
		return state != "judging"
	})
	var runs []store.Run
	until(t, "the money to be returned", func() bool {
		runs = nil
		err := json.Unmarshal([]byte(run(t, dir, 0, "list", "runs", "--json").out.String()), &runs)
		return err == nil && len(runs) == 1 && runs[0].SetAsideMicros == 0
	})
	resp, err := http.Get(s.url + "/api/v1/runs/" + id + "/report")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	report, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the run ended as %v", state)
	if flag == "--max-cost" {
		checkGreedy(t, g, runs[0], string(report), times, j, budget)
		return
	}
	if bound := budget + int64(j)*g.most.Load(); times != absurd && g.sum.Load() > bound || times == absurd && runs[0].CostMicros > budget {
		t.Errorf("%d billed and %d counted by all runs, want at most %d", g.sum.Load(), runs[0].CostMicros, bound)
	}
}
