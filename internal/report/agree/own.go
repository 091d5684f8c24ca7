package agree

import "deem/stat"

// Own says whether the judge is more lenient with answers of its own model family
// than with those of others.
type Own struct {
	Family string `json:"family"` // that judge and system share
	Model  string `json:"model"`  // whose answers count as own

	// Own and Others are the agreement with people on either kind of answer. Others
	// is nil when there are no others.
	Own    *Measures `json:"own"`
	Others *Measures `json:"others,omitempty"`

	// Leniency is by how much more often the judge says yes than people do.
	OwnLeniency    *stat.Estimate `json:"own_leniency,omitempty"`
	OthersLeniency *stat.Estimate `json:"others_leniency,omitempty"`

	// FalseAccept is by how much more often wrong answers of its own are accepted.
	FalseAccept *stat.Estimate `json:"false_accept_difference,omitempty"`
}

// own compares the judge's own answers with those of others, nil when nobody says who
// answered or none are its own.
func (b *Builder) own() *Own {
	model := b.o.Own
	if model == "" {
		model = b.o.Judge.Model
	}
	if b.o.SameFamily == nil || model == "" {
		return nil
	}
	o := &Own{Model: model}
	var mine, others []paired
	for _, it := range b.both {
		if family, same := b.o.SameFamily(model, it.model); same {
			o.Family = family
			mine = append(mine, it)
		} else if it.model != "" {
			others = append(others, it)
		}
	}
	if family, same := b.o.SameFamily(model, b.o.SystemModel); same && o.Family == "" {
		o.Family = family // there is something to say though there is nothing to measure
	}
	if o.Family == "" {
		return nil
	}
	o.measure(b, mine, others)
	return o
}

func (o *Own) measure(b *Builder, mine, others []paired) {
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
		d := stat.DifferenceOfProportions(x.FP, x.FP+x.TN, y.FP, y.FP+y.TN, b.o.Level)
		o.FalseAccept = &d
	}
}

// leniency returns by how much more often the judge says yes than people do, on the
// same items.
func leniency(c stat.Confusion, level float64) *stat.Estimate {
	est := stat.PairedProportions(c.FP, c.FN, c.N(), level)
	return &est
}
