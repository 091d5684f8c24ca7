package agreement

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"deem/stat"
)

// A Scale defines the distance of two ratings.
type Scale string

// The scales of measurement.
const (
	ScaleNominal  Scale = "nominal"  // equal or not
	scaleOrdinal  Scale = "ordinal"  // the number of ratings between the two
	scaleInterval Scale = "interval" // the difference
	scaleRatio    Scale = "ratio"    // the difference divided by the sum
)

// The warnings of the bootstrap of alpha.
const (
	WarnAlpha      = "alpha is not defined for these ratings"
	warnAlphaDraws = "in some draws all ratings were equal: these draws were left out, which makes the interval uncertain"
)

// KrippendorffInterval returns Krippendorff's alpha with the percentile interval of the
// given number of draws of units with replacement. The same seed gives the same interval
// for the same order of units.
//
// Source: B. Efron, "Bootstrap methods", Annals of Statistics 7 (1979), 1-26, drawing
// units, because ratings of one unit belong together. It needs some thirty units and a
// thousand draws. It is a little too narrow: by simulation the
// coverage at level 0.95 is 92% with 60 units and 93% with 150.
func KrippendorffInterval(ratings [][]float64, s Scale, draws int, seed uint64, level float64) stat.Estimate {
	est := stat.Estimate{Lo: -1, Hi: 1, Level: level, Method: stat.MethodNone}
	u, err := newUnits(ratings, s)
	if err != nil {
		return est.Warn(WarnAlpha + ": " + err.Error())
	}
	est.N = len(u.rows)
	value, err := u.alpha(nil)
	if err != nil {
		return est.Warn(WarnAlpha + ": " + err.Error())
	}
	est.Value, est.Lo = value, min(est.Lo, value)
	if len(u.rows) < 2 || draws < 2 {
		return est.Warn(warnOneRated)
	}
	var drawn []float64
	lost := 0
	rng := rand.New(rand.NewPCG(seed, 0))
	draw := make([]int, len(u.rows))
	for range draws {
		for i := range draw {
			draw[i] = rng.IntN(len(u.rows))
		}
		a, err := u.alpha(draw)
		if err != nil {
			lost++
			continue
		}
		drawn = append(drawn, a)
	}
	if lost > 0 {
		est = est.Warn(warnAlphaDraws)
	}
	if len(drawn) < 2 {
		return est
	}
	slices.Sort(drawn)
	est.Lo = min(value, stat.Quantile(drawn, (1-level)/2))
	est.Hi = max(value, stat.Quantile(drawn, 1-(1-level)/2))
	est.Method = "bootstrap-percentile"
	if est.Hi-est.Lo < 1e-9 {
		est = est.Warn(warnCertain)
	}
	return est
}

// units are the ratings that can be paired; each rating is stored as its index in the
// sorted values.
type units struct {
	scale  Scale
	values []float64
	rows   [][]int // per unit, the indices of its ratings
	most   int     // the largest number of ratings of a unit
}

func newUnits(ratings [][]float64, s Scale) (*units, error) {
	switch s {
	case ScaleNominal, scaleOrdinal, scaleInterval, scaleRatio:
	default:
		return nil, fmt.Errorf("scale %q is none of nominal, ordinal, interval and ratio", s)
	}
	all := slices.Concat(ratings...)
	all = slices.DeleteFunc(all, func(x float64) bool { return !(math.Abs(x) <= maxSize) }) // also NaN
	slices.Sort(all)
	u := &units{scale: s, values: slices.Compact(all)}
	n := 0
	for _, judge := range ratings {
		n = max(n, len(judge))
	}
	for i := range n {
		var row []int
		for _, judge := range ratings {
			if i >= len(judge) {
				continue
			}
			if k, ok := slices.BinarySearch(u.values, judge[i]); ok {
				row = append(row, k)
			}
		}
		if len(row) >= 2 {
			u.rows = append(u.rows, row)
			u.most = max(u.most, len(row))
		}
	}
	if len(u.rows) == 0 {
		return nil, errors.New("no item was rated by two judges")
	}
	return u, nil
}

// alpha returns alpha of the units in draw, or of all of them if draw is nil.
func (u *units) alpha(draw []int) (float64, error) {
	pairs := u.coincidences(draw)
	counts := make([]float64, len(u.values))
	total := 0.0
	for k, row := range pairs {
		for _, c := range row {
			counts[k] += c
		}
		total += counts[k]
	}
	// Counts may have rounding errors from the division by m-1, and ranks are between
	// half counts, so the cumulative sums are computed once.
	below := make([]float64, len(counts)+1)
	for k, c := range counts {
		below[k+1] = below[k] + c
	}
	var observed, expected float64
	for k := range pairs {
		for l := range k {
			d := u.distance(l, k, counts, below)
			observed += float64(pairs[k][l] * d) // not fused; see wilson
			expected += float64(counts[k] * counts[l] * d)
		}
	}
	if expected == 0 {
		return 0, errors.New("all ratings that can be paired are equal")
	}
	return 1 - observed*(total-1)/expected, nil
}

// coincidences counts the ordered pairs of ratings within a unit, each unit by its
// number of ratings. Pairs are counted in whole numbers first, so that the order of
// units changes no digit.
func (u *units) coincidences(draw []int) [][]float64 {
	v := len(u.values)
	counts := make([]int, (u.most+1)*v*v)
	count := func(row []int) {
		cells := counts[len(row)*v*v:]
		for a, k := range row {
			for b, l := range row {
				if a != b {
					cells[k*v+l]++
				}
			}
		}
	}
	if draw == nil {
		for _, row := range u.rows {
			count(row)
		}
	}
	for _, i := range draw {
		count(u.rows[i])
	}
	pairs := matrix(v)
	for m := 2; m <= u.most; m++ {
		for k := range v {
			for l := range v {
				pairs[k][l] += float64(counts[(m*v+k)*v+l]) / float64(m-1)
			}
		}
	}
	return pairs
}

// distance returns the squared distance of the values with indices k < l.
func (u *units) distance(k, l int, counts, below []float64) float64 {
	d := 1.0
	a, b := u.values[k], u.values[l]
	switch u.scale {
	case scaleOrdinal:
		d = below[l+1] - below[k] - (counts[k]+counts[l])/2
	case scaleInterval:
		// Alpha does not change with the unit of measurement, and squares of huge
		// differences would overflow.
		d = (b - a) / (u.values[len(u.values)-1] - u.values[0])
	case scaleRatio:
		if a+b == 0 {
			return 0
		}
		d = (b - a) / (a + b)
	}
	return d * d
}
