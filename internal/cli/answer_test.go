package cli_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deem/internal/test/modeltest"
	"deem/report"
)

// writeContexts writes n questions with contexts and references.
func writeContexts(t *testing.T, dir string, n int) {
	t.Helper()
	var text strings.Builder
	enc := json.NewEncoder(&text)
	for i := range n {
		err := enc.Encode(map[string]any{
			"question_id": fmt.Sprintf("q%d", i), "question": fmt.Sprintf("Which number is number %d?", i), "gold_answer": fmt.Sprint(i),
			"contexts": []any{map[string]any{"id": fmt.Sprintf("m%d", i), "text": fmt.Sprintf("Number %d is %d.", i, i), "score": 0.5}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "contexts.jsonl"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// answerArgs returns the arguments of a run that answers and judges.
func answerArgs(srv *modeltest.Server, more ...string) []string {
	return append([]string{
		"run", "--contexts", "contexts.jsonl", "--reader-model", "openai:reader", "--judge", "universal", "--model", "openai:judge", "--base-url", srv.URL,
	}, more...)
}

// The budget of a run is one for its reader and its judge, also after a kill.
func TestBudgetOfAnswersAndVerdicts(t *testing.T) {
	notQuick(t)
	t.Parallel()
	const limit = 8_000_000 // millionths of a dollar, for about a third of the items
	srv := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
		reply := modeltest.Say("CORRECT")
		reply.Delay = time.Millisecond
		return reply
	})
	dir := t.TempDir()
	writeContexts(t, dir, 300)
	prices := `{"prices": [{"model": "openai:reader", "input": 100, "output": 100}, {"model": "openai:judge", "input": 100, "output": 100}]}`
	if err := os.WriteFile(filepath.Join(dir, "prices.json"), []byte(prices), 0o600); err != nil {
		t.Fatal(err)
	}
	args := answerArgs(srv, "-j", "1", "--prices", "prices.json", "--max-cost", "8.00")
	p := start(t, dir, args...)
	until(t, "requests", func() bool { return srv.Requests() >= 20 })
	kill(t, p)
	before := srv.Requests()
	p = run(t, dir, 1, args...)
	if !strings.Contains(p.err.String(), "--max-cost") {
		t.Errorf("the run did not end for its budget:\n%s", p.err.String())
	}
	var r report.Report
	if err := json.Unmarshal([]byte(run(t, dir, 0, "report", "--json", "--max-unjudged", "100%").out.String()), &r); err != nil {
		t.Fatal(err)
	}
	if after := srv.Requests(); after <= before || r.Calls.CostMicros < limit/2 || r.Calls.CostMicros > limit {
		t.Errorf("%d requests before the kill and %d in all cost %d, want more than before and at most %d", before, after, r.Calls.CostMicros, limit)
	}
}

// A run that answers and judges is killed in the middle of both. The same command resumes it:
// nothing is asked again but what was in flight, every item has one record, and the run file
// proves all of it.
func TestKilledWhileAnswering(t *testing.T) {
	notQuick(t)
	t.Parallel()
	const n, j, kills, window = 300, 16, 4, 2 * 128 // a commit in progress, and one being collected
	var asked, most atomic.Int64
	srv := modeltest.NewServer(t, func(a modeltest.Asked) modeltest.Answer {
		reply := modeltest.Say("The number is in the contexts.")
		if !strings.Contains(a.Prompt(), "Passages:") {
			reply = modeltest.Say("CORRECT")
		}
		reply.Delay = 5 * time.Millisecond
		reply.Hang = asked.Add(1) > most.Load()
		return reply
	})
	dir := t.TempDir()
	writeContexts(t, dir, n)
	args := answerArgs(srv, "-j", fmt.Sprint(j))
	for _, after := range moments(t, kills, 2*n*8/10) {
		most.Store(int64(after + n/10))
		p := start(t, dir, args...)
		until(t, "requests", func() bool { return srv.Requests() >= after })
		kill(t, p)
	}
	most.Store(math.MaxInt64)
	p := run(t, dir, 0, args...)
	if !strings.Contains(p.err.String(), "resumes") {
		t.Errorf("the run was not continued:\n%s", p.err.String())
	}
	seen := records(t, dir)
	if len(seen) != n {
		t.Errorf("%d items have a record, want %d", len(seen), n)
	}
	for id, c := range seen {
		if c != 1 {
			t.Errorf("item %s has %d records", id, c)
		}
	}
	again := 0
	for _, c := range srv.Counts() {
		again += c - 1
	}
	if len(srv.Counts()) != 2*n || again > kills*(j+window) {
		t.Errorf("%d requests and %d of them again, want %d and at most %d", len(srv.Counts()), again, 2*n, kills*(j+window))
	}
	run(t, dir, 0, "export", "-o", "run.deem")
	run(t, dir, 0, "verify", "run.deem")
}
