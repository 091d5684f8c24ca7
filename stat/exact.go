package stat

import (
	"math"
	"math/big"
)

// maxParts is the maximum number of parts of an exact sum: float64s span 2098 binary
// digits, and non-overlapping parts of 53 digits fit into that 40 times.
const maxParts = 40

// bigPrec is enough binary digits for an exact sum, and for the product of two.
const bigPrec = 2 * 2200

// An exact is a sum of float64s without rounding. It stores the sum as non-overlapping
// parts of increasing size (J. R. Shewchuk, "Adaptive precision floating-point arithmetic",
// Discrete & Computational Geometry 18, 1997). In practice there are two or three parts.
//
// Exactness makes estimates independent of the order of the values. The usual running mean
// (Welford 1962) is accurate, but its last digits depend on the order, so reports could not
// be compared byte by byte.
//
// The parts are an array rather than a slice, so that assigning an exact copies it.
type exact struct {
	parts [maxParts]float64
	n     int
}

// add adds x, which must be finite.
func (e *exact) add(x float64) { e.n = len(addPart(e.parts[:e.n], x)) }

// addPart returns the parts of a sum after adding x, which must be finite. It modifies
// parts in place; as there are never more than maxParts, it never reallocates an array of
// that size.
func addPart(parts []float64, x float64) []float64 {
	kept := 0
	for _, y := range parts {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		hi := x + y
		// lo is exactly the rounding error of hi, because |x| >= |y| (Dekker 1971).
		if lo := y - (hi - x); lo != 0 {
			parts[kept] = lo
			kept++
		}
		x = hi
	}
	if x == 0 {
		return parts[:kept]
	}
	return append(parts[:kept], x)
}

// roundParts returns the sum of the parts rounded to the nearest float64, which does not
// depend on how the sum is split into parts.
func roundParts(parts []float64) float64 {
	if len(parts) < 2 {
		return sum(parts)
	}
	e := exact{n: len(parts)}
	copy(e.parts[:], parts)
	return float(e.big())
}

// addProduct adds x*y without rounding.
func (e *exact) addProduct(x, y float64) {
	hi, lo := product(x, y)
	e.add(hi)
	if lo != 0 {
		e.add(lo)
	}
}

// merge adds another sum.
func (e *exact) merge(other *exact) {
	for _, x := range other.parts[:other.n] {
		e.add(x)
	}
}

// big returns the sum without rounding.
func (e *exact) big() *big.Float {
	sum := new(big.Float).SetPrec(bigPrec)
	for _, x := range e.parts[:e.n] {
		sum.Add(sum, big.NewFloat(x))
	}
	return sum
}

// product returns x*y as its rounded value and the rounding error.
func product(x, y float64) (hi, lo float64) {
	hi = float64(x * y) // the conversion prevents fusing the product into a sum
	return hi, math.FMA(x, y, -hi)
}
