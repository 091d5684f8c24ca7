package agree

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/stat"
)

// Agreement returns the agreement. The builder stays usable.
func (b *Builder) Agreement() Agreement {
	a := Agreement{
		Version: Version, Judge: b.o.Judge, Truth: b.o.Truth, People: b.o.People, Seed: b.o.Seed,
		Counts: Counts{
			Items: b.items, Judged: b.items - b.unjudged - len(b.open) - len(b.openOnly),
			Undecided: len(b.open) + len(b.openOnly), Unjudged: b.unjudged,
			Labelled: b.labelled, Ties: b.ties, Both: len(b.both),
		},
		All:           b.measure("", b.both, b.alone),
		Labels:        b.labelTable(),
		Categories:    b.categories(),
		Confidence:    b.confidence(),
		Annotators:    b.annotators(),
		Disagreements: b.disagreements(),
		Own:           b.own(),
		Registry:      b.registry.check(),
		Weighted:      b.weighted,
	}
	if a.Withheld = b.hold(); a.Withheld == nil {
		a.Corrected = b.Corrected()
		if a.Corrected != nil && a.Corrected.Mix.Drawn == string(byPlan) && a.Counts.Undecided == 0 {
			a.All.JudgeRate = a.Corrected.Raw // The weighted labels give the same share, which is known from all items.
		}
	}
	a.Scores = b.scores(a.Withheld != nil)
	a.Notes = b.notes(a)
	return a
}

// measure computes all measures for some labelled items, which also represent the judged
// items in alone, which have no label.
func (b *Builder) measure(category string, items []paired, alone []single) Measures {
	var c agreement.Confusion
	for _, it := range items {
		c.Add(it.truth, it.judge)
	}
	s := b.sampleOf(items, alone)
	every := func(bool, bool) bool { return true }
	truth := func(truth, _ bool) bool { return truth }
	judge := func(_, judge bool) bool { return judge }
	not := func(of func(bool, bool) bool) func(bool, bool) bool {
		return func(t, j bool) bool { return !of(t, j) }
	}
	return Measures{
		Category: category, Confusion: c,
		Agreement: s.share(func(t, j bool) bool { return t == j }, every),
		Kappa:     s.beyond(agreement.CohenKappa), AC1: s.beyond(agreement.GwetAC), Alpha: s.beyond(agreement.KrippendorffAlpha),
		FalseAccept: s.share(judge, not(truth)), FalseReject: s.share(not(judge), truth),
		PeopleRate: s.share(truth, every), JudgeRate: s.share(judge, every), MCC: s.mcc(),
	}
}

// A bootstrap draws a limited number of ratings, so that it takes a second or two for any
// number of items, but a minimum number of times. With many items the interval is narrow,
// and a less precise end does no harm.
const (
	mostRatings = 20_000_000
	leastDraws  = 100
)

// categories returns the measures of each category, sorted by name. It returns none if no
// item has a category.
func (b *Builder) categories() []Measures {
	by, alone := map[string][]paired{}, map[string][]single{}
	for _, it := range b.both {
		by[it.category] = append(by[it.category], it)
	}
	for _, it := range b.alone {
		alone[it.category] = append(alone[it.category], it)
	}
	rows := []Measures{}
	if _, one := by[""]; one && len(by) == 1 {
		return rows
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		rows = append(rows, b.measure(doc.OrNone(name), by[name], alone[name]))
	}
	return rows
}

// confidence returns the calibration of the judge's confidence. A label counts with the weight
// of the items that it represents.
func (b *Builder) confidence() *Confidence {
	s := b.sampleOf(b.both, b.alone)
	var probs, weights []float64
	var right []bool
	for i, it := range b.both {
		if it.confidence >= 0 {
			probs, right, weights = append(probs, it.confidence), append(right, it.judge == it.truth), append(weights, s.weight[i])
		}
	}
	bins, err := agreement.Reliability(probs, right, weights, agreement.Binning{})
	if err != nil || len(probs) == 0 {
		return nil
	}
	c := &Confidence{N: len(probs), Bins: bins}
	// The lists satisfy the requirements of Reliability, so these return no error either.
	c.ECE, _ = agreement.ECE(probs, right, weights, agreement.Binning{})
	c.Brier, _ = agreement.Brier(probs, right, weights)
	if area, err := agreement.AUROC(probs, right, weights); err == nil {
		c.AUROC = &area
	}
	return c
}

// annotators returns the agreement of people with one another.
func (b *Builder) annotators() *Annotators {
	seen := map[string]bool{}
	for _, votes := range b.votes {
		for name := range votes {
			seen[name] = true
		}
	}
	if len(seen) < 2 {
		return nil
	}
	a := &Annotators{Names: slices.Sorted(maps.Keys(seen)), Ties: b.ties}
	ratings := make([][]float64, len(a.Names))
	var table [][]int
	for _, votes := range b.votes {
		row := make([]int, 2)
		for j, name := range a.Names {
			yes, ok := votes[name]
			x := math.NaN()
			if ok {
				x = agreement.Number(yes)
				row[1-int(x)]++
			}
			ratings[j] = append(ratings[j], x)
		}
		if len(votes) > 1 {
			a.Items++
			table = append(table, row)
		}
	}
	draws := min(cmp.Or(b.o.Draws, stat.DefaultDraws), max(leastDraws, mostRatings/(len(ratings)*len(b.votes))))
	a.Alpha = agreement.KrippendorffInterval(ratings, agreement.ScaleNominal, draws, b.o.Seed, stat.DefaultLevel)
	if len(a.Names) > 2 {
		a.Fleiss = new(agreement.Fleiss(table, stat.DefaultLevel))
		return a
	}
	var c agreement.Confusion
	for i, x := range ratings[0] {
		if y := ratings[1][i]; !math.IsNaN(x) && !math.IsNaN(y) {
			c.Add(x == 1, y == 1)
		}
	}
	a.Kappa = new(c.Kappa(stat.DefaultLevel))
	return a
}

