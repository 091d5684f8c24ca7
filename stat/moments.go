package stat

import (
	"math"
	"math/big"
)

// Values and weights beyond these sizes are ignored, so that no sum of squares can overflow
// or underflow.
const (
	maxSize   = 1e100
	minWeight = 1e-100

	// shapely is the size up to which the fourth power of a value times a weight is a number.
	shapely = 1e50
)

// Moments collects weighted values one by one and keeps only their sums, so memory does not
// grow with the number of values. The sums are exact: neither the order of the values nor
// the way they were merged changes any digit of the results. The zero value is ready to
// use, and a copy is independent of its original.
type Moments struct {
	n, skipped, fractions int
	minWeight, maxWeight  float64
	shapeless             bool // a value is too large for its fourth power

	w, ww, wx, wxx exact // sums of weight, its square, weight·x and weight·x²

	// Sums of weight·x³ and weight·x⁴. Each term is rounded, so these serve the shape of the
	// distribution, which needs a few digits, and not its mean or its variance.
	wx3, wx4 exact
}

// Add adds the value x with the given weight. A value that is not finite or beyond 1e100,
// or a weight that is not positive, is ignored and counted by Skipped.
func (m *Moments) Add(x, weight float64) {
	// Written so that NaN is rejected, too.
	if !(math.Abs(x) <= maxSize) || !(weight >= minWeight && weight <= maxSize) {
		m.skipped++
		return
	}
	m.noteWeights(weight, weight)
	m.n++
	if x != 0 && x != 1 {
		m.fractions++
	}
	m.w.add(weight)
	m.ww.addProduct(weight, weight)
	if x == 0 {
		return // The other sums stay as they are.
	}
	hi, lo := product(weight, x)
	m.wx.add(hi)
	m.wxx.addProduct(hi, x)
	if lo != 0 {
		m.wx.add(lo)
		m.wxx.addProduct(lo, x)
	}
	if math.Abs(x) <= shapely {
		m.wx3.add(float64(weight * x * x * x))
		m.wx4.add(float64(weight * x * x * x * x))
	} else {
		m.shapeless = true
	}
}

// Merge adds all values of other.
func (m *Moments) Merge(other Moments) {
	if other.n > 0 {
		m.noteWeights(other.minWeight, other.maxWeight)
	}
	m.n += other.n
	m.skipped += other.skipped
	m.fractions += other.fractions
	m.w.merge(&other.w)
	m.ww.merge(&other.ww)
	m.wx.merge(&other.wx)
	m.wxx.merge(&other.wxx)
	m.wx3.merge(&other.wx3)
	m.wx4.merge(&other.wx4)
	m.shapeless = m.shapeless || other.shapeless
}

// noteWeights extends the range of weights. It must run before n grows.
func (m *Moments) noteWeights(lo, hi float64) {
	if m.n == 0 {
		m.minWeight, m.maxWeight = lo, hi
		return
	}
	m.minWeight = math.Min(m.minWeight, lo)
	m.maxWeight = math.Max(m.maxWeight, hi)
}

// N returns the number of values.
func (m Moments) N() int { return m.n }

// Binary reports whether every value was 0 or 1. It is true without values.
func (m Moments) Binary() bool { return m.fractions == 0 }

// weighted reports whether the values had different weights.
func (m Moments) weighted() bool { return m.minWeight != m.maxWeight }

// Weight returns the sum of the weights.
func (m Moments) Weight() float64 { return float(m.w.big()) }

// Sum returns the weighted sum of the values.
func (m Moments) Sum() float64 { return float(m.wx.big()) }

// Mean returns the weighted mean, 0 without values.
func (m Moments) Mean() float64 {
	if m.n == 0 {
		return 0
	}
	if m.wx.n == 1 && m.w.n == 1 {
		return m.wx.parts[0] / m.w.parts[0] // It is rounded once, as below.
	}
	return float(quotient(m.wx.big(), m.w.big()))
}

