package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"deem/stat"
)

// The interval of a mean with guesses holds the true share about as often as it promises,
// when the probabilities of the guesses are off by their calibration error, and it would
// not without the allowance for that error.
func TestGuessesCoverTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	const n, open, off, draws = 400, 120, 0.1, 4000
	rng := rand.New(rand.NewPCG(1, 2))
	covers := func(allowed float64) float64 {
		held := 0
		for range draws {
			var m stat.Moments
			var g stat.Guesses
			truth, bias := 0.0, off*rng.NormFloat64()
			for i := range n {
				p := 0.75
				if i < open {
					p = 0.3 + 0.4*rng.Float64()
				}
				y := 0.0
				if i < open && rng.Float64() < min(max(p+bias, 0), 1) || i >= open && rng.Float64() < p {
					y = 1
				}
				truth += y / n
				if i < open {
					m.Add(p, 1)
					g.Add(p, 1)
				} else {
					m.Add(y, 1)
				}
			}
			est := g.Allowance(n, allowed).Widen(stat.WeightedProportion(m, stat.DefaultLevel), stat.Unit)
			if !est.LeavesOut(truth) {
				held++
			}
		}
		return float64(held) / draws
	}
	if got := covers(off); got < 0.95 {
		t.Errorf("the interval holds the truth in %.3f of the draws, want 0.95", got)
	}
	if got := covers(0); got > 0.95 {
		t.Errorf("without the allowance it holds the truth in %.3f of the draws: the test cannot tell", got)
	}
}

// The chance in guesses does not count twice: where the values vary more than the guesses do,
// the interval is that of the values with the calibration error, and where all values are alike
// it has the chance.
func TestChanceCountsOnce(t *testing.T) {
	var g stat.Guesses
	for range 10 {
		g.Add(.5, 1)
	}
	est := stat.Estimate{Value: .5, Lo: .4, Hi: .6, SE: .05, Level: .95, Method: "t"}
	if got := g.Allowance(100, 0).Widen(est, stat.Unit); got.Lo != .4 || got.Hi != .6 {
		t.Errorf("the interval is %v to %v, want it as it was: its arms of 0.1 are wider than the chance in ten items of 100", got.Lo, got.Hi)
	}
	est.Lo, est.Hi = .5, .5
	if got := g.Allowance(10, 0).Widen(est, stat.Unit); got.Hi-got.Lo < .6 {
		t.Errorf("the interval is %v to %v, want the chance of ten coins", got.Lo, got.Hi)
	}
}

// Guesses that are certain add nothing but their calibration error, and none add nothing.
func TestAllowance(t *testing.T) {
	var g stat.Guesses
	if got := g.Allowance(10, 0.1); got != (stat.Allowance{}) {
		t.Errorf("the allowance without guesses is %v, want none", got)
	}
	g.Add(1, 2)
	if got := g.Allowance(10, 0.1); got.Chance != 0 || math.Abs(got.Shared-0.02) > 1e-12 {
		t.Errorf("the allowance is %v, want 0.02 shared: a fifth of the weight is off by a tenth", got)
	}
	g.Add(0.5, 1)
	if got, want := g.Allowance(10, 0).Chance, 0.05; math.Abs(got-want) > 1e-12 {
		t.Errorf("the chance is %v, want %v: that of one item of ten", got, want)
	}
	var all stat.Guesses
	all.Add(0.5, 1)
	all.Add(0.25, 3)
	var part stat.Guesses
	part.Add(0.25, 3)
	if rest := all.Minus(part); rest.N() != 1 || math.Abs(rest.Allowance(1, 0).Chance-0.5) > 1e-12 {
		t.Errorf("the rest has %d guesses and the allowance %v, want 1 and 0.5", rest.N(), rest.Allowance(1, 0))
	}
}
