package stat_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem/stat"
)

// scores returns n numbers of the kind that a metric gives: many zeros and ones, and
// some between.
func scores(rng *rand.Rand, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.Min(1, math.Max(0, 0.7+0.5*rng.NormFloat64()))
	}
	return list
}

// verdicts returns n numbers of which a share of p is 1 and the others are 0.
func verdicts(rng *rand.Rand, n int, p float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		if rng.Float64() < p {
			list[i] = 1
		}
	}
	return list
}

// The same seed gives the same digits, in any order of values and on any number of
// processors.
func TestBootstrapMeanSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	weights := scores(rng, 300)
	for i := range weights {
		weights[i] += 0.5
	}
	for _, tt := range []struct {
		name            string
		values, weights []float64
	}{
		{"scores", scores(rng, 300), nil},
		{"verdicts", verdicts(rng, 300, 0.8), nil},
		{"weighted", scores(rng, 300), weights},
	} {
		r := stat.Resampling{Draws: 200, Seed: 7}
		want := stat.BootstrapMean(tt.values, tt.weights, r)
		before := runtime.GOMAXPROCS(1)
		one := stat.BootstrapMean(tt.values, tt.weights, r)
		runtime.GOMAXPROCS(7)
		seven := stat.BootstrapMean(tt.values, tt.weights, r)
		runtime.GOMAXPROCS(before)
		order := rng.Perm(len(tt.values))
		shuffled, moved := make([]float64, len(order)), []float64(nil)
		for i, at := range order {
			shuffled[i] = tt.values[at]
			if tt.weights != nil {
				moved = append(moved, tt.weights[at])
			}
		}
		other := stat.BootstrapMean(shuffled, moved, r)
		for _, got := range []stat.Estimate{one, seven, other} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: the same resampling gave another estimate (-want +got):\n%s", tt.name, diff)
			}
		}
		r.Seed = 8
		if again := stat.BootstrapMean(tt.values, tt.weights, r); again.Lo == want.Lo && again.Hi == want.Hi {
			t.Errorf("%s: another seed gave the same ends %v", tt.name, again)
		}
	}
}

// Reports are compared digit by digit, so what a seed gives may not change unseen.
func TestBootstrapMeanPinned(t *testing.T) {
	values := []float64{0.1, 0.23, 0.31, 0.47, 0.59, 0.62, 0.77, 0.98}
	if est := stat.BootstrapMean(values, nil, stat.Resampling{Seed: 42}); !near(est.Lo, 0.33125, 1e-12) || !near(est.Hi, 0.69875, 1e-12) {
		t.Errorf("scores with seed 42 = [%v, %v], want [0.33125, 0.69875]", est.Lo, est.Hi)
	}
	yes := slices.Concat(slices.Repeat([]float64{1}, 77), slices.Repeat([]float64{0}, 23))
	if est := stat.BootstrapMean(yes, nil, stat.Resampling{Seed: 42}); !near(est.Lo, 0.68, 1e-12) || !near(est.Hi, 0.84, 1e-12) {
		t.Errorf("verdicts with seed 42 = [%v, %v], want [0.68, 0.84]", est.Lo, est.Hi)
	}
}

// The spread of resampled means is known without resampling.
func TestBootstrapMeanSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(1979, 1))
	values, yes := scores(rng, 500), verdicts(rng, 500, 0.9)
	weights := make([]float64, 500)
	for i := range weights {
		weights[i] = 0.2 + rng.Float64()
	}
	for _, tt := range []struct {
		name            string
		values, weights []float64
	}{{"scores", values, nil}, {"verdicts", yes, nil}, {"weighted", values, weights}} {
		w := tt.weights
		if w == nil {
			w = slices.Repeat([]float64{1}, 500)
		}
		m := weigh(tt.values, w)
		squares := 0.0
		for i, x := range tt.values {
			squares += math.Pow(w[i]*(x-m.Mean()), 2)
		}
		want := math.Sqrt(squares) / m.Weight()
		est := stat.BootstrapMean(tt.values, tt.weights, stat.Resampling{Draws: 4000, Seed: 3})
		// The standard error of a standard deviation from 4000 draws is 1.1%.
		if !near(est.SE/want, 1, 0.05) {
			t.Errorf("%s: standard error %v, want about %v", tt.name, est.SE, want)
		}
		if !near(est.Lo, est.Value-1.96*want, 0.3*want) || !near(est.Hi, est.Value+1.96*want, 0.3*want) {
			t.Errorf("%s: %+v, want about 2 standard errors of %v on both sides", tt.name, est, want)
		}
	}
}

