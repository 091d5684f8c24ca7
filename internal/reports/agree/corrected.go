package agree

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/stat"
)

// The scores that may be quoted.
const (
	quotePeople     = "people"
	quotePPI        = "ppi"
	quoteStratified = "stratified"
)

// WarnPart warns that a part of the run has no labels.
const WarnPart = "to one of the judge's two verdicts there is no label at all: there is no interval"

// WarnFewInStrata warns of a stratified score from few labels. In simulations (make
// coverage), 40 labels of a plan give a 95% interval that contains the truth in 99% of the
// draws: with one or two errors among them, the half label that is added to each stratum is
// a large part of the variance. Without it, labels without an error would claim certainty.
const WarnFewInStrata = "fewer than 50 labels: half a label of either kind was added to each category and verdict, " +
	"which makes the interval too wide rather than too narrow"

// WarnSelected warns that a corrected score uses labels that were not drawn at random.
const WarnSelected = "the labelled items were not drawn at random from the run, which this number assumes: see the notes"

// Corrected returns the run's score corrected to match people, without the rest of
// [Builder.Agreement]; nil without labels. It does not withhold.
//
// The score is that of the run's report: the share that passes, or the mean of graded scores
// without a pass mark; items count with their weight and with the mean of their trials, and
// an undecided item with its probability. People's score of an item is their decision, or
// their grade if the score is a mean of grades.
func (b *Builder) Corrected() *Corrected {
	w := b.whole()
	if len(w.both) == 0 {
		return nil
	}
	const level = stat.DefaultLevel
	var c agreement.Confusion
	for _, it := range w.both {
		c.Add(it.truth, it.judge)
	}
	yes, n := 0, len(w.alone)
	for _, it := range w.alone {
		if it.yes {
			yes++
		}
	}
	s := w.sampleOf(w.both, w.alone)
	k := &Corrected{Raw: b.scored(b.meanScore()), People: w.people(s), Unlabelled: n, Metric: b.metric()}
	k.PPI = agreement.Predict(w.predicted(s), level)
	influence := k.PPI.Influence
	k.Stratified = w.stratified()
	k.Mix = w.mix(c, yes, n)
	switch {
	case k.Mix.Planned():
		k.RoganGladen = stat.NoInterval(0.5, 0, level, stat.Unit, warnPlanned)
	case w.plain():
		k.RoganGladen = agreement.RoganGladenIn(w.clusteredBy(agreement.RoganGladenInfluence(yes, n, c)), yes, n, c, level)
	default:
		k.RoganGladen = stat.NoInterval(0.5, 0, level, stat.Unit, warnCountsOnly)
	}
	switch how := w.drawn(); {
	case n == 0:
		k.Quote = quotePeople
	case how == atRandom, w.meanScore():
		k.Quote = quotePPI
	case k.Stratified.N > 0:
		k.Quote = quoteStratified
		influence = w.stratifiedInfluence()
	}
	if w.meanScore() && w.drawn() == byVerdict && s.strata == nil {
		k.Quote = "" // A part of the run has no labels.
	}
	if k.Quote == "" {
		k.PPI.Estimate = stat.NoInterval(0.5, 0, level, stat.Unit, WarnPart)
	}
	k.units = stat.Influence{}
	for i, x := range influence {
		if i < len(w.both) {
			k.units[w.both[i].unit] += x
		} else {
			k.units[w.alone[i-len(w.both)].unit] += x
		}
	}
	k.Confusion = c
	if k.Mix.Differs {
		k.RoganGladen = k.RoganGladen.Warn(WarnSelected)
		if w.beyondWeights() {
			k.PPI.Estimate = k.PPI.Warn(WarnSelected)
			k.Stratified, k.People = k.Stratified.Warn(WarnSelected), k.People.Warn(WarnSelected)
		}
	}
	if w.o.Width > 0 && k.Quote != "" {
		k.More = &More{Width: w.o.Width, Now: k.PPI.Hi - k.PPI.Lo, Present: k.PPI.Known}
		k.More.Labels, k.More.Enough = k.PPI.More(w.o.Width)
	}
	return k
}

// warnPlanned says why labels of a plan do not correct by error rates.
const warnPlanned = "the labels were drawn by verdict, so the error rates in them are not those of the judge: " +
	"the stratified score uses their probabilities"

// warnCountsOnly says why a score is not corrected by error rates.
const warnCountsOnly = "error rates correct counts of yes and no only: this score has weights, grades, several trials or probabilities"

// plain reports whether every item counts once, as yes or no.
func (b *Builder) plain() bool {
	undecided := slices.ContainsFunc(b.both, func(it paired) bool { return it.undecided }) ||
		slices.ContainsFunc(b.alone, func(it single) bool { return it.undecided })
	return !b.meanScore() && !b.weighted && !b.split && !undecided
}

// metric names the score of the run, as its report does.
func (b *Builder) metric() string {
	switch {
	case b.marked && !b.unmarked:
		return doc.PassRate
	case b.graded:
		return doc.MeanScore
	}
	return doc.Score
}

