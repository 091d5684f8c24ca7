package babilong_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/babilong"
)

// right reports whether a response is right under a reading.
func right(t *testing.T, reading, task, target, response, question string) bool {
	t.Helper()
	j, err := babilong.Benchmark().Judge(babilong.Name, benchmark.Options{Reading: reading})
	if err != nil {
		t.Fatal(err)
	}
	v, err := j.Rule.Judge(t.Context(), deem.Item{ID: "1", Category: task, Question: question, References: []string{target}, Response: response})
	if err != nil {
		t.Fatal(err)
	}
	return v.Score == 1
}

// TestReadings checks where the readings differ.
func TestReadings(t *testing.T) {
	for _, tt := range []struct {
		task, target, response, question string
		strict, upstream                 bool
	}{
		{"qa1", "hallway", "John is in the hallway.", "Where is John?", true, true},
		{"qa1", "hallway", "hallway or garden", "Where is John?", false, false},
		{"qa1", "hallway", "Mr. John is in the hallway.", "Where is John?", true, false},
		{"qa1", "hallway", "It is not the garden. It is the hallway.", "Where is John?", false, false},
		{"qa3", "kitchen", "Before the garden it was in the kitchen.", "Where was it before the garden?", true, true},
		{"qa6", "no", "I do not know", "Is John in the office?", false, true},
		{"qa6", "no", "No, he is not.", "Is John in the office?", true, true},
		{"qa7", "none", "none", "How many?", true, false},
		{"qa7", "one", "one", "How many?", true, true},
		{"qa8", "apple,milk", "milk and apple", "What?", true, true},
		{"qa8", "apple,milk", "apple", "What?", false, false},
		{"qa19", "s,e", "s, e", "How?", true, false},
		{"qa19", "n,n", "n,n,n", "How?", false, true},
		{"qa20", "tired", "retired", "Why?", false, true},
	} {
		strict, upstream := right(t, "", tt.task, tt.target, tt.response, tt.question), right(t, babilong.Upstream, tt.task, tt.target, tt.response, tt.question)
		if strict != tt.strict || upstream != tt.upstream {
			t.Errorf("%s %q: %t and %t, want %t and %t", tt.task, tt.response, strict, upstream, tt.strict, tt.upstream)
		}
	}
}

// TestVectors compares the upstream reading with upstream's function.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "longcontext", "babilong.json"))
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	var vectors struct {
		Vectors []struct {
			Name, Task, Target, Output, Question string
			Correct                              bool
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Vectors) != 73 {
		t.Fatalf("%d vectors, want 73", len(vectors.Vectors))
	}
	for _, v := range vectors.Vectors {
		if got := right(t, babilong.Upstream, v.Task, v.Target, v.Output, v.Question); got != v.Correct {
			t.Errorf("%s %q: %t, want %t", v.Task, v.Output, got, v.Correct)
		}
	}
}