func TestBootstrapMeanDegenerate(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name            string
		values, weights []float64
		warning         string
		n               int
	}{
		{"nothing", nil, nil, stat.WarnNoValues, 0},
		{"one", []float64{0.3}, nil, stat.WarnOneValue, 1},
		{"all equal", []float64{0.3, 0.3, 0.3}, nil, stat.WarnNoSpreadUnbounded, 3},
		{"no numbers", []float64{0.1, nan, 0.2, math.Inf(1)}, nil, stat.WarnSkipped, 2},
		{"too few weights", []float64{0.1, 0.2, 0.4}, []float64{1, 2}, stat.WarnSkipped, 2},
		{"no level", []float64{0.1, 0.2}, nil, "7 is not a confidence level between 0 and 1: 0.95 was used", 2},
	} {
		r := stat.Resampling{Draws: 100}
		if tt.name == "no level" {
			r.Level = 7
		}
		est := stat.BootstrapMean(tt.values, tt.weights, r)
		if !est.Has(tt.warning) || est.N != tt.n {
			t.Errorf("%s: %+v, want n = %d and the warning %q", tt.name, est, tt.n, tt.warning)
		}
	}
	if est := stat.BootstrapMean([]float64{0, 1, 0.5}, nil, stat.Resampling{Draws: 10}); !est.Has(stat.WarnFewDraws) {
		t.Errorf("ten draws: %+v, want a warning that they are too few", est)
	}
}

func TestBootstrapMeanAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64(), 0, 8).Draw(t, "values")
		weights := rapid.SliceOfN(rapid.Float64(), 0, 8).Draw(t, "weights")
		r := stat.Resampling{Draws: 30, Level: rapid.Float64().Draw(t, "level")}
		checkSane(t, stat.BootstrapMean(values, nil, r), stat.Bounds{})
		checkSane(t, stat.BootstrapMean(values, weights, r), stat.Bounds{})
	})
}

// Where all resamples lie above the mean, bias cannot be corrected.
func TestBootstrapMeanWithoutBCa(t *testing.T) {
	est := stat.BootstrapMeanWith([][]int{{1, 1}, {1, 1}}, []float64{0, 1}, 0.95, stat.BootstrapBCa)
	if !est.Has(stat.WarnNoBCa) || est.Method != stat.BootstrapPercentile {
		t.Errorf("one-sided resamples: %+v, want the percentile interval and a warning", est)
	}
}

// BCa holds the mean of skewed scores about as often as it says.
func TestBootstrapMeanCoverage(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1987, 171))
	const rounds, n = 800, 40
	held := 0
	for round := range rounds {
		values := make([]float64, n)
		for i := range values {
			u := rng.Float64()
			values[i] = u * u * u // mean 1/4, skewed to the right
		}
		est := stat.BootstrapMean(values, nil, stat.Resampling{Draws: 150, Seed: uint64(round)})
		if est.Lo <= 0.25 && 0.25 <= est.Hi {
			held++
		}
	}
	if got := float64(held) / rounds; got < 0.91 || got > 0.97 {
		t.Errorf("coverage %.4f with %d skewed scores, want 0.91 to 0.97", got, n)
	}
}

// Memory does not grow with draws times values.
func TestBootstrapMeanMemory(t *testing.T) {
	values := scores(rand.New(rand.NewPCG(5, 5)), 10_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	stat.BootstrapMean(values, nil, stat.Resampling{Draws: 200})
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("10,000 values and 200 draws allocated %d bytes, want less than 4 MB", got)
	}
}

func BenchmarkBootstrapMean(b *testing.B) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, bb := range []struct {
		name   string
		values []float64
	}{{"scores", scores(rng, 100_000)}, {"verdicts", verdicts(rng, 100_000, 0.7)}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				stat.BootstrapMean(bb.values, nil, stat.Resampling{})
			}
		})
	}
}
