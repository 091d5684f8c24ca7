package stat

import "math"

// Further methods of an interval for a proportion.
const (
	MethodClopperPearson  = "clopper-pearson"
	MethodAgrestiCoull    = "agresti-coull"
	MethodJeffreys        = "jeffreys"
	MethodWald            = "wald"
	MethodWilsonCorrected = "wilson-corrected"
)

// WarnWaldEnds says that the textbook interval has no width.
const WarnWaldEnds = "no hit, or no miss: the textbook interval has no width there and claims too much"

// ClopperPearson returns the share of k hits in n tries with the exact interval,
// which holds the truth at least as often as it says, for every p and n. It pays
// with width: its true coverage at 0.95 is often 0.97 and more. It is the one to
// take when a promise must not be broken; see [ProportionAt] for reports.
//
// Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial
// limits illustrated in the case of the binomial", Biometrika 26 (1934), 404-413.
func ClopperPearson(k, n int, level float64) Estimate {
	return binomialInterval(k, n, level, MethodClopperPearson, func(k, n, alpha float64) (lo, hi float64) {
		return betaQuantile(alpha/2, k, n-k+1), 1 - betaQuantile(alpha/2, n-k, k+1)
	})
}

// AgrestiCoull returns the share of k hits in n tries with the interval that adds
// z²/2 hits and as many misses and then goes by the textbook. It encloses Wilson's
// interval, is cut to [0, 1], and is good from some forty tries on.
//
// Source: A. Agresti and B. A. Coull, "Approximate is better than 'exact' for
// interval estimation of binomial proportions", The American Statistician 52
// (1998), 119-126.
func AgrestiCoull(k, n int, level float64) Estimate {
	return binomialInterval(k, n, level, MethodAgrestiCoull, func(k, n, alpha float64) (lo, hi float64) {
		z := normalQuantile(1 - alpha)
		more := n + z*z
		return wald((k+z*z/2)/more, more, z)
	})
}

// Jeffreys returns the share of k hits in n tries with the equal-tailed interval
// of the posterior Beta(k+½, n-k+½). As Brown, Cai and DasGupta propose, the lower
// end is 0 when there is no hit and the upper end 1 when there is no miss;
// otherwise the interval would not hold the share itself.
//
// Source: L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a
// binomial proportion", Statistical Science 16 (2001), 101-133. Coverage is near
// the level on average over p for every n, and below it for single p.
func Jeffreys(k, n int, level float64) Estimate {
	return binomialInterval(k, n, level, MethodJeffreys, func(k, n, alpha float64) (lo, hi float64) {
		if k > 0 {
			lo = betaQuantile(alpha/2, k+0.5, n-k+0.5)
		}
		hi = 1
		if k < n {
			hi = 1 - betaQuantile(alpha/2, n-k+0.5, k+0.5)
		}
		return lo, hi
	})
}

// Wald returns the share of k hits in n tries with the textbook interval
// p ± z·sqrt(p(1-p)/n), cut to [0, 1]. It is here because other programs print it.
// Its coverage is poor: for p near 0 or 1 far below the level even with hundreds of
// tries (Brown, Cai and DasGupta 2001), and with no hit or no miss it has no width.
func Wald(k, n int, level float64) Estimate {
	est := binomialInterval(k, n, level, MethodWald, func(k, n, alpha float64) (lo, hi float64) {
		return wald(k/n, n, normalQuantile(1-alpha))
	})
	if est.N > 0 && (est.Value == 0 || est.Value == 1) {
		est = est.Warn(WarnWaldEnds)
	}
	return est
}

// wald returns the textbook interval around the share p of n tries.
func wald(p, n, z float64) (lo, hi float64) {
	half := float64(z * math.Sqrt(p*(1-p)/n)) // not fused; see wilsonEnds
	return Unit.clip(p - half), Unit.clip(p + half)
}

// WilsonCorrected returns the share of k hits in n tries with Wilson's interval
// after the correction for continuity. It is nearly as wide as the exact one, and
// holds the truth nearly as surely.
//
// Source: R. G. Newcombe, "Two-sided confidence intervals for the single
// proportion: comparison of seven methods", Statistics in Medicine 17 (1998),
// 857-872, method 4.
func WilsonCorrected(k, n int, level float64) Estimate {
	return binomialInterval(k, n, level, MethodWilsonCorrected, func(k, n, alpha float64) (lo, hi float64) {
		z := normalQuantile(1 - alpha)
		lower := func(k float64) float64 {
			if k == 0 {
				return 0
			}
			p := k / n
			root := math.Sqrt(z*z - 2 - 1/n + 4*p*(n-k+1))
			return (2*k + z*z - 1 - float64(z*root)) / (2 * (n + z*z))
		}
		// The upper end for hits is the lower end for misses, seen from above.
		return lower(k), 1 - lower(n-k)
	})
}

// beyondCounting is so many tries that all methods give Wilson's ends to twelve
// digits after the point, and the functions behind them lose theirs.
const beyondCounting = 1_000_000_000_000

// binomialInterval returns the share of k hits in n tries with the ends that the
// method gives for k, n and 1 minus the level, and with the warnings that hold for
// every method.
func binomialInterval(k, n int, level float64, method string, ends func(k, n, alpha float64) (lo, hi float64)) Estimate {
	// Wilson's estimate has the value and the warnings already.
	est := ProportionAt(k, n, level)
	if n <= 0 {
		return est
	}
	est.Method = method
	if n > beyondCounting {
		return est
	}
	lo, hi := ends(float64(min(max(k, 0), n)), float64(n), 1-est.Level)
	est.Lo = math.Min(Unit.clip(lo), est.Value)
	est.Hi = math.Max(Unit.clip(hi), est.Value)
	return est
}
