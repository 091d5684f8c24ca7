package stat_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"deem/stat"
)

// An interval is a way to put ends to a share.
type interval struct {
	name string
	f    func(k, n int, level float64) stat.Estimate
}

var intervals = []interval{
	{"wilson", stat.Proportion},
	{"clopper-pearson", stat.ClopperPearson},
}

// coverage returns how often the interval holds the share p, by adding up the
// chances of all counts: no simulation is as exact.
func coverage(ests []stat.Estimate, p float64) float64 {
	n, held := len(ests)-1, 0.0
	for k, est := range ests {
		if est.Lo <= p && p <= est.Hi {
			held += stat.BinomialMass(k, n, p)
		}
	}
	return held
}

// everyCount returns the estimates for 0 to n hits.
func everyCount(in interval, n int) []stat.Estimate {
	ests := make([]stat.Estimate, n+1)
	for k := range ests {
		ests[k] = in.f(k, n, 0.95)
	}
	return ests
}

// Over shares from 0.02 to 0.98 and 30 to 1000 tries, Wilson's interval holds the
// truth as often as it says on average, and the exact one always does.
func TestIntervalCoverage(t *testing.T) {
	for _, in := range intervals {
		total, cells, worst, where := 0.0, 0, 1.0, ""
		for _, n := range []int{30, 50, 100, 200, 500, 1000} {
			ests := everyCount(in, n)
			for i := 2; i <= 98; i++ {
				p := float64(i) / 100
				c := coverage(ests, p)
				total += c
				cells++
				if c < worst {
					worst, where = c, fmt.Sprintf("n = %d, p = %v", n, p)
				}
			}
		}
		mean := total / float64(cells)
		t.Logf("%-16s mean coverage %.4f, worst %.4f at %s", in.name, mean, worst, where)
		switch in.name {
		case "wilson", "jeffreys", "agresti-coull":
			if mean < 0.935 || mean > 0.965 {
				t.Errorf("%s: mean coverage %.4f, want 0.935 to 0.965", in.name, mean)
			}
		case "clopper-pearson":
			if worst < 0.95 {
				t.Errorf("clopper-pearson: coverage %.4f (%s), want at least 0.95", worst, where)
			}
		}
	}
}

func TestIntervalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		level := rapid.Float64Range(0.5, 0.9999).Draw(t, "level")
		for _, in := range intervals {
			est, mirror := in.f(k, n, level), in.f(n-k, n, level)
			checkSane(t, est, stat.Unit)
			if est.Method != in.name || est.N != n {
				t.Fatalf("%s(%d, %d) = %+v, want its own name and n", in.name, k, n, est)
			}
			if !near(est.Lo, 1-mirror.Hi, 1e-12) || !near(est.Hi, 1-mirror.Lo, 1e-12) {
				t.Fatalf("%s(%d, %d, %v) = %+v is not the mirror of %+v", in.name, k, n, level, est, mirror)
			}
		}
		exact := stat.ClopperPearson(k, n, level)
		// The defining property: at the ends, k hits and more, or fewer, have half of
		// what is left of the level.
		if k > 0 && !near(stat.BinomialTest(k, n, exact.Lo, stat.Greater)/((1-level)/2), 1, 1e-6) {
			t.Fatalf("clopper-pearson(%d, %d, %v).Lo = %v, want a tail of %v above", k, n, level, exact.Lo, (1-level)/2)
		}
		if k < n && !near(stat.BinomialTest(k, n, exact.Hi, stat.Less)/((1-level)/2), 1, 1e-6) {
			t.Fatalf("clopper-pearson(%d, %d, %v).Hi = %v, want a tail of %v below", k, n, level, exact.Hi, (1-level)/2)
		}
	})
}

func TestIntervalAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, n := rapid.Int().Draw(t, "k"), rapid.Int().Draw(t, "n")
		level := rapid.Float64().Draw(t, "level")
		for _, in := range intervals {
			checkSane(t, in.f(k, n, level), stat.Unit)
		}
	})
}

func TestIntervalWarnings(t *testing.T) {
	for _, in := range intervals {
		if est := in.f(0, 0, 0.95); !est.Has(stat.WarnNoValues) || est.Method != stat.MethodNone {
			t.Errorf("%s(0, 0) = %+v, want a warning and no method", in.name, est)
		}
		if est := in.f(5, 4, 0.95); !est.Has(stat.WarnRange) || est.Value != 1 {
			t.Errorf("%s(5, 4) = %+v, want 1 and a warning", in.name, est)
		}
	}
}

