package longmemeval_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark/longmemeval"
	"deem/judge"
	"deem/model/replay"
)

// example is the folder of the example.
const example = "../../../examples/longmemeval"

// TestExample judges the example with its recorded replies, and checks that its page shows
// the result.
func TestExample(t *testing.T) {
	s := open(t, longmemeval.Options{
		Data: []string{filepath.Join(example, "questions.json")}, Responses: []string{filepath.Join(example, "hypotheses.jsonl")},
		RequireAll: true,
	})
	m, err := replay.Open(filepath.Join(example, "replies.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for reading, unjudged := range map[string]int{"upstream": 0, "strict": 1} {
		metrics := longmemeval.NewMetrics()
		for rec, err := range deem.Run(t.Context(), s.Items(), judge.New(protocol(t, reading), m), deem.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			metrics.Add(rec)
		}
		if all := metrics.Overall(); all.N+all.Unjudged != 14 || all.Right != 7 || all.Unjudged != unjudged {
			t.Errorf("read %s: %+v, want 7 right of 14 and %d unjudged", reading, all, unjudged)
		}
		var shown strings.Builder
		if err := metrics.Text(&shown); err != nil {
			t.Fatal(err)
		}
		if reading == "upstream" && !strings.Contains(page(t, filepath.Join(example, "README.md")), "```text\n"+shown.String()+"```\n") {
			t.Errorf("README.md does not show\n%s", shown.String())
		}
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPage checks that the page about the benchmark names everything that it must explain.
func TestPage(t *testing.T) {
	doc := page(t, "../../../docs/benchmarks/longmemeval.md")
	for _, word := range append(longmemeval.Readings(), kinds...) {
		if !strings.Contains(doc, "`"+word+"`") {
			t.Errorf("the page does not name `%s`", word)
		}
	}
	for _, hash := range promptHashes {
		if !strings.Contains(page(t, "../../../NOTICE"), hash) {
			t.Errorf("NOTICE does not name the prompt with SHA-256 %s", hash)
		}
	}
}
