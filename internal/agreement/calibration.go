package agreement

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"deem/stat"
)

// A Binning configures how stated probabilities are put into bins. The zero value is ten
// bins of equal width, each including its upper end: (0.2, 0.3] is the third.
type Binning struct {
	// Count is the number of bins. 0 means 10.
	Count int

	// Cuts are the inner ends of the bins, in order. They replace Count.
	Cuts []float64

	// LowerEnds means that a bin includes its lower end instead of its upper: [0.2, 0.3).
	LowerEnds bool
}

// A Bin is a bin of probabilities with the observed outcomes.
type Bin struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
	N  int     `json:"n"`

	// Confidence is the mean probability.
	Confidence float64 `json:"confidence"`

	// Observed is the share of true outcomes, with Wilson's interval at level 0.95.
	Observed stat.Estimate `json:"observed"`
}

// gap returns the difference between the stated probability and the observed share.
func (b Bin) gap() float64 { return math.Abs(b.Observed.Value - b.Confidence) }

// Reliability returns the non-empty bins in order: the reliability curve. It returns an
// error if the lists differ in length or a probability is outside [0, 1].
func Reliability(probs []float64, truth []bool, b Binning) ([]Bin, error) {
	if err := checkProbs(probs, truth); err != nil {
		return nil, err
	}
	cuts := slices.Sorted(slices.Values(b.Cuts))
	if b.Cuts == nil {
		count := b.Count
		if count <= 0 {
			count = 10
		}
		for i := range count - 1 {
			cuts = append(cuts, float64(i+1)/float64(count))
		}
	}
	ends := slices.Concat([]float64{0}, cuts, []float64{1})
	n, hits := make([]int, len(cuts)+1), make([]int, len(cuts)+1)
	sums := make([]exact, len(cuts)+1)
	for i, p := range probs {
		k, exactly := slices.BinarySearch(cuts, p)
		for b.LowerEnds && exactly && k < len(cuts) && cuts[k] == p {
			k++
		}
		n[k]++
		sums[k].add(p)
		if truth[i] {
			hits[k]++
		}
	}
	var bins []Bin
	for k := range n {
		if n[k] > 0 {
			bins = append(bins, Bin{
				Lo: ends[k], Hi: ends[k+1], N: n[k],
				Confidence: sums[k].float() / float64(n[k]), Observed: stat.Proportion(hits[k], n[k], stat.DefaultLevel),
			})
		}
	}
	return bins, nil
}

// A CalibrationError is the distance of stated probabilities from observed shares over the
// bins: the mean gap, the root of the mean squared gap, and the largest gap.
type CalibrationError struct {
	Mean    float64 `json:"mean"`
	RMS     float64 `json:"rms"`
	Largest float64 `json:"largest"`
	N       int     `json:"n"`
}

// ECE returns the expected calibration error and related measures. It returns an error if
// the lists are empty, differ in length, or contain a probability outside [0, 1].
//
// Source: M. P. Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining well calibrated
// probabilities using Bayesian binning", AAAI 2015. Chance alone makes the gaps of bins
// with few items large, so it is never 0 in practice and shrinks with n; two values are
// comparable only with the same bins and a similar number of items.
func ECE(probs []float64, truth []bool, b Binning) (CalibrationError, error) {
	bins, err := Reliability(probs, truth, b)
	if err != nil {
		return CalibrationError{}, err
	}
	c := CalibrationError{N: len(probs)}
	for _, bin := range bins {
		weight := float64(bin.N) / float64(c.N)
		c.Mean += float64(weight * bin.gap()) // not fused; see wilson
		c.RMS += float64(weight * bin.gap() * bin.gap())
		c.Largest = max(c.Largest, bin.gap())
	}
	c.RMS = math.Sqrt(c.RMS)
	return c, nil
}

// Brier returns the mean squared difference of probability and truth: 0 is perfect, and a
// constant 0.5 scores 0.25 (Brier 1950). Errors are those of [ECE].
func Brier(probs []float64, truth []bool) (float64, error) {
	if err := checkProbs(probs, truth); err != nil {
		return 0, err
	}
	var sum exact
	for i, p := range probs {
		d := p - Number(truth[i])
		sum.add(d * d)
	}
	return sum.float() / float64(len(probs)), nil
}

func checkProbs(probs []float64, truth []bool) error {
	if len(probs) != len(truth) {
		return fmt.Errorf("%d probabilities cannot be compared with %d outcomes", len(probs), len(truth))
	}
	if len(probs) == 0 {
		return errors.New("there are no probabilities")
	}
	for i, p := range probs {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("probability %d is %v, which is not between 0 and 1", i+1, p)
		}
	}
	return nil
}
