package stat

import (
	"maps"
	"math"
	"slices"
	"strconv"
)

// The warnings about repeated trials.
const (
	WarnOneTrial   = "no item was judged more than once: the judge's own noise is unknown"
	WarnFewTrials  = "fewer than three trials: the spread of their means is rough"
	WarnFractional = "not all scores are 0 or 1: flips and majorities count a score from one half on as yes"
)

// Trials gather the scores of items that the same judge scored several times. They
// tell apart two kinds of noise that are often taken for one: which items happened
// to be asked, and what the judge happened to say. The zero value is ready to use.
// Memory grows with items and trials, and the order of additions does not matter.
type Trials struct {
	items   map[string]map[int]float64
	skipped int
}

// Add adds the scores of an item, of which scores[t] is that of trial t. A score
// that is NaN is no verdict and is passed over.
func (t *Trials) Add(item string, scores []float64) {
	for trial, score := range scores {
		if !math.IsNaN(score) {
			t.AddTrial(item, trial, score)
		}
	}
}

// AddTrial adds one score of an item. A score that is not usable is left out; a
// second score of the same trial replaces the first.
func (t *Trials) AddTrial(item string, trial int, score float64) {
	if !(math.Abs(score) <= maxSize) {
		t.skipped++
		return
	}
	if t.items == nil {
		t.items = map[string]map[int]float64{}
	}
	if t.items[item] == nil {
		t.items[item] = map[int]float64{}
	}
	t.items[item][trial] = score
}

// A NoiseReport says how much of the uncertainty of a mean comes from the items and
// how much from the judge.
type NoiseReport struct {
	Items  int `json:"items"`  // with at least one score
	Trials int `json:"trials"` // the most that any item has
	Scores int `json:"scores"`

	// Mean is the mean over items of their mean scores. Majority is the share of
	// items that most trials said yes to, a tie counting one half. FlipRate is the
	// share, of the items with two trials and more, whose trials disagree.
	Mean     Estimate `json:"mean"`
	Majority Estimate `json:"majority"`
	FlipRate Estimate `json:"flip_rate"`

	// SESampling and SEJudge are the standard errors of Mean that come from which
	// items were asked and from what the judge said; SETotal is both together.
	SESampling float64 `json:"se_sampling"`
	SEJudge    float64 `json:"se_judge"`
	SETotal    float64 `json:"se_total"`

	// VarianceItems is the variance of the true scores of items, VarianceJudge that
	// of one item's scores from trial to trial, and Reliability the share of the
	// first in both, which is the correlation of two trials.
	VarianceItems float64 `json:"variance_items"`
	VarianceJudge float64 `json:"variance_judge"`
	Reliability   float64 `json:"reliability"`

	// TrialMeans are the means of the single trials, and TrialSD is their standard
	// deviation: the "±" that is often published. It holds the judge's noise only,
	// and says nothing about other items.
	TrialMeans []float64 `json:"trial_means"`
	TrialSD    float64   `json:"trial_sd"`

	Warnings []string `json:"warnings,omitempty"`
}

// Noise returns what the trials say about noise, with intervals at the given level
// for scores that lie in b.
//
// Source: the law of total variance, estimated as in the one-way analysis of
// variance with random effects (R. A. Fisher, Statistical Methods for Research
// Workers, 1925): the spread of an item's scores about their mean is the judge's,
// and what the means of items vary beyond that is the items'. It is valid for
// independent items and trials. With a judge of temperature 0 trials are no
// independent draws, and the judge's noise is understated.
func (t *Trials) Noise(level float64, b Bounds) NoiseReport {
	g := t.gather()
	r := NoiseReport{Items: g.means.N(), Trials: g.most, Scores: g.scores}
	r.Mean = MeanIn(g.means, level, b)
	r.Majority = MeanIn(g.majority, level, Unit)
	r.FlipRate = ProportionAt(g.flipped, g.repeated, level)
	r.TrialMeans, r.TrialSD = g.trialMeans()
	r.spread(g)
	r.warn(g, t.skipped)
	return r
}

