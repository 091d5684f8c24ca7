package graphwalks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/graphwalks"
)

// scored returns the score of a response under a reading.
func scored(t *testing.T, reading, response string, truth ...string) float64 {
	t.Helper()
	j, err := graphwalks.Benchmark().Judge(graphwalks.Name, benchmark.Options{Reading: reading})
	if err != nil {
		t.Fatal(err)
	}
	v, err := j.Rule.Judge(t.Context(), deem.Item{ID: "1", References: truth, Response: response})
	if err != nil {
		t.Fatal(err)
	}
	return v.Score
}

// TestReadings is the table of answers and readings in the page about the benchmark.
func TestReadings(t *testing.T) {
	two := []string{"ab", "cd"}
	for _, tt := range []struct {
		response string
		truth    []string
		want     string // strict, card-2026, lm-eval, lm-eval-flexible, openbench
	}{
		{"Final Answer: [ab, cd]", two, "1.00 0.50 1.00 1.00 1.00"},
		{"Final Answer: [cd]", two, "0.67 1.00 0.67 0.67 0.67"},
		{"Final Answer: [ab, zz]", two, "0.50 1.00 0.50 0.50 0.50"},
		{"Final Answer: [zz]", two, "0.00 1.00 0.00 0.00 0.00"},
		{"I cannot answer that.", two, "0.00 1.00 0.00 0.00 0.00"},
		{"Final Answer: []", nil, "1.00 1.00 0.00 0.00 0.00"},
		{"Final Answer: [ab, cd]\n", two, "1.00 1.00 1.00 1.00 0.00"},
		{"Final Answer: [ab, cd]\nDone.", two, "0.00 1.00 0.00 1.00 0.00"},
		{"**Final Answer: [ab, cd]**", two, "0.00 0.50 1.00 1.00 0.00"},
		{"final answer: [ab, cd]", two, "0.00 1.00 0.00 0.00 1.00"},
	} {
		got := ""
		for _, reading := range graphwalks.Benchmark().Readings {
			got += fmt.Sprintf(" %.2f", scored(t, reading, tt.response, tt.truth...))
		}
		if got[1:] != tt.want {
			t.Errorf("%q: %s, want %s", tt.response, got[1:], tt.want)
		}
	}
}

// TestVectors compares the readings with the published programs.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "longcontext", "graphwalks.json"))
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	var vectors struct {
		Vectors []struct {
			Name, Response string
			Truth          []string
			Strict         float64
			Card           float64 `json:"card_2026"`
			LMEval         float64 `json:"lm_eval_f1"`
			Flexible       float64 `json:"lm_eval_flexible_f1"`
			OpenBench      float64 `json:"openbench_f1"`
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Vectors) != 68 {
		t.Fatalf("%d vectors, want 68", len(vectors.Vectors))
	}
	for _, v := range vectors.Vectors {
		for reading, want := range map[string]float64{
			graphwalks.Strict: v.Strict, graphwalks.Card2026: v.Card, graphwalks.LMEval: v.LMEval,
			graphwalks.LMEvalFlexible: v.Flexible, graphwalks.OpenBench: v.OpenBench,
		} {
			if got := scored(t, reading, v.Response, v.Truth...); got != want {
				t.Errorf("%s, %s: %v, want %v", v.Name, reading, got, want)
			}
		}
	}
}
