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
				"values":   func(level float64) stat.Estimate { return stat.Mean(stat.MomentsOf(v.Values), level) },
				"clusters": func(level float64) stat.Estimate { return clusteredOf(v.Clusters).OneSided(level, stat.Unbounded) },
			}[kind]
			test, lower := stat.Equivalence(at, v.Margin), stat.NotBelow(at, v.Margin)
			for _, got := range []struct {
				what      string
				got, want float64
			}{{"p", test.P, v.P}, {"p of the lower test", lower.P, v.NotBelow}} {
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
		test, lower, est := stat.Equivalence(at, margin), stat.NotBelow(at, margin), at(0.9)
		if test.P < 0.04999 != (est.Lo > -margin && est.Hi < margin) && math.Abs(test.P-0.05) > 1e-4 || lower.P > test.P {
			t.Fatalf("p = %v and %v beside [%v, %v] and ±%v", test.P, lower.P, est.Lo, est.Hi, margin)
		}
	})
}

// Of unchanged systems 8% pass a gate on the lower end at -1 pp with 500 items, and the
// number of items that shows equivalence is found by the power of the test.
func TestEquivalencePlans(t *testing.T) {
	if p := stat.PassesUnchanged(stat.PairedProportions(45, 45, 500, 0.95), -0.01); math.Abs(p-0.08) > 0.01 {
		t.Errorf("%.3f of unchanged systems pass, want 0.08", p)
	}
	n := stat.NeededNEquivalence(0.01, math.Sqrt(0.2), 0.95, 0.8)
	if want := math.Ceil(0.2 * math.Pow((1.6448536269514722+1.2815515655446004)/0.01, 2)); float64(n) != want {
		t.Errorf("%d items, want %v", n, want)
	}
	if stat.NeededNEquivalence(0, 1, 0.95, 0.8) != math.MaxInt {
		t.Error("a margin of 0 needs no number of items")
	}
}

// Whole clusters are permuted: three runs that differ in all of few clusters alike are no
// finding, and many clusters that point one way are one.
func TestClusteredQ(t *testing.T) {
	one := [][]float64{{9, 5, 1}}
	if test := stat.ClusteredQ(one, 0, 1); test.P < 0.3 { // 2 of 6 orders are as extreme
		t.Errorf("one cluster gives p = %v", test.P)
	}
	var many [][]float64
	for range 20 {
		many = append(many, []float64{9, 5, 1})
	}
	many = append(many, []float64{3, 3, 3})
	if test := stat.ClusteredQ(many, 0, 1); test.P > 0.001 || test.N != 20 {
		t.Errorf("twenty clusters give %+v", test)
	}
	if test := stat.ClusteredQ([][]float64{{1, 1}, {2}}, 0, 1); test.P != 1 || !test.Has(stat.WarnNoDifference) || !test.Has(stat.WarnSkipped) {
		t.Errorf("clusters without a difference give %+v", test)
	}
	if test := stat.ClusteredQ(nil, 0, 1); test.P != 1 || !test.Has(stat.WarnTooFew) {
		t.Errorf("no cluster gives %+v", test)
	}
}
