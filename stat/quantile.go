package stat

import "math"

// Quantile returns the value at the share q of sorted values, 0 without any, with linear
// interpolation between the two values next to it. It is the same as NumPy's percentile, and
// type 7 of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The
// American Statistician 50 (1996), 361-365.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	if !(q > 0) { // also NaN
		return sorted[0]
	}
	at := math.Min(q, 1) * float64(len(sorted)-1)
	below := math.Floor(at)
	i := int(below)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	// The number is computed from the nearer end, so that it is never outside the two.
	// Halves are subtracted, because the distance of two numbers may be too large
	// for a number.
	a, b, t := sorted[i], sorted[i+1], at-below
	half := b/2 - a/2
	if t >= 0.5 {
		return b - float64(2*(1-t)*half)
	}
	return a + float64(2*t*half)
}
