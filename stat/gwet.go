package stat

import (
	"math"
	"slices"
)

// MethodGwet is the interval of an agreement coefficient by Gwet's linearised
// variance and Student's t.
const MethodGwet = "gwet"

// The warnings of agreement among several judges.
const (
	WarnNoPairs   = "no item was rated by two judges, so agreement is not defined"
	WarnOneRated  = "one item says nothing about the spread of agreement: there is no interval"
	WarnUndefined = "everybody gave the same label to everything, so agreement beyond chance is not defined"
	WarnCertain   = "agreement does not differ between items, so its spread is unknown: the interval has no width"
)

// A Coefficient is a way to compare agreement with what chance would give.
type Coefficient string

// The coefficients.
const (
	// GwetAC is Gwet's AC1 without weights and AC2 with them. It stays near the
	// share of agreement where one label is much more frequent than the others,
	// which is where kappa collapses.
	GwetAC Coefficient = "gwet"

	// FleissKappa is Fleiss' kappa: chance means labels drawn from those given.
	FleissKappa Coefficient = "fleiss"

	// BrennanPrediger takes all labels to be equally likely by chance. Without
	// weights it is Randolph's free-marginal kappa.
	BrennanPrediger Coefficient = "brennan-prediger"
)

// Ordinal is a further weighting, for several judges: two ratings agree by how many
// pairs of ratings lie between them, whatever their distance. The distances of
// [Linear] and [Quadratic] are then those of the ratings themselves and not of their
// places.
const Ordinal Weighting = "ordinal"

// RatingOptions say how ratings are to be read. The zero value counts only equal
// ratings, and knows the categories that were given.
type RatingOptions struct {
	Weighting Weighting

	// Categories are all ratings that were possible. Empty means those that
	// somebody gave, which makes chance look stronger than it was.
	Categories []float64
}

// An Agreement is an agreement coefficient with what it is made of.
type Agreement struct {
	Estimate

	// Observed is the share of pairs of ratings that agree, and Expected the
	// share that would by chance.
	Observed float64 `json:"observed"`
	Expected float64 `json:"expected"`

	// P is the chance to see a coefficient this far from 0 if it were 0.
	P float64 `json:"p"`
}

// Gwet returns Gwet's AC1, or AC2 with weights, of ratings[unit][judge], where a
// NaN is a rating that is missing. See [Agree].
func Gwet(ratings [][]float64, o RatingOptions, level float64) Estimate {
	return Agree(ratings, GwetAC, o, level).Estimate
}

// Agree returns an agreement coefficient of ratings[unit][judge], where a NaN is a
// rating that is missing, and so is a number beyond 1e100. Items without a rating
// are left out; items with one rating help to know how frequent a label is.
//
// Source: K. L. Gwet, "Computing inter-rater reliability and its variance in the
// presence of high agreement", British Journal of Mathematical and Statistical
// Psychology 61 (2008), 29-48, and Handbook of Inter-Rater Reliability (2014),
// chapters 5 and 6, whose linearised variance with Student's t gives the interval
// and the p-value. They speak of items like these under the same judges, not of
// other judges, and want some twenty items.
func Agree(ratings [][]float64, c Coefficient, o RatingOptions, level float64) Agreement {
	categories := ratedCategories(ratings, o.Categories)
	counts := make([][]float64, 0, len(ratings))
	for _, unit := range ratings {
		row := make([]float64, len(categories))
		rated := false
		for _, r := range unit {
			if k, ok := slices.BinarySearch(categories, r); ok {
				row[k]++
				rated = true
			}
		}
		if rated {
			counts = append(counts, row)
		}
	}
	return newPile(counts, nil, ratingWeights(categories, o.Weighting)).agreement(c, level)
}

// ratedCategories returns the possible ratings in order: those given, or those
// that occur.
func ratedCategories(ratings [][]float64, given []float64) []float64 {
	all := slices.Clone(given)
	if len(given) == 0 {
		for _, unit := range ratings {
			all = append(all, unit...)
		}
	}
	all = slices.DeleteFunc(all, func(x float64) bool { return !(math.Abs(x) <= maxSize) }) // also NaN
	slices.Sort(all)
	return slices.Compact(all)
}

// ratingWeights returns how much two ratings agree.
func ratingWeights(categories []float64, w Weighting) [][]float64 {
	q := len(categories)
	weights := matrix(q)
	for i := range q {
		for j := range q {
			weights[i][j] = ratingWeight(categories, i, j, w)
		}
	}
	return weights
}

func ratingWeight(categories []float64, i, j int, w Weighting) float64 {
	if i == j {
		return 1
	}
	q := len(categories)
	d := math.Abs(categories[i]-categories[j]) / (categories[q-1] - categories[0])
	switch w {
	case Linear:
		return 1 - d
	case Quadratic:
		return 1 - float64(d*d)
	case Ordinal:
		n := math.Abs(float64(i-j)) + 1
		return 1 - n*(n-1)/float64(q*(q-1))
	default:
		return 0
	}
}

// A pile is the ratings of all units, counted by category. Units that were rated
// alike may be one row that counts several times.
type pile struct {
	counts  [][]float64 // row by category, each with a rating at least
	times   []float64   // how many units each row stands for
	weights [][]float64
	rated   []float64 // ratings per unit
	agreed  []float64 // weighted pairs of ratings of a unit that agree
	share   []float64 // of each category, averaged over units
	n       float64   // units
	pairs   float64   // units with two ratings or more
	q       int
}

