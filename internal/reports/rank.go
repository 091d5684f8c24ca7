package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// RankVersion is the version of the JSON form. It changes if a field changes its meaning or is
// removed; new fields do not change it.
const RankVersion = "deem.rank/1"

// A Ranking gives the strengths of systems that were compared in pairs.
type Ranking struct {
	Version string   `json:"version"` // "deem.rank/1"
	Judge   string   `json:"judge"`
	Runs    []string `json:"runs"`
	Level   float64  `json:"level"`

	Items    int `json:"items"`    // pairs of responses, each shown in both orders
	Unjudged int `json:"unjudged"` // pairs without a verdict, which are not counted
	Clusters int `json:"clusters"` // independent questions, or groups of questions

	Systems []RankedSystem `json:"systems"` // strongest first
	Pairs   []RankedPair   `json:"pairs"`   // of systems with a strength

	// Ordered reports whether some system is shown to be stronger than another.
	Ordered bool `json:"ordered"`

	// First is the probability that the response shown first beats an equally strong one if
	// they do not tie. It is null if there are no strengths.
	First *stat.Estimate `json:"first_place"`

	// Ties is the probability that equally strong systems tie.
	Ties float64 `json:"ties"`

	// Reason says why there are no strengths, or is "".
	Reason string `json:"reason,omitempty"`

	Notes []string `json:"notes"`
}

// A RankedSystem is one of the systems, with its comparisons. Each order counts as one
// comparison.
type RankedSystem struct {
	Name string `json:"name"`
	Won  int    `json:"won"`
	Tied int    `json:"tied"`
	Lost int    `json:"lost"`

	// Strength is the log odds, with mean 0 over the systems. It is null for a system that
	// won or lost every comparison, because its strength would be infinite.
	Strength *stat.Estimate `json:"strength"`

	// Rank is one plus the number of systems that are shown to be stronger. It is 0, and
	// absent from JSON, if no order is established.
	Rank int `json:"rank,omitempty"`

	extreme int // 1 if it won everything, -1 if it lost everything
}

// A RankedPair gives the probability that one system beats another.
type RankedPair struct {
	First  string `json:"first"` // the system with the larger strength
	Second string `json:"second"`

	// Beats is the probability that the first beats the second if they do not tie, without
	// the order effect.
	Beats stat.Estimate `json:"beats"`

	// P tests whether both are equally strong; Adjusted is P after Holm's correction over
	// all pairs.
	P        float64 `json:"p"`
	Adjusted float64 `json:"p_adjusted"`
	Stronger bool    `json:"stronger"` // the first is shown to be stronger
}

// A RankVerdict is a judge's verdict on two responses to one item.
type RankVerdict struct {
	A, B string // the systems

	// ShownFirst and ShownSecond score A in either position: above one half it is better
	// than B, below it is worse.
	ShownFirst, ShownSecond float64

	Item, Cluster string
}

// A RankBuilder collects verdicts. Its zero value is ready to use.
type RankBuilder struct {
	systems  []RankedSystem
	contests []contest
	unjudged int
}

// Unjudged counts a pair of responses without a verdict.
func (b *RankBuilder) Unjudged() { b.unjudged++ }

// Add adds a verdict. Verdicts on one item are treated as dependent, whichever systems they
// compare.
func (b *RankBuilder) Add(v RankVerdict) {
	first, second := b.system(v.A), b.system(v.B)
	cluster := "item " + v.Item
	if v.Cluster != "" {
		cluster = "cluster " + v.Cluster
	}
	b.contests = append(b.contests,
		contest{First: first, Second: second, Score: v.ShownFirst, Cluster: cluster},
		contest{First: second, Second: first, Score: 1 - v.ShownSecond, Cluster: cluster})
	for _, score := range []float64{v.ShownFirst, v.ShownSecond} {
		winner, loser := &b.systems[first], &b.systems[second]
		switch {
		case score > 0.5:
			winner.Won, loser.Lost = winner.Won+1, loser.Lost+1
		case score < 0.5:
			winner.Lost, loser.Won = winner.Lost+1, loser.Won+1
		default:
			winner.Tied, loser.Tied = winner.Tied+1, loser.Tied+1
		}
	}
}

// system returns the index of a system. It adds the system if its name is new.
func (b *RankBuilder) system(name string) int {
	if i := slices.IndexFunc(b.systems, func(s RankedSystem) bool { return s.Name == name }); i >= 0 {
		return i
	}
	b.systems = append(b.systems, RankedSystem{Name: name})
	return len(b.systems) - 1
}

