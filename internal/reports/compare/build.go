package compare

import (
	"cmp"
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
	runs := slices.Clone(b.runs)
	for i := range runs {
		runs[i].AnswerModel = cmp.Or(runs[i].AnswerModel, b.sides[i].answeredBy.String())
		runs[i].AnswerPrompt = cmp.Or(runs[i].AnswerPrompt, b.sides[i].answerPrompts.String())
	}
	c := Comparison{
		Version: Version, Metric: b.metric(),
		Level: b.opts.Level, Margin: b.opts.Margin, Seed: b.opts.Seed, MaxUnjudged: b.opts.MaxUnjudged,
		Lint:  b.lint(runs),
		Hold:  b.hold(runs),
		Items: Items{All: b.rows, Common: b.inAll, Judged: b.judgedByAll, Missing: []Named{}},
		Pairs: []Pair{},
	}
	for i, r := range runs {
		c.Items.Missing = append(c.Items.Missing, named(&b.missing[i]))
		s := &b.sides[i]
		out := Side{Run: r, Figures: b.figures(&s.tally, r, c.Metric, over(s.unjudged, s.items, b.opts.MaxUnjudged)), Categories: []Figures{}}
		if f := b.stopped[i]; f != nil && out.Judged != nil {
			out.Judged, out.Strict = f.Judged, f.Strict
		}
		out.System = s.spent.Sums(s.allScore.Clustered())
		for _, name := range categoryNames(s.strata) {
			f := b.figures(s.strata[name], r, c.Metric, out.Judged == nil)
			f.Category = name
			out.Categories = append(out.Categories, f)
		}
		c.Runs = append(c.Runs, out)
	}
	c.Frontiers = frontiers(c.Runs)
	c.Refused = !b.opts.Anyway && slices.ContainsFunc(c.Lint, func(f Finding) bool { return f.Level == Error })
	if !c.Refused {
		k := len(runs)
		all := make([]*found, len(b.pairs))
		for i, p := range b.pairs {
			d := b.difference(p, c.Metric, c.Hold != nil)
			all[i] = &d
		}
		b.settle(all, false)
		var pairings []Pairing
		for i := range k {
			for j := i + 1; j < k; j++ {
				pairings = append(pairings, Pairing{First: i, Second: j, Difference: all[place(i, j, k)].Difference})
			}
		}
		c.Pairs = b.pairRows(pairings, c.Metric, c.Hold != nil)
		if c.Hold == nil && b.judgedByAll > 0 {
			c.Ranking = b.ranking(runs, pairings, c.Metric)
		}
	}
	c.Notes = b.notes(c)
	return c
}

