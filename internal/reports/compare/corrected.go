package compare

import "deem/stat"

// WarnSelected warns that a corrected difference uses labels that were not drawn at random.
const WarnSelected = "the labelled items were not drawn at random, which the corrected difference assumes: see the notes"

// A Labelling is what human labels say about a run: its corrected score, as "deem agree"
// gives it from the labels of this run and the way they were drawn.
type Labelling struct {
	Score     stat.Estimate  // without a value if the labels do not give one
	Influence stat.Influence // of clusters, and of items without one, on the score
	Passes    bool           // the score is the share that passes
	Side      CorrectedSide
}

// A Corrected is the difference of the corrected scores of two runs, each from its own
// labels. What the runs have in common, such as clusters, items or labels, only narrows its
// interval.
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
	Labels   int `json:"labels"`   // of the run
	Right    int `json:"right"`    // responses that people accept
	Rejected int `json:"rejected"` // of these, rejected by the judge
	Wrong    int `json:"wrong"`    // responses that people do not accept
	Accepted int `json:"accepted"` // of these, accepted by the judge

	// Lambda is the weight of the judge's scores of the unlabelled responses, from 0 to 1.
	Lambda float64 `json:"lambda"`

	// Selected are the properties in which the labels were not drawn at random.
	Selected []string `json:"selected,omitempty"`
}

// Labelled sets what the labels of the i-th run say.
func (b *Builder) Labelled(i int, l Labelling) { b.labellings[i] = &l }

// corrected returns the corrected differences of the other runs from the baseline, in their
// order. It returns nil without any label; a difference has no estimate if there are too
// few labels.
func (b *Builder) corrected(metric string, withheld bool) []*Corrected {
	list := make([]*Corrected, len(b.runs))
	first := b.labellings[0]
	if withheld || first == nil {
		return list
	}
	var together []*found
	var places []int
	for j, second := range b.labellings {
		if j == 0 || second == nil || first.Side.Labels+second.Side.Labels == 0 {
			continue
		}
		k := &Corrected{Sides: [2]CorrectedSide{first.Side, second.Side}, N: b.pairs[place(0, j, len(b.runs))].score.N()}
		list[j] = k
		d := correct(first, second, b.opts.Level)
		if d.Estimate.Method == stat.MethodNone || first.Passes != (metric == PassRate) || second.Passes != first.Passes {
			continue
		}
		k.First, k.Second = &first.Score.Value, &second.Score.Value
		together, places = append(together, &d), append(places, j)
	}
	b.settle(together, false)
	for i, j := range places {
		d, k := together[i], list[j]
		k.Estimate, k.Test, k.Adjusted, k.Outcome, k.Equivalence = d.Estimate, d.Test, d.Adjusted, d.Outcome, d.Equivalence
	}
	return list
}

// correct returns the difference of the corrected scores of two runs.
func correct(first, second *Labelling, level float64) found {
	c := stat.Contrast{One: second.Score.At, Rest: first.Score.At, Correlation: second.Influence.Correlation(first.Influence)}
	at := func(level float64) stat.Estimate {
		est := c.At(level)
		if len(first.Side.Selected)+len(second.Side.Selected) > 0 {
			est = est.Warn(WarnSelected)
		}
		return est
	}
	est := at(level)
	test := stat.Test{Statistic: est.Value, P: stat.IntervalP(at), Method: "interval", N: est.N}
	d := Difference{First: first.Score.Value, Second: second.Score.Value, Estimate: &est, Test: &test}
	return found{Difference: d, at: at, strict: at, oneSided: at}
}
