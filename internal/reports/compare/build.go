package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// Comparison returns the comparison of the rows so far.
func (b *Builder) Comparison() Comparison {
	runs := b.described()
	c := Comparison{
		Version: Version, Metric: b.metric(),
		Level: b.opts.Level, Margin: b.opts.Margin, Seed: b.opts.Seed, MaxUnjudged: b.opts.MaxUnjudged,
		Lint:  b.lint(runs),
		Hold:  b.hold(runs),
		Items: Items{All: b.rows, Common: b.inAll, Judged: b.judgedByAll, Missing: []Named{}},
		Pairs: []Pair{},
	}
	for i, r := range runs {
		c.Items.Missing = append(c.Items.Missing, b.missing[i].named())
		c.Runs = append(c.Runs, b.sideOf(i, r, c.Metric))
	}
	c.Frontiers = frontiers(c.Runs)
	c.Refused = !b.opts.Anyway && slices.ContainsFunc(c.Lint, func(f Finding) bool { return f.Level == Error })
	if !c.Refused {
		pairings := b.pairings(c.Metric, c.Hold != nil)
		c.Pairs = b.pairRows(pairings, c.Metric, c.Hold != nil)
		if c.Hold == nil && b.judgedByAll > 0 {
			c.Ranking = b.ranking(runs, pairings, c.Metric)
		}
	}
	c.Notes = b.notes(c)
	return c
}

// described returns the runs with the information found in their items.
func (b *Builder) described() []Run {
	runs := slices.Clone(b.runs)
	for i := range runs {
		if s := b.sides[i]; runs[i].AnswerModel == "" {
			runs[i].AnswerModel = s.answeredBy.String()
		}
		if s := b.sides[i]; runs[i].AnswerPrompt == "" {
			runs[i].AnswerPrompt = s.answerPrompts.String()
		}
	}
	return runs
}

// metric returns the metric of the comparison, which is the headline of a report: the pass
// rate if every verdict has a pass mark, and the score otherwise.
func (b *Builder) metric() string {
	judged, binary := 0, true
	for i := range b.sides {
		judged += b.sides[i].items - b.sides[i].unjudged - b.sides[i].guesses.N()
		binary = binary && !b.sides[i].graded
	}
	switch {
	case judged > 0 && b.unmarked == 0:
		return PassRate
	case binary:
		return Score
	}
	return MeanScore
}

// graded reports whether some score is neither 0 nor 1.
func (b *Builder) graded() bool {
	return slices.ContainsFunc(b.sides, func(s side) bool { return s.graded })
}

// binary reports whether all verdicts are 0 or 1 by a metric.
func binary(metric string) bool { return metric != MeanScore }

// hold returns why the differences are withheld, or nil.
func (b *Builder) hold(runs []Run) *Hold {
	var worst *Hold
	for i := range runs {
		t := b.sides[i]
		if !over(t.unjudged, t.items, b.opts.MaxUnjudged) || worst != nil && t.unjudged <= worst.Unjudged {
			continue
		}
		worst = &Hold{Run: runs[i].Name, Unjudged: t.unjudged, Items: t.items, Limit: b.opts.MaxUnjudged}
		worst.Reason = fmt.Sprintf("%s of %s of %s %s unjudged, and at most %s%% may be",
			words.Comma(t.unjudged), words.Count(t.items, "item"), runs[i].called(), words.IsAre(t.unjudged), doc.Short(100*b.opts.MaxUnjudged))
	}
	return worst
}

// sideOf returns the numbers of a run.
func (b *Builder) sideOf(i int, r Run, metric string) Side {
	s := &b.sides[i]
	out := Side{Run: r, Figures: b.figures(&s.tally, r, metric, over(s.unjudged, s.items, b.opts.MaxUnjudged)), Categories: []Figures{}}
	out.System = s.spent.Sums(s.allScore.several)
	for _, name := range categoryNames(s.strata) {
		f := b.figures(s.strata[name], r, metric, out.Judged == nil)
		f.Category = name
		out.Categories = append(out.Categories, f)
	}
	return out
}

