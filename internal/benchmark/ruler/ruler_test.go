package ruler_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/ruler"
	"deem/internal/text"
)

// scored returns the score of a response in per cent, or -1 for a failure.
func scored(t *testing.T, reading, task, response string, refs ...string) float64 {
	t.Helper()
	j, err := ruler.Benchmark().Judge(ruler.Name, benchmark.Options{Reading: reading})
	if err != nil {
		t.Fatal(err)
	}
	v, err := j.Rule.Judge(t.Context(), deem.Item{ID: "1", Category: task, References: refs, Response: response})
	if _, ok := errors.AsType[*deem.Failure](err); ok {
		return -1
	}
	return text.Round(100*v.Score, 2)
}

// TestReadings checks where the readings differ.
func TestReadings(t *testing.T) {
	for _, tt := range []struct {
		task, response   string
		refs             []string
		strict, upstream float64
	}{
		{"niah_single_1", "It is 7392104.", []string{"7392104"}, 100, 100},
		{"niah_single_1", "It is 73921045.", []string{"7392104"}, 0, 100},
		{"niah_multivalue", "12, 34", []string{"12", "34", "56"}, 66.67, 66.67},
		{"vt", "VAR ABCDE, abc", []string{"ABC", "ABCDE"}, 100, 100},
		{"vt", "VAR ABCDE", []string{"ABC", "ABCDE"}, 50, 100},
		{"qa_1", "In New York, I think", []string{"Paris", "new york"}, 100, 100},
		{"qa_1", "nobody knows", []string{"no"}, 0, 100},
		{"qa_2", "yes", []string{""}, -1, 100},
		{"cwe", "a", nil, -1, -1},
		{"other", "a", []string{"a"}, -1, -1},
	} {
		strict, upstream := scored(t, "", tt.task, tt.response, tt.refs...), scored(t, ruler.Upstream, tt.task, tt.response, tt.refs...)
		if strict != tt.strict || upstream != tt.upstream {
			t.Errorf("%s %q: %v and %v, want %v and %v", tt.task, tt.response, strict, upstream, tt.strict, tt.upstream)
		}
	}
}

// published are our names for the kinds of tasks in the vectors.
var published = map[string]string{"niah": "niah_single_1", "variable_tracking": "vt", "common_words_extraction": "cwe", "freq_words_extraction": "fwe", "qa": "qa_1"}

// TestVectors compares the upstream reading with upstream's program.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "longcontext", "ruler.json"))
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	var vectors struct {
		Vectors []struct {
			Name, Task, Pred string
			Refs             []string
			Score            *float64
		}
		Aggregate []struct {
			Task  string
			Preds []string
			Refs  [][]string
			Score float64
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Vectors) != 75 || len(vectors.Aggregate) != 4 {
		t.Fatalf("%d and %d vectors, want 75 and 4", len(vectors.Vectors), len(vectors.Aggregate))
	}
	for _, v := range vectors.Vectors {
		want := -1.0 // upstream stops
		if v.Score != nil {
			want = *v.Score
		}
		if got := scored(t, ruler.Upstream, published[v.Task], v.Pred, v.Refs...); got != want {
			t.Errorf("%s, %s: %v, want %v", v.Task, v.Name, got, want)
		}
	}
	for i, a := range vectors.Aggregate {
		m, err := ruler.Benchmark().Metrics(t.Context(), benchmark.Options{Reading: ruler.Upstream})
		if err != nil {
			t.Fatal(err)
		}
		for k, pred := range a.Preds {
			m.Add(deem.Record{Judge: ruler.Name, Item: deem.Item{Category: published[a.Task], References: a.Refs[k], Response: pred}})
		}
		for _, l := range m.(*benchmark.Table).ReadingLines() {
			if got := text.Round(100*l.Estimate.Value, 2); l.Chosen && got != a.Score {
				t.Errorf("file %d: %v, want %v", i, got, a.Score)
			}
		}
	}
}
