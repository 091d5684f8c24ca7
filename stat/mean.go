package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Mean returns the mean of values within b, with Student's t interval at the given level,
// clipped to b.
//
// Source: Student, "The probable error of a mean", Biometrika 6 (1908), 1-25; with weights,
// n is replaced by Kish's effective number of values, with a warning. The interval is exact
// for independent normal values and good for others from some thirty on; with few values
// concentrated at one bound it is too narrow.
//
// With one value the spread is unknown, and the interval is all of b. With many equal
// values the t interval would have no width, which claims too much; for bounded values
// Wilson's interval is used instead, because values in [0, 1] with mean p cannot vary more
// than p(1-p).
func Mean(m Moments, level float64, b Bounds) Estimate {
	level, warning := checkLevel(level)
	est := m.warnSkipped(m.warnWeighted(mean(m, level, b.or())))
	return warnIf(est, warning)
}

// mean returns the estimate without the warnings about weights.
func mean(m Moments, level float64, b Bounds) Estimate {
	e := m.EffectiveN()
	switch {
	case m.N() == 0:
		return NoInterval(b.middle(), 0, level, b, WarnNoValues)
	case e <= 1: // one value, or one that outweighs all others
		return NoInterval(m.Mean(), 1, level, b, warnOneValue)
	}
	variance := m.Variance()
	if variance == 0 {
		return noSpread(m, e, level, b)
	}
	half := float64(StudentQuantile(level, e-1) * math.Sqrt(variance/e)) // not fused; see Wilson
	if math.IsNaN(half) || half > math.MaxFloat64/4 {
		// One value outweighs all others so much that hardly more than one is left.
		return NoInterval(m.Mean(), m.N(), level, b, warnOneValue)
	}
	value := b.Clip(m.Mean())
	return Estimate{
		Value: value, Lo: b.Clip(value - half), Hi: b.Clip(value + half),
		Level: level, N: m.N(), Method: methodT,
	}
}

// noSpread returns the estimate for values that are all equal.
func noSpread(m Moments, e, level float64, b Bounds) Estimate {
	value := b.Clip(m.Mean())
	width := b.Hi - b.Lo
	if b == unlimited || width <= 0 {
		est := Estimate{Value: value, Lo: value, Hi: value, Level: level, N: m.N(), Method: methodT}
		return est.Warn(warnNoSpreadUnbounded)
	}
	est := wilson(Unit.Clip((value-b.Lo)/width), e, level)
	est.Value = value
	est.Lo = math.Min(value, b.Clip(b.Lo+float64(est.Lo*width)))
	est.Hi = math.Max(value, b.Clip(b.Lo+float64(est.Hi*width)))
	est.N = m.N()
	return est.Warn(warnNoSpread)
}

// StudentQuantile returns the t with a share of level of Student's distribution with
// df degrees of freedom between -t and t.
func StudentQuantile(level, df float64) float64 {
	if df <= 0 {
		return math.Inf(1)
	}
	// With x = df/(df + t*t), the share beyond t on both sides is the incomplete beta
	// function of x; see StudentTail.
	x := mathext.InvRegIncBeta(df/2, 0.5, 1-level)
	return math.Sqrt(df * (1 - x) / x)
}
