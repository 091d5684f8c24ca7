package agreement_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem/internal/agreement"
)

// drawProbs draws probabilities, with ties and ends, and what came true.
func drawProbs(t *rapid.T) (probs []float64, truth []bool) {
	n := rapid.IntRange(1, 50).Draw(t, "n")
	one := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.1, 0.3, 0.5, 1}))
	return rapid.SliceOfN(one, n, n).Draw(t, "probs"), rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "truth")
}

// Every probability falls into one bin, between its ends.
func TestReliability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		probs, truth := drawProbs(t)
		b := agreement.Binning{
			Count:     rapid.IntRange(-1, 20).Draw(t, "count"),
			LowerEnds: rapid.Bool().Draw(t, "lower"),
		}
		bins, err := agreement.Reliability(probs, truth, nil, b)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, bin := range bins {
			n += bin.N
			if !(bin.Lo <= bin.Confidence+1e-12 && bin.Confidence <= bin.Hi+1e-12 && covers(bin.Observed, bin.Observed.Value)) {
				t.Errorf("bin %+v of %v", bin, probs)
			}
		}
		if n != len(probs) {
			t.Errorf("%d of %d probabilities are in bins", n, len(probs))
		}
		c, err := agreement.ECE(probs, truth, nil, b)
		if err != nil || !(0 <= c.Mean && c.Mean <= c.RMS+1e-12 && c.RMS <= c.Largest+1e-12 && c.Largest <= 1) {
			t.Errorf("ECE = %+v, %v, want mean <= root mean square <= largest", c, err)
		}
	})
}

// Ends belong to one of two bins, as asked.
func TestReliabilityEnds(t *testing.T) {
	probs, truth := []float64{0, 0.2, 0.4, 1}, []bool{false, false, true, true}
	for lower, want := range map[bool][]int{false: {2, 1, 1}, true: {1, 1, 1, 1}} {
		bins, err := agreement.Reliability(probs, truth, nil, agreement.Binning{Count: 5, LowerEnds: lower})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, b := range bins {
			got = append(got, b.N)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("LowerEnds %t (-want +got):\n%s", lower, diff)
		}
	}
}

func TestCalibrationErrors(t *testing.T) {
	for name, in := range map[string]struct {
		probs []float64
		truth []bool
	}{
		"empty": {}, "lengths": {[]float64{0.5}, nil}, "above 1": {[]float64{1.5}, []bool{true}},
		"below 0": {[]float64{-0.1}, []bool{true}}, "NaN": {[]float64{math.NaN()}, []bool{true}},
	} {
		_, err := agreement.ECE(in.probs, in.truth, nil, agreement.Binning{})
		_, err2 := agreement.Brier(in.probs, in.truth, nil)
		if err == nil || err2 == nil {
			t.Errorf("%s: errors %v, %v, want both", name, err, err2)
		}
	}
}

// The area is the share of pairs in the right order.
func TestAUROCByPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores, truth := drawProbs(t)
		est, err := agreement.AUROC(scores, truth, nil)
		if !slices.Contains(truth, true) || !slices.Contains(truth, false) {
			if err == nil {
				t.Errorf("AUROC of one kind = %+v, want an error", est)
			}
			return
		}
		sum, n := 0.0, 0.0
		for i := range scores {
			for j := range scores {
				if truth[i] && !truth[j] {
					n++
					switch {
					case scores[i] > scores[j]:
						sum++
					case scores[i] == scores[j]:
						sum += 0.5
					}
				}
			}
		}
		if err != nil || !near(est.Value, sum/n, 1e-12) || !(0 <= est.Lo && est.Lo <= est.Value && est.Value <= est.Hi && est.Hi <= 1) {
			t.Errorf("AUROC(%v, %v) = %+v, %v, want %v", scores, truth, est, err, sum/n)
		}
		weighted, err := agreement.AUROC(scores, truth, slices.Repeat([]float64{2.5}, len(scores)))
		if err != nil || !near(weighted.Value, est.Value, 1e-12) || !near(weighted.Lo, est.Lo, 1e-9) {
			t.Errorf("AUROC with equal weights = %+v, %v, want %+v", weighted, err, est)
		}
	})
}

// Scores that separate everything do not claim to be certain.
func TestAUROCSeparated(t *testing.T) {
	for _, flip := range []bool{false, true} {
		truth := []bool{flip, flip, flip, !flip, !flip, !flip}
		est, err := agreement.AUROC([]float64{1, 2, 3, 4, 5, 6}, truth, nil)
		if err != nil || !slices.Contains(est.Warnings, agreement.WarnSeparated) || est.Hi-est.Lo < 0.3 || est.Hi-est.Lo > 0.8 {
			t.Errorf("AUROC = %+v, %v, want a wide interval and a warning", est, err)
		}
	}
}

func TestAUROCCoverage(t *testing.T) {
	const n, replications = 60, 2000
	want := 0.5 * math.Erfc(-1/math.Sqrt2/math.Sqrt2) // two normals one apart
	rng := rand.New(rand.NewPCG(1, 2))
	hits := 0
	scores, truth := make([]float64, n), make([]bool, n)
	for range replications {
		for i := range scores {
			truth[i] = i%2 == 0
			scores[i] = rng.NormFloat64()
			if truth[i] {
				scores[i]++
			}
		}
		if est, err := agreement.AUROC(scores, truth, nil); err == nil && covers(est, want) {
			hits++
		}
	}
	share := 100 * float64(hits) / replications
	t.Logf("an area of %.3f is covered %.1f%% of the time", want, share)
	if share < 93.5 || share > 97 {
		t.Errorf("an area of %.3f is covered %.1f%% of the time, want 93.5%% to 97%%", want, share)
	}
}

func TestRankedErrors(t *testing.T) {
	for name, in := range map[string]struct {
		scores  []float64
		truth   []bool
		weights []float64
	}{
		"lengths": {[]float64{1}, nil, nil}, "weights": {[]float64{1}, []bool{true}, []float64{1, 2}},
		"NaN": {[]float64{math.NaN()}, []bool{true}, nil}, "negative": {[]float64{1}, []bool{true}, []float64{-1}},
		"nothing counts": {[]float64{1, 2}, []bool{true, false}, []float64{0, 0}},
	} {
		_, err := agreement.AUROC(in.scores, in.truth, in.weights)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
