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
	// The score is by how many standard errors the pairs exceed the difference delta, where
	// the standard error is the maximum-likelihood one if delta is true.
	first, second, all := float64(b), float64(c), float64(n)
	score := func(delta float64) float64 {
		linear := -first - second + (2*all-first+second)*delta
		constant := -second * delta * (1 - delta)
		likeliest := (math.Sqrt(math.Max(linear*linear-8*all*constant, 0)) - linear) / (4 * all)
		excess := first - second - all*delta
		variance := all * (2*likeliest + delta*(1-delta))
		if variance <= 0 {
			if excess == 0 {
				return 0
			}
			return math.Inf(int(math.Copysign(1, excess)))
		}
		return excess / math.Sqrt(variance)
	}
	// The score falls as the difference grows.
	est.Lo = bisect(-1, est.Value, func(delta float64) bool { return score(delta) > z })
	est.Hi = bisect(est.Value, 1, func(delta float64) bool { return score(delta) > -z })
	return warnIf(est, warning)
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
		df := e.df()
		if !(df > 0) {
			return 0
		}
		width := (e.Hi - e.Lo) * (e.Hi - e.Lo)
		above += width
		below += width * width / df
	}
	return above * above / below
}

// df returns the degrees of freedom of an estimate: the number of clusters, or of items,
// minus one.
func (e Estimate) df() float64 {
	switch {
	case e.Clusters > 0:
		return float64(e.Clusters - 1)
	case e.EffectiveN > 0:
		return e.EffectiveN - 1
	}
	return float64(e.N - 1)
}

// At returns the estimate with an interval at another level, which has the same shape, and a
// width by Student's distribution.
func (e Estimate) At(level float64) Estimate {
	level, warning := checkLevel(level)
	if df := e.df(); level != e.Level && e.Method != MethodNone && df > 0 {
		wider := StudentQuantile(level, df) / StudentQuantile(e.Level, df)
		e.Lo, e.Hi, e.Level = e.Value-float64(wider*(e.Value-e.Lo)), e.Value+float64(wider*(e.Hi-e.Value)), level
	}
	return warnIf(e, warning)
}

// Equivalence returns the p-values of the two one-sided tests of whether a difference is
// above -margin and below margin, to 1e-9. If lower is below 0.05, the difference is not
// inferior with 95% confidence, and if both are, it is equivalent to 0 within the margin,
// which is exactly if the interval at level 0.9 is within the margin.
//
// The tests correspond to the intervals, which at returns at any level. For
// [PairedProportions] they are Tango's score tests, for [Mean] Student's, and for
// [Clustered.OneSided] the cluster-robust ones, corrected for skewness.
//
// Source: D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the
// power approach for assessing the equivalence of average bioavailability", Journal of
// Pharmacokinetics and Biopharmaceutics 15 (1987), 657-680; T. Tango (1998) for pairs of
// verdicts.
func Equivalence(at func(level float64) Estimate, margin float64) (lower, upper float64) {
	return oneSided(at, func(est Estimate) float64 { return est.Lo + margin }),
		oneSided(at, func(est Estimate) float64 { return margin - est.Hi })
}

// oneSided returns the p, at least 1e-9 and to nine digits, from which on an end of
// the interval at level 1-2p is inside the margin. It is 1 if not even the difference itself
// is.
func oneSided(at func(level float64) Estimate, inside func(Estimate) float64) float64 {
	if middle := at(1e-6); middle.Method == MethodNone || !(inside(middle) > 0) {
		return 1
	}
	return math.Exp(root(func(log float64) float64 { return inside(at(1 - 2*math.Exp(log))) }, math.Log(smallestP), math.Log(0.5-5e-7)))
}
