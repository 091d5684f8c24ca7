package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"deem"
	"deem/stat"
)

// flipExamples is how many items a report names whose trials differ.
const flipExamples = 10

// Noise tells apart two kinds of noise that are often taken for one, when items were
// judged more than once: which items happened to be asked, and what the judge happened
// to say.
type Noise struct {
	Metric string `json:"metric"`

	// Trials is how often an item was to be judged. Items counts those with a verdict
	// in any trial, Repeated those with two and more.
	Trials   int `json:"trials"`
	Items    int `json:"items"`
	Repeated int `json:"repeated"`

	// Unjudged counts the items that no trial gave a verdict on.
	Unjudged int `json:"unjudged"`

	// Mean is the mean over items of the mean of their trials, and Majority the share
	// of items to which most of their trials say yes, a tie counting one half. Both are
	// null when the headline is withheld, and when too many records of all trials are
	// without a verdict.
	Mean     *stat.Estimate `json:"mean"`
	Majority *stat.Estimate `json:"majority"`

	// FlipRate is the share of the repeated items whose trials differ, where a score
	// from one half on is a yes and a pass mark decides if there is one. Examples are
	// the ids of the first ten.
	FlipRate stat.Estimate `json:"flip_rate"`
	Flipped  int           `json:"flipped"`
	Examples []string      `json:"examples"`

	// SESampling and SEJudge are the standard errors of Mean that come from the choice
	// of items and from the judge; SETotal is both together.
	SESampling float64 `json:"se_sampling"`
	SEJudge    float64 `json:"se_judge"`
	SETotal    float64 `json:"se_total"`

	// DFSampling and DFJudge are the degrees of freedom of the two.
	DFSampling float64 `json:"df_sampling"`
	DFJudge    float64 `json:"df_judge"`

	// SamplingUnknown says that all items come from one cluster, so that nothing is
	// known about the choice of items: SESampling is 0 then, and SETotal the judge's.
	SamplingUnknown bool `json:"sampling_unknown,omitempty"`

	// TrialSD is the standard deviation of the means of the trials, the "±" that is
	// often published. It holds the judge's noise only.
	TrialSD float64 `json:"trial_sd"`

	// Agreement counts the repeated items by how many of their trials side with the
	// majority, the most united first.
	Agreement []Level `json:"agreement"`

	Warnings []string `json:"warnings,omitempty"`
}

// A Level is a number of items of which Agree of Trials trials say the same.
type Level struct {
	Agree  int `json:"agree"`
	Trials int `json:"trials"`
	Items  int `json:"items"`
}

// repeats gathers the trials of each item. An item is held until all its trials are
// there and then added to sums, so memory does not grow with items as long as the
// trials of one item come next to each other, as they do from a store. In any other
// order the items that wait for a trial are held, some hundred bytes each.
type repeats struct {
	want    int
	limit   int
	pending map[itemKey]*repeated
	free    []*repeated
	sums    repeatSums
}

// itemKey tells items apart, also in a file that holds an id twice.
type itemKey struct {
	position int
	id       uint64
}

// repeated is one item whose trials are gathered.
type repeated struct {
	id     string
	place  int
	weight float64
	member member
	seen   int
	votes  []vote
}

// A vote is what one trial gave.
type vote struct {
	trial  int
	score  float64
	marked bool
	pass   float64
}

// add adds one trial of an item.
func (r *repeats) add(rec *deem.Record, v *deem.Verdict, weight float64, m member) {
	if r.want < 2 {
		return
	}
	key := itemKey{rec.Position, scatter(rec.Item.ID)}
	it, ok := r.pending[key]
	if !ok {
		it = r.fresh()
		// The id may be a piece of a long line, which must not be kept alive.
		it.id, it.place, it.weight, it.member = strings.Clone(rec.Item.ID), rec.Position, weight, m
		r.pending[key] = it
	}
	it.seen++
	if v != nil {
		it.votes = append(it.votes, voteOf(rec.Trial, v))
	}
	if it.seen >= r.want {
		delete(r.pending, key)
		r.sums.add(it, r.limit)
		r.free = append(r.free, it)
	}
}

