package report

import (
	"math"

	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/stat"
)

// fewItems is the number of items below which an estimate has the warning warnFew.
const (
	fewItems = 30
	warnFew  = "small sample: fewer than 30 items"
)

// An estimator computes all estimates of a report with the same kind of interval, so that
// they can be compared.
type estimator struct {
	clustered bool
	resample  *stat.Resampling // nil means intervals from formulas

	calibration float64 // the error of the probabilities of undecided items
}

// estimate returns the estimate of one side of a tally.
func (by estimator) estimate(t *tally, s side) stat.Estimate {
	m := t.values(s.metric)
	switch {
	case s.strict:
		m = t.strict(s.metric)
	case s.decided:
		m = t.decided(s.metric)
	}
	est := independent(s.metric, m)(stat.DefaultLevel)
	switch {
	case m.N() == 0:
	case by.clustered && by.resample != nil:
		groups := t.cast.atMost(maxResample)
		est = ofItems(groups.clustered(s).Bootstrap(*by.resample, stat.Unit), m).AtLeastAsWide(est)
	case by.clustered:
		est = ofItems(t.cast.clustered(s).Mean(stat.DefaultLevel, stat.Unit), m).AtLeastAsWide(est)
	case by.resample != nil:
		est = by.resampled(t, s, m, est)
	}
	if !s.strict && !s.decided {
		est = agreement.Widened(est, t.guesses.Allowance(m.Weight(), by.calibration), stat.Unit)
	}
	// An estimate without data, or a mean of one value, already has a stronger warning.
	if est.N < fewItems && est.Method != stat.MethodNone {
		est = est.Warn(warnFew)
	}
	return est
}

// independent returns a function that estimates a metric at any level from independent
// values. Scores that are all 0 or 1 are treated as proportions.
func independent(metric string, m stat.Moments) func(level float64) stat.Estimate {
	if metric == doc.MeanScore && !m.Binary() {
		return func(level float64) stat.Estimate { return stat.Mean(m, level, stat.Unit) }
	}
	return func(level float64) stat.Estimate { return stat.WeightedProportion(m, level) }
}

// ofItems returns the estimate from groups with the mean and the number of their items. The
// mean of groups differs only in the last digit.
func ofItems(est stat.Estimate, m stat.Moments) stat.Estimate {
	est.Value, est.N = math.Min(math.Max(m.Mean(), 0), 1), m.N()
	est.Lo, est.Hi = math.Min(est.Lo, est.Value), math.Max(est.Hi, est.Value)
	if est.SE > 0 {
		est.EffectiveN = math.Min(m.Variance()/(est.SE*est.SE), math.MaxFloat64)
	}
	return est
}

// resampled returns the BCa interval of independent values, or the estimate from a formula
// if the values do not vary.
func (by estimator) resampled(t *tally, s side, m stat.Moments, formula stat.Estimate) stat.Estimate {
	if m.N() < 2 || m.Variance() == 0 {
		return formula
	}
	var est stat.Estimate
	if m.Binary() && !weighted(m) {
		values := make([]float64, m.N()) // zeros and ones with this mean
		for i := range hits(m) {
			values[i] = 1
		}
		est = stat.BootstrapMean(values, nil, *by.resample)
	} else {
		groups := t.cast.atMost(maxResample)
		means, weights := groups.values(s)
		est = stat.BootstrapMean(means, weights, *by.resample)
	}
	est = ofItems(est, m)
	est.EffectiveN = 0
	if weighted(m) {
		est.EffectiveN = m.EffectiveN()
	}
	return est
}
