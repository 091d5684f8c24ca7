package stat

import "math"

// methodTOST is the method of [Equivalence].
const methodTOST = "tost"

// WarnOneSided is the warning of a one-sided test with few clusters. If a few of them have
// most of a difference, the test errs in up to 6% of cases instead of 5%, as measured in
// docs/design/coverage.md.
const WarnOneSided = "fewer than 60 clusters: where a few of them hold most of the difference, this test errs in up to 6% of cases instead of 5%"

// EnoughForOneSided is the number of clusters from which that warning is omitted.
const EnoughForOneSided = 60

// Equivalence returns the two one-sided tests of whether a difference is between -margin
// and margin. P is the larger of the two p-values, and the statistic is the difference. The
// difference is equivalent to 0 within the margin, with 95% confidence, if P is below 0.05,
// which is exactly if the interval at level 0.9 is within the margin. [NotBelow] is one of
// the two tests.
//
// The tests correspond to the intervals, which at returns at any level. For
// [PairedProportions] they are Tango's score tests, for [Mean] Student's, and for
// [Clustered.OneSided] the cluster-robust ones, corrected for skewness.
//
// Source: D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the
// power approach for assessing the equivalence of average bioavailability", Journal of
// Pharmacokinetics and Biopharmaceutics 15 (1987), 657-680; T. Tango (1998) for pairs of
// verdicts.
func Equivalence(at func(level float64) Estimate, margin float64) Test {
	test := oneSided(at, func(est Estimate) bool { return est.Lo > -margin && est.Hi < margin })
	test.Method = methodTOST
	return test
}

// NotBelow returns the one-sided test of whether a difference is above -margin, which means
// that it is not inferior. See [Equivalence].
func NotBelow(at func(level float64) Estimate, margin float64) Test {
	test := oneSided(at, func(est Estimate) bool { return est.Lo > -margin })
	test.Method = "non-inferiority"
	return test
}

// oneSided returns the smallest p at which holds is true for the interval at level 1-2p.
// The search ends at 1e-9. The result is 1 if holds is not even true for the difference
// itself.
func oneSided(at func(level float64) Estimate, holds func(Estimate) bool) Test {
	middle := at(1e-6)
	test := Test{Statistic: middle.Value, P: 1, N: middle.N}
	if middle.Method == MethodNone || !holds(middle) {
		return test
	}
	if holds(at(1 - 2e-9)) {
		test.P = 1e-9
		return test
	}
	test.P = math.Exp(bisect(math.Log(1e-9), math.Log(0.5), func(log float64) bool { return !holds(at(1 - 2*math.Exp(log))) }))
	return test
}

// NeededNEquivalence returns the number of pairs needed to show that a difference of 0 is
// within the margin, if differences have the standard deviation sd: for shares, the root of
// the share of items with different verdicts. It is the largest integer if no number is
// enough.
//
// Source: S.-C. Chow, J. Shao and H. Wang, Sample Size Calculations in Clinical Research
// (2008), section 3.1, for two one-sided tests at (1-level) each, by the normal
// distribution.
func NeededNEquivalence(margin, sd, level, power float64) int {
	level, _ = checkLevel(level)
	if !(power > 0 && power < 1) {
		power = DefaultPower
	}
	if !(sd >= 0 && margin > 0) {
		return math.MaxInt
	}
	// Each test is at 1-level, and both must succeed if the difference is 0.
	per := (normalQuantile(2*level-1) + normalQuantile(power)) * sd / margin
	return wholeItems(per * per)
}

// PassesUnchanged returns the probability that the lower end of the interval of a
// difference reaches a bound, for example -0.01, if there is no difference and the interval
// is as wide as this one.
//
// Source: the normal distribution, with the half-width of the interval as the number of
// standard errors for its level.
func PassesUnchanged(est Estimate, bound float64) float64 {
	z := normalQuantile(est.Level)
	se := (est.Hi - est.Lo) / 2 / z
	if !(se > 0) {
		return 1
	}
	return 0.5 * math.Erfc((bound/se+z)/math.Sqrt2)
}
