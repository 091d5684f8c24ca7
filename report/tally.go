package report

import (
	"deem"
	"deem/stat"
)

// A tally gathers the outcomes of many items. Which metric they make is known
// only at the end, so it gathers for all of them.
type tally struct {
	items, unjudged int
	unmarked        int // verdicts without a pass mark

	score, pass stat.Moments

	// A zero and a one for every failure, with the item's weight: the two ends of
	// the band.
	wrong, right stat.Moments

	cast cast
}

// An outcome is what became of one item: a verdict, or nil for a failure.
type outcome struct {
	v      *deem.Verdict
	weight float64
	member member
	limit  int // how many groups of items without a cluster are told apart
}

// add adds an outcome.
func (t *tally) add(o outcome) {
	t.items++
	g := group{items: 1}
	weight := fixedOf(o.weight)
	if o.v == nil {
		t.unjudged++
		t.wrong.Add(0, o.weight)
		t.right.Add(1, o.weight)
		g.missing = weight
	} else {
		g.w, g.score = weight, fixedOf(o.weight*o.v.Score)
		t.score.Add(o.v.Score, o.weight)
		g.pass = t.addPass(o.v.Pass, o.weight)
	}
	if o.member.named {
		t.cast.named.add(o.member.key, g, maxNamed)
	} else {
		t.cast.alone.add(o.member.key, g, o.limit)
	}
}

// addPass adds a pass mark and returns how much weight passes.
func (t *tally) addPass(pass *bool, weight float64) fixed {
	switch {
	case pass == nil:
		t.unmarked++
	case *pass:
		t.pass.Add(1, weight)
		return fixedOf(weight)
	default:
		t.pass.Add(0, weight)
	}
	return fixed{}
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

// strict returns the same with failures counted as wrong.
func (t *tally) strict(metric string) stat.Moments {
	m := t.values(metric)
	m.Merge(t.wrong)
	return m
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
func (t *tally) figures(by estimator, metric string, withheld bool) Figures {
	best := t.values(metric)
	best.Merge(t.right)
	f := Figures{
		Metric: metric,
		Strict: by.estimate(t, side{metric, true}),
		Items:  t.items, Unjudged: t.unjudged,
	}
	f.Band = Band{Lo: f.Strict.Value, Hi: best.Mean()}
	if t.items == 0 {
		f.Band = Band{Lo: 0, Hi: 1}
	}
	switch {
	case withheld || t.judged() == 0:
	case t.unjudged == 0:
		// Without failures the two are one, and resampling takes time.
		est := f.Strict
		f.Judged = &est
	default:
		est := by.estimate(t, side{metric, false})
		f.Judged = &est
	}
	return f
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