// newPile returns the pile of some rows. Without times, each stands for one unit.
func newPile(counts [][]float64, times []float64, weights [][]float64) *pile {
	p := &pile{counts: counts, times: times, weights: weights, q: len(weights)}
	if times == nil {
		p.times = slices.Repeat([]float64{1}, len(counts))
	}
	sums := make([]exact, p.q)
	for i, row := range counts {
		r, agreed := weighRow(row, weights)
		for k, c := range row {
			sums[k].addProduct(p.times[i], c/r)
		}
		p.n += p.times[i]
		if r >= 2 {
			p.pairs += p.times[i]
		}
		p.rated, p.agreed = append(p.rated, r), append(p.agreed, agreed)
	}
	for k := range sums {
		p.share = append(p.share, sums[k].float()/max(p.n, 1))
	}
	return p
}

// weighRow returns how many ratings a unit has, and how many ordered pairs of them
// agree, by weight.
func weighRow(row []float64, weights [][]float64) (rated, agreed float64) {
	for k, c := range row {
		rated += c
		w := 0.0
		for l, d := range row {
			w += float64(weights[k][l] * d) // not fused; see wilson
		}
		agreed += float64(c * (w - 1))
	}
	return rated, agreed
}

// agreement returns the coefficient with its interval.
func (p *pile) agreement(c Coefficient, level float64) Agreement {
	level, warning := checkLevel(level)
	a := Agreement{Estimate: Estimate{Lo: -1, Hi: 1, Level: level, N: int(p.n), Method: MethodNone}, P: 1}
	a.Estimate = warnIf(a.Estimate, warning)
	if p.n == 0 || p.pairs == 0 {
		a.Estimate = a.Warn(WarnNoPairs)
		return a
	}
	a.Observed, a.Expected = p.observed(), p.expected(c)
	if 1-a.Expected < 1e-12 || p.q < 2 {
		a.Estimate = a.Warn(WarnUndefined)
		return a
	}
	a.Value = min((a.Observed-a.Expected)/(1-a.Expected), 1)
	a.Lo = min(a.Lo, a.Value)
	if p.n == 1 {
		a.Estimate = a.Warn(WarnOneRated)
		return a
	}
	a.SE = p.standardError(c, a)
	a.interval()
	return a
}

// interval sets the interval and the p-value by Student's t. Below -1 no
// coefficient makes sense, though the largest distance may give one.
func (a *Agreement) interval() {
	df := float64(a.N - 1)
	half := float64(tQuantile(a.Level, df) * a.SE)
	a.Method = MethodGwet
	a.Lo, a.Hi = max(a.Value-half, min(-1, a.Value)), min(a.Value+half, 1)
	a.P = tTail(a.Value, a.SE, df)
	if a.SE == 0 {
		a.Estimate = a.Warn(WarnCertain)
	}
}

// observed returns the weighted share of pairs that agree, averaged over units.
func (p *pile) observed() float64 {
	var sum exact
	for i, r := range p.rated {
		if r >= 2 {
			sum.addProduct(p.times[i], p.agreed[i]/(r*(r-1)))
		}
	}
	return sum.float() / p.pairs
}

// expected returns the weighted agreement that chance would give.
func (p *pile) expected(c Coefficient) float64 {
	sum := 0.0
	switch c {
	case FleissKappa:
		for k, s := range p.share {
			for l, t := range p.share {
				sum += float64(p.weights[k][l] * s * t)
			}
		}
		return sum
	case BrennanPrediger:
		return p.totalWeight() / float64(p.q*p.q)
	default:
		for _, s := range p.share {
			sum += float64(s * (1 - s))
		}
		if p.q < 2 {
			return 1
		}
		return p.totalWeight() * sum / float64(p.q*(p.q-1))
	}
}

// expectedOf returns what unit i adds to the chance agreement.
func (p *pile) expectedOf(c Coefficient, i int) float64 {
	sum := 0.0
	switch c {
	case FleissKappa:
		for k, count := range p.counts[i] {
			mean := 0.0
			for l, s := range p.share {
				mean += float64((p.weights[k][l] + p.weights[l][k]) / 2 * s)
			}
			sum += float64(count * mean)
		}
		return sum / p.rated[i]
	case BrennanPrediger:
		return p.totalWeight() / float64(p.q*p.q)
	default:
		for k, count := range p.counts[i] {
			sum += float64(count * (1 - p.share[k]))
		}
		return p.totalWeight() / float64(p.q*(p.q-1)) * sum / p.rated[i]
	}
}

func (p *pile) totalWeight() float64 {
	sum := 0.0
	for _, row := range p.weights {
		for _, w := range row {
			sum += w
		}
	}
	return sum
}

// standardError is Gwet's linearised variance (2014, section 6.3): each unit has a
// coefficient of its own, and their spread is that of the mean.
func (p *pile) standardError(c Coefficient, a Agreement) float64 {
	rest := 1 - a.Expected
	var sum exact
	for i, r := range p.rated {
		own := 0.0
		if r >= 2 {
			own = p.n / p.pairs * (p.agreed[i]/(r*(r-1)) - a.Expected) / rest
		}
		own -= 2 * (1 - a.Value) * (p.expectedOf(c, i) - a.Expected) / rest
		sum.addProduct(p.times[i], (own-a.Value)*(own-a.Value))
	}
	v := sum.float() / (p.n * (p.n - 1))
	if v < 1e-30 {
		return 0 // what rounding leaves of no spread at all
	}
	return math.Sqrt(v)
}

// tTail returns the chance of a t at least as far from 0 as value/se.
func tTail(value, se, df float64) float64 {
	if se == 0 {
		if value == 0 {
			return 1
		}
		return 0
	}
	return studentBoth(value/se, df)
}

// float returns the sum, rounded once.
func (e *exact) float() float64 { return float(e.big()) }
