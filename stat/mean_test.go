package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	gonum "gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"deem/stat"
)

// gather returns the moments of equally weighted values.
func gather(values ...float64) stat.Moments {
	var m stat.Moments
	for _, x := range values {
		m.Add(x, 1)
	}
	return m
}

// A test and an interval are two sides of one coin: if the t test against 0 has
// p-value p, then the interval at level 1-p just touches 0.
func TestMeanTouchesZero(t *testing.T) {
	used := 0
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1, 3), 2, 40).Draw(t, "values")
		m := gather(values...)
		tail := distuv.StudentsT{Sigma: 1, Nu: degrees(values)}.CDF(-math.Abs(m.Mean()) / math.Sqrt(m.Variance()/float64(m.N())))
		p := 2 * tail
		if !(p >= 1e-6 && p <= 1-1e-6) {
			t.Skip("at a level within 1e-6 of 0 or 1 the level itself has lost digits")
		}
		used++
		est := stat.Mean(m, 1-p, stat.Bounds{})
		end := est.Lo
		if est.Value < 0 {
			end = est.Hi
		}
		if scale := math.Abs(est.Value); !near(end/scale, 0, 1e-8) {
			t.Errorf("Mean at level 1-%v = %+v, want an end at 0", p, est)
		}
	})
	if used < 20 {
		t.Errorf("used %d lists of values, want at least 20", used)
	}
}

// degrees returns the degrees of freedom of the variance of values, by O'Neill's formula.
func degrees(values []float64) float64 {
	n := float64(len(values))
	_, variance := gonum.MeanVariance(values, nil)
	fourth := gonum.Moment(4, values, nil)
	second := variance * (n - 1) / n
	return math.Min(n-1, 2*n/(fourth/second/second-(n-3)/(n-1)))
}

// A sample of scores that are nearly all 1 has fewer degrees of freedom than it has scores,
// and its interval keeps its level, as Student's does not.
func TestMeanOfSkewedScores(t *testing.T) {
	const draws, n = 1000, 50
	rng := rand.New(rand.NewPCG(1, 2))
	held, student := 0, 0
	for range draws {
		values := make([]float64, n)
		for i := range values {
			values[i] = 1
			if rng.Float64() < 0.1 {
				values[i] = rng.Float64()
			}
		}
		est := stat.Mean(gather(values...), 0.95, stat.Unit)
		if !est.LeavesOut(0.95) {
			held++
		}
		if half := stat.StudentQuantile(0.95, n-1) * est.SE; math.Abs(est.Value-0.95) <= half {
			student++
		}
	}
	if held < 930 || held > 980 || student > 920 {
		t.Errorf("of %d intervals, %d hold the mean and %d of Student's do, want 930 to 980, and fewer than 920", draws, held, student)
	}
	if est := stat.Mean(gather(slices.Concat(slices.Repeat([]float64{1}, 39), []float64{0.2})...), 0.95, stat.Unit); !est.Has(stat.WarnSkewed) {
		t.Errorf("%+v, want a warning that one value is far off", est)
	}
}

