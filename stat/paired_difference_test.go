package stat_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"deem/stat"
)

// The ends also solve an equation of the fourth degree (Z. Yang, X. Sun and J. W.
// Hardin, "A non-iterative implementation of Tango's score confidence interval",
// Statistics in Medicine 32, 2013), which knows nothing of how we look for them.
func TestPairedProportionsQuartic(t *testing.T) {
	zz := 1.959963984540054 * 1.959963984540054
	for _, tt := range []struct{ up, down, n float64 }{{12, 2, 50}, {40, 20, 160}, {1, 7, 21}, {3, 3, 10}, {0, 5, 400}} {
		g, d, s := tt.n/zz, tt.up-tt.down, tt.up+tt.down
		quartic := func(x float64) float64 {
			m0 := tt.n * tt.n * (g + 1) * (g + 1)
			m1 := -tt.n * d * (g + 1) * (4*g + 1)
			m2 := 2*tt.n*d*d*(3*g+2)/zz - tt.n*tt.n*(s/zz+1)
			m3 := tt.n*d*(2*s/zz+1) - d*d*d*(4*g+1)/zz
			m4 := d * d * (d*d/zz - s) / zz
			return ((m0*x+m1)*x+m2)*x*x + m3*x + m4
		}
		est := stat.PairedProportions(int(tt.up), int(tt.down), int(tt.n), 0.95)
		for _, end := range []float64{est.Lo, est.Hi} {
			if before, after := quartic(end-1e-9), quartic(end+1e-9); before*after > 0 {
				t.Errorf("PairedProportions(%v) = %+v: the equation does not change its sign at %v", tt, est, end)
			}
		}
	}
}

// The interval ends where the score is z, and at no difference that is McNemar's
// test without correction.
func TestPairedProportionsAndMcNemar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		b := rapid.IntRange(0, n).Draw(t, "b")
		c := rapid.IntRange(0, n-b).Draw(t, "c")
		est := stat.PairedProportions(b, c, n, 0.95)
		checkSane(t, est, stat.Bounds{Lo: -1, Hi: 1})
		mirror := stat.PairedProportions(c, b, n, 0.95)
		if !near(est.Lo, -mirror.Hi, 1e-9) || !near(est.Hi, -mirror.Lo, 1e-9) {
			t.Fatalf("PairedProportions(%d, %d, %d) = %+v is not the mirror of %+v", b, c, n, est, mirror)
		}
		significant := chi2P(b, c) < 0.05
		if excludes := est.Lo > 0 || est.Hi < 0; excludes != significant {
			t.Fatalf("PairedProportions(%d, %d, %d) = %+v, but McNemar's p = %v", b, c, n, est, chi2P(b, c))
		}
	})
}

// pairedCoverage returns how often Tango's interval holds the difference of two
// shares when the first alone hits with chance p and the second alone with chance q,
// by adding up the chances of all tables.
func pairedCoverage(ests [][]stat.Estimate, p, q float64) float64 {
	n, held := len(ests)-1, 0.0
	for b, row := range ests {
		chance := stat.BinomialMass(b, n, p)
		for c, est := range row {
			if est.Lo <= p-q && p-q <= est.Hi {
				held += chance * stat.BinomialMass(c, n-b, q/(1-p))
			}
		}
	}
	return held
}

func TestPairedProportionsCoverage(t *testing.T) {
	total, cells, worst := 0.0, 0, 1.0
	for _, n := range []int{20, 60} {
		ests := make([][]stat.Estimate, n+1)
		for b := range ests {
			for c := range n - b + 1 {
				ests[b] = append(ests[b], stat.PairedProportions(b, c, n, 0.95))
			}
		}
		for _, p := range []float64{0.02, 0.05, 0.1, 0.2, 0.4} {
			for _, q := range []float64{0.02, 0.05, 0.1, 0.2, 0.4} {
				c := pairedCoverage(ests, p, q)
				total += c
				cells++
				worst = math.Min(worst, c)
			}
		}
	}
	mean := total / float64(cells)
	t.Logf("tango: mean coverage %.4f, worst %.4f", mean, worst)
	if mean < 0.94 || mean > 0.97 || worst < 0.90 {
		t.Errorf("mean coverage %.4f, worst %.4f, want 0.94 to 0.97 and at least 0.90", mean, worst)
	}
}

// Pairing finds what two separate intervals do not.
func TestDifference(t *testing.T) {
	difference := func(k1, n1, k2, n2 int, level float64) stat.Estimate {
		return stat.Difference(stat.Proportion(k1, n1, level), stat.Proportion(k2, n2, level), level)
	}
	// Newcombe's first example: 56 of 70 and 48 of 80, 0.2 [0.0524, 0.3339].
	est := difference(56, 70, 48, 80, 0.95)
	if !near(est.Value, 0.2, 1e-15) || !near(est.Lo, 0.0524, 5e-5) || !near(est.Hi, 0.3339, 5e-5) {
		t.Errorf("the difference of (56, 70, 48, 80) = %+v, want 0.2 [0.0524, 0.3339]", est)
	}
	paired := stat.PairedProportions(20, 5, 100, 0.95)
	if apart := difference(75, 100, 60, 100, 0.95); apart.Hi-apart.Lo <= paired.Hi-paired.Lo {
		t.Errorf("apart %+v is no wider than paired %+v", apart, paired)
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) int { return rapid.IntRange(-2, 50).Draw(t, name) }
		wide := stat.Bounds{Lo: -1, Hi: 1}
		checkSane(t, difference(draw("k"), draw("n"), draw("l"), draw("m"), 0.9), wide)
		checkSane(t, stat.PairedProportions(draw("b"), draw("c"), draw("n"), 0.9), wide)
	})
}
