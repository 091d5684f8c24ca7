package agree

import (
	"maps"
	"math"
	"slices"
	"strings"

	"deem/report/internal/page"
	"deem/stat"
)

// The numbers that may be quoted.
const (
	quotePeople     = "people"
	quotePPI        = "ppi"
	quoteStratified = "stratified"
)

// MethodStratified is the interval of a share that is estimated in parts.
const MethodStratified = "two-phase-wilson"

// WarnPart says that the labels leave a part of the run out.
const WarnPart = "to one of the judge's two verdicts there is no label at all: the interval is everything that is possible"

// Corrected returns the run's score as people would have it, without all else that
// [Builder.Agreement] computes; nil without labels. It does not withhold.
func (b *Builder) Corrected() *Corrected {
	var c stat.Confusion
	for _, it := range b.both {
		c.Add(it.truth, it.judge)
	}
	return b.correct(c)
}

// correct returns the run's score as people would have it, nil without labels.
func (b *Builder) correct(c stat.Confusion) *Corrected {
	if c.N() == 0 {
		return nil
	}
	yes, n := 0, 0
	for where, count := range b.alone {
		n += count
		if where.yes {
			yes += count
		}
	}
	level := b.o.Level
	k := &Corrected{
		Raw:         stat.ProportionAt(yes+c.TP+c.FP, n+c.N(), level),
		People:      c.TruthRate(level),
		PPI:         stat.PPIOf(c, yes, n, level),
		Stratified:  b.stratified(),
		Unlabelled:  n,
		RoganGladen: stat.RoganGladen(yes, n, c, level),
	}
	k.Mix = b.mix(c, yes, n)
	switch {
	case n == 0:
		k.Quote = quotePeople
	case k.Mix.Differs:
		k.Quote = quoteStratified
	default:
		k.Quote = quotePPI
	}
	if b.o.Width > 0 {
		k.More = more(k.PPI, b.o.Width)
	}
	return k
}

// more returns how many labels are missing.
func more(ppi stat.PPI, width float64) *More {
	m := &More{Width: width, Now: ppi.Hi - ppi.Lo, Present: ppi.Labels}
	m.Labels, m.Enough = stat.MoreLabels(ppi, width)
	return m
}

// differs is the level at which a difference between labelled and other items is no
// longer chance.
const differs = 0.99

// mix compares the labelled items with the others: how often the judge says yes, and
// which categories they come from.
func (b *Builder) mix(c stat.Confusion, yes, n int) Mix {
	m := Mix{Labelled: c.JudgeRate(b.o.Level), Unlabelled: stat.ProportionAt(yes, n, b.o.Level)}
	if n == 0 {
		return m
	}
	m.Differs = differ(c.TP+c.FP, c.N(), yes, n, differs)
	here, there := map[string]int{}, map[string]int{}
	for _, it := range b.both {
		here[it.category]++
	}
	for where, count := range b.alone {
		there[where.category] += count
	}
	names := map[string]bool{}
	for name := range here {
		names[name] = true
	}
	for name := range there {
		names[name] = true
	}
	// With many categories one of them differs by chance alone.
	level := 1 - (1-differs)/float64(max(1, len(names)))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if len(names) > 1 && differ(here[name], c.N(), there[name], n, level) {
			m.Categories = append(m.Categories, page.OrNone(name))
		}
	}
	m.Differs = m.Differs || len(m.Categories) > 0
	return m
}

// differ reports whether two shares of different items differ at the level.
func differ(k1, n1, k2, n2 int, level float64) bool {
	d := stat.DifferenceOfProportions(k1, n1, k2, n2, level)
	return d.Lo > 0 || d.Hi < 0
}

// A stratum is a part of the run in which labels were drawn at random: of its items,
// labels have a label, and people say yes to yes of these.
type stratum struct{ items, labels, yes int }

func (s *stratum) add(o stratum) {
	s.items += o.items
	s.labels += o.labels
	s.yes += o.yes
}

// thin is below how many labels a stratum is put together with others.
const thin = 5

