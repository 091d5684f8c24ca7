package agree

import (
	"cmp"

	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/stat"
)

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
		o.Own, o.OwnLeniency = &m, leniency(m.Confusion, b.o.Level)
	}
	if len(others) > 0 {
		m := b.measure("", others, nil)
		o.Others, o.OthersLeniency = &m, leniency(m.Confusion, b.o.Level)
	}
	if len(mine) > 0 && len(others) > 0 {
		x, y := o.Own.Confusion, o.Others.Confusion
		o.FalseAccept = new(stat.Difference(stat.Proportion(x.FP, x.FP+x.TN, b.o.Level), stat.Proportion(y.FP, y.FP+y.TN, b.o.Level), b.o.Level))
	}
	return o
}

// leniency returns the judge's rate of yes minus that of people, on the same items.
func leniency(c agreement.Confusion, level float64) *stat.Estimate {
	return new(stat.PairedProportions(c.FP, c.FN, c.N(), level))
}
