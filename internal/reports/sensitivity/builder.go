package sensitivity

import (
	"math"
	"slices"
	"strings"

	"deem"
	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/stat"
)

// examples is the number of items of a kind that are listed.
const examples = 10

// A Builder collects systems for a [Report]. It stores the verdict of each judge on each
// item as a number, and no texts.
type Builder struct {
	judges  []Judge
	systems []*Part
	graded  []bool // judges that gave a score other than 0 and 1
}

// New returns a builder for the given judges.
func New(judges []Judge) *Builder {
	return &Builder{judges: judges, graded: make([]bool, len(judges))}
}

// A Part collects the results of one system.
type Part struct {
	system  System
	judges  int
	graded  []bool                // of the builder
	crosses [][]cross             // of judges i < j
	changes [][2]Items            // of each judge versus the first: up, down
	items   map[string]judgedItem // by id
}

// A cross compares the verdicts of two judges on the same items, the first as the truth.
type cross struct {
	agreement.Cross
	unpaired int // items that only one of them judged
}

// System adds a system. Systems are shown in the order in which they are added. Of s, only
// the fields that are known before items are added are used.
func (b *Builder) System(s System) *Part {
	p := &Part{system: s, judges: len(b.judges), graded: b.graded, changes: make([][2]Items, len(b.judges)), items: map[string]judgedItem{}}
	for range b.judges {
		p.crosses = append(p.crosses, make([]cross, len(b.judges)))
	}
	b.systems = append(b.systems, p)
	return p
}

// Score adds the score of a judge, before items are added. A judge without a score has not
// judged this system.
func (p *Part) Score(s Score) { p.system.Scores = append(p.system.Scores, s) }

// Add adds an item with the verdicts of all judges; nil means no verdict.
func (p *Part) Add(it deem.Item, verdicts []*deem.Verdict) {
	p.system.Items++
	weight, _ := doc.WeightOf(it)
	item := judgedItem{cluster: strings.Clone(it.Cluster), weight: weight, values: make([]float64, len(verdicts)), yes: make([]bool, len(verdicts))}
	flip := Flip{Item: strings.Clone(it.ID), Category: it.Category, Says: make([]string, p.judges), Yes: make([]bool, p.judges)}
	yes, no := 0, 0
	for i, v := range verdicts {
		item.values[i] = math.NaN()
		if v == nil {
			continue
		}
		flip.Says[i], flip.Yes[i], item.yes[i] = v.Label, v.Yes(), v.Yes()
		p.graded[i] = p.graded[i] || v.Pass == nil && v.Score != 0 && v.Score != 1
		counted := 0.0
		if flip.Yes[i] {
			yes++
			counted = 1
		} else {
			no++
		}
		item.values[i] = v.Score
		if slices.ContainsFunc(p.system.Scores, func(s Score) bool { return s.Judge == i && s.Passes }) {
			item.values[i] = counted
		}
	}
	p.items[it.ID] = item
	for i := range verdicts {
		for j := i + 1; j < len(verdicts); j++ {
			c := &p.crosses[i][j]
			switch {
			case verdicts[i] != nil && verdicts[j] != nil:
				c.Add(item.cluster, weight, flip.Yes[i], flip.Yes[j])
			case verdicts[i] != nil || verdicts[j] != nil:
				c.unpaired++
			}
		}
		if i > 0 && verdicts[0] != nil && verdicts[i] != nil && flip.Yes[0] != flip.Yes[i] {
			side := 0
			if flip.Yes[0] {
				side = 1
			}
			to := &p.changes[i][side]
			if to.N++; len(to.Examples) < examples {
				to.Examples = append(to.Examples, flip.Item)
			}
		}
	}
	if yes+no > 1 {
		p.system.Judged++
	}
	if yes > 0 && no > 0 {
		if p.system.Flips++; len(p.system.Examples) < examples {
			p.system.Examples = append(p.system.Examples, flip)
		}
	}
}

// Report returns the report. The builder stays usable.
func (b *Builder) Report() Report {
	r := Report{Version: Version, Judges: b.judges, Systems: []System{}, Pairs: []Pair{}, Ranks: []Ranks{}, Orders: []Order{}, Notes: []string{}}
	for _, p := range b.systems {
		s := p.system
		s.Scores = list(s.Scores)
		for i := range s.Scores {
			j := s.Scores[i].Judge
			c := &p.crosses[0][j]
			if n := c.Counts().N(); j > 0 && n > 0 {
				up, down := p.changes[j][0], p.changes[j][1]
				change := p.moved(j)
				s.Scores[i].Change = &Change{
					Up: Items{up.N, list(up.Examples)}, Down: Items{down.N, list(down.Examples)}, Both: n, Unpaired: c.unpaired,
					Difference: change.At(stat.DefaultLevel), P: change.Test(1).P,
				}
			}
		}
		band, scored := &Band{math.Inf(1), math.Inf(-1)}, 0
		for _, score := range s.Scores {
			if est := score.Estimate; est != nil {
				band.Lo, band.Hi = min(band.Lo, est.Value), max(band.Hi, est.Value)
				scored++
			}
		}
		if scored > 1 {
			s.Band = band
		}
		s.Claims, s.Also, s.Examples, s.Notes = list(s.Claims), list(s.Also), list(s.Examples), list(s.Notes)
		r.Systems = append(r.Systems, s)
	}
	for i := range b.judges {
		for j := i + 1; j < len(b.judges); j++ {
			var all agreement.Cross
			for _, part := range b.systems {
				all.Merge(&part.crosses[i][j].Cross)
			}
			if c := all.Counts(); c.N() > 0 {
				r.Pairs = append(r.Pairs, Pair{
					First: i, Second: j, BothYes: c.TP, FirstOnly: c.FN, SecondOnly: c.FP, BothNo: c.TN,
					Agreement: all.Agreement(stat.DefaultLevel), Kappa: all.Kappa(stat.DefaultLevel),
				})
			}
		}
	}
	b.rank(&r)
	for j, graded := range b.graded {
		if graded {
			r.Notes = append(r.Notes, r.name(j)+" gives scores and not only decisions: where judges are compared, a score from one half on is a yes")
		}
	}
	return r
}

// list returns a list that is not nil, so that JSON has an array.
func list[T any](of []T) []T { return append([]T{}, of...) }
