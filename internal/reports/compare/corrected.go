package compare

import (
	"math"

	"deem/internal/agreement"
	"deem/stat"
)

// WarnSelected warns that a corrected difference uses labels that were not drawn at random.
const WarnSelected = "the labelled items were not drawn at random, which the corrected difference assumes: see the notes"

// An Opinion is the human label of a response.
type Opinion struct {
	Yes   bool
	Score float64 // from 0 to 1

	// Chance is the probability with which a plan drew the response to be labelled, 0
	// without a plan.
	Chance float64
}

// A Labelling describes how the labels of a run were drawn.
type Labelling struct {
	// Planned reports whether one plan drew all of them, with the probabilities in their
	// opinions.
	Planned bool

	// Selected are the properties in which labelled items differ significantly from the
	// others, for example "verdict" or "response length".
	Selected []string
}

// A Corrected is the difference of two runs corrected by human labels of some responses of
// each run. The judge's errors are measured separately for each run.
type Corrected struct {
	// First and Second are the corrected scores of the runs, and Estimate is second -
	// first. All are null if there are too few labels.
	First  *float64 `json:"first"`
	Second *float64 `json:"second"`

	Estimate    *stat.Estimate `json:"difference"`
	Test        *stat.Test     `json:"test"`
	Adjusted    *float64       `json:"p_adjusted"` // after Holm over the runs compared with the baseline
	Outcome     string         `json:"outcome"`    // "" without an estimate
	Equivalence *Equivalence   `json:"equivalence,omitempty"`

	N     int              `json:"n"`     // items that both runs judged
	Sides [2]CorrectedSide `json:"sides"` // of the first and of the second run
}

// Difference returns the row of a table of differences, if there is an estimate. It has no
// wins and losses, because people did not label all items.
func (k *Corrected) Difference() Difference {
	return Difference{
		Category: "corrected", First: *k.First, Second: *k.Second, Estimate: k.Estimate, Test: k.Test, Adjusted: k.Adjusted,
		Outcome: k.Outcome, Equivalence: k.Equivalence, N: k.N, Detectable: 1, Strict: stat.Estimate{Method: stat.MethodNone},
	}
}

// Counted reports whether the difference consists of items won and lost.
func (d Difference) Counted() bool { return d.Wins+d.Losses+d.Ties == d.N }

// A CorrectedSide is what the labels of one run show about the judge.
type CorrectedSide struct {
	Labels   int `json:"labels"`   // of items that both runs judged
	Right    int `json:"right"`    // responses that people accept
	Rejected int `json:"rejected"` // of these, rejected by the judge
	Wrong    int `json:"wrong"`    // responses that people do not accept
	Accepted int `json:"accepted"` // of these, accepted by the judge

	// Lambda is the weight of the judge's scores of the unlabelled responses, from 0 to 1.
	Lambda float64 `json:"lambda"`

	// Selected are the properties in which the labels were not drawn at random.
	Selected []string `json:"selected,omitempty"`
}

// A twice is an item that both runs judged, by both metrics.
type twice struct{ pass, score agreement.OnBoth }

// addLabels adds an item that both runs judged.
func (b *Builder) addLabels(j int, first, second *Cell) {
	if !b.opts.Labels || !first.Judged || !second.Judged {
		return
	}
	it := twice{pass: agreement.OnBoth{Cluster: first.Cluster, Weight: first.Weight}}
	it.score = it.pass
	for s, c := range []*Cell{first, second} {
		it.pass.Judge[s], it.score.Judge[s] = c.share(), c.Score
		it.pass.People[s], it.score.People[s] = math.NaN(), math.NaN()
		if o := c.People; o != nil {
			it.pass.People[s], it.score.People[s] = 0, o.Score
			if o.Yes {
				it.pass.People[s] = 1
			}
			it.pass.Chance[s], it.score.Chance[s] = o.Chance, o.Chance
		}
	}
	b.labelled[j] = append(b.labelled[j], it)
}

// Labelled sets how the labels of the i-th run were drawn. By default they count as drawn
// at random.
func (b *Builder) Labelled(i int, l Labelling) { b.labellings[i] = l }

// corrected returns the corrected differences of the other runs from the baseline, in their
// order. It returns nil without any label; a difference has no estimate if there are too
// few labels.
func (b *Builder) corrected(metric string, withheld bool) []*Corrected {
	list := make([]*Corrected, len(b.runs))
	if withheld {
		return list
	}
	var together []*found
	var places []int
	for j, items := range b.labelled {
		d, sides := b.correct(items, j, metric)
		if sides[0].Labels+sides[1].Labels == 0 {
			continue
		}
		list[j] = &Corrected{Sides: sides, N: d.N}
		if d.Estimate == nil {
			continue
		}
		list[j].First, list[j].Second = &d.First, &d.Second
		together, places = append(together, &d), append(places, j)
	}
	b.settle(together, false)
	for i, j := range places {
		d, k := together[i], list[j]
		k.Estimate, k.Test, k.Adjusted, k.Outcome, k.Equivalence = d.Estimate, d.Test, d.Adjusted, d.Outcome, d.Equivalence
	}
	return list
}

// correct returns the corrected difference of the j-th run from the baseline.
func (b *Builder) correct(items []twice, j int, metric string) (found, [2]CorrectedSide) {
	var sides [2]CorrectedSide
	planned := [2]bool{b.labellings[0].Planned, b.labellings[j].Planned}
	sides[0].Selected, sides[1].Selected = b.labellings[0].Selected, b.labellings[j].Selected
	list := make([]agreement.OnBoth, len(items))
	for i, it := range items {
		list[i] = it.score
		if metric == PassRate {
			list[i] = it.pass
		}
		for s := range sides {
			if !planned[s] {
				list[i].Chance[s] = 0
			}
			switch people, judge := it.pass.People[s], it.pass.Judge[s]; {
			case math.IsNaN(people):
				continue
			case people == 1:
				sides[s].Right++
				sides[s].Rejected += 1 - int(judge+0.5)
			default:
				sides[s].Wrong++
				sides[s].Accepted += int(judge + 0.5)
			}
			sides[s].Labels++
		}
	}
	ppi := agreement.NewPPIPaired(list)
	sides[0].Lambda, sides[1].Lambda = ppi.Lambda[0], ppi.Lambda[1]
	at := func(level float64) stat.Estimate {
		est := ppi.At(level)
		if len(sides[0].Selected)+len(sides[1].Selected) > 0 {
			est = est.Warn(WarnSelected)
		}
		return est
	}
	est, test := at(b.opts.Level), ppi.Test()
	d := Difference{First: ppi.First, Second: ppi.Second, Estimate: &est, Test: &test, N: len(items)}
	if est.Method == stat.MethodNone {
		d.Estimate, d.Test = nil, nil
	}
	return found{Difference: d, at: at, strict: at, oneSided: at}, sides
}