// fresh returns an empty item, if possible one that is no longer needed.
func (r *repeats) fresh() *repeated {
	if n := len(r.free); n > 0 {
		it := r.free[n-1]
		r.free = r.free[:n-1]
		*it = repeated{votes: it.votes[:0]}
		return it
	}
	return &repeated{votes: make([]vote, 0, r.want)}
}

func voteOf(trial int, v *deem.Verdict) vote {
	out := vote{trial: trial, score: v.Score, marked: v.Pass != nil}
	if v.Pass != nil && *v.Pass {
		out.pass = 1
	}
	return out
}

// all returns the sums over all items, those included that still wait for a trial.
func (r *repeats) all() *repeatSums {
	if len(r.pending) == 0 {
		return &r.sums
	}
	s := r.sums.clone()
	for _, it := range r.pending {
		s.add(it, r.limit)
	}
	return s
}

// repeatSums are what the trials of all items sum up to, for the score and for the
// pass mark: which of them is the metric is known only at the end.
type repeatSums struct {
	score, pass noiseSums
	unjudged    int
}

func (s *repeatSums) clone() *repeatSums {
	return &repeatSums{score: s.score.clone(), pass: s.pass.clone(), unjudged: s.unjudged}
}

// of returns the sums of a metric.
func (s *repeatSums) of(metric string) *noiseSums {
	if metric == PassRate {
		return &s.pass
	}
	return &s.score
}

// add adds an item.
func (s *repeatSums) add(it *repeated, limit int) {
	if len(it.votes) == 0 {
		s.unjudged++
		return
	}
	// The order of trials must not show in the last digit of their mean.
	slices.SortFunc(it.votes, func(a, b vote) int {
		return cmp.Or(cmp.Compare(a.trial, b.trial), cmp.Compare(a.score, b.score), cmp.Compare(a.pass, b.pass))
	})
	marked := true
	for _, v := range it.votes {
		marked = marked && v.marked
	}
	s.score.add(it, limit, func(v vote) float64 { return v.score })
	if marked {
		s.pass.add(it, limit, func(v vote) float64 { return v.pass })
	}
}

// noiseSums are the sums for one metric.
type noiseSums struct {
	means, majority, flips tally

	// within has the variance of each repeated item's trials, weighted by the trials
	// beyond its first, so that its mean is the pooled one. shares has one part in so
	// many as an item has trials, weighted by the square of the item's weight.
	within, shares stat.Moments

	flipped    named
	levels     map[[2]int]int
	fractional bool
}

func (s *noiseSums) clone() noiseSums {
	out := *s
	for _, t := range []*tally{&out.means, &out.majority, &out.flips} {
		t.cast = t.cast.clone()
	}
	out.flipped.first = slices.Clone(s.flipped.first)
	out.levels = make(map[[2]int]int, len(s.levels))
	for level, n := range s.levels {
		out.levels[level] = n
	}
	return out
}

