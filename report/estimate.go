package report

import (
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

func (by estimator) estimate(t *tally, s side) stat.Estimate {
	m := t.values(s.metric)
	switch {
	case s.strict:
		m = t.strict(s.metric)
	case s.decided:
		m = t.decided(s.metric)
	}
	score := by.score(m, s.metric)
	if by.clustered {
		score.Clusters = t.cast.clustered(s)
	}
	if !s.strict && !s.decided {
		score.Undecided = t.guesses.Allowance(m.Weight(), by.calibration)
	}
	est := score.At(stat.DefaultLevel)
	if by.resample != nil && m.N() > 0 {
		est = score.Undecided.Widen(by.resampled(t, s, score), stat.Unit)
	}
	// An estimate without data, or a mean of one value, already has a stronger warning.
	if est.N < fewItems && est.Method != stat.MethodNone {
		est = est.Warn(warnFew)
	}
	return est
}

// score returns the score of values by a metric. Scores that are all 0 or 1 are shares.
func (by estimator) score(m stat.Moments, metric string) stat.Score {
	return stat.Score{Values: m, Share: metric != doc.MeanScore || m.Binary()}
}

// resampled returns the bootstrap interval of clusters, the BCa interval of independent
// values, or the estimate from a formula if the values do not vary.
func (by estimator) resampled(t *tally, s side, score stat.Score) stat.Estimate {
	m, groups := score.Values, t.cast.atMost(maxResample)
	if by.clustered {
		independent := stat.Score{Values: m, Share: score.Share}.At(stat.DefaultLevel)
		return score.OfItems(groups.clustered(s).Bootstrap(*by.resample, stat.Unit)).AtLeastAsWide(independent)
	}
	if m.N() < 2 || m.Variance() == 0 {
		return stat.Score{Values: m, Share: score.Share}.At(stat.DefaultLevel)
	}
	var est stat.Estimate
	if m.Binary() && !weighted(m) {
		values := make([]float64, m.N()) // zeros and ones with this mean
		for i := range hits(m) {
			values[i] = 1
		}
		est = stat.BootstrapMean(values, nil, *by.resample)
	} else {
		means, weights := groups.values(s)
		est = stat.BootstrapMean(means, weights, *by.resample)
	}
	est = score.OfItems(est)
	est.EffectiveN = 0
	if weighted(m) {
		est.EffectiveN = m.EffectiveN()
	}
	return est
}
