package stat_test

import (
	"math"
	"math/bits"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem/stat"
)

// closely compares numbers up to their last digits.
var closely = cmp.Comparer(func(a, b float64) bool { return near(a, b, 1e-12) })

// checkTest reports what no test may break.
func checkTest(t *rapid.T, test stat.Test) {
	if x := test.Statistic; x-x != 0 {
		t.Fatalf("%+v: want a statistic that is a number", test)
	}
	if !(test.P >= 0 && test.P <= 1) || test.N < 0 || test.Method == "" {
		t.Fatalf("%+v: want a chance, a number of values and a method", test)
	}
}

func TestMcNemarDegenerate(t *testing.T) {
	for _, tt := range []struct {
		b, c int
		want stat.Test
	}{
		{0, 0, stat.Test{P: 1, Method: "mcnemar-exact", Warnings: []string{stat.WarnNoDifference}}},
		{-3, 5, stat.Test{P: 0.0625, Method: "mcnemar-exact", N: 5, Warnings: []string{stat.WarnNegative}}},
		{0, 6, stat.Test{P: 0.03125, Method: "mcnemar-exact", N: 6}},
	} {
		if diff := cmp.Diff(tt.want, stat.McNemar(tt.b, tt.c), closely); diff != "" {
			t.Errorf("McNemar(%d, %d) (-want +got):\n%s", tt.b, tt.c, diff)
		}
	}
}

// chi2P returns the p-value of McNemar's test without correction.
func chi2P(b, c int) float64 {
	if b+c == 0 {
		return 1
	}
	return math.Erfc(math.Abs(float64(b-c)) / math.Sqrt(2*float64(b+c)))
}

func TestMcNemarAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, c := rapid.Int().Draw(t, "b"), rapid.Int().Draw(t, "c")
		checkTest(t, stat.McNemar(b, c))
	})
}

// bruteFlips returns the share of all sign patterns whose sum is at least as far
// from 0 as that of the differences.
func bruteFlips(diffs []float64) float64 {
	observed := 0.0
	for _, d := range diffs {
		observed += d
	}
	var hits func(i int, total float64) int
	hits = func(i int, total float64) int {
		switch {
		case i < len(diffs):
			return hits(i+1, total+diffs[i]) + hits(i+1, total-diffs[i])
		case math.Abs(total) >= math.Abs(observed)-1e-9:
			return 1
		}
		return 0
	}
	return float64(hits(0, 0)) / float64(int(1)<<len(diffs))
}

func TestPairedPermutationSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Differences of sums are far larger than rounding, or nothing but it.
		mark := rapid.Map(rapid.IntRange(-1000, 1000), func(i int) float64 { return float64(i) / 1000 * math.Sqrt2 })
		one := rapid.OneOf(mark, rapid.SampledFrom([]float64{-1, -0.5, 0, 0.1, 0.3, 1}))
		diffs := rapid.SliceOfN(one, 1, 12).Draw(t, "diffs")
		test := stat.PairedPermutation(diffs, 0, 1)
		checkTest(t, test)
		if want := bruteFlips(diffs); !near(test.P, want, 1e-9) || test.Method != "permutation-exact" {
			t.Fatalf("PairedPermutation(%v) = %+v, want p = %v", diffs, test, want)
		}
	})
}

// Beyond twenty differences a grid still allows the exact answer, and drawing comes
// near it.
func TestPairedPermutationLarger(t *testing.T) {
	t.Parallel()
	marks := []float64{
		0.3, -0.1, 0.2, 0.2, -0.4, 0.5, 0.1, 0.1, -0.2, 0.7, -0.1,
		0.2, 0.3, -0.3, 0.1, -0.6, 0.4, 0.2, -0.1, 0.1, -0.2,
	}
	want := bruteFlips(marks)
	if test := stat.PairedPermutation(marks, 0, 1); test.Method != "permutation-exact" || !near(test.P, want, 1e-9) {
		t.Errorf("marks: %+v, want an exact p of %v", test, want)
	}
	odd := make([]float64, len(marks))
	for i, d := range marks {
		odd[i] = d + math.Sqrt2/1000*float64(i)
	}
	want = bruteFlips(odd)
	test := stat.PairedPermutation(odd, 20_000, 1)
	if test.Method != "permutation" || !near(test.P, want, 5*math.Sqrt(want/20_000)) {
		t.Errorf("odd differences: %+v, want about %v by drawing", test, want)
	}
	if again := stat.PairedPermutation(odd, 20_000, 1); again.P != test.P {
		t.Errorf("the same seed gave %v and then %v", test.P, again.P)
	}
	if other := stat.PairedPermutation(odd, 20_000, 3); other.P == test.P {
		t.Errorf("another seed gave the same p %v", test.P)
	}
}

