package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// DefaultDraws is the default number of resamples of a bootstrap. The ends of a 95%
// interval then vary by about a thirtieth of its width between seeds.
const DefaultDraws = 2000

// Resampling configures a bootstrap. The same seed gives the same digits on any number of
// processors, and a report prints it.
type Resampling struct {
	Draws int     // 0 means DefaultDraws
	Seed  uint64  // any number, including 0
	Level float64 // 0 means DefaultLevel
}

// draws returns the number of resamples.
func (r Resampling) draws() int {
	if r.Draws <= 0 {
		return DefaultDraws
	}
	return r.Draws
}

// level returns the level of the interval, and a warning if it was invalid.
func (r Resampling) level() (float64, string) {
	if r.Level == 0 {
		return DefaultLevel, ""
	}
	return checkLevel(r.Level)
}

// The methods of a bootstrap. BCa corrects for bias and skewness; if it cannot, the
// percentile method is used instead.
const (
	methodPercentile = "bootstrap-percentile"
	methodBCa        = "bootstrap-bca"
)

// The warnings of a bootstrap.
const (
	warnNoBCa = "all resampled means lie on one side of the mean, so bias cannot be corrected: " +
		"the interval is the percentile one"
	warnFewDraws = "too few draws for this level: the ends of the interval are the extremes of the draws"
)

// resampled returns the estimate from resampled means; mean is rounded in the same way.
func resampled(m Moments, mean float64, means []float64, level float64, method string, acceleration float64) Estimate {
	switch {
	case m.N() == 0:
		return m.warnSkipped(NoInterval(0, 0, level, unlimited, WarnNoValues))
	case m.N() == 1:
		return m.warnSkipped(NoInterval(m.Mean(), m.N(), level, unlimited, warnOneValue))
	}
	est := Estimate{Value: m.Mean(), Level: level, N: m.N(), Method: method}
	if m.weighted() {
		est.EffectiveN = m.EffectiveN()
	}
	if m.Variance() == 0 {
		est.Lo, est.Hi = est.Value, est.Value
		return m.warnSkipped(est.Warn(warnNoSpreadUnbounded))
	}
	spread := momentsOf(means)
	est.SE = math.Sqrt(spread.Variance())
	slices.Sort(means)
	alpha := (1 - level) / 2 // the share outside each end
	lo, hi := alpha, 1-alpha
	if est.Method == methodBCa {
		var ok bool
		if lo, hi, ok = bcaShares(means, mean, alpha, acceleration); !ok {
			est = est.Warn(warnNoBCa)
			est.Method = methodPercentile
			lo, hi = alpha, 1-alpha
		}
	}
	if n := float64(len(means)); lo*n < 1 || (1-hi)*n < 1 {
		est = est.Warn(warnFewDraws)
	}
	est.Lo, est.Hi = Quantile(means, lo), Quantile(means, hi)
	est.Lo, est.Hi = math.Min(est.Lo, est.Value), math.Max(est.Hi, est.Value)
	return m.warnSkipped(est)
}

// bcaShares returns the quantiles of the sorted means at which the ends of the BCa interval
// are, and whether they are defined.
//
// Source: B. Efron, "Better bootstrap confidence intervals", JASA 82 (1987), 171-185. Means
// equal to the value count half, as in SciPy.
func bcaShares(means []float64, value, alpha, acceleration float64) (lo, hi float64, ok bool) {
	below, _ := slices.BinarySearch(means, value)
	upTo := below
	for upTo < len(means) && means[upTo] == value {
		upTo++
	}
	share := float64(below+upTo) / float64(2*len(means))
	if share <= 0 || share >= 1 {
		return 0, 0, false
	}
	bias := mathext.NormalQuantile(share)
	moved := func(z float64) float64 {
		return 1 - 0.5*math.Erfc((bias+(bias+z)/(1-acceleration*(bias+z)))/math.Sqrt2)
	}
	z := mathext.NormalQuantile(alpha)
	lo, hi = moved(z), moved(-z)
	return lo, hi, lo < hi
}

// skewness returns the acceleration of BCa: a sixth of the skewness of each value's
// contribution to the mean, by the jackknife. Nil weights are equal.
func skewness(values, weights []float64, mean float64) float64 {
	squares, cubes := 0.0, 0.0
	for i, x := range values {
		u := x - mean
		if weights != nil {
			u *= weights[i]
		}
		squares += float64(u * u)
		cubes += float64(u * u * u)
	}
	if !(squares > 0) {
		return 0
	}
	a := cubes / 6 / math.Pow(squares, 1.5)
	if a-a != 0 {
		return 0
	}
	return a
}

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
