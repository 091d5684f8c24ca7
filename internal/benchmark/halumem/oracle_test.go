package halumem_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark/halumem"
	"deem/judge"
	"deem/model/fake"
)

// TestOracle runs a results file full of traps end to end, and compares with a Python
// program that uses str.format, re, json.loads and int(): the same prompts, by which
// replies are found, and the same file of statistics, byte for byte. The text in the file
// consists of braces, fences, quotes and characters of several scripts; replies are fenced,
// half fenced or not fenced, with scores that are strings, fractions, booleans and lists.
func TestOracle(t *testing.T) {
	data, err := os.ReadFile("testdata/oracle/replies.json")
	if err != nil {
		t.Fatal(err)
	}
	var replies map[string]string // by the SHA-256 of the prompt
	if err := json.Unmarshal(data, &replies); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	m := fake.Func("oracle", func(_ context.Context, req deem.Request) (deem.Reply, error) {
		key := sha(req.Messages[0].Content)
		if _, ok := replies[key]; !ok {
			t.Errorf("the other program did not ask:\n%s", req.Messages[0].Content)
		}
		asked[key] = true
		return deem.Reply{Text: replies[key], Stop: deem.StopEnd}, nil
	})
	s := open(t, halumem.Options{Data: []string{"testdata/oracle/x_eval_results.jsonl"}})
	metrics := halumem.NewMetrics("")
	for rec, err := range deem.Run(t.Context(), s.Items(), judge.New(protocol(t, ""), m), deem.Options{Concurrency: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		metrics.Add(rec)
	}
	if len(asked) != len(replies) {
		t.Errorf("%d prompts, the other program had %d", len(asked), len(replies))
	}
	var got bytes.Buffer
	if err := metrics.WriteStats(&got); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/oracle/want.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" || strings.Contains(got.String(), "deem_notes") {
		t.Errorf("-want +got:\n%s", diff)
	}
}
