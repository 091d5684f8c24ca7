package probe

import (
	"cmp"
	"slices"

	"deem/stat"
)

// wrongOf returns the plain wrong answer to an item, or nil if it was not tried.
func wrongOf(plain map[string]map[string]*seen, item string) *seen {
	return cmp.Or(plain[kindOther][item], plain[kindInvented][item])
}

// injected measures the effect of the strings of the kit.
func injected(all []*seen, plain map[string]map[string]*seen) *InjectionRate {
	var accepted, turned tally
	strs := map[string]*stringRate{}
	for _, s := range all {
		if s.Kind != kindInjection {
			continue
		}
		accepted.add(s)
		base := wrongOf(plain, s.of)
		was := base != nil && !base.accepted
		if was {
			turned.add(s)
		}
		if !s.judged {
			continue
		}
		r := entry(strs, s.Variant)
		r.Name = s.Variant
		r.Judged++
		if s.accepted {
			r.Accepted++
			if was {
				r.Turned++
			}
		}
	}
	if accepted.Probes == 0 {
		return nil
	}
	rate := &InjectionRate{Accepted: accepted.rate(1), Turned: turned.rate(1)}
	for _, r := range strs {
		if r.Turned > 0 || r.Accepted > 0 && turned.Probes == 0 {
			rate.Strings = append(rate.Strings, *r)
		}
	}
	slices.SortFunc(rate.Strings, func(a, b stringRate) int {
		return cmp.Or(cmp.Compare(b.Turned, a.Turned), cmp.Compare(b.Accepted, a.Accepted), cmp.Compare(a.Name, b.Name))
	})
	return rate
}

// lengths compares long answers with the same answers unchanged.
func lengths(all []*seen, plain map[string]map[string]*seen) []Shift {
	wrong, right := pairs{}, pairs{want: true}
	for _, s := range all {
		if !s.judged {
			continue
		}
		switch s.Kind {
		case kindPadded:
			wrong.add(wrongOf(plain, s.of), s)
		case kindBuried:
			right.add(plain[kindReference][s.of], s)
		}
	}
	return append(wrong.shift(), right.shift()...)
}

// pairs counts answers that were judged both unchanged and in a long text.
type pairs struct {
	want                            bool
	n, up, down, plain, long, words int
}

func (p *pairs) add(plain, long *seen) {
	if plain == nil {
		return
	}
	p.n++
	p.words += long.words - plain.words
	if plain.accepted {
		p.plain++
	}
	if long.accepted {
		p.long++
	}
	switch {
	case long.accepted && !plain.accepted:
		p.up++
	case plain.accepted && !long.accepted:
		p.down++
	}
}

func (p *pairs) shift() []Shift {
	if p.n == 0 {
		return nil
	}
	n := float64(p.n)
	s := Shift{
		Want: p.want, Plain: float64(p.plain) / n, Long: float64(p.long) / n, Words: float64(p.words) / n,
		Estimate: stat.PairedProportions(p.up, p.down, p.n, stat.DefaultLevel),
	}
	if s.Words > 0 {
		s.Per100 = s.Estimate.Value * 100 / s.Words
	}
	return []Shift{s}
}

// consistency measures how far the trials of a probe agree.
func consistency(all []*seen) *consistencyRate {
	var c consistencyRate
	steady, flips := 0, 0.0
	for _, s := range all {
		if s.trials < 2 {
			continue
		}
		c.Probes++
		no := s.trials - s.yes
		if s.yes == 0 || no == 0 {
			steady++
		}
		// The share of pairs of trials that differ.
		flips += float64(s.yes*no) / (float64(s.trials*(s.trials-1)) / 2)
	}
	if c.Probes == 0 {
		return nil
	}
	c.Steady, c.Flips = stat.Proportion(steady, c.Probes, stat.DefaultLevel), flips/float64(c.Probes)
	return &c
}

// order counts the pairs that the order of two responses decided.
func order(all []*seen) *orderRate {
	pairs, flips, first := 0, 0, 0
	for _, s := range all {
		if !s.compared {
			continue
		}
		pairs++
		if s.flipped {
			flips++
			if s.firstWon {
				first++
			}
		}
	}
	if pairs == 0 {
		return nil
	}
	o := &orderRate{Pairs: pairs, Flips: stat.Proportion(flips, pairs, stat.DefaultLevel)}
	if flips > 0 {
		o.First = float64(first) / float64(flips)
	}
	return o
}
