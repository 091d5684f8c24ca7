package report

import (
	"math"
	"math/bits"
)

// unitBits is the number of fraction bits of a [fixed]. The largest sum is then 2^56, which
// seventy million items of the largest weight do not reach, and an item of weight 1 is
// counted to 22 decimals.
const unitBits = 72

// A fixed is a fixed-point sum of non-negative numbers. Each number is rounded before it is
// added, and integer addition is associative, so the sum, and every interval computed from
// it, does not depend on the order of the records. It needs 16 bytes, which matters because
// there is one per cluster.
type fixed struct{ hi, lo uint64 }

// fixedOf returns x, which must not be negative, as a fixed-point number.
func fixedOf(x float64) fixed {
	if !(x > 0) {
		return fixed{}
	}
	fraction, exponent := math.Frexp(x)
	mantissa := uint64(fraction * (1 << 53))
	switch shift := exponent - 53 + unitBits; {
	case shift > 75: // more than the largest sum
		return fixed{math.MaxUint64, math.MaxUint64}
	case shift >= 64:
		return fixed{hi: mantissa << (shift - 64)}
	case shift >= 0:
		return fixed{hi: mantissa >> (64 - shift), lo: mantissa << shift}
	case shift > -54:
		return fixed{lo: (mantissa>>(-shift-1) + 1) >> 1} // to the nearest step
	}
	return fixed{}
}

// plus returns the sum of a and b, or the largest value on overflow.
func (a fixed) plus(b fixed) fixed {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, over := bits.Add64(a.hi, b.hi, carry)
	if over != 0 {
		return fixed{math.MaxUint64, math.MaxUint64}
	}
	return fixed{hi, lo}
}

// minus returns a minus b, which must not exceed a.
func (a fixed) minus(b fixed) fixed {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, under := bits.Sub64(a.hi, b.hi, borrow)
	if under != 0 {
		return fixed{}
	}
	return fixed{hi, lo}
}

// float returns the sum as a float64.
func (a fixed) float() float64 {
	return math.Ldexp(float64(a.hi), 64-unitBits) + math.Ldexp(float64(a.lo), -unitBits)
}
