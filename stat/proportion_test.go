package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem/stat"
)

// near reports whether got and want differ by at most tol.
func near(got, want, tol float64) bool { return math.Abs(got-want) <= tol }

func TestProportionDegenerate(t *testing.T) {
	tests := []struct {
		name  string
		k, n  int
		level float64
		want  stat.Estimate
	}{
		{"no tries", 0, 0, 0.95, stat.Estimate{
			Value: 0.5, Lo: 0, Hi: 1, Level: 0.95, Method: "none", Warnings: []string{stat.WarnNoValues},
		}},
		{"hits without tries", 3, 0, 0.95, stat.Estimate{
			Value: 0.5, Lo: 0, Hi: 1, Level: 0.95, Method: "none", Warnings: []string{stat.WarnNoValues, stat.WarnRange},
		}},
		{"negative tries", 0, -4, 0.95, stat.Estimate{
			Value: 0.5, Lo: 0, Hi: 1, Level: 0.95, Method: "none", Warnings: []string{stat.WarnNoValues, stat.WarnRange},
		}},
		{"more hits than tries", 5, 4, 0.95, stat.Proportion(4, 4, stat.DefaultLevel).Warn(stat.WarnRange)},
		{"negative hits", -1, 4, 0.95, stat.Proportion(0, 4, stat.DefaultLevel).Warn(stat.WarnRange)},
		{"no level", 1, 4, 0, stat.Proportion(1, 4, stat.DefaultLevel).Warn("0 is not a confidence level between 0 and 1: 0.95 was used")},
		{"percent for level", 1, 4, 95, stat.Proportion(1, 4, stat.DefaultLevel).Warn("95 is not a confidence level between 0 and 1: 0.95 was used")},
		{"NaN for level", 1, 4, math.NaN(), stat.Proportion(1, 4, stat.DefaultLevel).Warn("NaN is not a confidence level between 0 and 1: 0.95 was used")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := stat.Proportion(tt.k, tt.n, tt.level)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ProportionAt(%d, %d, %v) (-want +got):\n%s", tt.k, tt.n, tt.level, diff)
			}
		})
	}
}

func TestProportionEnds(t *testing.T) {
	if got := stat.Proportion(0, 7, stat.DefaultLevel).Lo; got != 0 {
		t.Errorf("Proportion(0, 7).Lo = %v, want exactly 0", got)
	}
	if got := stat.Proportion(7, 7, stat.DefaultLevel).Hi; got != 1 {
		t.Errorf("Proportion(7, 7).Hi = %v, want exactly 1", got)
	}
}

// checkSane reports what no estimate of values in b may break.
func checkSane(t *rapid.T, est stat.Estimate, b stat.Bounds) {
	for _, x := range []float64{est.Value, est.Lo, est.Hi, est.Level, est.EffectiveN} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Fatalf("estimate %+v holds a number that is none", est)
		}
	}
	if b == (stat.Bounds{}) {
		b = stat.Bounds{Lo: -math.MaxFloat64, Hi: math.MaxFloat64}
	}
	if !(b.Lo <= est.Lo && est.Lo <= est.Value && est.Value <= est.Hi && est.Hi <= b.Hi) {
		t.Fatalf("estimate %+v: want %v <= Lo <= Value <= Hi <= %v", est, b.Lo, b.Hi)
	}
	if est.N == 0 && len(est.Warnings) == 0 {
		t.Fatalf("estimate %+v stands on nothing and does not say so", est)
	}
}

func TestProportionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100_000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		level := rapid.Float64Range(0.5, 0.9999).Draw(t, "level")
		est := stat.Proportion(k, n, level)
		checkSane(t, est, stat.Unit)

		mirror := stat.Proportion(n-k, n, level)
		if !near(est.Lo, 1-mirror.Hi, 1e-12) || !near(est.Hi, 1-mirror.Lo, 1e-12) {
			t.Fatalf("ProportionAt(%d, %d) = %+v is not the mirror of %+v", k, n, est, mirror)
		}
		more := stat.Proportion(3*k, 3*n, level)
		if more.Hi-more.Lo >= est.Hi-est.Lo {
			t.Fatalf("three times the items: width %v, want less than %v", more.Hi-more.Lo, est.Hi-est.Lo)
		}
		surer := stat.Proportion(k, n, (1+level)/2)
		if surer.Lo > est.Lo || surer.Hi < est.Hi {
			t.Fatalf("at level %v: %+v does not enclose %+v", surer.Level, surer, est)
		}
		if k < n {
			next := stat.Proportion(k+1, n, level)
			if next.Lo < est.Lo || next.Hi < est.Hi {
				t.Fatalf("one hit more moved [%v, %v] down to [%v, %v]", est.Lo, est.Hi, next.Lo, next.Hi)
			}
		}
	})
}

func TestProportionAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, n := rapid.Int().Draw(t, "k"), rapid.Int().Draw(t, "n")
		checkSane(t, stat.Proportion(k, n, rapid.Float64().Draw(t, "level")), stat.Unit)
	})
}

// weigh gathers values with their weights.
func weigh(values, weights []float64) stat.Moments {
	var m stat.Moments
	for i, x := range values {
		m.Add(x, weights[i])
	}
	return m
}

func TestWeightedProportion(t *testing.T) {
	t.Run("equal weights change nothing", func(t *testing.T) {
		got := stat.WeightedProportion(weigh([]float64{1, 1, 0, 1}, []float64{2.5, 2.5, 2.5, 2.5}), 0.95)
		if diff := cmp.Diff(stat.Proportion(3, 4, stat.DefaultLevel), got); diff != "" {
			t.Errorf("WeightedProportion (-want +got):\n%s", diff)
		}
	})
	t.Run("different weights", func(t *testing.T) {
		// By hand: weights 3, 1, 1, 1 give p = 3/6 and Kish's n = 36/12 = 3.
		got := stat.WeightedProportion(weigh([]float64{1, 0, 0, 0}, []float64{3, 1, 1, 1}), 0.95)
		z := 1.959963984540054
		half := z / (1 + z*z/3) * math.Sqrt(0.25/3+z*z/36)
		want := stat.Estimate{
			Value: 0.5, Lo: 0.5 - half, Hi: 0.5 + half, Level: 0.95, N: 4, EffectiveN: 3,
			Method: "wilson", Warnings: []string{stat.WarnWeighted},
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return near(a, b, 1e-12) })); diff != "" {
			t.Errorf("WeightedProportion (-want +got):\n%s", diff)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		got := stat.WeightedProportion(stat.Moments{}, 0.95)
		if diff := cmp.Diff(stat.Proportion(0, 0, stat.DefaultLevel), got); diff != "" {
			t.Errorf("WeightedProportion (-want +got):\n%s", diff)
		}
	})
	t.Run("an unusable weight is told", func(t *testing.T) {
		got := stat.WeightedProportion(weigh([]float64{1, 0}, []float64{1, math.NaN()}), 0.95)
		if got.N != 1 || !slices.Contains(got.Warnings, stat.WarnSkipped) {
			t.Errorf("WeightedProportion = %+v, want N 1 and a warning about what was left out", got)
		}
	})
}

// Over many true shares, the interval holds the truth about as often as it says.
func TestProportionCoverage(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1927, 209))
	for _, n := range []int{10, 30, 200} {
		const rounds = 20_000
		held := 0
		for range rounds {
			p, k := rng.Float64(), 0
			for range n {
				if rng.Float64() < p {
					k++
				}
			}
			if est := stat.Proportion(k, n, stat.DefaultLevel); est.Lo <= p && p <= est.Hi {
				held++
			}
		}
		// The standard error of a coverage of 0.95 over the rounds is 0.0015.
		if got := float64(held) / rounds; !near(got, 0.95, 0.008) {
			t.Errorf("n = %d: the interval held the truth in %.4f of rounds, want 0.95", n, got)
		}
	}
}
