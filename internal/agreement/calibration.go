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

	// Share is the part of all weight that is in the bin, and Confidence its mean probability.
	Share      float64 `json:"share"`
	Confidence float64 `json:"confidence"`

	// Observed is the share of true outcomes, with Wilson's interval at level 0.95.
	Observed stat.Estimate `json:"observed"`
}

// gap returns the difference between the stated probability and the observed share.
func (b Bin) gap() float64 { return math.Abs(b.Observed.Value - b.Confidence) }

// Reliability returns the non-empty bins in order: the reliability curve. Weights may be nil.
// It returns an error if the lists differ in length, a probability is outside [0, 1], or a
// weight is not positive.
func Reliability(probs []float64, truth []bool, weights []float64, b Binning) ([]Bin, error) {
	weight, err := checkProbs(probs, truth, weights)
	if err != nil {
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
	stated, came := make([]stat.Moments, len(cuts)+1), make([]stat.Moments, len(cuts)+1)
	var all stat.Moments
	for i, p := range probs {
		k, exactly := slices.BinarySearch(cuts, p)
		for b.LowerEnds && exactly && k < len(cuts) && cuts[k] == p {
			k++
		}
		stated[k].Add(p, weight(i))
		came[k].Add(Number(truth[i]), weight(i))
		all.Add(p, weight(i))
	}
	var bins []Bin
	for k, m := range stated {
		if m.N() > 0 {
			bins = append(bins, Bin{
				Lo: ends[k], Hi: ends[k+1], N: m.N(), Share: m.Weight() / all.Weight(),
				Confidence: m.Mean(), Observed: stat.WeightedProportion(came[k], stat.DefaultLevel),
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

// ECE returns the expected calibration error and related measures. Weights may be nil. It
// returns an error if the lists are empty, differ in length, or contain a probability outside
// [0, 1] or a weight that is not positive.
//
// Source: M. P. Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining well calibrated
// probabilities using Bayesian binning", AAAI 2015. Chance alone makes the gaps of bins
// with few items large, so it is never 0 in practice and shrinks with n; two values are
// comparable only with the same bins and a similar number of items.
func ECE(probs []float64, truth []bool, weights []float64, b Binning) (CalibrationError, error) {
	bins, err := Reliability(probs, truth, weights, b)
	if err != nil {
		return CalibrationError{}, err
	}
	c := CalibrationError{N: len(probs)}
	for _, bin := range bins {
		c.Mean += float64(bin.Share * bin.gap()) // not fused; see wilson
		c.RMS += float64(bin.Share * bin.gap() * bin.gap())
		c.Largest = max(c.Largest, bin.gap())
	}
	c.RMS = math.Sqrt(c.RMS)
	return c, nil
}

// Brier returns the mean squared difference of probability and truth: 0 is perfect, and a
// constant 0.5 scores 0.25 (Brier 1950). Errors are those of [ECE].
func Brier(probs []float64, truth []bool, weights []float64) (float64, error) {
	weight, err := checkProbs(probs, truth, weights)
	if err != nil {
		return 0, err
	}
	var squares stat.Moments
	for i, p := range probs {
		d := p - Number(truth[i])
		squares.Add(d*d, weight(i))
	}
	return squares.Mean(), nil
}

// checkProbs returns the weight of each probability.
func checkProbs(probs []float64, truth []bool, weights []float64) (func(i int) float64, error) {
	if len(probs) != len(truth) || weights != nil && len(weights) != len(probs) {
		return nil, fmt.Errorf("%d probabilities, %d outcomes and %d weights do not match", len(probs), len(truth), len(weights))
	}
	if len(probs) == 0 {
		return nil, errors.New("there are no probabilities")
	}
	for i, p := range probs {
		if !(p >= 0 && p <= 1) {
			return nil, fmt.Errorf("probability %d is %v, which is not between 0 and 1", i+1, p)
		}
		if weights != nil && !(weights[i] > 0 && weights[i] <= maxSize) {
			return nil, fmt.Errorf("weight %d is %v, which is not usable", i+1, weights[i])
		}
	}
	return func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}, nil
}