// Sixths that were written with ten digits are sixths: a p of 0 would be a proof.
func TestPairedPermutationOfRoundedScores(t *testing.T) {
	for _, tt := range []struct{ one, two float64 }{{1.0 / 6, 2.0 / 3}, {0.1666666667, 0.6666666667}} {
		var diffs []float64
		for i := range 24 {
			diffs = append(diffs, []float64{tt.one, tt.two}[i%2])
		}
		want := math.Ldexp(2, -24)
		if test := stat.PairedPermutation(diffs, 0, 1); test.Method != "permutation-exact" || !near(test.P, want, 1e-9) {
			t.Errorf("24 differences up of %v and %v: %+v, want p = %v", tt.one, tt.two, test, want)
		}
	}
}

// With verdicts, the permutation test is McNemar's exact one, however many there are.
func TestPairedPermutationOfVerdicts(t *testing.T) {
	var diffs []float64
	for i := range 50_000 {
		diffs = append(diffs, float64(bits.OnesCount(uint(i))%2)-float64(bits.OnesCount(uint(i*7))%2))
	}
	b, c := 0, 0
	for _, d := range diffs {
		if d > 0 {
			b++
		}
		if d < 0 {
			c++
		}
	}
	got, want := stat.PairedPermutation(diffs, 0, 1), stat.McNemar(b, c)
	if !near(got.P, want.P, 1e-12) || got.N != 50_000 {
		t.Errorf("PairedPermutation = %+v, want the p of %+v", got, want)
	}
}

func TestPairedPermutationDegenerate(t *testing.T) {
	for name, tt := range map[string]struct {
		diffs   []float64
		warning string
		n       int
	}{
		"nothing":       {nil, stat.WarnNoDifference, 0},
		"no difference": {[]float64{0, 0}, stat.WarnNoDifference, 2},
		"no numbers":    {[]float64{math.NaN(), 1}, stat.WarnSkipped, 1},
	} {
		if test := stat.PairedPermutation(tt.diffs, 0, 0); test.P != 1 || !test.Has(tt.warning) || test.N != tt.n {
			t.Errorf("%s: %+v, want p = 1, n = %d and the warning %q", name, test, tt.n, tt.warning)
		}
	}
}

func TestWelchDegenerate(t *testing.T) {
	for name, tt := range map[string]struct {
		test    stat.Test
		warning string
	}{
		"one":        {stat.WelchTest([]float64{1, 2}, []float64{3}), stat.WarnTooFew},
		"equal":      {stat.WelchTest([]float64{1, 1}, []float64{3, 3}), stat.WarnNoSpreadTest},
		"no numbers": {stat.WelchTest([]float64{math.NaN()}, nil), stat.WarnSkipped},
	} {
		if tt.test.P != 1 || tt.test.Statistic-tt.test.Statistic != 0 || !tt.test.Has(tt.warning) {
			t.Errorf("%s: %+v, want p = 1 and the warning %q", name, tt.test, tt.warning)
		}
	}
}

func TestTestsAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64(), 0, 8).Draw(t, "x")
		y := rapid.SliceOfN(rapid.Float64(), len(x), len(x)).Draw(t, "y")
		checkTest(t, stat.WelchTest(x, y))
		checkTest(t, stat.PairedPermutation(x, 50, 3))
	})
}

