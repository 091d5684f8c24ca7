package sensitivity

import (
	"fmt"
	"math"
	"strings"

	"deem/internal/agreement"
	"deem/internal/words"
	"deem/stat"
)

// The outcomes of the order of two systems if the judge changes.
const (
	Stands  = "stands"  // the same system is better under all judges, and each of them establishes it
	Kept    = "kept"    // the same system is ahead under all judges, but not all establish it
	Unclear = "unclear" // judges disagree on which system is ahead, and the differences may be chance
	Turned  = "turned"  // one judge establishes that the first is better, and another that the second is
)

// An Order is a pair of systems under every judge that judged both.
type Order struct {
	A       string `json:"a"`
	B       string `json:"b"`
	Paired  bool   `json:"paired"` // by item id; otherwise the systems answered different questions
	Outcome string `json:"outcome"`
	Under   []Lead `json:"under"`
}

// A Lead is the score of the first of two systems minus that of the second under one judge.
// The intervals of all leads are simultaneous: they hold together at 95%.
type Lead struct {
	Judge      int           `json:"judge"` // index in the list of judges
	N          int           `json:"n"`     // items of both systems that the judge judged
	Difference stat.Estimate `json:"difference"`
}

// A judgedItem is one item with a value for each judge, NaN if there is no verdict.
type judgedItem struct {
	cluster string
	weight  float64
	values  []float64
	yes     []bool
}

// rank determines how the order of systems changes with the judge.
func (b *Builder) rank(r *Report) {
	if len(r.Systems) < 2 {
		return
	}
	var full []int
	for j := range b.judges {
		if r.column(j) != nil {
			full = append(full, j)
		}
	}
	for i, first := range full {
		for _, second := range full[i+1:] {
			k := Ranks{First: first, Second: second}
			if tau, err := agreement.KendallTauB(r.column(first), r.column(second)); err == nil {
				k.Tau = &tau.Value
			}
			r.Ranks = append(r.Ranks, k)
		}
	}
	k := len(b.systems)
	many := k * (k - 1) / 2 * len(b.judges)
	level := 1 - (1-stat.DefaultLevel)/float64(many)
	for i, first := range b.systems {
		for _, second := range b.systems[i+1:] {
			if o := b.order(first, second, level); len(o.Under) > 1 {
				r.Orders = append(r.Orders, o)
			}
		}
	}
	if len(r.Ranks) > 0 && k < 5 {
		r.Notes = append(r.Notes, "with so few systems tau takes only a few values: look at the pairs of systems")
	}
	if len(r.Orders) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("the intervals of the %s between systems are simultaneous: they hold together with 95%% confidence", words.Count(many, "difference")))
	}
}

// column returns the scores of a judge for all systems, nil if one is missing.
func (r *Report) column(judge int) []float64 {
	var list []float64
	for _, s := range r.Systems {
		est := s.score(judge)
		if est == nil {
			return nil
		}
		list = append(list, est.Value)
	}
	return list
}

// order compares two systems under every judge, paired by item id or, if they have no item
// in common, as two independent lists of items.
func (b *Builder) order(first, second *Part, level float64) Order {
	o := Order{A: first.system.Name, B: second.system.Name, Under: []Lead{}}
	for id := range first.items {
		if _, o.Paired = second.items[id]; o.Paired {
			break
		}
	}
	up, down, better, worse := 0, 0, 0, 0
	for j := range b.judges {
		a, b := first.system.score(j), second.system.score(j)
		if a == nil || b == nil {
			continue // One of the two scores is withheld or missing.
		}
		d := stat.Difference(*a, *b, level)
		if o.Paired {
			d = paired(first, second, j, level)
		}
		o.Under = append(o.Under, Lead{Judge: j, N: d.N, Difference: d})
		switch {
		case d.Value > 0:
			up++
		case d.Value < 0:
			down++
		}
		switch {
		case d.Method == stat.MethodNone:
		case d.Lo > 0:
			better++
		case d.Hi < 0:
			worse++
		}
	}
	switch n := len(o.Under); {
	case better > 0 && worse > 0:
		o.Outcome = Turned
	case up < n && down < n:
		o.Outcome = Unclear
	case better+worse < n:
		o.Outcome = Kept
	default:
		o.Outcome = Stands
	}
	return o
}

// paired returns the difference between two systems over the items that a judge judged of
// both, as "deem compare" does.
func paired(first, second *Part, judge int, level float64) stat.Estimate {
	var diffs stat.Differences
	for id, a := range first.items {
		if b, ok := second.items[id]; ok && !math.IsNaN(a.values[judge]) && !math.IsNaN(b.values[judge]) {
			diffs.Add(a.cluster, b.values[judge], a.values[judge], a.weight)
		}
	}
	return diffs.Score(diffs.First.Binary() && diffs.Second.Binary()).At(level)
}

// moved returns the difference between the decisions of a judge and of the first.
func (p *Part) moved(judge int) stat.Score {
	var diffs stat.Differences
	for _, it := range p.items {
		if !math.IsNaN(it.values[0]) && !math.IsNaN(it.values[judge]) {
			diffs.Add(it.cluster, agreement.Number(it.yes[0]), agreement.Number(it.yes[judge]), it.weight)
		}
	}
	return diffs.Score(true)
}

// score returns the score of a judge for the system, or nil.
func (s System) score(judge int) *stat.Estimate {
	for _, of := range s.Scores {
		if of.Judge == judge {
			return of.Estimate
		}
	}
	return nil
}

// Survives says in a sentence whether the order of the systems survives a change of judge.
// It returns "" if there is nothing to say.
func (r Report) Survives() string {
	if len(r.Orders) == 0 {
		return ""
	}
	count := map[string]int{}
	for _, o := range r.Orders {
		count[o.Outcome]++
	}
	text := "The ranking of systems holds under every judge"
	switch {
	case count[Turned] > 0:
		text = "The ranking of systems changes with the judge"
	case count[Unclear] > 0:
		text = "The ranking of systems may depend on the judge"
	case count[Kept] > 0:
		text = "All judges rank the systems in the same order, but not all establish it"
	}
	var parts []string
	for _, outcome := range []string{Stands, Kept, Unclear, Turned} {
		if n := count[outcome]; n > 0 {
			parts = append(parts, words.Comma(n)+" "+words.IsAre(n)+" "+counted[outcome])
		}
	}
	return fmt.Sprintf("%s: of %s of systems, %s.", text, words.Count(len(r.Orders), "pair"), strings.Join(parts, ", "))
}

// counted describes the outcomes of several orders.
var counted = map[string]string{
	Stands:  "in the same order and established by all judges",
	Kept:    "in the same order but not established by all judges",
	Unclear: "without an established common order",
	Turned:  "reversed",
}
