package text

import (
	"math"
	"strconv"
)

// Round returns round(f, digits) as in Python: the decimal nearest to the exact value of f,
// ties to even. So 2.675, whose binary value is slightly smaller, becomes 2.67. Negative
// digits count as zero.
func Round(f float64, digits int) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return f
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', max(digits, 0), 64), 64)
	if err != nil {
		return f // Rounding up the largest floats may overflow.
	}
	return r
}

// NumpyRound returns numpy.round(f, digits). It scales, rounds to an integer, half to even,
// and scales back, so it differs from [Round] if the product is not exact: 1/160 with four
// digits is 0.0062 here and 0.0063 there. A product that is too large for a float is
// infinite, and stays so.
func NumpyRound(f float64, digits int) float64 {
	scale := math.Pow10(max(digits, 0))
	return math.RoundToEven(f*scale) / scale
}

// NumpyMean returns numpy.mean of a list of floats, or NaN for an empty one. Up to eight
// numbers are added in order; more are added in eight columns, and long lists by halves,
// which changes the last digits and occasionally a rounded score.
func NumpyMean(list []float64) float64 {
	return pairwiseSum(list) / float64(len(list))
}

func pairwiseSum(list []float64) float64 {
	n := len(list)
	switch {
	case n < 8:
		sum := 0.0
		for _, f := range list {
			sum += f
		}
		return sum
	case n > 128:
		half := n / 2
		half -= half % 8
		return pairwiseSum(list[:half]) + pairwiseSum(list[half:])
	}
	var c [8]float64
	copy(c[:], list)
	i := 8
	for ; i+8 <= n; i += 8 {
		for k := range c {
			c[k] += list[i+k]
		}
	}
	sum := ((c[0] + c[1]) + (c[2] + c[3])) + ((c[4] + c[5]) + (c[6] + c[7]))
	for ; i < n; i++ {
		sum += list[i]
	}
	return sum
}