// The sum over two strata is counted by hand: 2 of 2 against 0 of 2 twice has the chance 1/36
// on either side. Large counts agree with the normal distribution. A stratum without a
// choice changes no p-value, so Fisher's sum that stops early agrees with one that does not.
func TestStratifiedExact(t *testing.T) {
	one := stat.Stratum{K1: 2, N1: 2, K2: 0, N2: 2}
	if test := stat.FisherExact(one, one, stat.Stratum{N1: 3}); !near(test.P, 2.0/36, 1e-12) || test.N != 8 || !near(test.Statistic, 2, 1e-12) {
		t.Errorf("two strata give %+v, want p = 2/36", test)
	}
	if test := stat.FisherExact(); test.P != 1 || !test.Has(stat.WarnTooFew) {
		t.Errorf("no stratum gives %+v, want p = 1 and a warning", test)
	}
	half := stat.Stratum{K1: 4200, N1: 8000, K2: 4000, N2: 8000}
	large := stat.FisherExact(half, half)
	if small := stat.FisherExact(stat.Stratum{K1: 8400, N1: 16000, K2: 8000, N2: 16000}); math.Abs(large.P/small.P-1) > 0.1 {
		t.Errorf("large counts give p = %v, want about %v", large.P, small.P)
	}
	rapid.Check(t, func(t *rapid.T) {
		n1, n2 := rapid.IntRange(1, 300).Draw(t, "n1"), rapid.IntRange(1, 300).Draw(t, "n2")
		k1, k2 := rapid.IntRange(0, n1).Draw(t, "k1"), rapid.IntRange(0, n2).Draw(t, "k2")
		table := stat.Stratum{K1: k1, N1: n1, K2: k2, N2: n2}
		test := stat.FisherExact(table, stat.Stratum{K1: 3, N1: 3, K2: 2, N2: 2})
		checkTest(t, test)
		if want := stat.FisherExact(table); !near(test.P, want.P, 1e-8) {
			t.Fatalf("p = %v, want %v", test.P, want.P)
		}
	})
}

// The values are counted by hand: Fisher's tea (1935), which R's documentation gives as
// 0.4857, the example in SciPy's, 0.0350, and lists that do not vary.
func TestFisherExact(t *testing.T) {
	for _, tt := range []struct {
		k1, n1, k2, n2 int
		want           float64
	}{
		{3, 4, 1, 4, 34.0 / 70},
		{8, 10, 1, 6, 280.0 / 8008},
		{3, 3, 0, 3, 0.1},
		{1, 1, 0, 40, 1.0 / 41},
		{5, 5, 7, 7, 1},
		{0, 5, 0, 7, 1},
	} {
		test := stat.FisherExact(stat.Stratum{K1: tt.k1, N1: tt.n1, K2: tt.k2, N2: tt.n2})
		if !near(test.P, tt.want, 1e-9) || test.N != tt.n1+tt.n2 || len(test.Warnings) > 0 {
			t.Errorf("FisherExact(%d, %d, %d, %d) = %+v, want p = %v", tt.k1, tt.n1, tt.k2, tt.n2, test, tt.want)
		}
		if other := stat.FisherExact(stat.Stratum{K1: tt.k2, N1: tt.n2, K2: tt.k1, N2: tt.n1}); !near(other.P, test.P, 1e-9) {
			t.Errorf("p of the two sides swapped is %v, want %v", other.P, test.P)
		}
	}
	if test := stat.FisherExact(stat.Stratum{K1: 3, N1: 0, K2: 1, N2: 4}); test.P != 1 || !test.Has(stat.WarnTooFew) || !test.Has(stat.WarnRange) {
		t.Errorf("FisherExact(3, 0, 1, 4) = %+v, want p = 1 and both warnings", test)
	}
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(-3, 60)
		checkTest(t, stat.FisherExact(stat.Stratum{K1: count.Draw(t, "k1"), N1: count.Draw(t, "n1"), K2: count.Draw(t, "k2"), N2: count.Draw(t, "n2")}))
	})
}
