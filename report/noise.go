package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// Warnings about repeated trials.
const (
	warnFewTrials  = "fewer than three trials: the spread of their means is rough"
	warnFractional = "not all scores are 0 or 1: flips count a score from one half on as yes"
)

// flipExamples is the number of items with differing trials that a report lists.
const flipExamples = 10

// Noise separates two sources of noise if items were judged more than once: the choice of
// items, and the variation of the judge.
type Noise struct {
	Metric string `json:"metric"`

	// Trials is how many times an item was to be judged. Items counts the items with a
	// verdict in any trial, Repeated those with two or more.
	Trials   int `json:"trials"`
	Items    int `json:"items"`
	Repeated int `json:"repeated"`

	// Unjudged counts the items without a verdict in any trial, and Failed the trials
	// without a verdict of the other items.
	Unjudged int `json:"unjudged"`
	Failed   int `json:"failed"`

	// FlipRate is the share of the repeated items whose trials differ. A pass mark decides
	// if there is one; otherwise a score of at least one half is a yes. Examples are the
	// ids of the first ten.
	FlipRate stat.Estimate `json:"flip_rate"`
	Flipped  int           `json:"flipped"`
	Examples []string      `json:"examples"`

	// SESampling and SEJudge are the standard errors of the headline due to the choice of
	// items and to the judge; SETotal combines both.
	SESampling float64 `json:"se_sampling"`
	SEJudge    float64 `json:"se_judge"`
	SETotal    float64 `json:"se_total"`

	// DFSampling and DFJudge are the degrees of freedom of the two.
	DFSampling float64 `json:"df_sampling"`
	DFJudge    float64 `json:"df_judge"`

	// SamplingUnknown reports that all items are in one cluster, so the noise from the
	// choice of items is unknown: SESampling is then 0, and SETotal is SEJudge.
	SamplingUnknown bool `json:"sampling_unknown,omitempty"`

	// TrialSD is the standard deviation of the means of the trials, the "±" that is often
	// published. It includes only the judge's noise.
	TrialSD float64 `json:"trial_sd"`

	Warnings []string `json:"warnings,omitempty"`

	// levels counts the repeated items by how many of their trials agree with the majority,
	// highest agreement first.
	levels []level
}

// A level is the number of items of which agree of trials trials agree.
type level struct{ agree, trials, items int }

// gather combines the trials of each item. An item is buffered until all its trials are
// added. If the trials of an item are adjacent, as they are in a store, memory does not
// grow with the number of items. In any other order the items that wait for a trial take
// some hundred bytes each. The zero value is for one trial.
type gather struct {
	want    int
	pending map[itemKey]*gathered
	free    []*gathered
}

// itemKey identifies an item, even in a file with duplicate ids.
type itemKey struct {
	position int
	id       uint64
}

// gathered is one item with the results of its trials.
type gathered struct {
	id, category string
	place        int
	weight       float64
	member       member
	seen         int
	votes        []vote
	differs      bool // some trial has a different result under another reading
}

// A vote is the result of one trial.
type vote struct {
	trial   int
	score   float64
	marked  bool
	pass    float64
	aspects map[string]float64
	guess   bool // the judge did not decide, and score is a probability
}

// add adds one trial of an item. differs says whether another reading of it gives a
// different result. add returns the item after its last trial.
func (g *gather) add(rec *deem.Record, v *deem.Verdict, guess *float64, weight float64, differs bool) *gathered {
	key := itemKey{rec.Position, scatter(rec.Item.ID)}
	it, ok := g.pending[key]
	if !ok {
		if n := len(g.free); n > 0 {
			it = g.free[n-1]
			g.free = g.free[:n-1]
			*it = gathered{votes: it.votes[:0]}
		} else {
			it = &gathered{votes: make([]vote, 0, max(g.want, 1))}
		}
		it.id, it.category, it.place = rec.Item.ID, doc.OrNone(rec.Item.Category), rec.Position
		it.weight, it.member = weight, member{key: scatter(rec.Item.ID)}
		if rec.Item.Cluster != "" {
			it.member = member{key: scatter(rec.Item.Cluster), named: true}
		}
	}
	it.seen++
	it.differs = it.differs || differs
	if v != nil {
		one := vote{trial: rec.Trial, score: v.Score, marked: v.Pass != nil, aspects: v.Aspects}
		if v.Pass != nil && *v.Pass {
			one.pass = 1
		}
		it.votes = append(it.votes, one)
	} else if guess != nil {
		it.votes = append(it.votes, vote{trial: rec.Trial, score: *guess, pass: *guess, marked: true, guess: true})
	}
	if it.seen >= g.want {
		delete(g.pending, key)
		return it
	}
	if !ok {
		if g.pending == nil {
			g.pending = map[itemKey]*gathered{}
		}
		// The texts may be substrings of a long line, which must not stay in memory.
		it.id, it.category = strings.Clone(it.id), strings.Clone(it.category)
		g.pending[key] = it
	}
	return nil
}