// meanScore reports whether the score of the run is the mean of grades, as in its report:
// some verdict has no pass mark, and some has a score other than 0 and 1.
func (b *Builder) meanScore() bool { return b.metric() == doc.MeanScore }

// judged and labelled return what an item counts by the judge, and by people.
func (b *Builder) judged(share, score float64) float64 {
	if b.meanScore() {
		return score
	}
	return share
}

func (b *Builder) labelledAs(it paired) float64 {
	if b.meanScore() {
		return it.score
	}
	return agreement.Number(it.truth)
}

// predicted returns all items with the probability of their label, those with a label first.
func (b *Builder) predicted(s *sample) []agreement.Predicted {
	items := make([]agreement.Predicted, 0, len(b.both)+len(b.alone))
	for i, it := range b.both {
		r := agreement.Predicted{Cluster: it.cluster, Weight: it.traits.weight, Judge: b.judged(it.share, it.judgeScore), Truth: b.labelledAs(it)}
		if w := s.weight[i]; w != r.Weight {
			r.Chance = r.Weight / w
		}
		items = append(items, r)
	}
	for _, it := range b.alone {
		items = append(items, agreement.Predicted{Cluster: it.cluster, Weight: it.weight, Judge: b.judged(it.share, it.score), Truth: math.NaN()})
	}
	return items
}

// people returns the score of the labelled items by people alone.
func (b *Builder) people(s *sample) stat.Estimate {
	if s.strata != nil && !b.meanScore() {
		return s.share(func(truth, _ bool) bool { return truth }, func(_, _ bool) bool { return true })
	}
	var all stat.Clustered
	for i, it := range b.both {
		all.Add(it.cluster, b.labelledAs(it), s.weight[i])
	}
	return all.Score(stat.DefaultLevel, false)
}

// clusteredBy returns the design of an estimate from the influence of labelled items and of
// the others.
func (b *Builder) clusteredBy(labelled func(truth, judge bool) float64, alone func(judge bool) float64) agreement.Design {
	return b.clustered(func(it paired) float64 { return labelled(it.truth, it.judge) }, func(it single) float64 { return alone(it.yes) })
}

// clustered returns the effect of clusters on an estimate that uses all judged items, from
// the influence of each item, summed over clusters.
func (b *Builder) clustered(labelled func(paired) float64, alone func(single) float64) agreement.Design {
	places := map[string]int{}
	var whole, apart []stat.Cluster
	add := func(cluster string, x float64) {
		apart = append(apart, stat.Cluster{Weight: 1, Influence: x})
		at, known := places[cluster]
		if !known || cluster == "" {
			at = len(whole)
			places[cluster] = at
			whole = append(whole, stat.Cluster{})
		}
		whole[at].Weight++
		whole[at].Influence += x
	}
	for _, it := range b.both {
		add(it.cluster, labelled(it))
	}
	for _, it := range b.alone {
		add(it.cluster, alone(it))
	}
	if len(whole) == len(apart) {
		return agreement.Design{}
	}
	return agreement.InClusters(whole, apart)
}

// A drawing is how labels were drawn, as far as can be seen.
type drawing string

const (
	atRandom      drawing = "at random"
	byPlan        drawing = "plan"        // by a plan of deem for this judge: at random within each category and verdict
	byProbability drawing = "probability" // by a plan for another judge: with known probabilities
	byVerdict     drawing = "verdict"     // more of some verdicts or categories than chance explains
)

// drawn returns how labels were drawn.
func (b *Builder) drawn() drawing {
	if b.how != "" {
		return b.how
	}
	b.markUnsure()
	if len(b.open)+len(b.openOnly) > 0 { // they were drawn together with the others
		w := b.whole()
		b.how, b.tests = w.drawn(), w.tests
		return b.how
	}
	b.how = b.planned()
	items := make([]Item, 0, len(b.both)+len(b.alone))
	item := func(t traits, yes, labelled bool) {
		it := Item{Labelled: labelled, Yes: yes, Category: t.category, Cluster: t.cluster, Position: t.position, Length: t.length}
		if t.confidence >= 0 {
			it.Confidence = &t.confidence
		}
		if b.how == byPlan {
			it.Stratum = fmt.Sprint(cell{t.category, yes, t.unsure})
		}
		items = append(items, it)
	}
	for _, it := range b.both {
		item(it.traits, it.judge, true)
	}
	for _, it := range b.alone {
		item(it.traits, it.yes, false)
	}
	b.tests = nil
	if b.how != byProbability { // the strata of the other items are unknown in this case
		b.tests = Selection(items, b.o.Seed)
	}
	for _, t := range b.tests {
		if t.Differs && (t.Of == ofVerdict || t.Of == ofCategory) {
			b.how = byVerdict
		}
	}
	return b.how
}

