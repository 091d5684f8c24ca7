package agreement

import (
	"math"

	"deem/stat"
)

// The warnings of a share corrected for a judge's errors.
const (
	warnChance = "the labels do not show that the judge is better than chance: " +
		"its verdicts cannot be corrected, and there is no interval"
	warnOneKind = "people called all labelled answers right, or all wrong: one kind of error was not measured, " +
		"and there is no interval"
	warnCutOff = "the corrected value lies outside 0 and 1 and was moved into it: " +
		"the labelled items may differ from the others"
)

// RoganGladenIn returns the share of right answers among n that only a judge saw, of which
// it accepted rawPositives, corrected for its errors on labelled answers:
//
//	(p + specificity - 1) / (sensitivity + specificity - 1)
//
// where p is the share it accepted. Unlike for [Predict], the labelled answers need not have
// the same share of right ones: it is enough that the judge's error rates on right and on
// wrong answers are the same as elsewhere. The price is a wider interval. The labelled
// items must not be counted among the n. The interval is for the number of independent
// items that a sample of the design is worth.
//
// Source: W. J. Rogan and B. Gladen, "Estimating prevalence from the results of a screening
// test", American Journal of Epidemiology 107 (1978), 71-76. The interval is that of Z.
// Lang and J. Reiczigel, Preventive Veterinary Medicine 113 (2014), 13-22, with
// pseudo-counts added to all three shares and a shift of the centre, because the textbook
// interval ignores the uncertainty of the error rates. We add half a count of either kind
// to the labels where they add one, which is too conservative for a judge that rarely errs:
// in simulations, the coverage at level 0.95 is 94.1% to 96.3% with 200 labels and the
// errors of real judges, and was up to 97.5%. If the labels do not show sensitivity +
// specificity to be above 1, the interval is [0, 1], because the verdicts are then
// consistent with any score.
func RoganGladenIn(d Design, rawPositives, n int, labelled Confusion, level float64) stat.Estimate {
	c := labelled.counts()
	k := min(max(rawPositives, 0), max(n, 0))
	est := d.mark(roganGladen(d, k, n, c, level), stat.Unit)
	if k != rawPositives || n < 0 {
		est = est.Warn(warnRange)
	}
	if c != labelled {
		est = est.Warn(warnNegative)
	}
	if c.N() < 50 {
		est = est.Warn(WarnFewLabels)
	}
	return est
}

// roganGladen returns the estimate for valid counts.
func roganGladen(d Design, k, n int, c Confusion, level float64) stat.Estimate {
	right, wrong := c.TP+c.FN, c.FP+c.TN
	switch {
	case n <= 0:
		return stat.NoInterval(0.5, 0, level, stat.Unit, stat.WarnNoValues)
	case right == 0 || wrong == 0:
		return stat.NoInterval(0.5, 0, level, stat.Unit, warnOneKind)
	}
	// A judge is better than chance if it is more likely to accept a right answer than a
	// wrong one. The difference of two shares decides, with one hit and one miss added to
	// each (Agresti and Caffo 2000).
	sens, spec := plusShare(c.TP, right, 1), plusShare(c.TN, wrong, 1)
	shown := sens.value+spec.value-1 > normalQuantile(level)*math.Sqrt(sens.variance+spec.variance)
	slope := share(c.TP, right) + share(c.TN, wrong) - 1
	if !shown || slope <= 0 {
		return stat.NoInterval(0.5, 0, level, stat.Unit, warnChance)
	}
	raw := (share(k, n) + share(c.TN, wrong) - 1) / slope
	value := stat.Unit.Clip(raw)
	// The interval of Lang and Reiczigel. All shares are first moved towards one half: that
	// of the judge's verdicts by z²/2 of either kind, and its error rates by one half of
	// either kind.
	z := normalQuantile(level)
	if d.DF > 0 {
		z = d.quantile(level)
	}
	accepted := plusShare(k, n, float64(z*z)/2)
	sens, spec = plusShare(c.TP, right, 0.5), plusShare(c.TN, wrong, 0.5)
	for _, s := range []*shareWithVariance{&accepted, &sens, &spec} {
		s.variance *= d.effect()
	}
	slope = sens.value + spec.value - 1
	at := (accepted.value + spec.value - 1) / slope
	// The conversions prevent fusing; see wilson.
	shift := float64(2 * z * z * (float64(at*sens.variance) - float64((1-at)*spec.variance)))
	variance := accepted.variance + float64(at*at*sens.variance) + float64((1-at)*(1-at)*spec.variance)
	se := math.Sqrt(variance) / slope
	half := float64(z * se)
	est := stat.Estimate{
		Value: value, Lo: min(stat.Unit.Clip(at+shift-half), value), Hi: max(stat.Unit.Clip(at+shift+half), value),
		Level: level, N: n, SE: se, Method: "lang-reiczigel",
	}
	if raw != value {
		est = est.Warn(warnCutOff)
	}
	return est
}

// RoganGladenInfluence returns the influence on the corrected share of a labelled item, and
// of one of n items that only the judge saw, each times the number of all items. Both are 0
// if the share is not defined.
func RoganGladenInfluence(rawPositives, n int, labelled Confusion) (both func(truth, given bool) float64, alone func(given bool) float64) {
	c := labelled.counts()
	right, wrong := c.TP+c.FN, c.FP+c.TN
	slope, p := share(c.TP, max(right, 1))+share(c.TN, max(wrong, 1))-1, share(rawPositives, max(n, 1))
	if right == 0 || wrong == 0 || n == 0 || slope <= 0 {
		return func(bool, bool) float64 { return 0 }, func(bool) float64 { return 0 }
	}
	value := (p + share(c.TN, wrong) - 1) / slope
	all := float64(c.N() + n)
	return func(truth, given bool) float64 {
			if truth {
				return -all / float64(right) * value / slope * (Number(given) - share(c.TP, right))
			}
			return all / float64(wrong) * (1 - value) / slope * (Number(!given) - share(c.TN, wrong))
		}, func(given bool) float64 {
			return all / float64(n) / slope * (Number(given) - p)
		}
}

// A shareWithVariance is a share that pseudo-counts keep away from 0 and 1.
type shareWithVariance struct{ value, variance float64 }

// plusShare returns the share of k in n with plus hits and plus misses added.
func plusShare(k, n int, plus float64) shareWithVariance {
	m := float64(n) + 2*plus
	p := (float64(k) + plus) / m
	return shareWithVariance{p, p * (1 - p) / m}
}
