package compare

import (
	"cmp"
	"math"
	"slices"

	"deem/internal/doc"
	"deem/stat"
)

// A Builder collects rows for a comparison. Its memory grows with the number of distinct
// categories, clusters and scores and with the items on which runs differ, but not with the
// number of items. It is not safe for concurrent use.
type Builder struct {
	runs []Run
	opts Options

	sides  []side
	pairs  []*pair           // of all pairs of runs, in the order (0,1), (0,2), ..., (1,2), ...
	strata map[string][]pair // by category: the differences of the other runs from the baseline
	common []tally           // of each run, over the items that all judged
	crowds map[string]int    // counts of yes/no patterns such as "\x01\x00\x01" over items without a cluster

	clusters map[string][]float64 // the number of items of a cluster that each run passes
	split    [][]float64          // the same for items without a cluster whose trials differ

	rows, inAll, judgedByAll int
	missing                  []doc.Firsts // by run
	questions, references    doc.Firsts   // items that differ between runs
	categories, weights      doc.Firsts
	verdicts, unmarked       int // verdicts of all runs, and those without a pass mark
	flips                    []Flip

	labellings []*Labelling // by run; nil without labels
	stopped    []*Figures   // by run: its figures if a rule stopped it
}

// A side collects the results of one run.
type side struct {
	tally
	strata        map[string]*tally
	answeredBy    names
	answerPrompts names
	spent         doc.Meter
}

// A tally collects the scores of one run.
type tally struct {
	items, unjudged   int
	guesses           stat.Guesses
	score, pass       stat.Values // of judged items
	allScore, allPass stat.Values // with failures as 0
	graded            bool        // some score is neither 0 nor 1
}

// add adds the result of a run for an item.
func (t *tally) add(c *Cell) {
	t.items++
	score, pass := 0.0, 0.0
	if c.counts() {
		score, pass = c.values()
		t.score.Add(c.Cluster, score, c.Weight)
		t.pass.Add(c.Cluster, pass, c.Weight)
	} else {
		t.unjudged++
	}
	if c.Judged {
		t.graded = t.graded || c.graded()
	} else if c.Guess != nil {
		t.guesses.Add(score, c.Weight)
		score, pass = 0, 0 // wrong, if failures count as wrong
	}
	t.allScore.Add(c.Cluster, score*(1-c.Failed), c.Weight)
	t.allPass.Add(c.Cluster, pass*(1-c.Failed), c.Weight)
}

// A pair collects the differences of two runs.
type pair struct {
	unjudged          int // items that were not judged by both
	score, pass       stat.Differences
	allScore, allPass stat.Differences // with failures as 0
	failed            bool             // some trial has no verdict
	guesses           [2]stat.Guesses
	of                [2]int // the indices of the runs
}

// add adds the results of two runs for an item that both have. It uses the weight and
// cluster of the baseline.
func (p *pair) add(a, b *Cell) {
	var score, pass, kept [2]float64
	for i, c := range []*Cell{a, b} {
		if c.counts() {
			score[i], pass[i] = c.values()
		}
		if c.Judged {
			kept[i] = 1 - c.Failed
		}
		p.failed = p.failed || kept[i] < 1
	}
	if a.counts() && b.counts() {
		for i, c := range []*Cell{a, b} {
			if !c.Judged {
				p.guesses[i].Add(*c.Guess, a.Weight)
			}
		}
		p.score.Add(a.Cluster, score[0], score[1], a.Weight)
		p.pass.Add(a.Cluster, pass[0], pass[1], a.Weight)
	} else {
		p.unjudged++
	}
	p.allScore.Add(a.Cluster, score[0]*kept[0], score[1]*kept[1], a.Weight)
	p.allPass.Add(a.Cluster, pass[0]*kept[0], pass[1]*kept[1], a.Weight)
}

// New returns a builder for a comparison of the runs. The first run is the baseline.
func New(runs []Run, o Options) *Builder {
	if !(o.Level > 0 && o.Level < 1) {
		o.Level = stat.DefaultLevel
	}
	if math.IsNaN(o.MaxUnjudged) || o.MaxUnjudged < 0 {
		o.MaxUnjudged = 0
	}
	if !(o.Margin > 0 && o.Margin <= 1) {
		o.Margin = 0
	}
	if o.Examples <= 0 {
		o.Examples = 10
	}
	k := len(runs)
	b := &Builder{
		runs: slices.Clone(runs), opts: o,
		sides: make([]side, k), common: make([]tally, k), missing: make([]doc.Firsts, k),
		labellings: make([]*Labelling, k), stopped: make([]*Figures, k),
		strata: map[string][]pair{}, crowds: map[string]int{}, clusters: map[string][]float64{},
	}
	for i := range b.sides {
		b.sides[i].strata = map[string]*tally{}
	}
	for range k * (k - 1) / 2 {
		b.pairs = append(b.pairs, &pair{})
	}
	return b
}

