package published_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/published"
)

// rowsOf writes rows with a verdict, one for each id and category, and opens them.
func rowsOf(t *testing.T, benchmark string, pairs ...string) (*published.Set, error) {
	t.Helper()
	var text strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(&text, `{"id":%q,"category":%q,"question":"How many?","answer":"3","response":"three","correct":true}`+"\n", pairs[i], pairs[i+1])
	}
	file := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return published.Open(t.Context(), published.Source{Names: []string{file}, Benchmark: benchmark})
}

// TestBenchmarkOfRows checks that LongMemEval is detected by what only it has, that other
// rows are not mistaken for it, and that the user is asked if it is unclear.
func TestBenchmarkOfRows(t *testing.T) {
	for _, tt := range []struct {
		name  string
		told  string
		pairs []string // id and category
		want  string
		asks  string // words of the question
	}{
		{"its own types", "", []string{"1", "single-session-user", "2", "knowledge-update"}, "longmemeval", ""},
		{"common types, its ids", "", []string{"gpt4_2655b836", "temporal-reasoning", "0a995998_abs", "multi-session", "gpt4_e061b84g", "knowledge-update"}, "longmemeval", ""},
		{"one common type among others", "", []string{"gpt4_2655b836", "knowledge-update", "e47becba", "single-fact"}, "", ""},
		{"other categories", "", []string{"gpt4_2655b836", "temporal", "e47becba", "update"}, "", ""},
		{"a word in another spelling", "", []string{"gpt4_2655b836", "Knowledge-Update", "e47becba", "knowledge_update"}, "", ""},
		{"no category", "", []string{"gpt4_2655b836", "", "e47becba", ""}, "", ""},
		{"common types, ids of others", "", []string{"q1", "knowledge-update", "q2", "multi-session"}, "", "all categories are types of its questions (knowledge-update, multi-session), but neither ids"},
		{"one id of others", "", []string{"gpt4_2655b836", "knowledge-update", "2", "knowledge-update"}, "", "but neither ids nor columns are its own"},
		{"a long hexadecimal id", "", []string{"d41d8cd98f00b204e9800998ecf8427e", "knowledge-update"}, "", "but neither ids nor columns are its own"},
		{"its own types and others", "", []string{"1", "single-session-user", "2", "abstention"}, "", "types that only it has (single-session-user), but 1 row of 2 rows"},
		{"the user says so", "longmemeval", []string{"q1", "knowledge-update"}, "longmemeval", ""},
		{"the user says so of strange rows", "longmemeval", []string{"1", "single-session-user", "2", "abstention"}, "longmemeval", ""},
		{"the user says not", "none", []string{"gpt4_2655b836", "single-session-user"}, "", ""},
		{"not LoCoMo, whatever the user says", "locomo", []string{"1", "single-session-user"}, "", "these are not results of LoCoMo"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := rowsOf(t, tt.told, tt.pairs...)
			switch {
			case tt.asks == "" && err != nil:
				t.Errorf("Open: %v", err)
			case tt.asks == "" && s.Benchmark != tt.want:
				t.Errorf("Benchmark = %q, want %q", s.Benchmark, tt.want)
			case tt.asks == "":
			case err == nil || !strings.Contains(err.Error(), tt.asks):
				t.Errorf("Open: error %v, want %q", err, tt.asks)
			case tt.told == "" && !strings.Contains(deem.HintOf(err), "--benchmark longmemeval"):
				t.Errorf("the hint is %q, want the flag that decides", deem.HintOf(err))
			}
		})
	}
}

// TestColumnsOfLongMemEval checks that the columns of its files count, but not alone.
func TestColumnsOfLongMemEval(t *testing.T) {
	for text, want := range map[string]string{
		`{"question_id":"a","question_type":"multi-session","question":"Q?","answer":"3","response":"3","correct":true}`: "longmemeval",
		`{"question_id":"a","category":"multi-session","answer":"3","hypothesis":"3","label":"yes"}`:                     "longmemeval",
		`{"question_id":"a","question_type":"update","question":"Q?","answer":"3","response":"3","correct":true}`:        "",
		`{"question_id":"a","category":"knowledge-updates","answer":"3","hypothesis":"3","label":"yes"}`:                 "",
	} {
		file := filepath.Join(t.TempDir(), "rows.jsonl")
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := published.Open(t.Context(), published.Source{Names: []string{file}})
		if err != nil || s.Benchmark != want {
			t.Errorf("%s: Benchmark = %q, error %v, want %q", text, s.Benchmark, err, want)
		}
	}
}

// TestBenchmarkOfOthers checks that a benchmark cannot be set for files with their own
// shape.
func TestBenchmarkOfOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.json")
	text := `{"eval":{"model":"m"},"samples":[{"id":"a","epoch":1,"input":"Q?","target":"A","output":{"completion":"A"},"scores":{"g":{"value":"C"}}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := published.Open(t.Context(), published.Source{Names: []string{file}, Benchmark: "longmemeval"})
	if err == nil || !strings.Contains(err.Error(), "log of inspect, for which there is no way of choosing the benchmark") {
		t.Errorf("Open: %v, want a refusal", err)
	}
}