// planned returns byPlan if one plan drew all labels and was made for this judge,
// byProbability if it was made for another judge, and atRandom without one.
func (b *Builder) planned() drawing {
	plan, sizes := "", map[cell]int{}
	for i, it := range b.both {
		name := it.stratum[:max(strings.LastIndexByte(it.stratum, '-'), 0)]
		if it.probability <= 0 || name == "" || i > 0 && name != plan {
			return atRandom
		}
		plan = name
		sizes[cell{it.category, it.judge, it.unsure}]++
	}
	if plan == "" {
		return atRandom
	}
	for _, it := range b.alone {
		sizes[cell{it.category, it.yes, it.unsure}]++
	}
	// The strata of a plan for this judge are the categories and verdicts of this run, each
	// divided into what the judge is sure and unsure of.
	strata := map[string]cell{}
	for _, it := range b.both {
		here := cell{it.category, it.judge, it.unsure}
		if known, ok := strata[it.stratum]; ok && known != here || sizes[here] != it.of {
			return byProbability
		}
		strata[it.stratum] = here
	}
	return byPlan
}

// markUnsure marks the items that the judge is unsure of, as a plan does.
func (b *Builder) markUnsure() {
	var list []*traits
	var confidence []float64
	for _, both := range [][]paired{b.both, b.open} {
		for i := range both {
			list, confidence = append(list, &both[i].traits), append(confidence, both[i].certainty(both[i].share))
		}
	}
	for _, alone := range [][]single{b.alone, b.openOnly} {
		for i := range alone {
			list, confidence = append(list, &alone[i].traits), append(confidence, alone[i].certainty(alone[i].share))
		}
	}
	for i, unsure := range Unsure(confidence) {
		list[i].unsure = unsure
	}
}

// beyondWeights reports whether labels were selected in a way that weights cannot correct.
func (b *Builder) beyondWeights() bool {
	return slices.ContainsFunc(b.tests, func(t SelectionTest) bool { return t.Differs && t.Of != ofVerdict && t.Of != ofCategory })
}

// differs is the confidence level for naming a category with more or fewer labels than
// chance explains.
const differs = 0.99

// mix compares the labelled items with the others.
func (b *Builder) mix(c agreement.Confusion, yes, n int) Mix {
	m := Mix{Labelled: c.JudgeRate(stat.DefaultLevel), Unlabelled: stat.Proportion(yes, n, stat.DefaultLevel)}
	if n == 0 {
		return m
	}
	m.Drawn = string(b.drawn())
	m.Tests = b.tests
	m.Differs = slices.ContainsFunc(m.Tests, func(t SelectionTest) bool { return t.Differs })
	if !slices.ContainsFunc(m.Tests, func(t SelectionTest) bool { return t.Differs && t.Of == ofCategory }) {
		return m
	}
	here, there, names := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, it := range b.both {
		here[it.category]++
		names[it.category] = true
	}
	for _, it := range b.alone {
		there[it.category]++
		names[it.category] = true
	}
	// With many categories, one of them may differ by chance alone.
	level := 1 - (1-differs)/float64(len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d := stat.Difference(stat.Proportion(here[name], c.N(), level), stat.Proportion(there[name], n, level), level)
		if d.Lo > 0 || d.Hi < 0 {
			m.Categories = append(m.Categories, doc.OrNone(name))
		}
	}
	return m
}

// stratified returns the share of items that people would accept, from their share in each
// category among those the judge accepted and among those it rejected. Unlike
// prediction-powered inference, it stays valid if some of these parts have more than their
// share of labels, as in a sampling plan, provided that labels were drawn at random within
// each. If a plan for another judge drew the labels, each label is instead weighted by the
// inverse of its probability.
func (b *Builder) stratified() stat.Estimate {
	how := b.drawn()
	if how == atRandom {
		b.how = byVerdict
	}
	s := b.sampleOf(b.both, b.alone)
	b.how = how
	if s.strata == nil && how != byProbability {
		return stat.NoInterval(0.5, 0, stat.DefaultLevel, stat.Unit, WarnPart)
	}
	if b.meanScore() {
		return stat.NoInterval(0.5, 0, stat.DefaultLevel, stat.Unit, warnCountsOnly)
	}
	est := s.share(func(truth, _ bool) bool { return truth }, func(_, _ bool) bool { return true })
	if est.Method != stat.MethodNone {
		est.Method = "two-phase-wilson"
	}
	switch {
	case len(b.both) >= 50:
	case s.strata != nil && est.Clusters == 0:
		est = est.Warn(WarnFewInStrata)
	default:
		est = est.Warn(agreement.WarnFewLabels)
	}
	return est
}

// stratifiedInfluence returns the influence of all items on the stratified score, those with
// a label first.
func (b *Builder) stratifiedInfluence() []float64 {
	s := b.sampleOf(b.both, b.alone)
	p := (s.table.TP + s.table.FN) / s.table.Sum()
	labelled, alone := s.influences(func(truth, _ bool) float64 { return agreement.Number(truth) - p })
	for len(alone) < len(b.alone) {
		alone = append(alone, 0)
	}
	return append(labelled, alone...)
}