// Stopped says that a rule stopped the i-th run. Its report has an interval of the score that
// allows for that, which the rows do not show.
func (b *Builder) Stopped(i int, rule string, judged *stat.Estimate, strict stat.Estimate) {
	b.runs[i].Stopped = rule
	b.stopped[i] = &Figures{Judged: judged, Strict: strict}
}

// place returns the index of the pair of the i-th and the j-th run, for i < j.
func place(i, j, k int) int { return i*(2*k-i-1)/2 + j - i - 1 }

// Add adds a row. Rows may come in any order.
func (b *Builder) Add(r Row) {
	b.rows++
	at := slices.IndexFunc(r.Cells, func(c Cell) bool { return c.Present })
	if at < 0 {
		return
	}
	first := &r.Cells[at]
	present, judged := 0, 0
	for i := range r.Cells {
		c := &r.Cells[i]
		if b.runs[i].CalibrationError == 0 {
			c.Guess = nil
		}
		if !c.Present {
			b.missing[i].Add(first.Position, r.ID, b.opts.Examples)
			continue
		}
		present++
		s := &b.sides[i]
		s.add(c)
		doc.Entry(s.strata, doc.OrNone(c.Category)).add(c)
		s.answeredBy.add(c.answeredBy)
		s.answerPrompts.add(c.prompt)
		s.spent.Add(c.took)
		if c.Judged {
			judged++
			if c.Pass == nil {
				b.unmarked++
			}
		}
	}
	b.verdicts += judged
	b.lintRow(r, first)
	k := len(r.Cells)
	category := doc.OrNone(first.Category)
	if b.strata[category] == nil {
		b.strata[category] = make([]pair, k)
	}
	for i := range k {
		for j := i + 1; j < k; j++ {
			if !r.Cells[i].Present || !r.Cells[j].Present {
				continue
			}
			to := []*pair{b.pairs[place(i, j, k)]}
			if i == 0 {
				to = append(to, &b.strata[category][j])
			}
			for _, p := range to {
				p.of = [2]int{i, j}
				p.add(&r.Cells[i], &r.Cells[j])
			}
		}
	}
	if present == k {
		b.inAll++
	}
	if judged == k {
		b.addCommon(r)
	}
	b.addFlip(r, first)
}

// addCommon adds a row that all runs judged.
func (b *Builder) addCommon(r Row) {
	b.judgedByAll++
	pattern := make([]byte, len(r.Cells))
	cluster := r.Cells[0].Cluster
	if cluster != "" && b.clusters[cluster] == nil {
		b.clusters[cluster] = make([]float64, len(r.Cells))
	}
	shares := make([]float64, len(r.Cells))
	whole := true
	for i := range r.Cells {
		c := r.Cells[i]
		b.common[i].add(&c)
		shares[i] = c.share()
		whole = whole && (shares[i] == 0 || shares[i] == 1)
		pattern[i] = byte(shares[i])
		if cluster != "" {
			b.clusters[cluster][i] += shares[i]
		}
	}
	switch {
	case cluster != "":
	case whole:
		b.crowds[string(pattern)]++
	default:
		b.split = append(b.split, shares)
	}
}

// addFlip stores the row if two runs differ on it.
func (b *Builder) addFlip(r Row, first *Cell) {
	var yes, no bool
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Judged {
			yes, no = yes || c.yes(), no || !c.yes()
		}
	}
	if !yes || !no {
		return
	}
	f := Flip{ID: r.ID, Category: first.Category, Position: first.Position, Outcomes: make([]Outcome, len(r.Cells))}
	for i := range r.Cells {
		c := &r.Cells[i]
		f.Outcomes[i] = Outcome{Label: c.Label, Score: c.Score, Failure: c.Kind}
		if c.Judged {
			says := c.yes()
			f.Outcomes[i].Yes = &says
		}
	}
	b.flips = append(b.flips, f)
}

// Flips returns all items on which runs differ, in the order of the dataset.
func (b *Builder) Flips() []Flip {
	slices.SortStableFunc(b.flips, func(x, y Flip) int {
		return cmp.Or(cmp.Compare(x.Position, y.Position), cmp.Compare(x.ID, y.ID))
	})
	return b.flips
}

// named returns the count of items with the ids of the first ones.
func named(f *doc.Firsts) Named { return Named{N: f.N, Examples: f.IDs()} }

// names are the distinct values of a property of items: none, one, or several.
type names struct {
	name    string
	seen    bool
	several bool
}

func (n *names) add(name string) {
	n.several = n.several || n.seen && n.name != name
	n.name, n.seen = name, true
}

// String returns the name, or "(several)".
func (n names) String() string {
	if n.several {
		return "(several)"
	}
	return n.name
}
