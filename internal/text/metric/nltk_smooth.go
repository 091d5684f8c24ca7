package metric

import (
	"errors"
	"math"
)

// NLTK's default parameters.
const (
	smoothEpsilon = .1
	smoothK       = 5
	smoothAlpha   = 5
)

// smallest is Python's sys.float_info.min, which replaces a precision of 0 without
// smoothing: its logarithm is finite.
const smallest = 0x1p-1022

// smooth returns the precision of each order, smoothed by the given method.
func (s *bleuSums) smooth(method int) ([]float64, error) {
	p := make([]float64, len(s.matches))
	for i, m := range s.matches {
		p[i] = float64(m) / float64(s.totals[i])
	}
	switch method {
	case 0:
		s.fillZeroMatches(p, func(i, _ int) float64 { return smallest })
	case 1:
		s.fillZeroMatches(p, func(i, _ int) float64 { return smoothEpsilon / float64(s.totals[i]) })
	case 2:
		for i := 1; i < len(p); i++ {
			p[i] = float64(s.matches[i]+1) / float64(s.totals[i]+1)
		}
	case 3:
		s.fillZeroMatches(p, func(i, k int) float64 { return 1 / (math.Exp2(float64(k)) * float64(s.totals[i])) })
	case 4:
		s.byLength(p)
	case 5:
		s.average(p)
	case 6:
		return p, s.interpolate(p)
	case 7:
		s.byLength(p)
		s.average(p)
	}
	return p, nil
}

// fillZeroMatches sets the precision of each order i without a match to f(i, k); k counts these
// orders from 1.
func (s *bleuSums) fillZeroMatches(p []float64, f func(i, k int) float64) {
	k := 0
	for i, m := range s.matches {
		if m == 0 {
			k++
			p[i] = f(i, k)
		}
	}
}

// byLength is method 4: the shorter a response, the less an order without a match counts.
func (s *bleuSums) byLength(p []float64) {
	if s.response <= 1 {
		return
	}
	s.fillZeroMatches(p, func(i, k int) float64 {
		return 1 / (math.Exp2(float64(k)) * smoothK / math.Log(float64(s.response))) / float64(s.totals[i])
	})
}

// average is method 5: the mean with the neighbouring orders. After the last order upstream
// uses the order of five words, whatever the last order is, and only of the last response.
func (s *bleuSums) average(p []float64) {
	const order = 5
	matches := matchedGrams(s.last, s.lastReferences, order)
	above := float64(matches[order-1]) / float64(max(1, len(s.last)-order+1))
	below := p[0] + 1
	for i := range p {
		next := above
		if i+1 < len(p) {
			next = p[i+1]
		}
		p[i] = (below + p[i] + next) / 3
		below = p[i]
	}
}

// interpolate is method 6: the precision is interpolated with the value expected from the
// two lower orders.
func (s *bleuSums) interpolate(p []float64) error {
	if len(p) < 3 || p[2] == 0 {
		return errors.New("smoothing method 6 of BLEU needs three words in a row in common")
	}
	for i := 2; i < len(p); i++ {
		expected := 0.0
		if p[i-2] != 0 {
			expected = p[i-1] * p[i-1] / p[i-2]
		}
		grams := max(0, len(s.last)-i)
		p[i] = (float64(s.matches[i]) + smoothAlpha*expected) / float64(grams+smoothAlpha)
	}
	return nil
}
