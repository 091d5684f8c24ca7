package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// These functions compute the smallest detectable difference and the required number of
// items, for two-sided tests at 1 minus the level that detect the difference with
// probability power. A level or a power outside (0, 1) is replaced by 0.95 and 0.8. They
// are for planning; after a run, the interval is more informative.

// DefaultPower is the usual probability of detecting a difference in planning.
const DefaultPower = 0.8

// reach returns how many standard errors a difference must measure at the level, and how
// many more are needed to detect it with probability power.
func reach(level, power float64) (test, found float64) {
	level, _ = checkLevel(level)
	if !(power > 0 && power < 1) {
		power = DefaultPower
	}
	return normalQuantile(level), mathext.NormalQuantile(power)
}

// MinDetectable returns the smallest mean difference that n clusters, or pairs, show when it
// has the standard error se with df degrees of freedom; with infinitely many, the normal
// distribution is used. It is found by a permutation test that turns whole clusters and can
// say no less than 2/2^n: where that is not below 1 minus the level, as with five clusters
// and 0.95, no difference is found, and it returns the largest number there is.
//
// Source: J. Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 2,
// with Student's distribution in place of the normal one. Where only clusters that all point
// one way are beyond noise, as with six, they must do so with the chance power. By simulation
// with normal differences and a power of 0.8, the test finds it in 0.74 of cases with 7
// clusters, and in 0.77 to 0.79 from 8 to 30.
func MinDetectable(n int, se, df, level, power float64) float64 {
	level, _ = checkLevel(level)
	if !(power > 0 && power < 1) {
		power = DefaultPower
	}
	least := math.Ldexp(2, -max(n, 0)) // the smallest p
	if !(se >= 0 && se <= math.MaxFloat64 && df > 0) || least >= 1-level {
		return math.MaxFloat64
	}
	test, found := reach(level, power)
	if !math.IsInf(df, 1) {
		test, found = StudentQuantile(level, df), 0
		if power != 0.5 {
			found = math.Copysign(StudentQuantile(math.Abs(2*power-1), df), power-0.5)
		}
	}
	factor := math.Max(test+found, 0)
	if 2*least >= 1-level {
		each := mathext.NormalQuantile(math.Pow(power, 1/float64(n)))
		factor = math.Max(factor, each*math.Sqrt(float64(n)))
	}
	return math.Min(factor*se, math.MaxFloat64)
}

// wholeItems returns n rounded up, at least 1, and the largest integer if n is not a valid
// number of items.
func wholeItems(n float64) int {
	if !(n < 1<<62) {
		return math.MaxInt
	}
	// A number slightly above a whole number is a rounding error.
	return max(1, int(math.Ceil(n-1e-9*n)))
}

// MinDetectablePaired returns the smallest difference of two shares that n items
// judged on both sides show with McNemar's test, when a share of discordance of the
// items gets different verdicts. No difference is larger than the discordance; where
// not even that would be found, it returns 1.
//
// Source: R. J. Connor, "Sample size for testing differences in proportions for the
// paired-sample design", Biometrics 43 (1987), 207-211. It is valid when some 20
// items differ.
func MinDetectablePaired(n int, discordance, level, power float64) float64 {
	if !(discordance > 0) {
		return 1
	}
	discordance = math.Min(discordance, 1)
	enough := func(difference float64) bool { return neededNPaired(difference, discordance, level, power) <= n }
	if !enough(discordance) {
		return 1
	}
	return bisect(0, discordance, func(d float64) bool { return !enough(d) })
}

// neededNPaired returns the number of items judged on both sides that McNemar's test needs
// to detect a difference of two shares, if a share of discordance of the items gets
// different verdicts. It is the largest integer if no number is enough, for example for a
// difference larger than the discordance.
func neededNPaired(difference, discordance, level, power float64) int {
	d := math.Abs(difference)
	if !(d > 0 && d <= discordance && discordance <= 1) {
		return math.MaxInt
	}
	test, found := reach(level, power)
	per := math.Max(0, test*math.Sqrt(discordance)+found*math.Sqrt(discordance-d*d)) / d
	return wholeItems(per * per)
}

// MinDetectableTwo returns the smallest rise above the share p that two lists of n
// different items each show. Where not even a rise to 1 would be found, it returns 1.
//
// Source: J. L. Fleiss, Statistical Methods for Rates and Proportions (1981),
// chapter 3, without correction for continuity. It is valid when each side has some
// five hits and five misses.
func MinDetectableTwo(n int, p, level, power float64) float64 {
	if !(p >= 0 && p < 1) {
		return 1
	}
	enough := func(rise float64) bool { return neededNTwo(p, p+rise, level, power) <= n }
	if !enough(1 - p) {
		return 1
	}
	return bisect(0, 1-p, func(rise float64) bool { return !enough(rise) })
}

// neededNTwo returns the number of items that each of two lists of different items needs to
// show the difference between the shares p and q. It is the largest integer if no number is
// enough.
func neededNTwo(p, q, level, power float64) int {
	if !(p >= 0 && p <= 1 && q >= 0 && q <= 1) || p == q {
		return math.MaxInt
	}
	test, found := reach(level, power)
	middle := (p + q) / 2
	per := math.Max(0, test*math.Sqrt(2*middle*(1-middle))+found*math.Sqrt(p*(1-p)+q*(1-q))) / (p - q)
	return wholeItems(per * per)
}