// A bound by itself errs on either side as often as it says, also for skewed differences.
func TestOneSidedMean(t *testing.T) {
	const draws, n = 2000, 100
	rng := rand.New(rand.NewPCG(5, 6))
	below, above, student := 0, 0, 0
	for range draws {
		values := make([]float64, n)
		for i := range values {
			if rng.Float64() < 0.1 {
				values[i] = -0.5
			}
			values[i] += 0.1 * float64(rng.IntN(3)-1)
		}
		m := gather(values...)
		est := stat.OneSidedMean(m, 0.9, stat.Bounds{Lo: -1, Hi: 1})
		below += number(est.Lo > -0.05)
		above += number(est.Hi < -0.05)
		student += number(stat.Mean(m, 0.9, stat.Bounds{Lo: -1, Hi: 1}).Lo > -0.05)
	}
	if below > 120 || above > 120 || student < below {
		t.Errorf("of %d bounds, %d and %d are wrong, and %d without the correction, want at most 120 and more without it", draws, below, above, student)
	}
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func TestMeanDegenerate(t *testing.T) {
	big := math.MaxFloat64
	tests := []struct {
		name   string
		values []float64
		in     stat.Bounds
		want   stat.Estimate
	}{
		{"nothing", nil, stat.Unit, stat.Estimate{
			Value: 0.5, Hi: 1, Level: 0.95, Method: "none", Warnings: []string{stat.WarnNoValues},
		}},
		{"nothing, no bounds", nil, stat.Bounds{}, stat.Estimate{
			Lo: -big, Hi: big, Level: 0.95, Method: "none", Warnings: []string{stat.WarnNoValues},
		}},
		{"one", []float64{0.3}, stat.Unit, stat.Estimate{
			Value: 0.3, Hi: 1, Level: 0.95, N: 1, Method: "none", Warnings: []string{stat.WarnOneValue},
		}},
		{"one, no bounds", []float64{7}, stat.Bounds{}, stat.Estimate{
			Value: 7, Lo: -big, Hi: big, Level: 0.95, N: 1, Method: "none", Warnings: []string{stat.WarnOneValue},
		}},
		{"all equal to 1", []float64{1, 1, 1}, stat.Unit, stat.Proportion(3, 3, stat.DefaultLevel).Warn(stat.WarnNoSpread)},
		{"all equal, no bounds", []float64{7, 7}, stat.Bounds{}, stat.Estimate{
			Value: 7, Lo: 7, Hi: 7, Level: 0.95, N: 2, Method: "t", Warnings: []string{stat.WarnNoSpreadUnbounded},
		}},
		{"only NaN", []float64{math.NaN()}, stat.Unit, stat.Estimate{
			Value: 0.5, Hi: 1, Level: 0.95, Method: "none", Warnings: []string{stat.WarnNoValues, stat.WarnSkipped},
		}},
		{"outside the bounds", []float64{3, 3}, stat.Unit, stat.Proportion(2, 2, stat.DefaultLevel).Warn(stat.WarnNoSpread)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := stat.Mean(gather(tt.values...), 0.95, tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("MeanIn(%v) (-want +got):\n%s", tt.values, diff)
			}
		})
	}
}

func TestMeanByHand(t *testing.T) {
	// Mean 0.5, standard deviation sqrt(0.1/3), t(3) at 95% is 3.182446305284263.
	half := 3.182446305284263 * math.Sqrt(0.1/3/4)
	values := gather(0.3, 0.4, 0.6, 0.7)
	got := stat.Mean(values, 0.95, stat.Bounds{})
	if !near(got.Value, 0.5, 1e-15) || !near(got.Lo, 0.5-half, 1e-9) || !near(got.Hi, 0.5+half, 1e-9) {
		t.Errorf("Mean = %+v, want 0.5 [%v, %v]", got, 0.5-half, 0.5+half)
	}
	// Within bounds it is Wilson's interval of 0.25/(0.1/3/4) = 30 zeros and ones.
	lo, hi := stat.Wilson(0.5, 30, 3.182446305284263)
	if got = stat.Mean(values, 0.95, stat.Unit); !near(got.Lo, lo, 1e-9) || !near(got.Hi, hi, 1e-9) {
		t.Errorf("Mean within bounds = %+v, want [%v, %v]", got, lo, hi)
	}
}

func TestMeanWeighted(t *testing.T) {
	// A weight of 3 against a weight of 1e-9 leaves one value.
	alone := stat.Mean(weigh([]float64{0.2, 0.9}, []float64{3, 1e-90}), 0.95, stat.Unit)
	if alone.Lo != 0 || alone.Hi != 1 {
		t.Errorf("MeanIn with one weight that counts = %+v, want [0, 1]", alone)
	}
	scaled := stat.Mean(weigh([]float64{0.2, 0.9, 0.4}, []float64{7, 7, 7}), 0.95, stat.Unit)
	if diff := cmp.Diff(stat.Mean(gather(0.2, 0.9, 0.4), 0.95, stat.Unit), scaled); diff != "" {
		t.Errorf("equal weights changed the estimate (-want +got):\n%s", diff)
	}
	got := stat.Mean(weigh([]float64{0, 1, 0.5}, []float64{1, 2, 1}), 0.95, stat.Unit)
	if !near(got.Value, 0.625, 1e-15) || !near(got.EffectiveN, 16.0/6, 1e-15) || !slices.Contains(got.Warnings, stat.WarnWeighted) {
		t.Errorf("MeanIn = %+v, want 0.625 with an effective n of 2.667 and a warning", got)
	}
}

// numbers draws values that stress sums: tiny, huge and of both signs.
func numbers() *rapid.Generator[[]float64] {
	one := rapid.OneOf(
		rapid.Float64Range(0, 1),
		rapid.Float64Range(-1e12, 1e12),
		rapid.Float64Range(-1e-12, 1e-12),
		rapid.SampledFrom([]float64{0, 1, 1e99, -1e99, 1e-99}),
	)
	return rapid.SliceOfN(one, 0, 30)
}

func TestMomentsOrderAndMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := numbers().Draw(t, "values")
		weights := rapid.SliceOfN(rapid.Float64Range(0.001, 1000), len(values), len(values)).Draw(t, "weights")
		whole := weigh(values, weights)

		var left, right stat.Moments
		cut := rapid.IntRange(0, len(values)).Draw(t, "cut")
		for _, i := range rapid.Permutation(indices(len(values))).Draw(t, "order") {
			if i < cut {
				left.Add(values[i], weights[i])
			} else {
				right.Add(values[i], weights[i])
			}
		}
		left.Merge(right)
		if diff := cmp.Diff(summary(whole), summary(left)); diff != "" {
			t.Fatalf("another order gave another answer (-one +other):\n%s", diff)
		}
		checkSane(t, stat.Mean(whole, 0.95, stat.Bounds{}), stat.Bounds{})
		checkSane(t, stat.Mean(whole, 0.95, stat.Unit), stat.Unit)
		checkSane(t, stat.WeightedProportion(whole, 0.95), stat.Unit)
	})
}

// indices returns 0, 1, ..., n-1.
func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// summary returns everything that moments tell.
func summary(m stat.Moments) []float64 {
	return []float64{float64(m.N()), m.Weight(), m.Mean(), m.Variance(), m.EffectiveN()}
}

func TestMomentsAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m stat.Moments
		for range rapid.IntRange(0, 10).Draw(t, "n") {
			m.Add(rapid.Float64().Draw(t, "x"), rapid.Float64().Draw(t, "weight"))
		}
		level := rapid.Float64Range(0.0001, 0.9999).Draw(t, "level")
		checkSane(t, stat.Mean(m, level, stat.Bounds{}), stat.Bounds{})
		checkSane(t, stat.Mean(m, level, stat.Bounds{Lo: -5, Hi: 10}), stat.Bounds{Lo: -5, Hi: 10})
	})
}

// The textbook formula for the variance loses every digit here.
func TestMomentsKeepDigits(t *testing.T) {
	m := gather(1e9+4, 1e9+7, 1e9+13, 1e9+16)
	if got := m.Variance(); got != 30 {
		t.Errorf("Variance = %v, want 30", got)
	}
	if got := gather(1e99, 1, -1e99).Mean(); got != 1.0/3 {
		t.Errorf("Mean(1e99, 1, -1e99) = %v, want 1/3", got)
	}
}

// A copy must not share its sums with the original.
func TestMomentsCopy(t *testing.T) {
	m := gather(0.1, 0.2)
	want := m.Mean()
	c := m
	c.Add(0.7, 1)
	if got := m.Mean(); got != want {
		t.Errorf("adding to a copy moved the mean of the original from %v to %v", want, got)
	}
}

func TestMomentsBinary(t *testing.T) {
	if m := gather(0, 1, 1); !m.Binary() {
		t.Error("Binary of 0, 1, 1 = false, want true")
	}
	if m := gather(0, 0.5, 1); m.Binary() {
		t.Error("Binary of 0, 0.5, 1 = true, want false")
	}
}

func TestMeanCoverage(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1908, 25))
	const rounds = 4000
	for _, n := range []int{5, 40} {
		held := 0
		for range rounds {
			var m stat.Moments
			for range n {
				m.Add(0.5+0.1*rng.NormFloat64(), 1)
			}
			if est := stat.Mean(m, 0.95, stat.Unit); est.Lo <= 0.5 && 0.5 <= est.Hi {
				held++
			}
		}
		// The standard error of the coverage is 0.0034.
		if got := float64(held) / rounds; !near(got, 0.95, 0.012) {
			t.Errorf("n = %d: the interval held the truth in %.4f of rounds, want 0.95", n, got)
		}
	}
}

func BenchmarkMomentsAdd(b *testing.B) {
	var m stat.Moments
	for i := 0; b.Loop(); i++ {
		m.Add(float64(i%11)/10, 1)
	}
}

// Equal values have no spread at all, whatever their weights round to.
func TestMomentsNoSpread(t *testing.T) {
	m := weigh([]float64{0.3, 0.3, 0.3}, []float64{0.1, 0.2, 0.7})
	if got := m.Variance(); got != 0 {
		t.Errorf("Variance of 0.3 three times = %v, want exactly 0", got)
	}
	if got := m.Mean(); got != 0.3 {
		t.Errorf("Mean of 0.3 three times = %v, want exactly 0.3", got)
	}
	if est := stat.Mean(m, 0.95, stat.Unit); !est.Has(stat.WarnNoSpread) || est.Lo >= 0.3 || est.Hi <= 0.3 {
		t.Errorf("MeanIn = %+v, want an interval with width and a warning", est)
	}
}