// add adds an item, of which value gives the number that counts.
func (s *noiseSums) add(it *repeated, limit int, value func(vote) float64) {
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
	enter := func(t *tally, x, weight float64) {
		t.add(outcome{v: &deem.Verdict{Score: x}, weight: weight, member: it.member, limit: limit})
	}
	enter(&s.means, mean, it.weight)
	enter(&s.majority, majority(yes, n), it.weight)
	s.shares.Add(1/float64(n), it.weight*it.weight)
	if n < 2 {
		return
	}
	squares := 0.0
	for _, v := range it.votes {
		squares += float64((value(v) - mean) * (value(v) - mean))
	}
	s.within.Add(squares/float64(n-1), float64(n-1))
	flip := 0.0
	if yes > 0 && yes < n {
		flip = 1
		s.flipped.n++
		s.flipped.first.add(it.place, it.id, flipExamples)
	}
	enter(&s.flips, flip, 1)
	if s.levels == nil {
		s.levels = map[[2]int]int{}
	}
	s.levels[[2]int{max(yes, n-yes), n}]++
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

// noise returns what the trials say about noise, nil when no item was judged twice.
func (b *Builder) noise(by estimator, metric string, withheld bool) *Noise {
	all := b.repeats.all()
	s := all.of(metric)
	if s.flips.items == 0 {
		return nil
	}
	n := &Noise{
		Metric: metric, Trials: b.repeats.want, Items: s.means.items, Repeated: s.flips.items, Unjudged: all.unjudged,
		Flipped: s.flipped.n, Examples: s.flipped.first.ids(), Agreement: s.agreement(),
	}
	n.FlipRate = by.estimate(&s.flips, side{metric: Score})
	mean := by.estimate(&s.means, side{metric: MeanScore})
	most := by.estimate(&s.majority, side{metric: s.majority.metrics()[0]})
	if !withheld && !b.silent() {
		n.Mean, n.Majority = &mean, &most
	}
	n.spread(s, mean)
	n.TrialSD = b.trialSD(metric)
	n.warn(s)
	return n
}

// silent reports whether too many records of all trials are without a verdict.
func (b *Builder) silent() bool {
	var all tally
	for _, t := range b.trials {
		all.items += t.items
		all.unjudged += t.unjudged
	}
	return all.hold(b.head.MaxUnjudged) != nil
}

// spread fills in the standard errors.
//
// Source: the law of total variance, as in the one-way analysis of variance with
// random effects (R. A. Fisher, Statistical Methods for Research Workers, 1925): the
// spread of an item's trials about their mean is the judge's, and what the means of
// items vary beyond that comes from the items.
func (n *Noise) spread(s *noiseSums, mean stat.Estimate) {
	m := s.means.score
	total := m.Variance() / m.EffectiveN()
	n.DFSampling, n.DFJudge = m.EffectiveN()-1, s.within.Weight()
	if mean.Clusters > 0 {
		_, n.DFSampling = s.means.cast.clustered(side{metric: MeanScore}).StandardError()
	}
	switch {
	case mean.Clusters > 0 && mean.Method == stat.MethodNone:
		n.SamplingUnknown, total = true, 0
	case mean.Clusters > 0 && mean.SE == 0:
		// Clusters that do not differ count as one item each, as in the interval.
		total = m.Variance() / float64(mean.Clusters)
	case mean.Clusters > 0:
		total = float64(mean.SE * mean.SE) // not fused into the difference below
	}
	judge := s.within.Mean() * s.shares.Mean() * s.shares.Weight() / m.Weight() / m.Weight()
	n.SEJudge = math.Sqrt(judge)
	n.SESampling = math.Sqrt(math.Max(0, total-judge))
	n.SETotal = math.Sqrt(math.Max(total, judge))
}

// trialSD returns the standard deviation of the means of the trials.
func (b *Builder) trialSD(metric string) float64 {
	var means stat.Moments
	for _, t := range b.trials {
		if t.judged() > 0 {
			means.Add(t.values(metric).Mean(), 1)
		}
	}
	return math.Sqrt(means.Variance())
}

// agreement returns the levels of agreement, the most united first.
func (s *noiseSums) agreement() []Level {
	levels := make([]Level, 0, len(s.levels))
	for l, items := range s.levels {
		levels = append(levels, Level{Agree: l[0], Trials: l[1], Items: items})
	}
	slices.SortFunc(levels, func(a, b Level) int {
		return cmp.Or(cmp.Compare(b.Agree*a.Trials, a.Agree*b.Trials), cmp.Compare(b.Trials, a.Trials))
	})
	return levels
}

// warn fills in the warnings.
func (n *Noise) warn(s *noiseSums) {
	if n.Trials < 3 {
		n.Warnings = append(n.Warnings, stat.WarnFewTrials)
	}
	if s.fractional {
		n.Warnings = append(n.Warnings, stat.WarnFractional)
	}
}
