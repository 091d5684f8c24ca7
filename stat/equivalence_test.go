package stat_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"deem/stat"
)

// The p-values are those of the papers' formulas, computed with 40 digits by
// scripts/tost_vectors.py.
func TestEquivalenceVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/tost.json")
	if err != nil {
		t.Fatal(err)
	}
	type vector struct {
		Up, Down, N int
		Values      []float64
		Clusters    [][]float64
		Margin, P   float64
		NotBelow    float64 `json:"p_not_below"`
	}
	var all map[string][]vector
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for kind, list := range all {
		for i, v := range list {
			at := map[string]func(float64) stat.Estimate{
				"counts":   func(level float64) stat.Estimate { return stat.PairedProportions(v.Up, v.Down, v.N, level) },
				"values":   func(level float64) stat.Estimate { return stat.Mean(stat.MomentsOf(v.Values), level, stat.Bounds{}) },
				"clusters": func(level float64) stat.Estimate { return clusteredOf(v.Clusters).OneSided(level, stat.Bounds{}) },
			}[kind]
			lower, upper := stat.Equivalence(at, v.Margin)
			for _, got := range []struct {
				what      string
				got, want float64
			}{{"p", max(lower, upper), v.P}, {"p of the lower test", lower, v.NotBelow}} {
				want := got.want
				if want > 0.5 {
					want = 1
				}
				if math.Abs(got.got-want) > 1e-7*want && want > 2e-9 {
					t.Errorf("%s %d: %s = %v, want %v", kind, i, got.what, got.got, want)
				}
			}
		}
	}
	if len(all["counts"]) < 8 || len(all["values"]) < 3 || len(all["clusters"]) < 2 {
		t.Errorf("only %d, %d and %d vectors", len(all["counts"]), len(all["values"]), len(all["clusters"]))
	}
}

func clusteredOf(clusters [][]float64) *stat.Clustered {
	var c stat.Clustered
	for i, values := range clusters {
		for _, x := range values {
			c.Add(fmt.Sprint(i), x, 1)
		}
	}
	return &c
}

// A difference is equivalent at 5% exactly where its interval at 90% lies within the
// margin.
func TestEquivalenceIsTheInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(t, "n")
		up := rapid.IntRange(0, n).Draw(t, "up")
		down := rapid.IntRange(0, n-up).Draw(t, "down")
		margin := rapid.Float64Range(0.001, 0.5).Draw(t, "margin")
		at := func(level float64) stat.Estimate { return stat.PairedProportions(up, down, n, level) }
		lower, upper := stat.Equivalence(at, margin)
		p, est := max(lower, upper), at(0.9)
		if p < 0.04999 != (est.Lo > -margin && est.Hi < margin) && math.Abs(p-0.05) > 1e-4 {
			t.Fatalf("p = %v and %v, the interval is [%v, %v] and the margin ±%v", lower, upper, est.Lo, est.Hi, margin)
		}
	})
}
