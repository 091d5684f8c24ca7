package stat

import (
	"math"
	"math/big"
)

// maxParts is the most parts an exact sum can have: float64s span 2098 binary
// digits, and parts of 53 digits that do not overlap fit in there 40 times.
const maxParts = 40

// bigPrec is enough binary digits for an exact sum, and for the product of two.
const bigPrec = 2 * 2200

// An exact is a sum of float64s without rounding. It holds the sum as parts of
// increasing size that do not overlap (J. R. Shewchuk, "Adaptive precision
// floating-point arithmetic", Discrete & Computational Geometry 18, 1997). In
// practice there are two or three parts.
//
// Exactness is what makes estimates independent of the order of the values. The
// usual running mean (Welford 1962) is accurate, but its last digits depend on
// the order, and two people could not compare their reports byte by byte.
//
// The parts are an array rather than a slice, so that a copy of an exact is a
// copy.
type exact struct {
	parts [maxParts]float64
	n     int
}

// add adds x, which must be finite.
func (e *exact) add(x float64) { e.n = len(addPart(e.parts[:e.n], x)) }

// addPart returns the parts of a sum after x, which must be finite, was added. It
// writes into them, and as there are never more than maxParts, an array of that
// size is never left.
func addPart(parts []float64, x float64) []float64 {
	kept := 0
	for _, y := range parts {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		hi := x + y
		// lo is exactly what rounding hi lost, because |x| >= |y| (Dekker 1971).
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

// roundParts returns the sum of the parts rounded to the nearest float64, which
// does not depend on how the sum came to its parts.
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

// big returns the sum as a number that still has all its digits.
func (e *exact) big() *big.Float {
	sum := new(big.Float).SetPrec(bigPrec)
	for _, x := range e.parts[:e.n] {
		sum.Add(sum, big.NewFloat(x))
	}
	return sum
}

// product returns x*y as its rounded value and what the rounding lost.
func product(x, y float64) (hi, lo float64) {
	hi = float64(x * y) // the conversion forbids fusing the product into a sum
	return hi, math.FMA(x, y, -hi)
}

// float returns the sum, rounded once.
func (e *exact) float() float64 { return float(e.big()) }