// disagreements returns the items on which judge and people differ, worst first: those with
// the most confident verdicts, then those on which people agree, then in the order of the
// dataset.
func (b *Builder) disagreements() []Disagreement {
	list := []Disagreement{}
	for _, it := range b.both {
		if it.judge == it.truth {
			continue
		}
		d := Disagreement{
			Item: it.id, Category: it.category, Position: it.position, Judge: it.judge, People: it.truth,
			Label: it.label, Score: it.judgeScore, For: it.votesFor, Of: it.votesAll, Reason: it.reason, Why: it.why,
		}
		if it.confidence >= 0 {
			d.Confidence = &it.confidence
		}
		list = append(list, d)
	}
	slices.SortStableFunc(list, func(x, y Disagreement) int {
		return cmp.Or(cmp.Compare(y.sureness(), x.sureness()), cmp.Compare(y.unity(), x.unity()), cmp.Compare(x.Position, y.Position))
	})
	return list
}

func (d Disagreement) sureness() float64 {
	if d.Confidence == nil {
		return -1
	}
	return *d.Confidence
}

func (d Disagreement) unity() float64 {
	if d.Of == 0 {
		return 1
	}
	return float64(d.For) / float64(d.Of)
}

// scores compares grades, if the judge or people give them.
func (b *Builder) scores(withheld bool) *Scores {
	if !b.graded || !b.truthful || len(b.both) < 2 {
		return nil
	}
	w := b.whole()
	drawn := w.sampleOf(w.both, w.alone)
	var y, yhat []float64
	var people stat.Clustered
	for i, it := range w.both {
		people.Add(it.cluster, it.score, drawn.weight[i])
		if !it.undecided {
			y, yhat = append(y, it.score), append(yhat, it.judgeScore)
		}
	}
	s := &Scores{N: len(y), People: people.Score(stat.DefaultLevel, false)}
	s.Pearson = correlation(agreement.Pearson(yhat, y))
	s.Spearman = correlation(agreement.Spearman(yhat, y))
	s.Kendall = correlation(agreement.KendallTauB(yhat, y))
	if withheld {
		return s
	}
	s.Raw = new(b.scored(true))
	if len(w.alone) > 0 {
		w.unmarked = true // The score is the mean of grades, whether or not they have a pass mark.
		s.Corrected = new(agreement.Predict(w.predicted(drawn), stat.DefaultLevel))
	}
	return s
}

// hold returns why scores are withheld, or nil. Every trial without a verdict counts.
func (b *Builder) hold() *Hold {
	h := Hold{Unjudged: b.failed, Items: b.trials, MaxUnjudged: b.o.MaxUnjudged}
	if float64(h.Unjudged) <= h.MaxUnjudged*float64(h.Items) {
		return nil
	}
	return &h
}

// correlation returns nil for one that is not defined.
func correlation(c agreement.Correlation, err error) *agreement.Correlation {
	if err != nil {
		return nil
	}
	return &c
}

// Own shows whether the judge is more lenient with answers of its own model family than
// with those of others.
type Own struct {
	Family string `json:"family"` // that judge and system share
	Model  string `json:"model"`  // whose answers count as own

	// Own and Others are the agreement with people on each kind of answer. Others is nil if
	// there are no others.
	Own    *Measures `json:"own"`
	Others *Measures `json:"others,omitempty"`

	// Leniency is the judge's rate of yes minus that of people.
	OwnLeniency    *stat.Estimate `json:"own_leniency,omitempty"`
	OthersLeniency *stat.Estimate `json:"others_leniency,omitempty"`

	// FalseAccept is the rate of accepted wrong answers of its own family minus that of
	// others.
	FalseAccept *stat.Estimate `json:"false_accept_difference,omitempty"`
}

// own compares the judge's own answers with those of others. It returns nil if the
// answering model is unknown or no answer is its own.
func (b *Builder) own() *Own {
	model := cmp.Or(b.o.Own, b.o.Judge.Model)
	if model == "" {
		return nil
	}
	o := &Own{Model: model}
	var mine, others []paired
	for _, it := range b.both {
		if family, same := doc.SameFamily(model, it.model); same {
			o.Family = family
			mine = append(mine, it)
		} else if it.model != "" {
			others = append(others, it)
		}
	}
	if family, same := doc.SameFamily(model, b.o.SystemModel); same && o.Family == "" {
		o.Family = family // the family is worth reporting even without measurements
	}
	if o.Family == "" {
		return nil
	}
	if len(mine) > 0 {
		m := b.measure("", mine, nil)
		o.Own, o.OwnLeniency = &m, leniency(m.Confusion)
	}
	if len(others) > 0 {
		m := b.measure("", others, nil)
		o.Others, o.OthersLeniency = &m, leniency(m.Confusion)
	}
	if len(mine) > 0 && len(others) > 0 {
		x, y := o.Own.Confusion, o.Others.Confusion
		o.FalseAccept = new(stat.Difference(stat.Proportion(x.FP, x.FP+x.TN, stat.DefaultLevel), stat.Proportion(y.FP, y.FP+y.TN, stat.DefaultLevel), stat.DefaultLevel))
	}
	return o
}

// leniency returns the judge's rate of yes minus that of people, on the same items.
func leniency(c agreement.Confusion) *stat.Estimate {
	return new(stat.PairedProportions(c.FP, c.FN, c.N(), stat.DefaultLevel))
}