// release takes back an item for reuse.
func (g *gather) release(it *gathered) {
	clear(it.votes)
	g.free = append(g.free, it)
}

// outcome returns the outcome of the item.
func (it *gathered) outcome(limit int) outcome {
	// The mean must not depend on the order of trials, not even in its last digit.
	slices.SortFunc(it.votes, func(a, b vote) int {
		return cmp.Or(cmp.Compare(a.trial, b.trial), cmp.Compare(a.score, b.score), cmp.Compare(a.pass, b.pass))
	})
	o := outcome{marked: true, weight: it.weight, member: it.member, limit: limit}
	o.failed = float64(it.seen-len(it.votes)) / float64(it.seen)
	for _, v := range it.votes {
		o.score += v.score
		o.pass += v.pass
		o.marked = o.marked && v.marked
		o.graded = o.graded || !v.guess && v.score != 0 && v.score != 1
		o.undecided = o.undecided || v.guess
	}
	if n := float64(len(it.votes)); n > 0 {
		o.score, o.pass = math.Min(o.score/n, 1), o.pass/n
	}
	return o
}

// repeatSums are the sums over the trials of all items, for the score and for the pass
// mark, because the metric is known only at the end.
type repeatSums struct {
	score, pass noiseSums
	failed      int
}

// noiseSums are the sums for one metric.
type noiseSums struct {
	flips tally

	// within has the variance of each repeated item's trials, weighted by its number of
	// trials minus one, so that its mean is the pooled variance. shares has 1/trials of
	// each item, weighted by the square of the item's weight.
	within, shares stat.Moments

	flipped    doc.Firsts
	levels     map[[2]int]int
	fractional bool
}

func (s *noiseSums) clone() noiseSums {
	out := *s
	out.flips, out.flipped, out.levels = *s.flips.clone(), s.flipped.Clone(), maps.Clone(s.levels)
	return out
}

// add adds an item; value returns the number of a vote that counts.
func (s *noiseSums) add(it *gathered, limit int, value func(vote) float64) {
	n := len(it.votes)
	sum, yes := 0.0, 0
	for _, v := range it.votes {
		x := value(v)
		sum += x
		if x >= 0.5 {
			yes++
		}
		s.fractional = s.fractional || x != 0 && x != 1
	}
	mean := math.Min(sum/float64(n), 1)
	s.shares.Add(1/float64(n), it.weight*it.weight)
	if n < 2 {
		return
	}
	squares := 0.0
	for _, v := range it.votes {
		squares += float64((value(v) - mean) * (value(v) - mean))
	}
	s.within.Add(squares/float64(n-1), float64(n-1))
	flip := outcome{weight: 1, member: it.member, limit: limit}
	if yes > 0 && yes < n {
		flip.score = 1
		s.flipped.Add(it.place, it.id, flipExamples)
	}
	s.flips.add(flip)
	if s.levels == nil {
		s.levels = map[[2]int]int{}
	}
	s.levels[[2]int{max(yes, n-yes), n}]++
}