// Report returns the result at a confidence level.
func (b *RankBuilder) Report(level float64) (Ranking, error) {
	fit, err := newBradleyTerry(len(b.systems), b.contests, level)
	if err != nil {
		return Ranking{}, err
	}
	r := Ranking{
		Version: RankVersion, Level: level, Items: len(b.contests)/2 + b.unjudged, Unjudged: b.unjudged, Clusters: fit.Clusters,
		Systems: slices.Clone(b.systems), Pairs: []RankedPair{}, Reason: fit.Reason, Notes: []string{},
	}
	for i, extreme := range fit.Extreme {
		if r.Systems[i].extreme = extreme; extreme != 0 {
			r.Notes = append(r.Notes, extremeNote(b.systems[i], extreme))
		}
	}
	if fit.Reason != "" {
		slices.SortStableFunc(r.Systems, func(x, y RankedSystem) int { return cmp.Compare(y.extreme, x.extreme) })
		return r, nil
	}
	r.Ties = fit.Ties / (fit.Ties + 2)
	first := chance(fit.Order)
	r.First = &first
	var weaker []int // of each pair
	var p []float64
	for i := range b.systems {
		for j := i + 1; j < len(b.systems); j++ {
			if fit.Extreme[i] != 0 || fit.Extreme[j] != 0 {
				continue
			}
			one, other := i, j
			if fit.Strengths[j].Value > fit.Strengths[i].Value {
				one, other = j, i
			}
			difference, equal := fit.Difference(one, other)
			weaker, p = append(weaker, other), append(p, equal)
			r.Pairs = append(r.Pairs, RankedPair{First: b.systems[one].Name, Second: b.systems[other].Name, Beats: chance(difference), P: equal})
		}
	}
	better := make([]int, len(b.systems)) // how many are shown to be stronger
	for k, adjusted := range stat.Holm(p) {
		r.Pairs[k].Adjusted = adjusted
		if adjusted < 1-level {
			r.Pairs[k].Stronger, r.Ordered = true, true
			better[weaker[k]]++
		}
	}
	for i := range r.Systems {
		if fit.Extreme[i] != 0 {
			continue
		}
		r.Systems[i].Strength = &fit.Strengths[i]
		if r.Ordered {
			r.Systems[i].Rank = 1 + better[i]
		}
	}
	slices.SortStableFunc(r.Systems, func(x, y RankedSystem) int { return cmp.Compare(y.place(), x.place()) })
	return r, nil
}

// place returns the sort key of a system: its strength, with systems that won everything
// first and those that lost everything last.
func (s RankedSystem) place() float64 {
	if s.Strength != nil {
		return s.Strength.Value
	}
	return math.Inf(s.extreme)
}

// extremeNote says that a system has no strength.
func extremeNote(s RankedSystem, extreme int) string {
	what := "won"
	if extreme < 0 {
		what = "lost"
	}
	text := fmt.Sprintf("%s %s all of its %s", words.Clean(s.Name), what, words.Count(s.Won+s.Lost+s.Tied, "comparison"))
	if s.Tied > 0 || min(s.Won, s.Lost) > 0 {
		text = fmt.Sprintf("%s %s every comparison with systems that have a strength", words.Clean(s.Name), what)
	}
	return text + ": no finite strength fits it, so that it has neither an interval nor a rank, and its comparisons count for no other system"
}

// Document lays out the report.
func (r Ranking) Document() *doc.Document {
	d := &doc.Document{Title: words.Count(len(r.Systems), "system") + " compared in pairs"}
	d.Add(doc.Section{ID: "made", Blocks: []doc.Block{doc.Facts{
		{Name: "judge", Text: r.Judge},
		{Name: "runs", Text: doc.IDs(r.Runs, 0)},
		{Name: "pairs", Text: fmt.Sprintf("%s of responses, each shown in both orders, %s unjudged", words.Comma(r.Items), words.Comma(r.Unjudged))},
	}}})
	systems := doc.Table{Columns: []doc.Column{doc.Num("rank"), doc.Col("system"), doc.Est("strength [95%]"), doc.Num("won"), doc.Num("tied"), doc.Num("lost")}}
	for _, s := range r.Systems {
		rank, strength := "-", doc.T("-")
		if s.Rank > 0 {
			rank = fmt.Sprint(s.Rank)
		}
		if s.Strength != nil {
			strength = d.Coefficient(*s.Strength, 2)
		}
		systems.Rows = append(systems.Rows, []doc.Cell{doc.T(rank), doc.T(s.Name), strength, doc.N(s.Won), doc.N(s.Tied), doc.N(s.Lost)})
	}
	d.Add(doc.Section{ID: "strength", Title: "Strength (log odds, mean 0)", Blocks: []doc.Block{systems}})
	pairs := doc.Table{Columns: []doc.Column{doc.Col("system"), doc.Col("over"), doc.Est("probability [95%]"), doc.Col("")}}
	for _, pair := range r.Pairs {
		found := fmt.Sprintf("p = %.4f after Holm", pair.Adjusted)
		switch {
		case pair.Beats.Method == stat.MethodNone:
			found = "no test"
		case pair.Adjusted < 0.0001:
			found = "p < 0.0001 after Holm"
		}
		if pair.Stronger {
			found += ", stronger"
		}
		pairs.Rows = append(pairs.Rows, []doc.Cell{doc.T(pair.First), doc.T(pair.Second), {Text: winProbability(pair.Beats), Marks: d.Mark(pair.Beats.Warnings...)}, doc.T(found)})
	}
	d.Add(doc.Section{ID: "pairs", Title: "Probability that one beats another, where they do not tie", Blocks: []doc.Block{pairs}})
	order := "A rank is one more than the number of systems that are shown to be stronger."
	switch {
	case r.Reason != "":
		order = "There are no strengths: " + r.Reason + "."
	case !r.Ordered:
		order = fmt.Sprintf("No order is established: no difference between two systems is distinguishable from zero at %s%%.", doc.Short(100*(1-r.Level)))
	}
	first := ""
	if r.First != nil {
		first = fmt.Sprintf("The response shown first beats an equally good one with probability %s; equally good ones tie with probability %s.", winProbability(*r.First), doc.Percent(r.Ties))
	}
	d.Add(doc.Section{ID: "order", Blocks: []doc.Block{doc.Paragraph{Text: order}, doc.Paragraph{Text: first}}})
	d.Mark(r.Notes...)
	return d
}

// winProbability returns a probability with its interval, if there is one.
func winProbability(est stat.Estimate) string {
	if est.Method == stat.MethodNone {
		return doc.Percent(est.Value) + " (no interval)"
	}
	return doc.Share(est)
}
