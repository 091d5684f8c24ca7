package text

import (
	"math"
	"strconv"
)

// Round returns round(f, digits) as Python rounds: the decimal nearest to the
// exact value of f, and of two that are equally near the even one. So 2.675,
// which lies a little below its spelling, becomes 2.67. Digits below zero count
// as zero.
func Round(f float64, digits int) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return f
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', max(digits, 0), 64), 64)
	if err != nil {
		return f // Rounding up the largest floats may leave their range.
	}
	return r
}

// NumpyRound returns numpy.round(f, digits). It scales, rounds to an integer, half
// to even, and scales back, so that it differs from [Round] where the product is
// not exact: 1/160 with four digits is 0.0062 here and 0.0063 there.
func NumpyRound(f float64, digits int) float64 {
	scale := math.Pow10(max(digits, 0))
	return math.RoundToEven(f*scale) / scale
}