// noiseOf returns the noise measured from trials, nil if no item was judged twice.
func (b *Builder) noiseOf(by estimator, headline Figures) *Noise {
	s := &b.noise.score
	if headline.Metric == doc.PassRate {
		s = &b.noise.pass
	}
	if s.flips.items == 0 {
		return nil
	}
	n := &Noise{
		Metric: headline.Metric, Trials: b.items.want, Items: b.main.judged(), Repeated: s.flips.items,
		Unjudged: b.main.unjudged, Failed: b.noise.failed,
		Flipped: s.flipped.N, Examples: s.flipped.IDs(),
	}
	for l, items := range s.levels {
		n.levels = append(n.levels, level{agree: l[0], trials: l[1], items: items})
	}
	slices.SortFunc(n.levels, func(a, b level) int {
		return cmp.Or(cmp.Compare(b.agree*a.trials, a.agree*b.trials), cmp.Compare(b.trials, a.trials))
	})
	n.FlipRate = by.estimate(&s.flips, side{metric: doc.Score})
	mean := headline.Judged
	if mean == nil {
		mean = new(by.estimate(b.main, side{metric: headline.Metric}))
	}
	// The law of total variance, as in the one-way analysis of variance with random effects
	// (R. A. Fisher, Statistical Methods for Research Workers, 1925): the variance of an
	// item's trials about their mean is due to the judge, and the remaining variance of the
	// item means is due to the items.
	m := b.main.values(n.Metric)
	total := m.Variance() / m.EffectiveN()
	n.DFSampling, n.DFJudge = m.EffectiveN()-1, s.within.Weight()
	if mean.Clusters > 0 {
		_, n.DFSampling = b.main.cast.clustered(side{metric: n.Metric}).StandardError()
	}
	switch {
	case mean.Clusters > 0 && mean.Method == stat.MethodNone:
		n.SamplingUnknown, total = true, 0
	case mean.Clusters > 0 && mean.SE == 0:
		// Clusters that do not differ count as one item each, as in the interval.
		total = m.Variance() / float64(mean.Clusters)
	case mean.Clusters > 0:
		total = float64(mean.SE * mean.SE) // the conversion prevents fusing with the difference below
	}
	judge := s.within.Mean() * s.shares.Mean() * s.shares.Weight() / m.Weight() / m.Weight()
	n.SEJudge = math.Sqrt(judge)
	n.SESampling = math.Sqrt(math.Max(0, total-judge))
	n.SETotal = math.Sqrt(math.Max(total, judge))
	var means stat.Moments // of the trials
	for _, t := range b.trials {
		if t.judged() > 0 {
			means.Add(t.values(headline.Metric).Mean(), 1)
		}
	}
	n.TrialSD = math.Sqrt(means.Variance())
	if n.Trials < 3 {
		n.Warnings = append(n.Warnings, warnFewTrials)
	}
	if s.fractional {
		n.Warnings = append(n.Warnings, warnFractional)
	}
	return n
}

// words says in one sentence, without a full stop, how much of the uncertainty comes from
// the items and how much from the judge. The number after ± is half the width of a 95%
// interval.
func (n *Noise) words() string {
	names := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	trials := words.Comma(n.Trials)
	if n.Trials < len(names) {
		trials = names[n.Trials]
	}
	flips := fmt.Sprintf("%s trials differ on %s of %s (%s)", trials, words.Comma(n.Flipped), words.Count(n.Repeated, "item"), doc.Share(n.FlipRate))
	judge := fmt.Sprintf("%s from the judge's own noise (standard deviation of the trials %s)", points(n.SEJudge, n.DFJudge), plainPoints(n.TrialSD))
	if n.SamplingUnknown {
		return fmt.Sprintf("one cluster says nothing about the choice of items, %s; %s", judge, flips)
	}
	if n.SETotal == 0 {
		// An error of 0 would claim too much; the interval of the mean does not.
		return "nothing varies, neither from item to item nor from trial to trial, so neither noise can be measured; " + flips
	}
	return fmt.Sprintf("%s from the choice of items, %s; %s", points(n.SESampling, n.DFSampling), judge, flips)
}

// points returns half the width of the 95% interval for a standard error with df degrees of
// freedom, in percentage points.
func points(se, df float64) string {
	half := 0.0
	if se > 0 {
		half = min(1, se*stat.StudentQuantile(stat.DefaultLevel, df))
	}
	return "± " + plainPoints(half)
}

// plainPoints returns a share in percentage points, with two decimals if one would round it
// to nothing.
func plainPoints(x float64) string {
	if x > 0 && x < 0.01 {
		return fmt.Sprintf("%.2f pp", 100*x)
	}
	return fmt.Sprintf("%.1f pp", 100*x)
}
