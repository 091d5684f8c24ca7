package sensitivity

import (
	"deem/stat"
)

// rank compares how judges order the systems. Only judges that gave every system a
// score can.
func (b *Builder) rank(r *Report) {
	if len(r.Systems) < 2 {
		return
	}
	var full []int
	for j := range b.judges {
		if b.column(r, j) != nil {
			full = append(full, j)
		}
	}
	if len(full) < 2 {
		return
	}
	for i, first := range full {
		for _, second := range full[i+1:] {
			r.Ranks = append(r.Ranks, b.ranks(r, first, second))
		}
	}
	r.Stable, r.Ordered = b.stable(r, full)
	if len(r.Systems) < 5 {
		r.Notes = append(r.Notes, "with so few systems tau can take few values: look at the pairs that swap")
	}
}

// column returns the scores that a judge gives all systems, nil when one is missing.
func (b *Builder) column(r *Report, judge int) []stat.Estimate {
	var list []stat.Estimate
	for _, s := range r.Systems {
		for _, score := range s.Scores {
			if score.Judge == judge && score.Estimate != nil {
				list = append(list, *score.Estimate)
			}
		}
	}
	if len(list) != len(r.Systems) {
		return nil
	}
	return list
}

// ranks compares two judges.
func (b *Builder) ranks(r *Report, first, second int) Ranks {
	x, y := b.column(r, first), b.column(r, second)
	out := Ranks{First: first, Second: second, Swaps: []Swap{}}
	if tau, err := stat.KendallTauB(values(x), values(y)); err == nil {
		out.Tau = &tau.Value
	}
	for i := range x {
		for j := i + 1; j < len(x); j++ {
			p, q := difference(x[i], x[j]), difference(y[i], y[j])
			if p.Value*q.Value < 0 {
				out.Swaps = append(out.Swaps, Swap{
					A: r.Systems[i].Name, B: r.Systems[j].Name, First: p, Second: q,
					Noise: p.Lo <= 0 && p.Hi >= 0 || q.Lo <= 0 && q.Hi >= 0,
				})
			}
		}
	}
	return out
}

func values(list []stat.Estimate) []float64 {
	xs := make([]float64, len(list))
	for i, e := range list {
		xs[i] = e.Value
	}
	return xs
}

// difference returns by how much one score is above another, with the interval that
// their intervals give together (the method of variance estimates recovery, Zou and
// Donner, Statistics in Medicine 27, 2008). It takes the systems for independent, which
// is too wide when both answered the same questions: "deem compare" pairs them.
func difference(a, b stat.Estimate) stat.Estimate {
	return stat.Unpaired{First: b, Second: a}.At(a.Level)
}

// stable counts the pairs of systems that all judges order alike.
func (b *Builder) stable(r *Report, judges []int) (stable, ordered int) {
	for i := range r.Systems {
		for j := i + 1; j < len(r.Systems); j++ {
			up, down := 0, 0
			for _, judge := range judges {
				column := b.column(r, judge)
				switch d := column[i].Value - column[j].Value; {
				case d > 0:
					up++
				case d < 0:
					down++
				}
			}
			ordered++
			if up == len(judges) || down == len(judges) {
				stable++
			}
		}
	}
	return stable, ordered
}