// stratified returns the share of items that people would say yes to, from their share
// in each category among those the judge accepted and among those it rejected. Unlike
// prediction-powered inference it stays right when some of these parts have more than
// their share of labels, as those of a sampling plan have, as long as labels were
// drawn at random within each.
//
// Source: W. G. Cochran, Sampling Techniques (1977), section 12.2, double sampling for
// stratification: the variance is that of the shares within the parts, by the square
// of their weight, and that of the weights. Within a part half a label of either kind
// is added for the variance only, so that a part without errors does not claim to be
// certain. The interval has Wilson's shape, with as many labels as would have that
// variance.
func (b *Builder) stratified() stat.Estimate {
	parts, ok := strata(b.cells())
	labels := len(b.both)
	if !ok {
		est := stat.ProportionAt(0, 0, b.o.Level)
		est.N, est.Method, est.Warnings = labels, stat.MethodNone, []string{WarnPart}
		return est
	}
	return twoPhase(parts, labels, b.o.Level)
}

// cells counts items and labels by category and verdict.
func (b *Builder) cells() map[cell]*stratum {
	all := map[cell]*stratum{}
	at := func(c cell) *stratum {
		if all[c] == nil {
			all[c] = &stratum{}
		}
		return all[c]
	}
	for c, n := range b.alone {
		at(c).items += n
	}
	for _, it := range b.both {
		one := stratum{items: 1, labels: 1}
		if it.truth {
			one.yes = 1
		}
		at(cell{it.category, it.judge}).add(one)
	}
	return all
}

// strata puts thin cells together: those of one verdict first, and if that does not
// help, all categories of that verdict. It reports false when a verdict has items but
// no labels.
func strata(cells map[cell]*stratum) ([]stratum, bool) {
	keys := slices.SortedFunc(maps.Keys(cells), func(x, y cell) int { return strings.Compare(x.category, y.category) })
	var parts []stratum
	for _, verdict := range []bool{true, false} {
		var whole, rest stratum
		var full []stratum
		for _, key := range keys {
			if key.yes != verdict {
				continue
			}
			whole.add(*cells[key])
			if cells[key].labels < thin {
				rest.add(*cells[key])
			} else {
				full = append(full, *cells[key])
			}
		}
		switch {
		case whole.items == 0:
		case whole.labels == 0:
			return nil, false
		case rest.items == 0:
			parts = append(parts, full...)
		case rest.labels < thin:
			parts = append(parts, whole)
		default:
			parts = append(append(parts, full...), rest)
		}
	}
	return parts, true
}

// twoPhase returns the estimate from the parts.
func twoPhase(parts []stratum, labels int, level float64) stat.Estimate {
	total := 0
	for _, s := range parts {
		total += s.items
	}
	value, smooth, variance := 0.0, 0.0, 0.0
	for _, s := range parts {
		w := float64(s.items) / float64(total)
		p := (float64(s.yes) + 0.5) / (float64(s.labels) + 1)
		value += w * float64(s.yes) / float64(s.labels)
		smooth += w * p
		variance += w * w * p * (1 - p) / float64(s.labels)
	}
	for _, s := range parts {
		d := float64(s.yes)/float64(s.labels) - value
		variance += float64(s.items) / float64(total) * d * d / float64(total)
	}
	value = math.Min(value, 1) // Weights that add up to 1 may do so with a rounding error.
	lo, hi := wilson(value, smooth*(1-smooth)/variance, level)
	est := stat.Estimate{Value: value, Lo: lo, Hi: hi, Level: level, N: labels, SE: math.Sqrt(variance), Method: MethodStratified}
	if labels < 50 {
		est = est.Warn(stat.WarnFewLabels)
	}
	return est
}

// wilson returns Wilson's interval of a share p in n tries, of which there may be a
// fraction.
func wilson(p, n, level float64) (lo, hi float64) {
	z := math.Sqrt2 * math.Erfinv(level)
	centre := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return math.Min(p, math.Max(0, centre-half)), math.Max(p, math.Min(1, centre+half))
}
