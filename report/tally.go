package report

import (
	"deem"
	"deem/stat"
)

// fewItems is the number of items below which an estimate carries WarnFew.
const fewItems = 30

// WarnFew is the warning of an estimate over fewer than 30 items.
const WarnFew = "fewer than 30 items: a few other verdicts would move this number a lot"

// A tally gathers the outcomes of many items. Which metric they make is known
// only at the end, so it gathers for all of them.
type tally struct {
	items, unjudged int
	unmarked        int // verdicts without a pass mark

	score, pass stat.Moments

	// A zero and a one for every failure, with the item's weight: the two ends of
	// the band.
	wrong, right stat.Moments
}

// add adds an outcome: a verdict, or nil for a failure.
func (t *tally) add(v *deem.Verdict, weight float64) {
	t.items++
	if v == nil {
		t.unjudged++
		t.wrong.Add(0, weight)
		t.right.Add(1, weight)
		return
	}
	t.score.Add(v.Score, weight)
	switch {
	case v.Pass == nil:
		t.unmarked++
	case *v.Pass:
		t.pass.Add(1, weight)
	default:
		t.pass.Add(0, weight)
	}
}

// judged returns how many outcomes are verdicts.
func (t *tally) judged() int { return t.items - t.unjudged }

// metrics returns the metrics that the verdicts make, the headline first.
func (t *tally) metrics() []string {
	score := MeanScore
	if t.score.Binary() {
		score = Score
	}
	if t.judged() > 0 && t.unmarked == 0 {
		return []string{PassRate, score}
	}
	return []string{score}
}

// values returns what the metric is computed from.
func (t *tally) values(metric string) stat.Moments {
	if metric == PassRate {
		return t.pass
	}
	return t.score
}

// hold returns why an estimate over the judged items would mislead, or nil.
func (t *tally) hold(limit float64) *Hold {
	if t.items == 0 || float64(t.unjudged)/float64(t.items) <= limit {
		return nil
	}
	h := &Hold{Unjudged: t.unjudged, Items: t.items, Limit: limit}
	h.Reason = h.reason()
	return h
}

// figures returns the numbers of one metric, without the first of them when it
// is withheld.
func (t *tally) figures(metric string, withheld bool) Figures {
	judged := t.values(metric)
	strict, best := judged, judged
	strict.Merge(t.wrong)
	best.Merge(t.right)
	f := Figures{
		Metric: metric,
		Strict: estimate(metric, strict),
		Items:  t.items, Unjudged: t.unjudged,
	}
	f.Band = Band{Lo: f.Strict.Value, Hi: best.Mean()}
	if t.items == 0 {
		f.Band = Band{Lo: 0, Hi: 1}
	}
	if !withheld && t.judged() > 0 {
		est := estimate(metric, judged)
		f.Judged = &est
	}
	return f
}

// estimate returns the estimate of a metric from its values.
func estimate(metric string, m stat.Moments) stat.Estimate {
	var est stat.Estimate
	if metric == MeanScore {
		est = stat.MeanIn(m, stat.DefaultLevel, stat.Unit)
	} else {
		est = stat.WeightedProportion(m, stat.DefaultLevel)
	}
	// An estimate that stands on nothing, or a mean of one, already says worse.
	if est.N < fewItems && est.Method != stat.MethodNone {
		est = est.Warn(WarnFew)
	}
	return est
}

// usableScore reports whether x may be counted as a score. It is false for NaN.
func usableScore(x float64) bool { return x >= 0 && x <= 1 }

// weightOf returns the weight of an item and whether it was usable. An unusable
// weight counts as 1, so that no item disappears from the count.
func weightOf(it deem.Item) (weight float64, ok bool) {
	switch {
	case it.Weight == 0:
		return 1, true
	case it.Weight >= 1e-9 && it.Weight <= 1e9:
		return it.Weight, true
	default:
		return 1, false
	}
}
