package stat

import "math"

// methodClopperPearson is the method of the exact interval for a proportion.
const methodClopperPearson = "clopper-pearson"

// ClopperPearson returns the share of k hits in n tries with the exact interval, whose
// coverage is at least its level for every p and n. The price is width: its true coverage
// at 0.95 is often 0.97 and more. Use it for guarantees; see [Proportion] for reports.
//
// Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits
// illustrated in the case of the binomial", Biometrika 26 (1934), 404-413.
func ClopperPearson(k, n int, level float64) Estimate {
	const beyondCounting = 1_000_000_000_000 // tries for which Wilson's ends are the same to twelve digits
	// Wilson's estimate already has the value and the warnings.
	est := Proportion(k, n, level)
	if n <= 0 {
		return est
	}
	est.Method = methodClopperPearson
	if n > beyondCounting {
		return est
	}
	hits, tries, alpha := float64(min(max(k, 0), n)), float64(n), 1-est.Level
	est.Lo = math.Min(Unit.Clip(betaQuantile(alpha/2, hits, tries-hits+1)), est.Value)
	est.Hi = math.Max(Unit.Clip(1-betaQuantile(alpha/2, tries-hits, hits+1)), est.Value)
	return est
}