// metric returns the metric of the comparison, which is the headline of a report: the pass
// rate if every verdict has a pass mark, and the score otherwise.
func (b *Builder) metric() string {
	switch {
	case b.verdicts > 0 && b.unmarked == 0:
		return PassRate
	case !b.graded():
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

// categoryNames returns the categories in order, and none if no item has one.
func categoryNames[V any](m map[string]V) []string {
	if _, ok := m[doc.None]; ok && len(m) == 1 {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}

func (b *Builder) figures(t *tally, r Run, metric string, withheld bool) Figures {
	judged, strict := &t.score, &t.allScore
	if metric == PassRate {
		judged, strict = &t.pass, &t.allPass
	}
	f := Figures{Items: t.items, Unjudged: t.unjudged, Strict: strict.Score(binary(metric)).At(b.opts.Level)}
	if !withheld && judged.N() > 0 {
		score := judged.Score(binary(metric))
		score.Undecided = t.guesses.Allowance(score.Values.Weight(), r.CalibrationError)
		f.Judged = new(score.At(b.opts.Level))
	}
	return f
}

// A found is a difference without its outcome, with its intervals at any level.
type found struct {
	Difference
	at, strict func(level float64) stat.Estimate
	oneSided   func(level float64) stat.Estimate // like at, for one-sided tests
	failed     bool                              // some trial has no verdict, so the strict difference is another
	df         float64                           // degrees of freedom of the clusters
}

// difference returns the difference of a pair by a metric, before p-values are adjusted.
func (b *Builder) difference(p *pair, metric string, withheld bool) found {
	judged, strict := &p.score, &p.allScore
	if metric == PassRate {
		judged, strict = &p.pass, &p.allPass
	}
	all := strict.Score(binary(metric))
	d := Difference{
		First: judged.First.Mean(), Second: judged.Second.Mean(),
		N: judged.N(), Wins: judged.Up, Losses: judged.Down, Ties: judged.N() - judged.Up - judged.Down,
		Unjudged: p.unjudged, Strict: all.At(b.opts.Level), Detectable: 1,
	}
	if withheld || d.N == 0 {
		return found{Difference: d}
	}
	score := judged.Score(binary(metric))
	for i, g := range p.guesses {
		score.Undecided = score.Undecided.And(g.Allowance(score.Values.Weight(), b.runs[p.of[i]].CalibrationError))
	}
	d.Estimate, d.Test = new(score.At(b.opts.Level)), new(score.Test(b.opts.Seed))
	if parts := score.Parts(); parts.Undecided > math.Hypot(parts.Items, parts.Clusters) {
		d.Estimate = new(d.Estimate.Warn(WarnGuesses))
	}
	d.Detectable = score.Detectable(b.opts.Level, stat.DefaultPower)
	if score.Clusters != nil && score.Pairs.Counts {
		d.McNemar = new(stat.McNemar(judged.Up, judged.Down))
	}
	f := found{Difference: d, at: score.At, strict: all.At, oneSided: score.OneSided, failed: p.failed}
	if score.Clusters != nil {
		_, f.df = score.Clusters.StandardError()
	}
	return f
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
		if margin := b.opts.Margin; margin > 0 {
			times := float64(len(tested))
			lower, upper := stat.Equivalence(d.oneSided, margin)
			e := &Equivalence{
				Margin:   margin,
				P:        math.Min(1, times*math.Max(lower, upper)),
				NotWorse: math.Min(1, times*lower),
				Interval: d.oneSided(1 - 2*alpha/times),
			}
			if e.Interval.Clusters > 0 && d.df < enoughForOneSided-1 {
				e.Interval = e.Interval.Warn(WarnOneSided)
			}
			e.Equivalent, e.NonInferior = e.P < alpha, e.NotWorse < alpha
			d.Equivalence = e
		}
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

// WarnGuesses is the warning of a difference whose interval is mainly that of undecided items.
const WarnGuesses = "most of the interval is there because the probabilities of undecided items may be off: " +
	"it is too wide if nearly all of these items are right, or wrong"

// WarnOneSided is the warning of a one-sided test with fewer than enoughForOneSided clusters, or
// with more that vary as much as fewer.
const WarnOneSided = "fewer than 60 clusters, or a few hold most of the items or of the difference: " +
	"this test errs in more than 5% of cases: with 15 clusters in up to 11%, and with 5 in up to 20%"

const enoughForOneSided = 60

// pairRows returns the differences of the other runs from the baseline.
func (b *Builder) pairRows(pairings []Pairing, metric string, withheld bool) []Pair {
	flips, corrected := b.Flips(), b.corrected(metric, withheld)
	rows := []Pair{}
	for j := 1; j < len(b.runs); j++ {
		p := Pair{Second: j, Overall: pairings[j-1].Difference, Corrected: corrected[j], Categories: []Difference{}}
		var list []*found
		for _, name := range categoryNames(b.strata) {
			d := b.difference(&b.strata[name][j], metric, withheld)
			d.Category = name
			list = append(list, &d)
		}
		b.settle(list, true)
		for _, d := range list {
			p.Categories = append(p.Categories, d.Difference)
		}
		if metric == PassRate && b.graded() {
			d := b.difference(b.pairs[j-1], MeanScore, withheld)
			b.settle([]*found{&d}, false)
			p.Score = &d.Difference
		}
		p.Won, p.Lost = Flips{First: []Flip{}}, Flips{First: []Flip{}}
		for _, f := range flips {
			x, y := f.Outcomes[0].Yes, f.Outcomes[j].Yes
			if x == nil || y == nil || *x == *y {
				continue
			}
			to := &p.Lost
			if *y {
				to = &p.Won
			}
			if to.N++; len(to.First) < b.opts.Examples {
				to.First = append(to.First, f)
			}
		}
		rows = append(rows, p)
	}
	return rows
}

// ranking ranks the runs by their scores over the items that all of them judged.
//
// A run's rank is one plus the number of runs that are better. A run that is
// indistinguishable from the one above it does not share its rank if it is worse than a run
// further up: otherwise a long chain of small steps would make the first and the last
// equal.
func (b *Builder) ranking(runs []Run, pairings []Pairing, metric string) *Ranking {
	r := &Ranking{Pairs: pairings}
	better := make([]int, len(runs))
	for _, p := range pairings {
		switch p.Outcome {
		case Better:
			better[p.First]++
		case Worse:
			better[p.Second]++
		}
	}
	for i := range runs {
		judged := &b.common[i].score
		if metric == PassRate {
			judged = &b.common[i].pass
		}
		r.Ordered = r.Ordered || better[i] > 0
		r.Places = append(r.Places, Place{Rank: 1 + better[i], Run: i, Name: runs[i].Name, Estimate: judged.Score(binary(metric)).At(b.opts.Level)})
	}
	slices.SortStableFunc(r.Places, func(x, y Place) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(y.Estimate.Value, x.Estimate.Value))
	})
	for i := range r.Places {
		if !r.Ordered {
			r.Places[i].Rank = 0
		}
	}
	if len(runs) < 3 || !binary(metric) {
		return r
	}
	// The test keeps clusters, and the trials of an item, together. A row says how many items
	// of a cluster every run passes. An item without a cluster is its own cluster.
	rows := append(slices.Collect(maps.Values(b.clusters)), b.split...)
	for pattern, n := range b.crowds {
		row := make([]float64, len(pattern))
		for i := range row {
			row[i] = float64(pattern[i])
		}
		rows = append(rows, slices.Repeat([][]float64{row}, n)...)
	}
	if b.common[0].score.Clustered() || len(b.split) > 0 {
		r.Cochran = new(agreement.ClusteredQ(rows, b.opts.Seed))
	} else {
		r.Cochran = new(agreement.CochranQ(rows)) // rows of one item each
	}
	return r
}
