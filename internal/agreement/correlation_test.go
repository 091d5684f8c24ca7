package agreement_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/agreement"
)

// correlations are the three that take two lists.
var correlations = map[string]func(x, y []float64) (agreement.Correlation, error){
	"Pearson": agreement.Pearson, "Spearman": agreement.Spearman, "KendallTauB": agreement.KendallTauB,
}

// drawPairs draws two lists of the same length, with ties and extremes.
func drawPairs(t *rapid.T) (x, y []float64) {
	one := rapid.OneOf(
		rapid.Map(rapid.IntRange(0, 4), func(i int) float64 { return float64(i) }),
		rapid.Float64Range(-1e90, 1e90), rapid.Float64Range(-1, 1), rapid.Float64Range(0, 1e-300),
	)
	n := rapid.IntRange(0, 40).Draw(t, "n")
	list := rapid.SliceOfN(one, n, n)
	return list.Draw(t, "x"), list.Draw(t, "y")
}

func TestCorrelationIsSane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := drawPairs(t)
		for name, f := range correlations {
			c, err := f(x, y)
			if err != nil {
				continue
			}
			if !(-1 <= c.Lo && c.Lo <= c.Value && c.Value <= c.Hi && c.Hi <= 1 && c.P >= 0 && c.P <= 1) {
				t.Errorf("%s(%v, %v) = %+v", name, x, y, c)
			}
			other, err := f(y, x)
			if err != nil || !near(c.Value, other.Value, 1e-12) || !near(c.P, other.P, 1e-6) {
				t.Errorf("%s = %+v, and %+v with x and y exchanged (%v)", name, c, other, err)
			}
		}
	})
}

// The order of the pairs changes no digit.
func TestCorrelationIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := drawPairs(t)
		order := make([]int, len(x))
		for i := range order {
			order[i] = i
		}
		var xs, ys []float64
		for _, i := range rapid.Permutation(order).Draw(t, "order") {
			xs, ys = append(xs, x[i]), append(ys, y[i])
		}
		for name, f := range correlations {
			a, err := f(x, y)
			b, err2 := f(xs, ys)
			if a.Value != b.Value || a.P != b.P || (err == nil) != (err2 == nil) {
				t.Errorf("%s = %+v (%v), and %+v (%v) in another order", name, a, err, b, err2)
			}
		}
	})
}

func TestCorrelationErrors(t *testing.T) {
	for name, p := range map[string][2][]float64{
		"lengths": {{1, 2}, {1}}, "empty": {}, "one": {{1}, {2}}, "constant": {{1, 2, 3}, {4, 4, 4}},
		"NaN": {{1, math.NaN()}, {1, 2}}, "infinite": {{1, 2}, {1, math.Inf(1)}},
	} {
		for f, correlation := range correlations {
			if c, err := correlation(p[0], p[1]); err == nil {
				t.Errorf("%s of %s = %+v, want an error", f, name, c)
			}
		}
	}
}

// Kendall's exact p-value is the share of orders that are as extreme.
func TestKendallByEnumeration(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6}
	var all [][]float64
	permute(slices.Clone(x), 0, func(y []float64) { all = append(all, slices.Clone(y)) })
	values := make([]float64, len(all))
	for i, y := range all {
		c, err := agreement.KendallTauB(x, y)
		if err != nil {
			t.Fatal(err)
		}
		values[i] = c.Value
	}
	for i, y := range all[:60] {
		extreme := 0
		for _, v := range values {
			if math.Abs(v) >= math.Abs(values[i])-1e-12 {
				extreme++
			}
		}
		c, _ := agreement.KendallTauB(x, y)
		if want := float64(extreme) / float64(len(all)); !near(c.P, want, 1e-12) {
			t.Errorf("KendallTauB(%v) has p = %v, want %v", y, c.P, want)
		}
	}
}

func permute(y []float64, k int, visit func([]float64)) {
	if k == len(y) {
		visit(y)
		return
	}
	for i := k; i < len(y); i++ {
		y[k], y[i] = y[i], y[k]
		permute(y, k+1, visit)
		y[k], y[i] = y[i], y[k]
	}
}

// The intervals hold their level for normal values with a correlation of 0.6.
func TestCorrelationCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	t.Parallel()
	const pairs, replications, rho = 50, 2000, 0.6
	truth := map[string]float64{
		"Pearson":     rho,
		"Spearman":    6 / math.Pi * math.Asin(rho/2), // Moran (1948)
		"KendallTauB": 2 / math.Pi * math.Asin(rho),   // Greiner (1909)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	hits := map[string]int{}
	x, y := make([]float64, pairs), make([]float64, pairs)
	for range replications {
		for i := range x {
			x[i] = rng.NormFloat64()
			y[i] = rho*x[i] + math.Sqrt(1-rho*rho)*rng.NormFloat64()
		}
		for name, f := range correlations {
			if c, err := f(x, y); err == nil && covers(c.Estimate, truth[name]) {
				hits[name]++
			}
		}
	}
	for name := range correlations {
		share := 100 * float64(hits[name]) / replications
		t.Logf("%s covers %.1f%%", name, share)
		if share < 93 || share > 97 {
			t.Errorf("%s covers %.1f%%, want 93%% to 97%%", name, share)
		}
	}
}
