package oolong_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/oolong"
)

// scored returns the score of a response, or -1 for a failure.
func scored(t *testing.T, reading, kind, answer, response string) float64 {
	t.Helper()
	j, err := oolong.Benchmark().Judge(oolong.Name, benchmark.Options{Reading: reading})
	if err != nil {
		t.Fatal(err)
	}
	it := deem.Item{ID: "1", References: []string{answer}, Response: response}
	if kind != "" {
		it.Fields = map[string]string{"answer_type": "ANSWER_TYPE." + kind}
	}
	v, err := j.Rule.Judge(t.Context(), it)
	if _, ok := errors.AsType[*deem.Failure](err); ok {
		return -1
	}
	return v.Score
}

// TestReadings checks where the readings differ.
func TestReadings(t *testing.T) {
	for _, tt := range []struct {
		kind, answer, response string
		strict, upstream       float64
	}{
		{"NUMERIC", "[10]", "Answer: 10", 1, 1},
		{"NUMERIC", "[10]", "Answer: 11", .75, .75},
		{"NUMERIC", "[10]", "Answer: 10\nNote: none", 1, 0},
		{"NUMERIC", "[10]", "**Final answer:** 10.0", 1, 0},
		{"NUMERIC", "[1000]", "Answer: 1,000.", 1, 0},
		{"NUMERIC", "[10]", "I counted: ten", 0, 0},
		{"LABEL", "['spam']", "Label: Spam.", 1, 0},
		{"COMPARISON", "['more common than']", "Answer: A is more common than B here", 1, 1},
		{"COMPARISON", "['more common than']", "Answer: not more common than the other", 0, 1},
		{"DATE", "[datetime.date(2023, 1, 5)]", "Date: January 5th, 2023", 1, 1},
		{"DATE", "[datetime.date(2023, 1, 5)]", "Date: the fifth of 2023", -1, -1},
		{"NUMERIC", "[]", "Answer: 1", -1, -1},
		{"", "Fireball, Shield", `\boxed{Fireball, Shield, Light, Bless}`, 2. / 3, 1},
		{"", "Fireball, Shield", `\boxed{fireball, shield}`, 1, 0},
		{"", "Fireball, Shield", `\boxed{Fireball}`, 2. / 3, 0},
		{"", "84", `\boxed{80}, no: \boxed{84}`, 1, .31640625},
		{"", "1,000", `\boxed{1000}`, 1, 0},
		{"", "Fjord", `\boxed{fjord}`, 1, 1},
	} {
		strict, upstream := scored(t, "", tt.kind, tt.answer, tt.response), scored(t, oolong.Upstream, tt.kind, tt.answer, tt.response)
		if strict != tt.strict || upstream != tt.upstream {
			t.Errorf("%s, %q: %v and %v, want %v and %v", tt.answer, tt.response, strict, upstream, tt.strict, tt.upstream)
		}
	}
}

// TestVectors compares the upstream reading with upstream's functions.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "longcontext", "oolong.json"))
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	var vectors struct {
		Vectors []struct {
			Name, Split, Answer, Output string
			Type                        string `json:"answer_type"`
			Score                       *float64
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Vectors) != 82 {
		t.Fatalf("%d vectors, want 82", len(vectors.Vectors))
	}
	for _, v := range vectors.Vectors {
		want, kind := -1.0, ""
		if v.Score != nil {
			want = *v.Score
		}
		if v.Type != "" {
			kind = v.Type[len("ANSWER_TYPE."):]
		}
		if got := scored(t, oolong.Upstream, kind, v.Answer, v.Output); got != want {
			t.Errorf("%s %s, %q: %v, want %v", v.Split, v.Answer, v.Output, got, want)
		}
	}
}