// EffectiveN returns (Σw)²/Σw², the number of equally weighted values with the same
// information (Kish 1965). It is N if all weights are equal, and 0 without values.
func (m Moments) EffectiveN() float64 {
	if m.n == 0 || !m.weighted() {
		return float64(m.n)
	}
	w := m.w.big()
	return float(quotient(w.Mul(w, w), m.ww.big()))
}

// Variance returns the variance of the values, with n-1 in the denominator or, if weights
// differ, its counterpart: the mean squared deviation times e/(e-1), where e is the
// effective number of values. It is 0 for fewer than two values.
func (m Moments) Variance() float64 {
	e := m.EffectiveN()
	if e <= 1 {
		return 0
	}
	w, x := m.w.big(), m.wx.big()
	// Σw·Σwx² - (Σwx)² subtracts two nearly equal numbers if the spread is small. The sums
	// are exact, so no digits are lost.
	dev := m.wxx.big()
	dev.Mul(dev, w)
	dev.Sub(dev, x.Mul(x, x))
	v := float(quotient(dev, w.Mul(w, w))) * e / (e - 1)
	return math.Max(v, 0)
}

// shape returns the skewness and the kurtosis of the values, which are those of the normal
// distribution, 0 and 3, if the values are too few, too large, or differ too little from each
// other for sums of their powers to tell.
func (m Moments) shape() (skewness, kurtosis float64) {
	mean, e := m.Mean(), m.EffectiveN()
	spread := m.Variance() * (e - 1) / e
	if m.n < 3 || m.shapeless || !(spread > 1e-6*mean*mean) {
		return 0, 3
	}
	w := m.Weight()
	square, cube, fourth := float(m.wxx.big())/w, float(m.wx3.big())/w, float(m.wx4.big())/w
	// The moments about the mean, from those about 0; no product is fused, see Wilson.
	cubes := cube - float64(3*mean*square) + float64(2*mean*mean*mean)
	fourths := fourth - float64(4*mean*cube) + float64(6*mean*mean*square) - float64(3*mean*mean*mean*mean)
	return cubes / math.Pow(spread, 1.5), fourths / spread / spread
}

// df returns the degrees of freedom of the variance; see [heavyTails].
func (m Moments) df() float64 {
	e := m.EffectiveN()
	_, kurtosis := m.shape()
	return math.Min(e-1, heavyTails(e, kurtosis))
}

// heavyTails returns the degrees of freedom of the variance of n values with this kurtosis:
// n-1 for 3, as of the normal distribution, and fewer for more. Where most values are equal
// and a few are far off, as among scores that are nearly all 1, the few decide about the
// variance, and a sample that has too few of them has a mean too close to the others and an
// interval that is too narrow.
//
// Source: B. O'Neill, "Some useful moment results in sampling problems", The American
// Statistician 68 (2014), 282-296, section 4.
func heavyTails(n, kurtosis float64) float64 {
	over := kurtosis - (n-3)/(n-1)
	if !(over > 0) {
		return math.Inf(1)
	}
	return math.Max(1, 2*n/over)
}

// warnWeighted returns est with Kish's number and its warning if the values had different
// weights.
func (m Moments) warnWeighted(est Estimate) Estimate {
	if !m.weighted() {
		return est
	}
	est.EffectiveN = m.EffectiveN()
	return est.Warn(warnWeighted)
}

// warnSkipped returns est with a warning if values were ignored.
func (m Moments) warnSkipped(est Estimate) Estimate {
	if m.skipped == 0 {
		return est
	}
	return est.Warn(warnSkipped)
}

// quotient returns x/y.
func quotient(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(bigPrec).Quo(x, y)
}

// float returns x rounded to the nearest float64.
func float(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

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
func (e *exact) add(x float64) {
	if e.n == 1 { // as of whole numbers
		y := e.parts[0]
		hi := x + y
		back := hi - x
		if lo := (x - (hi - back)) + (y - back); lo == 0 && hi != 0 {
			e.parts[0] = hi
			return
		}
	}
	e.n = len(addPart(e.parts[:e.n], x))
}

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
