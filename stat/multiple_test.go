package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/stat"
)

var adjustments = map[string]func([]float64) []float64{
	"Bonferroni": stat.Bonferroni, "Holm": stat.Holm,
}

func TestAdjustProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 25).Draw(t, "p")
		order := rapid.Permutation(indices(len(p))).Draw(t, "order")
		shuffled := make([]float64, len(p))
		for i, at := range order {
			shuffled[i] = p[at]
		}
		for name, f := range adjustments {
			adjusted, other := f(p), f(shuffled)
			for i, at := range order {
				if adjusted[at] < p[at]-1e-15 || adjusted[at] > 1 {
					t.Fatalf("%s(%v)[%d] = %v, want within [%v, 1]", name, p, at, adjusted[at], p[at])
				}
				if other[i] != adjusted[at] {
					t.Fatalf("%s in another order gives %v for %v, want %v", name, other[i], p[at], adjusted[at])
				}
			}
		}
		holm, bonferroni := stat.Holm(p), stat.Bonferroni(p)
		for i := range p {
			if holm[i] > bonferroni[i]+1e-12 {
				t.Fatalf("holm %v, bonferroni %v: want them in this order", holm[i], bonferroni[i])
			}
		}
	})
}

// A p-value that is none is not evidence.
func TestAdjustAnyInput(t *testing.T) {
	p := []float64{math.NaN(), math.Inf(1), -1, 0.01, 7}
	before := slices.Clone(p)
	for name, f := range adjustments {
		for i, x := range f(p) {
			if !(x >= 0 && x <= 1) || i != 2 && i != 3 && x != 1 {
				t.Errorf("%s(%v)[%d] = %v", name, p, i, x)
			}
		}
		if len(f(nil)) != 0 {
			t.Errorf("%s(nil) is not empty", name)
		}
	}
	if !math.IsNaN(p[0]) || !slices.Equal(p[1:], before[1:]) {
		t.Errorf("the p-values given were changed to %v", p)
	}
}

// Of twenty categories without any difference, one or more looks significant in two
// runs of three before the adjustment and in one of twenty after it.
func TestHolmFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1979, 65))
	const rounds = 4000
	raw, held := 0, 0
	for range rounds {
		p := make([]float64, 20)
		for i := range p {
			p[i] = rng.Float64()
		}
		if slices.Min(p) <= 0.05 {
			raw++
		}
		if slices.Min(stat.Holm(p)) <= 0.05 {
			held++
		}
	}
	t.Logf("false alarms in %.3f of rounds, with Holm in %.3f", float64(raw)/rounds, float64(held)/rounds)
	if got := float64(held) / rounds; !near(got, 0.05, 0.012) {
		t.Errorf("false alarms with Holm in %.4f of rounds, want 0.05", got)
	}
	if got := float64(raw) / rounds; !near(got, 0.64, 0.03) {
		t.Errorf("false alarms without in %.4f of rounds, want 0.64", got)
	}
}
