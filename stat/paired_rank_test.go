package stat_test

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/stat"
)

// ranksOf returns the rank of each value; tied values share the mean of theirs.
func ranksOf(values []float64) []float64 {
	ranks := make([]float64, len(values))
	for i, x := range values {
		below, same := 0, 0
		for _, y := range values {
			if y < x {
				below++
			}
			if y == x {
				same++
			}
		}
		ranks[i] = float64(below) + float64(same+1)/2
	}
	return ranks
}

// Tied differences have an exact p-value too: that of all signs they could have had.
func TestWilcoxonTied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]float64{-3, -2, -1, -0.5, 0.5, 1, 2, 3})
		diffs := rapid.SliceOfN(size, 1, 10).Draw(t, "diffs")
		sizes := make([]float64, len(diffs))
		for i, d := range diffs {
			sizes[i] = math.Abs(d)
		}
		ranks := ranksOf(sizes)
		plus := 0.0
		for i, d := range diffs {
			if d > 0 {
				plus += ranks[i]
			}
		}
		less, greater := 0, 0
		for pattern := range 1 << len(diffs) {
			total := 0.0
			for i, r := range ranks {
				total += r * float64(pattern>>i&1)
			}
			if total <= plus {
				less++
			}
			if total >= plus {
				greater++
			}
		}
		patterns := float64(int(1) << len(diffs))
		for alt, want := range map[stat.Alternative]float64{
			stat.Less: float64(less) / patterns, stat.Greater: float64(greater) / patterns,
			stat.TwoSided: math.Min(1, 2*math.Min(float64(less), float64(greater))/patterns),
		} {
			test, err := stat.Wilcoxon(diffs, make([]float64, len(diffs)), stat.WilcoxonOptions{Alternative: alt})
			if err != nil || !near(test.P, want, 1e-12) {
				t.Fatalf("Wilcoxon(%v, %s) = %+v, %v, want p = %v", diffs, alt, test, err, want)
			}
		}
	})
}

func TestWilcoxonErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		x, y []float64
		want string
	}{
		"other lengths": {[]float64{1}, nil, "the two lists differ in length, so their values are not pairs"},
		"nothing":       {nil, nil, "there is no pair to test"},
		"no number":     {[]float64{math.NaN()}, []float64{1}, "there is no pair to test"},
		"no difference": {[]float64{1, 2}, []float64{1, 2}, "no pair differs, so there is nothing to rank"},
	} {
		if _, err := stat.Wilcoxon(tt.x, tt.y, stat.WilcoxonOptions{}); err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %s", name, err, tt.want)
		}
	}
	test, err := stat.Wilcoxon([]float64{1, 2, 4, math.NaN()}, []float64{1, 1, 1, 1}, stat.WilcoxonOptions{})
	want := []string{stat.WarnSkipped, stat.WarnSmallApprox}
	if err != nil || !slices.Equal(test.Warnings, want) || test.Method != "wilcoxon-approx" {
		t.Errorf("Wilcoxon with a zero and a NaN = %+v, %v, want the warnings %q", test, err, want)
	}
}

// The exact distribution of thousands of pairs would take hours.
func TestWilcoxonManyPairs(t *testing.T) {
	x := make([]float64, 5000)
	for i := range x {
		x[i] = math.Sin(float64(i*i)) + 0.02
	}
	test, err := stat.Wilcoxon(x, make([]float64, len(x)), stat.WilcoxonOptions{Method: stat.WilcoxonExact})
	if err != nil || !test.Has(stat.WarnManyPairs) || test.Method != "wilcoxon-approx" {
		t.Errorf("Wilcoxon of 5000 pairs = %+v, %v, want the approximation and a warning", test, err)
	}
}

// Small lists without ties get the exact chance, by all ways to deal the ranks.
func TestMannWhitneyExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.Float64Range(0, 1), 2, 12, rapid.ID[float64]).Draw(t, "values")
		m := rapid.IntRange(1, min(len(all)-1, 8)).Draw(t, "m")
		ranks := ranksOf(all)
		statistic := func(pattern int) float64 {
			total := -float64(m*(m+1)) / 2
			for i, r := range ranks {
				total += r * float64(pattern>>i&1)
			}
			return total
		}
		observed := statistic(1<<m - 1)
		middle := float64(m*(len(all)-m)) / 2
		ways, hits := 0, 0
		for pattern := range 1 << len(all) {
			if bits.OnesCount(uint(pattern)) == m {
				ways++
				if statistic(pattern) >= middle+math.Abs(observed-middle) {
					hits++
				}
			}
		}
		want := math.Min(1, 2*float64(hits)/float64(ways))
		got := stat.MannWhitney(all[:m], all[m:])
		if got.Statistic != observed || !near(got.P, want, 1e-12) {
			t.Fatalf("MannWhitney(%v, %v) = %+v, want %v with p = %v", all[:m], all[m:], got, observed, want)
		}
	})
}
