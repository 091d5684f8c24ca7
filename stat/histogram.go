package stat

import "math"

// The buckets of a histogram grow by the factor growth, so that the middle of a
// bucket is within 1% of everything in it. 3,300 buckets reach from 1e-9 to
// beyond 1e18, which holds durations in nanoseconds as well as in hours.
const (
	relativeError = 0.01
	growth        = (1 + relativeError) / (1 - relativeError)
	smallest      = 1e-9
	buckets       = 3300
)

var logGrowth = math.Log(growth)

// A Histogram gathers positive numbers, as durations or sizes, and answers
// quantiles within 1% of the true value, in memory that does not grow with how
// many there are. The order of additions does not matter. The zero value is ready to use; it is 26 KB once a number was
// added.
//
// Source: the logarithmic buckets of C. Masson, J. E. Rim and H. K. Lee,
// "DDSketch", PVLDB 12 (2019). The promise of 1% holds for numbers from 1e-9 to
// 1e18; numbers up to 0 and below 1e-9 count as 0, and larger ones as the
// largest.
type Histogram struct {
	n, zeros int
	min, max float64
	counts   []int
}

// Add adds x. A NaN is ignored.
func (h *Histogram) Add(x float64) {
	if math.IsNaN(x) {
		return
	}
	x = math.Min(math.Max(x, 0), math.MaxFloat64)
	if h.n == 0 {
		h.min, h.max = x, x
	}
	h.min, h.max = math.Min(h.min, x), math.Max(h.max, x)
	h.n++
	if x < smallest {
		h.zeros++
		return
	}
	if h.counts == nil {
		h.counts = make([]int, buckets)
	}
	h.counts[bucket(x)]++
}

// N returns how many numbers were added.
func (h *Histogram) N() int { return h.n }

// Quantile returns a number within 1% of the smallest one that at least a share
// of q of all numbers does not exceed: Quantile(0.5) is the lower median. A q
// outside [0, 1] is moved into it. It returns 0 when the histogram is empty.
func (h *Histogram) Quantile(q float64) float64 {
	switch {
	case h.n == 0:
		return 0
	case !(q > 0): // also NaN
		return h.min
	case q >= 1:
		return h.max
	}
	rank := int(math.Ceil(q * float64(h.n)))
	seen := h.zeros
	if seen >= rank {
		return h.min
	}
	for i, count := range h.counts {
		if seen += count; seen >= rank {
			return math.Min(math.Max(middle(i), h.min), h.max)
		}
	}
	return h.max
}

// bucket returns the place of x, which is at least smallest.
func bucket(x float64) int {
	// The limit is taken before the conversion: what int makes of an infinity is
	// not defined.
	return int(math.Min(math.Log(x/smallest)/logGrowth, buckets-1))
}

// middle returns the number that is within 1% of everything in bucket i.
func middle(i int) float64 {
	return smallest * math.Exp(float64(i)*logGrowth) * (1 + relativeError)
}