// bigMass returns the chance of k hits in n tries with sixty digits.
func bigMass(k, n int, p float64) *big.Float {
	const prec = 200
	one := big.NewFloat(1).SetPrec(prec)
	mass := new(big.Float).SetPrec(prec).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
	hit := new(big.Float).SetPrec(prec).SetFloat64(p)
	miss := new(big.Float).SetPrec(prec).Sub(one, hit)
	for i := range n {
		if i < k {
			mass.Mul(mass, hit)
		} else {
			mass.Mul(mass, miss)
		}
	}
	return mass
}

// Tails keep twelve digits however small they are.
func TestBinomialTestTails(t *testing.T) {
	for _, n := range []int{1, 2, 7, 40, 150} {
		for _, p := range []float64{0.001, 0.25, 0.5, 0.9, 0.999} {
			upTo := new(big.Float).SetPrec(200)
			for k := range n + 1 {
				upTo.Add(upTo, bigMass(k, n, p))
				want, _ := upTo.Float64()
				if got := stat.BinomialTest(k, n, p, stat.Less); math.Abs(got-want) > 1e-12*want {
					t.Errorf("BinomialTest(%d, %d, %v, less) = %v, want %v", k, n, p, got, want)
				}
				got := stat.BinomialTest(n-k, n, p, stat.Greater)
				mirror := stat.BinomialTest(k, n, 1-p, stat.Less)
				if math.Abs(got-mirror) > 1e-11*got {
					t.Errorf("BinomialTest(%d, %d, %v, greater) = %v, want %v as its mirror", n-k, n, p, got, mirror)
				}
			}
		}
	}
}

// The two-sided p-value is the chance of everything that is no more likely.
func TestBinomialTestTwoSided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		limit, want := stat.BinomialMass(k, n, p)*(1+1e-7), 0.0
		for i := range n + 1 {
			if mass := stat.BinomialMass(i, n, p); mass <= limit {
				want += mass
			}
		}
		got := stat.BinomialTest(k, n, p, stat.TwoSided)
		if float64(k) == float64(n)*p {
			want = 1
		}
		if !near(got, want, 1e-9) {
			t.Fatalf("BinomialTest(%d, %d, %v) = %v, want %v", k, n, p, got, want)
		}
	})
}

// Beyond ten million tries another formula takes over, and it must not show.
func TestBinomialTestManyTries(t *testing.T) {
	for _, off := range []int{-5000, -100, 0, 100, 5000} {
		for _, alt := range []stat.Alternative{stat.Less, stat.Greater} {
			few := stat.BinomialTest(5_000_000+off, 10_000_000, 0.5, alt)
			many := stat.BinomialTest(5_000_000+off, 10_000_001, 0.5, alt)
			if math.Abs(few-many) > 0.01*few {
				t.Errorf("off by %d, %s: %v with ten million tries and %v with one more", off, alt, few, many)
			}
		}
	}
	for _, n := range []int{1 << 26, 1 << 30, math.MaxInt / 1000, math.MaxInt} {
		third := int(float64(n) / 3)
		for _, alt := range []stat.Alternative{"", stat.Less, stat.Greater} {
			if p := stat.BinomialTest(third, n, 0.3, alt); math.Abs(p-float64(map[stat.Alternative]int{stat.Less: 1}[alt])) > 1e-9 {
				t.Errorf("a third of %d, %q: p = %v, want 0 or 1", n, alt, p)
			}
			if p := stat.BinomialTest(third, n, 1.0/3, alt); !(p > 0.49) {
				t.Errorf("a third of %d where a third is expected, %q: p = %v, want it large", n, alt, p)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := stat.BinomialTest(rapid.Int().Draw(t, "k"), rapid.Int().Draw(t, "n"), rapid.Float64().Draw(t, "p"),
			rapid.SampledFrom([]stat.Alternative{"", stat.Less, stat.Greater, "nonsense"}).Draw(t, "alternative"))
		if !(p >= 0 && p <= 1) {
			t.Fatalf("p = %v, want a chance", p)
		}
	})
}
