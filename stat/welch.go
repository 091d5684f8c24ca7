package stat

import (
	"math"
)

// WelchTest returns the two-sided test of whether the means of two independent
// lists of values are equal, without assuming that their spreads are. The statistic
// is t. N is how many values there are in both.
//
// Source: B. L. Welch, "The generalization of 'Student's' problem when several
// different population variances are involved", Biometrika 34 (1947), 28-35, with
// Satterthwaite's degrees of freedom.
func WelchTest(x, y []float64) Test {
	a, b := momentsOf(x), momentsOf(y)
	test := Test{P: 1, Method: "welch", N: a.N() + b.N()}
	if a.skipped+b.skipped > 0 {
		test = test.warn(warnSkipped)
	}
	if a.N() < 2 || b.N() < 2 {
		return test.warn(warnTooFew)
	}
	va, vb := a.Variance()/float64(a.N()), b.Variance()/float64(b.N())
	t, ok := ratio(a.Mean()-b.Mean(), math.Sqrt(va+vb))
	if !ok {
		return test.warn(warnNoSpreadTest)
	}
	// Shares are used instead of variances, whose squares may underflow.
	sa, sb := va/(va+vb), vb/(va+vb)
	df := 1 / (sa*sa/float64(a.N()-1) + sb*sb/float64(b.N()-1))
	test.Statistic, test.P = t, Unit.Clip(StudentTail(t, df))
	return test
}

// ratio returns a/b, and whether it is a number.
func ratio(a, b float64) (float64, bool) {
	r := a / b
	return r, b > 0 && r-r == 0
}

// momentsOf returns the moments of equally weighted values.
func momentsOf(values []float64) Moments {
	var m Moments
	for _, x := range values {
		m.Add(x, 1)
	}
	return m
}