// categoryNames returns the categories in order, and none if no item has one.
func categoryNames[V any](m map[string]V) []string {
	if _, ok := m[doc.None]; ok && len(m) == 1 {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}

// figures returns the numbers of a tally.
func (b *Builder) figures(t *tally, r Run, metric string, withheld bool) Figures {
	judged, strict := &t.score, &t.allScore
	if metric == PassRate {
		judged, strict = &t.pass, &t.allPass
	}
	f := Figures{Items: t.items, Unjudged: t.unjudged, Strict: strict.share(b.opts.Level, binary(metric))}
	if !withheld && judged.n() > 0 {
		est := agreement.Widened(judged.share(b.opts.Level, binary(metric)), t.guesses.Allowance(judged.moments.Weight(), r.CalibrationError), stat.Unit)
		f.Judged = &est
	}
	return f
}

// contrasts returns the differences of a pair by a metric, over judged items and over
// all.
func (p *pair) contrasts(metric string) (judged, strict *contrast) {
	if metric == PassRate {
		return &p.pass, &p.allPass
	}
	return &p.score, &p.allScore
}

// A found is a difference without its outcome, with its intervals at any level.
type found struct {
	Difference
	at, strict func(level float64) stat.Estimate
	oneSided   func(level float64) stat.Estimate // like at, for one-sided tests; nil for at itself
	failed     bool                              // some trial has no verdict, so the strict difference is another
}

// difference returns the difference of a pair by a metric, before p-values are adjusted.
func (b *Builder) difference(p *pair, metric string, withheld bool) found {
	judged, strict := p.contrasts(metric)
	d := Difference{
		First: judged.first.Mean(), Second: judged.second.Mean(),
		N: judged.n(), Wins: judged.up, Losses: judged.down, Ties: judged.n() - judged.up - judged.down,
		Unjudged: p.unjudged, Strict: strict.estimate(b.opts.Level, binary(metric)), Detectable: 1,
	}
	if withheld || d.N == 0 {
		return found{Difference: d}
	}
	weight := judged.diffs.moments.Weight()
	guessed := p.guesses[0].Allowance(weight, b.runs[p.of[0]].CalibrationError).And(p.guesses[1].Allowance(weight, b.runs[p.of[1]].CalibrationError))
	at := func(level float64) stat.Estimate {
		return agreement.Widened(judged.estimate(level, binary(metric)), guessed, wide)
	}
	est, test := at(b.opts.Level), judged.test(binary(metric), b.opts.Seed)
	d.Estimate, d.Test = &est, &test
	d.Detectable = judged.detectable(est, binary(metric))
	if judged.diffs.several && judged.counted(binary(metric)) {
		exact := stat.McNemar(judged.up, judged.down)
		d.McNemar = &exact
	}
	return found{
		Difference: d, at: at, failed: p.failed,
		strict:   func(level float64) stat.Estimate { return strict.estimate(level, binary(metric)) },
		oneSided: func(level float64) stat.Estimate { return judged.oneSided(level, binary(metric)) },
	}
}

// settle sets the adjusted p-values and outcomes of a family of differences.
//
// The p-values of categories are adjusted by Bonferroni's method, because it has matching
// simultaneous intervals: an interval excludes 0 exactly if a difference is established.
// Those of pairs of runs are adjusted by Holm's method, and their intervals hold
// individually.
func (b *Builder) settle(list []*found, categories bool) {
	var tested []*found
	var p []float64
	for _, d := range list {
		if d.Test != nil {
			tested, p = append(tested, d), append(p, d.Test.P)
		}
	}
	adjust := stat.Holm
	if categories {
		adjust = stat.Bonferroni
	}
	alpha := 1 - b.opts.Level
	for i, adjusted := range adjust(p) {
		d := tested[i]
		d.Adjusted = &adjusted
		d.equivalence(b.opts, len(tested))
		if categories {
			together := 1 - alpha/float64(len(tested))
			est := d.at(together)
			if adjusted >= alpha {
				est.Lo, est.Hi = math.Min(est.Lo, 0), math.Max(est.Hi, 0) // as the test does not reject 0
			}
			d.Estimate, d.Strict = &est, d.strict(together)
			if d.Unjudged == 0 && !d.failed {
				d.Strict = est
			}
		}
		switch {
		case adjusted < alpha && d.Estimate.Lo > 0:
			d.Outcome = Better
		case adjusted < alpha && d.Estimate.Hi < 0:
			d.Outcome = Worse
		case d.Equivalence != nil && d.Equivalence.Equivalent:
			d.Outcome = Equivalent
		default:
			d.Outcome = Undecided
		}
	}
}

// WarnOneSided is the warning of a one-sided test with fewer than enoughForOneSided clusters.
// If a few of them have most of a difference, the test errs in up to 6% of cases instead of
// 5%, as measured in docs/design/coverage.md.
const WarnOneSided = "fewer than 60 clusters: where a few of them hold most of the difference, this test errs in up to 6% of cases instead of 5%"

const enoughForOneSided = 60

// equivalence tests whether the difference, one of many, is within the margin.
func (d *found) equivalence(o Options, many int) {
	if o.Margin == 0 {
		return
	}
	at := d.at
	if d.oneSided != nil {
		at = d.oneSided
	}
	alpha, times := 1-o.Level, float64(many)
	lower, upper := stat.Equivalence(at, o.Margin)
	e := &Equivalence{
		Margin:   o.Margin,
		P:        math.Min(1, times*math.Max(lower, upper)),
		NotWorse: math.Min(1, times*lower),
		Interval: at(1 - 2*alpha/times),
	}
	if n := e.Interval.Clusters; n > 0 && n < enoughForOneSided {
		e.Interval = e.Interval.Warn(WarnOneSided)
	}
	e.Equivalent, e.NonInferior = e.P < alpha, e.NotWorse < alpha
	d.Equivalence = e
}

// pairings returns the overall differences of all pairs of runs.
func (b *Builder) pairings(metric string, withheld bool) []Pairing {
	k := len(b.runs)
	all := make([]*found, len(b.pairs))
	for i, p := range b.pairs {
		d := b.difference(p, metric, withheld)
		all[i] = &d
	}
	b.settle(all, false)
	var list []Pairing
	for i := range k {
		for j := i + 1; j < k; j++ {
			list = append(list, Pairing{First: i, Second: j, Difference: all[place(i, j, k)].Difference})
		}
	}
	return list
}

// pairRows returns the differences of the other runs from the baseline.
func (b *Builder) pairRows(pairings []Pairing, metric string, withheld bool) []Pair {
	flips, corrected := b.Flips(), b.corrected(metric, withheld)
	rows := []Pair{}
	for j := 1; j < len(b.runs); j++ {
		p := Pair{Second: j, Overall: pairings[j-1].Difference, Corrected: corrected[j], Categories: []Difference{}}
		var list []*found
		for _, name := range categoryNames(b.strata) {
			d := b.difference(&b.strata[name].pairs[j], metric, withheld)
			d.Category = name
			list = append(list, &d)
		}
		b.settle(list, true)
		for _, d := range list {
			p.Categories = append(p.Categories, d.Difference)
		}
		p.Score = b.secondDifference(b.pairs[j-1], metric, withheld)
		p.Won, p.Lost = flipsOf(flips, 0, j, b.opts.Examples)
		rows = append(rows, p)
	}
	return rows
}

// secondDifference returns the difference of mean scores if the metric is the pass rate and
// scores differ from it.
func (b *Builder) secondDifference(p *pair, metric string, withheld bool) *Difference {
	if metric != PassRate || !b.graded() {
		return nil
	}
	d := b.difference(p, MeanScore, withheld)
	b.settle([]*found{&d}, false)
	return &d.Difference
}

// flipsOf returns the items that the j-th run passes and the i-th does not, and vice versa.
func flipsOf(flips []Flip, i, j, limit int) (won, lost Flips) {
	won, lost = Flips{First: []Flip{}}, Flips{First: []Flip{}}
	for _, f := range flips {
		to := f.between(i, j, &won, &lost)
		if to == nil {
			continue
		}
		if to.N++; len(to.First) < limit {
			to.First = append(to.First, f)
		}
	}
	return won, lost
}

// between returns won if the j-th run passes and the i-th does not, lost for the opposite,
// and nil if they do not differ.
func (f Flip) between(i, j int, won, lost *Flips) *Flips {
	x, y := f.Outcomes[i].Yes, f.Outcomes[j].Yes
	switch {
	case x == nil || y == nil || *x == *y:
		return nil
	case *y:
		return won
	}
	return lost
}
