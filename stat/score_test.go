package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"deem/stat"
)

// drawScore returns a mean difference of n items, in clusters of the given size if it is above 1,
// with some of the second values known only by a probability.
func drawScore(rng *rand.Rand, n, size int, undecided, calibration float64) stat.Score {
	var m stat.Moments
	var groups stat.Clustered
	var guesses stat.Guesses
	pairs := &stat.Pairs{Counts: undecided == 0}
	sums := map[int]float64{}
	for i := range n {
		first, second := math.Round(rng.Float64()), math.Round(rng.Float64())
		if rng.Float64() < undecided {
			second = rng.Float64()
			guesses.Add(second, 1)
		}
		d := second - first
		m.Add(d, 1)
		groups.Add(fmt.Sprint(i/size), d, 1)
		sums[i/size] += d
		if d > 0 {
			pairs.Up++
		} else if d < 0 {
			pairs.Down++
		}
	}
	for i := range n / size {
		if sums[i] != 0 {
			pairs.Sums = append(pairs.Sums, sums[i])
		}
	}
	s := stat.Score{Values: m, Pairs: pairs, Undecided: guesses.Allowance(float64(n), calibration)}
	if size > 1 {
		s.Clusters = &groups
	}
	return s
}

// Interval, test, margin and power are read from one object: a test that rejects 0, or a
// margin that is kept, does not stand beside an interval that says otherwise.
func TestScoreDoesNotContradictItself(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 40))
		size := []int{1, 1, 5}[seed%3]
		s := drawScore(rng, 300, size, 0.3*float64(1+seed%2), 0.1)
		est, test := s.At(0.95), s.Test(1)
		if test.P < 0.05 && !est.LeavesOut(0) {
			t.Errorf("draw %d: p = %v beside [%v, %v]", seed, test.P, est.Lo, est.Hi)
		}
		lower, upper := stat.Equivalence(s.OneSided, 0.1)
		if both := s.OneSided(0.9); (math.Max(lower, upper) < 0.05) != (both.Lo > -0.1 && both.Hi < 0.1) {
			t.Errorf("draw %d: equivalence with p = %v and %v beside [%v, %v]", seed, lower, upper, both.Lo, both.Hi)
		}
		without := s
		without.Undecided = stat.Allowance{}
		if plain := without.At(0.95); est.Hi-est.Lo <= plain.Hi-plain.Lo {
			t.Errorf("draw %d: the interval does not allow for guesses", seed)
		}
		if a, _ := stat.Equivalence(without.OneSided, 0.1); lower < a {
			t.Errorf("draw %d: non-inferior with p = %v, and %v without guesses", seed, lower, a)
		}
		if with, plain := s.Detectable(0.95, 0.8), without.Detectable(0.95, 0.8); with <= plain {
			t.Errorf("draw %d: %v is detectable, and %v without guesses", seed, with, plain)
		}
		if half := (est.Hi - est.Lo) / 2; s.Detectable(0.95, 0.8) < half {
			t.Errorf("draw %d: %v is detectable beside ±%v", seed, s.Detectable(0.95, 0.8), half)
		}
		if size > 1 && s.Parts().Clusters == 0 && est.SE > math.Hypot(s.Parts().Items, s.Parts().Undecided)+1e-9 {
			t.Errorf("draw %d: parts %+v of the standard error %v", seed, s.Parts(), est.SE)
		}
	}
}

// The parts of the standard error add up to it.
func TestScoreParts(t *testing.T) {
	for seed := range uint64(20) {
		s := drawScore(rand.New(rand.NewPCG(seed, 41)), 300, 5, 0.3, 0.1)
		p := s.Parts()
		if se := s.At(0.95).SE; p.Clusters > 0 && math.Abs(math.Hypot(math.Hypot(p.Items, p.Clusters), p.Undecided)-se) > 1e-9 {
			t.Errorf("draw %d: the parts %+v do not add up to %v", seed, p, se)
		}
		if p.Undecided == 0 || p.Items == 0 {
			t.Errorf("draw %d: parts %+v", seed, p)
		}
	}
}

// Equivalence at the margin is called in at most one of twenty cases although most verdicts
// of one side are guesses whose probabilities are off as stated.
func TestEquivalenceAllowsForGuesses(t *testing.T) {
	const n, margin, off, draws = 400, 0.05, 0.09, 600
	rng := rand.New(rand.NewPCG(7, 8))
	called := 0
	for range draws {
		var m stat.Moments
		var guesses stat.Guesses
		bias := off * rng.NormFloat64()
		for i := range n {
			first, second := 0.0, 0.0
			if rng.Float64() < 0.7 {
				first = 1
			}
			if i%10 < 6 { // The truth is 0.65: the probabilities miss it by the bias.
				second = min(max(0.65+bias, 0), 1)
				guesses.Add(second, 1)
			} else if rng.Float64() < 0.65 {
				second = 1
			}
			m.Add(second-first, 1)
		}
		s := stat.Score{Values: m, Pairs: &stat.Pairs{}, Undecided: guesses.Allowance(n, off)}
		if s.OneSided(0.9).Lo > -margin {
			called++
		}
	}
	if got := float64(called) / draws; got > 0.06 {
		t.Errorf("a system that is worse by the margin is called non-inferior in %.3f of the draws, want at most 0.06", got)
	}
}
