package stat

import "math"

// The methods of an interval for a difference.
const (
	methodTango    = "tango"
	methodNewcombe = "newcombe"
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
	est := Estimate{Value: (float64(b) - float64(c)) / float64(n), Level: level, N: n, Method: methodTango}
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

// DifferenceOfProportions returns the difference of two shares that were measured on
// different items, k1 of n1 and k2 of n2, with Newcombe's interval, which combines the two
// Wilson intervals. For shares of the same items, [PairedProportions] is more precise.
//
// Source: R. G. Newcombe, "Interval estimation for the difference between independent
// proportions: comparison of eleven methods", Statistics in Medicine 17 (1998), 873-890,
// method 10. It is valid from few items on.
func DifferenceOfProportions(k1, n1, k2, n2 int, level float64) Estimate {
	a, b := ProportionAt(k1, n1, level), ProportionAt(k2, n2, level)
	if a.N == 0 || b.N == 0 {
		return NoInterval(0, 0, a.Level, Bounds{-1, 1}, WarnNoValues)
	}
	est := Estimate{Value: a.Value - b.Value, Level: a.Level, N: a.N + b.N, Method: methodNewcombe}
	est.Lo = math.Max(-1, est.Value-math.Hypot(a.Value-a.Lo, b.Hi-b.Value))
	est.Hi = math.Min(1, est.Value+math.Hypot(a.Hi-a.Value, b.Value-b.Lo))
	for _, warning := range append(a.Warnings, b.Warnings...) {
		est = est.Warn(warning)
	}
	return est
}

// methodMover is the method of a difference whose interval is combined from those of its
// two sides.
const methodMover = "mover"

// Unpaired is two estimates of different items, or of items that are no longer available.
type Unpaired struct{ First, Second Estimate }

// At returns the second minus the first with an interval at the level. The distances from
// each value to the ends of its interval replace the standard errors, each on its own side.
// An interval at a level other than that of the estimates has the same shape, and a width
// by Student's distribution.
//
// Source: G. Y. Zou and A. Donner, "Construction of confidence limits about effect
// measures: a general approach", Statistics in Medicine 27 (2008), 1693-1702. For shares of
// independent items it is Newcombe's method 10. It is valid if both intervals are.
func (u Unpaired) At(level float64) Estimate {
	a, b := u.Second, u.First
	est := Estimate{Value: a.Value - b.Value, Level: level, N: a.N + b.N, Method: methodMover}
	if a.Method == MethodNone || b.Method == MethodNone {
		est.Method = MethodNone
	}
	wider := 1.0
	if level != a.Level {
		wider = StudentQuantile(level, u.df()) / StudentQuantile(a.Level, u.df())
	}
	est.Lo = math.Max(-1, est.Value-wider*math.Hypot(a.Value-a.Lo, b.Hi-b.Value))
	est.Hi = math.Min(1, est.Value+wider*math.Hypot(a.Hi-a.Value, b.Value-b.Lo))
	for _, warning := range append(append([]string(nil), a.Warnings...), b.Warnings...) {
		est = est.Warn(warning)
	}
	return est
}

// Test returns the two-sided test that corresponds to the interval: its p-value is below 1
// minus a level exactly if the interval at that level excludes 0.
func (u Unpaired) Test() Test {
	est := u.At(u.Second.Level)
	test := Test{Statistic: est.Value, P: 1, Method: "mover-t", N: est.N}
	df := u.df()
	if est.Method == MethodNone || !(df > 0) {
		return test.warn(WarnTooFew)
	}
	near := math.Hypot(u.Second.Value-u.Second.Lo, u.First.Hi-u.First.Value)
	if est.Value < 0 {
		near = math.Hypot(u.Second.Hi-u.Second.Value, u.First.Value-u.First.Lo)
	}
	if est.Value != 0 && near > 0 {
		test.P = StudentTail(est.Value/near*StudentQuantile(u.Second.Level, df), df)
	}
	return test
}

// df returns the degrees of freedom of the difference, by Satterthwaite's rule from those
// of its sides: the number of clusters, or of items, minus one.
func (u Unpaired) df() float64 {
	above, below := 0.0, 0.0
	for _, e := range []Estimate{u.First, u.Second} {
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
