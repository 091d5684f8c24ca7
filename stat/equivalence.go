package stat

import "math"

// methodTOST is the method of [Equivalence].
const methodTOST = "tost"

// WarnOneSided is the warning of a one-sided test with few clusters. Where a few of them hold
// most of a difference, the test errs in up to 6% of cases instead of 5%, as measured in
// docs/design/coverage.md.
const WarnOneSided = "fewer than 60 clusters: where a few of them hold most of the difference, this test errs in up to 6% of cases instead of 5%"

// EnoughForOneSided is the number of clusters from which that warning is left out.
const EnoughForOneSided = 60

// Equivalence returns the two one-sided tests of whether a difference lies within
// -margin and margin. P is the larger of the two p-values, and the statistic is the
// difference. The difference is equivalent to 0 within the margin, with 95% confidence,
// where P is below 0.05, which is exactly where the interval at the level 0.9 lies within
// the margin. [NotBelow] is one of the two tests.
//
// The tests are those that belong to the intervals, which at gives at any level. For
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

// NotBelow returns the one-sided test of whether a difference lies above -margin, which
// says that it is not inferior. See [Equivalence].
func NotBelow(at func(level float64) Estimate, margin float64) Test {
	test := oneSided(at, func(est Estimate) bool { return est.Lo > -margin })
	test.Method = "non-inferiority"
	return test
}

// oneSided returns the smallest p at which the interval at the level 1-2p has what is
// asked of it. It is not followed below 1e-9, and is 1 where not even the difference itself has it.
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

// NeededNEquivalence returns how many pairs it takes to show that a difference of 0 lies
// within the margin, when differences have the standard deviation sd: for shares, the
// root of the share of items that get different verdicts. It is the largest integer when
// no number would do.
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
	// Each test is at 1-level, and both must succeed when the difference is 0.
	per := (normalQuantile(2*level-1) + normalQuantile(power)) * sd / margin
	return wholeItems(per * per)
}

// PassesUnchanged returns the chance that the lower end of the interval of a difference
// reaches a bound, as -0.01, when there is no difference and the interval is as wide as
// this one.
//
// Source: the normal distribution, with the half-width of the interval as so many
// standard errors as its level says.
func PassesUnchanged(est Estimate, bound float64) float64 {
	z := normalQuantile(est.Level)
	se := (est.Hi - est.Lo) / 2 / z
	if !(se > 0) {
		return 1
	}
	return 0.5 * math.Erfc((bound/se+z)/math.Sqrt2)
}
