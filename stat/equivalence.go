package stat

import "math"

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
	return oneSided(at, func(est Estimate) bool { return est.Lo > -margin }),
		oneSided(at, func(est Estimate) bool { return est.Hi < margin })
}

// oneSided returns the smallest p, at least 1e-9, at which holds is true for the interval at
// level 1-2p. It is 1 if holds is not even true for the difference itself.
func oneSided(at func(level float64) Estimate, holds func(Estimate) bool) float64 {
	if middle := at(1e-6); middle.Method == MethodNone || !holds(middle) {
		return 1
	}
	if holds(at(1 - 2e-9)) {
		return 1e-9
	}
	return math.Exp(bisect(math.Log(1e-9), math.Log(0.5), func(log float64) bool { return !holds(at(1 - 2*math.Exp(log))) }))
}
