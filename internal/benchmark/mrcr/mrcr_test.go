package mrcr_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/mrcr"
)

// scored returns the score of an item under a reading.
func scored(t *testing.T, reading string, it deem.Item) float64 {
	t.Helper()
	j, err := mrcr.Benchmark().Judge(mrcr.Name, benchmark.Options{Reading: reading})
	if err != nil {
		t.Fatal(err)
	}
	v, err := j.Rule.Judge(t.Context(), it)
	if err != nil {
		t.Fatal(err)
	}
	return v.Score
}

func item(prefix, answer, response string) deem.Item {
	return deem.Item{ID: "1", References: []string{answer}, Response: response, Fields: map[string]string{"random_string_to_prepend": prefix}}
}

// TestReadings checks both readings on texts of ours.
func TestReadings(t *testing.T) {
	for _, tt := range []struct {
		answer, response string
		card, lenient    float64
	}{
		{"Xy7the hare", "Xy7the hare", 1, 1},
		{"Xy7the hare", "the hare", 0, 0},
		{"Xy7the hare", " Xy7the hare\n", 0, 1},
		{"Xy7the hare", "<think>so</think>\nXy7the hare", 0, 1},
		{"Xy7the hare", "\ufeffXy7the hare", 0, 1},
		{"Xy7the hare", "Xy7", 0, 0},
		{"Xy7", "Xy7", 1, 1},
		{"the hare", "Xy7the hare", 1, 1},
		{"Xy7abcd", "Xy7bcde", .75, .75},
	} {
		it := item("Xy7", tt.answer, tt.response)
		if card, lenient := scored(t, "", it), scored(t, mrcr.Lenient, it); card != tt.card || lenient != tt.lenient {
			t.Errorf("%q: %v and %v, want %v and %v", tt.response, card, lenient, tt.card, tt.lenient)
		}
	}
}

// TestVectors compares scores and bins with those of the function on the card.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "longcontext", "mrcr.json"))
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	var vectors struct {
		Edges   []int
		Vectors []struct {
			Name, Response, Answer string
			Prefix                 string `json:"random_string_to_prepend"`
			Score                  float64
		}
		Bins []struct {
			Tokens json.Number
			Card   *int
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Vectors) != 64 || len(vectors.Bins) != 34 {
		t.Fatalf("%d vectors and %d bins, want 64 and 34", len(vectors.Vectors), len(vectors.Bins))
	}
	for _, v := range vectors.Vectors {
		if got := scored(t, mrcr.Card, item(v.Prefix, v.Answer, v.Response)); got != v.Score {
			t.Errorf("%s: %v, want %v", v.Name, got, v.Score)
		}
	}
	names := map[int]string{}
	for _, b := range vectors.Bins {
		m, err := mrcr.Benchmark().Metrics(t.Context(), benchmark.Options{})
		if err != nil {
			t.Fatal(err)
		}
		it := item("X", "X", "X")
		it.Fields["n_needles"], it.Fields["n_tokens"] = "2", b.Tokens.String()
		m.Add(deem.Record{Item: it, Judge: mrcr.Name, Verdict: &deem.Verdict{Label: "right", Score: 1}})
		bin := -1 // outside all bins
		if b.Card != nil {
			bin = *b.Card
		}
		for cell := range m.(*benchmark.Table).Of("needles and length") {
			if first, ok := names[bin]; bin >= 0 && ok && first != cell {
				t.Errorf("%s tokens are in %q, and others of the bin in %q", b.Tokens, cell, first)
			}
			for other, name := range names {
				if other != bin && name == cell {
					t.Errorf("%s tokens are in %q, which is bin %d, not %d", b.Tokens, cell, other, bin)
				}
			}
			names[bin] = cell
		}
	}
}
