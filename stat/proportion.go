package stat

import "math"

// Proportion returns the share of k hits in n tries with the Wilson score interval at the
// given level.
//
// Source: E. B. Wilson, "Probable inference, the law of succession, and
// statistical inference", JASA 22 (1927), 209-212. The interval is valid for
// every k and n of independent tries, also at k = 0 and k = n, where the
// textbook interval p ± z·sqrt(p(1-p)/n) has no width. Its coverage is near the
// level on average over p, and may fall a few points below it for single p near
// 0 or 1 (Brown, Cai and DasGupta, Statistical Science 16, 2001). Items that
// come in clusters are not independent, and their true interval is wider.
func Proportion(k, n int, level float64) Estimate {
	level, warning := checkLevel(level)
	if n <= 0 {
		est := NoInterval(Unit.middle(), 0, level, Unit, WarnNoValues)
		if n < 0 || k != 0 {
			est = est.Warn(warnRange)
		}
		return warnIf(est, warning)
	}
	in := min(max(k, 0), n)
	est := wilson(float64(in)/float64(n), float64(n), level)
	est.N = n
	if in != k {
		est = est.Warn(warnRange)
	}
	return warnIf(est, warning)
}

// WeightedProportion returns the share of ones among weighted zeros and ones, by
// weight. Equal weights give what [Proportion] gives. Otherwise the interval is
// Wilson's with Kish's effective number of values in place of n, and a warning
// says so.
//
// Source: L. Kish, Survey Sampling (1965), chapter 8. The effective number is
// right when weights have nothing to do with values; when heavy items are also
// the hard ones, the interval is approximate.
//
// Values between 0 and 1, as the shares of an item's trials that say yes, vary less than
// p(1-p). Their interval is that of [Mean].
func WeightedProportion(m Moments, level float64) Estimate {
	level, warning := checkLevel(level)
	if m.N() == 0 {
		return warnIf(m.warnSkipped(NoInterval(Unit.middle(), 0, level, Unit, WarnNoValues)), warning)
	}
	p, e := Unit.Clip(m.Mean()), m.EffectiveN()
	est := wilson(p, e, level)
	if m.Binary() || e <= 1 {
		// Wilson's interval needs no variance, which takes long to compute exactly.
	} else if v := m.Variance(); v > 0 {
		est = Estimate{Value: p, SE: math.Sqrt(v / e), Level: level, Method: methodWilson}.Shaped(StudentQuantile(level, m.df()), Unit)
	}
	est.N = m.N()
	return warnIf(m.warnSkipped(m.warnWeighted(est)), warning)
}

// wilson returns Wilson's interval around the share p of n tries, where n > 0
// need not be whole.
func wilson(p, n, level float64) Estimate {
	lo, hi := Wilson(p, n, normalQuantile(level))
	return Estimate{Value: p, Lo: lo, Hi: hi, Level: level, Method: methodWilson}
}

// Wilson returns the ends of Wilson's interval of z standard errors.
func Wilson(p, n, z float64) (lo, hi float64) {
	zz := z * z / n
	if zz > 1e300 {
		return 0, 1 // no information
	}
	centre := (p + zz/2) / (1 + zz)
	// The conversion prevents fusing the product into the sums below, which would change
	// the last digits on some processors.
	half := float64(z / (1 + zz) * math.Sqrt(p*(1-p)/n+zz/(4*n)))
	// Rounding can move an end slightly past the value that it must enclose: at p = 0 the
	// lower end is exactly 0, not 1e-17.
	lo = math.Max(0, math.Min(centre-half, p))
	hi = math.Min(1, math.Max(centre+half, p))
	if p == 0 {
		lo = 0
	}
	if p == 1 {
		hi = 1
	}
	return lo, hi
}

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
	est.Method = "clopper-pearson"
	if n > beyondCounting {
		return est
	}
	hits, tries, alpha := float64(min(max(k, 0), n)), float64(n), 1-est.Level
	est.Lo = math.Min(Unit.Clip(betaQuantile(alpha/2, hits, tries-hits+1)), est.Value)
	est.Hi = math.Max(Unit.Clip(1-betaQuantile(alpha/2, tries-hits, hits+1)), est.Value)
	return est
}