// Noise returns what several trials over the same items say about noise, where
// scores[i][t] is that of item i in trial t and NaN where it has no verdict. It is
// [Trials.Noise] for scores in [0, 1] at level 0.95.
func Noise(scores [][]float64) NoiseReport {
	var t Trials
	for i, list := range scores {
		t.Add(strconv.Itoa(i), list)
	}
	return t.Noise(DefaultLevel, Unit)
}

// noiseSums are what the trials of all items sum up to.
type noiseSums struct {
	means, majority   Moments
	within            exact // the squared deviations of scores from the mean of their item
	freedom           int   // the scores beyond the first of each item
	inverse           exact // the sum of 1/trials over items
	scores, most      int
	repeated, flipped int
	fractional        bool
	trials            map[int]*Moments
}

// gather sums up the items.
func (t *Trials) gather() *noiseSums {
	g := &noiseSums{trials: map[int]*Moments{}}
	for _, trials := range t.items {
		g.add(trials)
	}
	return g
}

// add adds an item.
func (g *noiseSums) add(trials map[int]float64) {
	var m Moments
	yes := 0
	for trial, score := range trials {
		m.Add(score, 1)
		yes += boolToInt(score >= 0.5)
		g.fractional = g.fractional || score != 0 && score != 1
		if g.trials[trial] == nil {
			g.trials[trial] = &Moments{}
		}
		g.trials[trial].Add(score, 1)
	}
	n := len(trials)
	g.scores += n
	g.most = max(g.most, n)
	g.means.Add(m.Mean(), 1)
	g.majority.Add(majority(yes, n), 1)
	g.inverse.add(1 / float64(n))
	if n > 1 {
		g.repeated++
		g.flipped += boolToInt(yes > 0 && yes < n)
		g.freedom += n - 1
		g.within.add(m.Variance() * float64(n-1))
	}
}

// majority returns what most of n trials said, of which yes said yes.
func majority(yes, n int) float64 {
	switch {
	case 2*yes > n:
		return 1
	case 2*yes < n:
		return 0
	}
	return 0.5
}

// trialMeans returns the mean of each trial and their standard deviation.
func (g *noiseSums) trialMeans() (means []float64, sd float64) {
	for _, trial := range slices.Sorted(maps.Keys(g.trials)) {
		means = append(means, g.trials[trial].Mean())
	}
	return means, math.Sqrt(MomentsOf(means).Variance())
}

// spread fills in variances and standard errors.
func (r *NoiseReport) spread(g *noiseSums) {
	if r.Items == 0 {
		return
	}
	n := float64(r.Items)
	total := g.means.Variance()
	if g.freedom > 0 {
		r.VarianceJudge = float(g.within.big()) / float64(g.freedom)
	}
	// The mean of k trials varies by a k-th of what one trial does.
	ofMeans := r.VarianceJudge * float(g.inverse.big()) / n
	r.VarianceItems = math.Max(0, total-ofMeans)
	r.SEJudge = math.Sqrt(ofMeans / n)
	r.SESampling = math.Sqrt(r.VarianceItems / n)
	r.SETotal = math.Sqrt(math.Max(total, ofMeans) / n)
	if both := r.VarianceItems + r.VarianceJudge; both > 0 {
		r.Reliability = r.VarianceItems / both
	}
}

// warn fills in the warnings.
func (r *NoiseReport) warn(g *noiseSums, skipped int) {
	for _, w := range []struct {
		text string
		when bool
	}{
		{WarnNoValues, r.Items == 0},
		{WarnOneTrial, r.Items > 0 && g.repeated == 0},
		{WarnFewTrials, g.repeated > 0 && r.Trials < 3},
		{WarnFractional, g.fractional},
		{WarnSkipped, skipped > 0},
	} {
		if w.when {
			r.Warnings = append(r.Warnings, w.text)
		}
	}
}
