package stat

import (
	"math"
	"slices"
)

// PairedProportions returns the difference of two shares that were measured on the
// same n items, of which up are hits for the first side only and down for the
// second only, with Tango's score interval. It lies within [-1, 1].
//
// Source: T. Tango, "Equivalence test and confidence interval for the difference in
// proportions for the paired-sample design", Statistics in Medicine 17 (1998),
// 891-908. The interval is valid from few pairs on, and when none or all of them
// differ. At no difference it agrees with McNemar's test without correction.
func PairedProportions(up, down, n int, level float64) Estimate {
	level, warning := checkLevel(level)
	wide := Bounds{-1, 1}
	if n <= 0 {
		return warnIf(NoInterval(0, 0, level, wide, WarnNoValues), warning)
	}
	b, c := min(max(up, 0), n), max(down, 0)
	c = min(c, n-b)
	est := Estimate{Value: (float64(b) - float64(c)) / float64(n), Level: level, N: n, Method: "tango"}
	if b != up || c != down {
		est = est.Warn(warnRange)
	}
	z := normalQuantile(level)
	score := func(delta float64) float64 { return tangoScore(float64(b), float64(c), float64(n), delta) }
	// The score falls as the difference grows.
	est.Lo = bisect(-1, est.Value, func(delta float64) bool { return score(delta) > z })
	est.Hi = bisect(est.Value, 1, func(delta float64) bool { return score(delta) > -z })
	return warnIf(est, warning)
}

// tangoScore returns by how many standard errors the pairs exceed the difference delta,
// where the standard error is the maximum-likelihood one if delta is true.
func tangoScore(b, c, n, delta float64) float64 {
	linear := -b - c + (2*n-b+c)*delta
	constant := -c * delta * (1 - delta)
	likeliest := (math.Sqrt(math.Max(linear*linear-8*n*constant, 0)) - linear) / (4 * n)
	excess := b - c - n*delta
	variance := n * (2*likeliest + delta*(1-delta))
	if variance <= 0 {
		if excess == 0 {
			return 0
		}
		return math.Inf(int(math.Copysign(1, excess)))
	}
	return excess / math.Sqrt(variance)
}

// bisect returns the point between lo and hi up to which ok holds.
func bisect(lo, hi float64, ok func(float64) bool) float64 {
	for range 200 {
		middle := lo + (hi-lo)/2
		if middle <= lo || middle >= hi {
			break
		}
		if ok(middle) {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo + (hi-lo)/2
}

// Difference returns a minus b, for estimates of different items or of items that are no
// longer available, with an interval at the level. The distances from each value to the
// ends of its interval replace the standard errors, each on its own side. An interval at a
// level other than that of the estimates has the same shape, and a width by Student's
// distribution. For shares of the same items, [PairedProportions] is more precise.
//
// Source: G. Y. Zou and A. Donner, "Construction of confidence limits about effect
// measures: a general approach", Statistics in Medicine 27 (2008), 1693-1702. It is valid if
// both intervals are. For two of [Proportion] it is method 10 of R. G. Newcombe, "Interval
// estimation for the difference between independent proportions: comparison of eleven
// methods", Statistics in Medicine 17 (1998), 873-890.
func Difference(a, b Estimate, level float64) Estimate {
	level, warning := checkLevel(level)
	est := Estimate{Value: a.Value - b.Value, Lo: -1, Hi: 1, Level: level, N: a.N + b.N, Method: MethodNone}
	if a.Method != MethodNone && b.Method != MethodNone {
		wider := 1.0
		if level != a.Level {
			df := differenceDF(a, b)
			wider = StudentQuantile(level, df) / StudentQuantile(a.Level, df)
		}
		est.Method = "mover"
		est.Lo = math.Max(-1, est.Value-wider*math.Hypot(a.Value-a.Lo, b.Hi-b.Value))
		est.Hi = math.Min(1, est.Value+wider*math.Hypot(a.Hi-a.Value, b.Value-b.Lo))
	}
	for _, warning := range slices.Concat(a.Warnings, b.Warnings) {
		est = est.Warn(warning)
	}
	return warnIf(est, warning)
}

// DifferenceTest returns the two-sided test of whether two estimates of different items are
// equal. Its p-value is below 1 minus a level exactly if the interval of [Difference] at that
// level excludes 0.
func DifferenceTest(a, b Estimate) Test {
	test := Test{Statistic: a.Value - b.Value, P: 1, Method: "mover-t", N: a.N + b.N}
	df := differenceDF(a, b)
	if a.Method == MethodNone || b.Method == MethodNone || !(df > 0) {
		return test.warn(warnTooFew)
	}
	near := math.Hypot(a.Value-a.Lo, b.Hi-b.Value)
	if test.Statistic < 0 {
		near = math.Hypot(a.Hi-a.Value, b.Value-b.Lo)
	}
	if test.Statistic != 0 && near > 0 {
		test.P = StudentTail(test.Statistic/near*StudentQuantile(a.Level, df), df)
	}
	return test
}

// differenceDF returns the degrees of freedom of a difference, by Satterthwaite's rule from
// those of its sides: the number of clusters, or of items, minus one.
func differenceDF(a, b Estimate) float64 {
	above, below := 0.0, 0.0
	for _, e := range []Estimate{a, b} {
		df := float64(e.N - 1)
		switch {
		case e.Clusters > 0:
			df = float64(e.Clusters - 1)
		case e.EffectiveN > 0:
			df = e.EffectiveN - 1
		}
		if !(df > 0) {
			return 0
		}
		width := (e.Hi - e.Lo) * (e.Hi - e.Lo)
		above += width
		below += width * width / df
	}
	return above * above / below
}
