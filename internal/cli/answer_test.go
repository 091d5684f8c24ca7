package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deem"
	"deem/bundle"
	"deem/internal/catalog"
	"deem/internal/reader"
	"deem/internal/reports"
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

// The run file of answers proves what the reader saw: a context that differs by one byte is
// found even in a file that was written anew with all its hashes, and so is what the run says
// about its reader and its questions.
func TestChangedContextIsFound(t *testing.T) {
	t.Parallel()
	srv := modeltest.NewServer(t, func(a modeltest.Asked) modeltest.Answer { return modeltest.Say("CORRECT") })
	dir := t.TempDir()
	writeContexts(t, dir, 3)
	run(t, dir, 0, answerArgs(srv)...)
	run(t, dir, 0, "export", "-o", "run.deem")
	for _, c := range []struct {
		name   string
		change func(src *bundle.Source, records []deem.Record, set *reports.Settings)
		want   string // "" if nothing is wrong
	}{
		{"nothing", func(*bundle.Source, []deem.Record, *reports.Settings) {}, ""},
		{"a byte of a context", func(src *bundle.Source, records []deem.Record, _ *reports.Settings) {
			it := &records[1].Item
			it.Fields = map[string]string{reader.FieldContexts: strings.Replace(it.Fields[reader.FieldContexts], "Number 1 is 1.", "Number 1 is 2.", 1)}
		}, "the judge asked for something the record does not hold"},
		{"the tokens of contexts", func(_ *bundle.Source, _ []deem.Record, set *reports.Settings) { set.Reader.Tokens++ }, "the run says that its items were answered by"},
		{"the budget", func(_ *bundle.Source, _ []deem.Record, set *reports.Settings) { set.Reader.Budget = 7 }, "the run says that its items were answered by"},
		{"the questions", func(_ *bundle.Source, _ []deem.Record, set *reports.Settings) {
			set.Reader.Questions = strings.Repeat("0", 64)
		}, "questions 000000000000"},
	} {
		f, err := os.Open(filepath.Join(dir, "run.deem"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := bundle.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		src := bundle.Source{Run: r.Run, Judge: r.Judge, Software: "a test"}
		var records []deem.Record
		for rec, err := range r.Records() {
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, rec)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		var set reports.Settings
		if err := json.Unmarshal(src.Run.Settings, &set); err != nil {
			t.Fatal(err)
		}
		c.change(&src, records, &set)
		if src.Run.Settings, err = json.Marshal(set); err != nil {
			t.Fatal(err)
		}
		src.Run.Dataset.Hash, _ = deem.DatasetHash(func(yield func(deem.Item, error) bool) {
			for _, rec := range records {
				rec.Item.Response = ""
				if !yield(rec.Item, nil) {
					return
				}
			}
		})
		src.Records = func(yield func(deem.Record, error) bool) {
			for _, rec := range records {
				if !yield(rec, nil) {
					return
				}
			}
		}
		var file bytes.Buffer
		if _, err := bundle.Write(&file, src); err != nil {
			t.Fatal(err)
		}
		v, err := reports.Verify(t.Context(), &file, reports.VerifyOptions{Restore: catalog.Restore})
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(v.Findings, func(f bundle.Finding) bool { return strings.Contains(f.Message, c.want) })
		if found != (c.want != "") || v.OK() != (c.want == "") {
			t.Errorf("%s changed: findings %v, want one that says %q", c.name, v.Findings, c.want)
		}
	}
}
