package agreement

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"deem/stat"
)

// The warnings of the bootstrap of alpha.
const (
	WarnAlpha      = "alpha is not defined for these ratings"
	warnAlphaDraws = "in some draws all ratings were equal: these draws were left out, which makes the interval uncertain"
)

// KrippendorffInterval returns Krippendorff's alpha for labels, which are equal or not, with the percentile interval of the
// given number of draws of units with replacement. The same seed gives the same interval
// for the same order of units.
//
// Source: B. Efron, "Bootstrap methods", Annals of Statistics 7 (1979), 1-26, drawing
// units, because ratings of one unit belong together. It needs some thirty units and a
// thousand draws. It is a little too narrow: by simulation the
// coverage at level 0.95 is 92% with 60 units and 93% with 150.
func KrippendorffInterval(ratings [][]float64, draws int, seed uint64, level float64) stat.Estimate {
	est := stat.Estimate{Lo: -1, Hi: 1, Level: level, Method: stat.MethodNone}
	u := newUnits(ratings)
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
	values []float64
	rows   [][]int // per unit, the indices of its ratings
	most   int     // the largest number of ratings of a unit
}

func newUnits(ratings [][]float64) *units {
	all := slices.Concat(ratings...)
	all = slices.DeleteFunc(all, func(x float64) bool { return !(math.Abs(x) <= maxSize) }) // also NaN
	slices.Sort(all)
	u := &units{values: slices.Compact(all)}
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
	return u
}

// alpha returns alpha of the units in draw, or of all of them if draw is nil.
func (u *units) alpha(draw []int) (float64, error) {
	if len(u.rows) == 0 {
		return 0, errors.New("no item was rated by two judges")
	}
	pairs := u.coincidences(draw)
	counts := make([]float64, len(u.values))
	total := 0.0
	for k, row := range pairs {
		for _, c := range row {
			counts[k] += c
		}
		total += counts[k]
	}
	var observed, expected float64
	for k := range pairs {
		for l := range k {
			observed += pairs[k][l]
			expected += float64(counts[k] * counts[l]) // not fused; see wilson
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
