package doc

import "math"

// The buckets of a histogram grow by the factor growth, so that the middle of a bucket is
// within 1% of everything in it. 3,300 buckets range from 1e-9 to beyond 1e18, which is
// enough for durations in nanoseconds as well as in hours.
const (
	relativeError = 0.01
	growth        = (1 + relativeError) / (1 - relativeError)
	smallest      = 1e-9
	buckets       = 3300
)

var logGrowth = math.Log(growth)

// A Histogram collects positive numbers, such as durations or sizes, and returns quantiles
// within 1% of the true value, in constant memory. The order of additions does not matter.
// The zero value is ready to use; it takes 26 KB after the first number.
//
// Source: the logarithmic buckets of C. Masson, J. E. Rim and H. K. Lee, "DDSketch", PVLDB
// 12 (2019). The accuracy of 1% holds for numbers from 1e-9 to 1e18; numbers below 1e-9
// count as 0, and larger ones as the largest.
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
	// The limit is applied before the conversion, because converting an infinity to int is
	// undefined.
	h.counts[int(math.Min(math.Log(x/smallest)/logGrowth, buckets-1))]++
}

// N returns the number of added numbers.
func (h *Histogram) N() int { return h.n }

// Quantile returns a number within 1% of the smallest one that at least a share of q of all
// numbers does not exceed: Quantile(0.5) is the lower median. A q outside [0, 1] is
// clamped. It returns 0 if the histogram is empty.
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
			middle := smallest * math.Exp(float64(i)*logGrowth) * (1 + relativeError)
			return math.Min(math.Max(middle, h.min), h.max)
		}
	}
	return h.max
}
