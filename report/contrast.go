package report

import (
	"math"
	"slices"

	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/stat"
)

// differs is the footnote of a category whose score differs from that of all other items.
const differs = "differs from the rest: the interval of the difference leaves out 0, and all such intervals hold together with 95% confidence"

// significant is the p-value below which a category differs from the rest.
const significant = 0.05

// smallestP is where the search for a p-value ends. A 95% interval cannot support a smaller
// one.
const smallestP = 1e-9

// methodMover is the method of a difference whose interval is combined from the intervals
// of its two sides.
const methodMover = "mover"

// A Contrast compares the judged items of a category with all other judged items.
type Contrast struct {
	// Difference is the score of the category minus that of the rest. The intervals of all
	// categories hold simultaneously with 95% confidence, so each has a higher level. An
	// interval excludes 0 exactly if PAdjusted is below 0.05.
	Difference stat.Estimate `json:"difference"`

	// P is the larger of two p-values: that of an exact test, if all scores are 0 or 1, and
	// the smallest p at which an interval at level 1-p excludes 0, with a lower limit of
	// 1e-9. PAdjusted is P times the number of comparisons, at most 1.
	P         float64 `json:"p"`
	PAdjusted float64 `json:"p_adjusted"`
}

// contrast compares each category with the rest and corrects for the number of comparisons.
// Two categories make one comparison, seen from both sides.
//
// It uses Bonferroni's correction rather than Holm's. Holm's detects a little more, but its
// compatible intervals say nothing about the size of what was detected (K. Strassburger and
// F. Bretz, "Compatible simultaneous lower confidence bounds for the Holm procedure and
// other Bonferroni-based closed tests", Statistics in Medicine 27 (2008), 4914-4927), and a
// reader needs both.
func (by estimator) contrast(rows []Category, parts []*tally, all *tally, metric string) {
	if len(rows) < 2 {
		return
	}
	// The moments of all other parts, for each part. Prefix and suffix sums make this linear
	// in the number of parts.
	rests := make([]stat.Moments, len(parts))
	var left, right stat.Moments
	for i, part := range parts {
		rests[i] = left
		left.Merge(part.values(metric))
	}
	for i := len(parts) - 1; i >= 0; i-- {
		rests[i].Merge(right)
		right.Merge(parts[i].values(metric))
	}
	whole := all.cast.atMost(min(maxTested, max(minTested, 16*maxTested/len(rows))))
	tests := len(rows)
	if tests == 2 {
		tests = 1
	}
	for i, part := range parts {
		if part.items == part.unjudged || rests[i].N() == 0 {
			continue
		}
		pair := by.pairOf(part, &whole, rests[i], metric)
		mine, others := part.values(metric), all.guesses.Minus(part.guesses)
		pair.one = widened(pair.one, part.guesses.Allowance(mine.Weight(), by.calibration))
		pair.rest = widened(pair.rest, others.Allowance(rests[i].Weight(), by.calibration))
		p := math.Max(pair.p(), pair.exact)
		c := &Contrast{P: p, PAdjusted: math.Min(1, p*float64(tests))}
		c.Difference = pair.difference(1 - significant/float64(tests))
		switch {
		case c.PAdjusted >= significant:
			c.Difference.Lo, c.Difference.Hi = math.Min(c.Difference.Lo, 0), math.Max(c.Difference.Hi, 0)
		case !c.Difference.LeavesOut(0):
			c.PAdjusted = significant // p has four digits, and rounding moved it below
		}
		rows[i].Rest = c
	}
}

// widened returns the estimates of of, with an allowance for guesses.
func widened(of func(level float64) stat.Estimate, a agreement.Allowance) func(level float64) stat.Estimate {
	return func(level float64) stat.Estimate { return agreement.Widened(of(level), a, stat.Unit) }
}

// A pair is two groups of items: one and rest return the estimate of each at a level, and
// correlation is the correlation of their means due to shared clusters.
type pair struct {
	one, rest   func(level float64) stat.Estimate
	correlation float64
	exact       float64 // the p-value of an exact test, 0 if there is none
}

// pairOf returns a category and all other items. Tests always use formulas, even if
// intervals are resampled: p-values need levels beyond what a few thousand draws can
// resolve.
func (by estimator) pairOf(part *tally, whole *cast, rest stat.Moments, metric string) pair {
	one := part.values(metric)
	// Means of trials count as the rounded sum, which makes the test more conservative.
	countable := (metric != doc.MeanScore || one.Binary() && rest.Binary()) && !weighted(one) && !weighted(rest)
	if !by.clustered {
		out := pair{one: independent(metric, one), rest: independent(metric, rest)}
		if countable {
			out.exact = stat.FisherExact(stat.Stratum{K1: hits(one), N1: one.N(), K2: hits(rest), N2: rest.N()}).P
		}
		return out
	}
	mine := cast{named: part.cast.named.coarse(whole.named.shift), alone: part.cast.alone.coarse(whole.alone.shift)}
	others := cast{named: whole.named.without(&mine.named), alone: whole.alone.without(&mine.alone)}
	s := side{metric: metric}
	out := pair{
		one:         robustly(mine.clustered(s), one),
		rest:        robustly(others.clustered(s), rest),
		correlation: correlation(&mine, &others, s, one.Mean(), rest.Mean()),
	}
	if countable {
		out.exact = exactWithin(&mine, &others, s)
	}
	return out
}

// weighted reports whether items have different weights.
func weighted(m stat.Moments) bool { return m.EffectiveN() < float64(m.N()) }

// hits returns the number of ones among zeros and ones; for other values, the nearest such
// number.
func hits(m stat.Moments) int { return int(math.Round(m.Mean() * float64(m.N()))) }

// exactWithin returns the p-value of the exact test of whether the items of a category are
// right as often as the other items of their clusters. It returns 0, for no test, if most
// items of the category have no other items in their cluster.
func exactWithin(mine, others *cast, s side) float64 {
	var strata []stat.Stratum
	shared, all := 0, 0
	add := func(a, b group) {
		x, n, okA := s.of(a)
		y, m, okB := s.of(b)
		if !okA {
			return
		}
		all += int(n)
		if okB {
			shared += int(n)
			strata = append(strata, stat.Stratum{K1: int(math.Round(x * n)), N1: int(n), K2: int(math.Round(y * m)), N2: int(m)})
		}
	}
	for _, key := range mine.named.keys() { // in order, so that the sum is reproducible
		add(mine.named.of[key], others.named.of[key])
	}
	add(mine.alone.sum(), others.alone.sum()) // items without a cluster are exchangeable
	if 2*shared < all {
		return 0
	}
	return stat.FisherExact(strata...).P
}

// robustly returns the cluster-robust estimate at any level.
func robustly(c *stat.Clustered, m stat.Moments) func(float64) stat.Estimate {
	return func(level float64) stat.Estimate { return ofItems(c.Mean(level, stat.Unit), m) }
}

// correlation returns the correlation of two means due to shared clusters: in a difficult
// conversation, the questions of all categories are difficult.
func correlation(a, b *cast, s side, meanA, meanB float64) float64 {
	both, ones, others := 0.0, 0.0, 0.0
	for _, kind := range [][2]groups{{a.named, b.named}, {a.alone, b.alone}} {
		for _, key := range kind[0].keys() {
			x, y := excess(s, kind[0].of[key], meanA), excess(s, kind[1].of[key], meanB)
			both += float64(x * y)
			ones += float64(x * x)
		}
		for _, key := range kind[1].keys() {
			y := excess(s, kind[1].of[key], meanB)
			others += float64(y * y)
		}
	}
	r := both / math.Sqrt(ones*others)
	if !(r >= -1 && r <= 1) {
		return 0
	}
	return r
}

// excess returns the weighted sum of the deviations of a group from a mean.
func excess(s side, g group, mean float64) float64 {
	x, w, ok := s.of(g)
	if !ok {
		return 0
	}
	return float64(w * (x - mean)) // the conversion prevents fusing with the sums that follow
}

// difference returns the difference of the two means with an interval at the level.
//
// Source: G. Y. Zou and A. Donner, "Construction of confidence limits about effect
// measures: a general approach", Statistics in Medicine 27 (2008), 1693-1702: the
// distances from a value to the ends of its interval replace the standard errors, each
// on its own side. For independent proportions it is Newcombe's method 10. It is valid
// if the two intervals are.
func (p pair) difference(level float64) stat.Estimate {
	a, b := p.one(level), p.rest(level)
	est := stat.Estimate{Value: a.Value - b.Value, Level: a.Level, N: a.N + b.N, Method: methodMover}
	if a.Method == stat.MethodNone || b.Method == stat.MethodNone {
		est.Method = stat.MethodNone
	}
	est.Lo = math.Max(-1, est.Value-p.join(a.Value-a.Lo, b.Hi-b.Value))
	est.Hi = math.Min(1, est.Value+p.join(a.Hi-a.Value, b.Value-b.Lo))
	for _, warning := range slices.Concat(a.Warnings, b.Warnings) {
		est = est.Warn(warning)
	}
	return est
}

// join combines the distances of two correlated values.
func (p pair) join(x, y float64) float64 {
	return math.Sqrt(math.Max(0, float64(x*x)+float64(y*y)-float64(2*p.correlation*x*y)))
}

// p returns the p-value that corresponds to the intervals: the one at which the end of the
// interval nearer to 0 reaches 0.
func (p pair) p() float64 {
	beyond := func(log float64) float64 {
		est := p.difference(1 - math.Exp(log))
		if est.Value < 0 {
			return -est.Hi
		}
		return est.Lo
	}
	found := math.Exp(root(beyond, math.Log(smallestP), math.Log(1-1e-9)))
	scale := math.Pow(10, 3-math.Floor(math.Log10(found))) // four digits, the precision of the search
	return math.Min(math.Round(found*scale)/scale, 1)
}

// root returns where f, an increasing function, crosses 0 between lo and hi, to one part in
// a million, or the nearer end if it does not.
//
// Source: the Illinois method (M. Dowell and P. Jarratt, "A modified regula falsi method
// for computing the root of an equation", BIT 11, 1971): a line through both ends finds the
// crossing in few steps, and an end that stays twice counts half.
func root(f func(float64) float64, lo, hi float64) float64 {
	below, above := f(lo), f(hi)
	if below > 0 {
		return lo
	}
	if above <= 0 {
		return 0 // p is 1
	}
	last := 0
	for range 100 {
		x := hi - above*(hi-lo)/(above-below)
		if hi-lo < 1e-6 || x <= lo || x >= hi {
			break
		}
		switch y := f(x); {
		case y > 0:
			if hi-x < 1e-7 {
				return x
			}
			hi, above = x, y
			if last > 0 {
				below /= 2
			}
			last = 1
		default:
			if x-lo < 1e-7 {
				return x
			}
			lo, below = x, y
			if last < 0 {
				above /= 2
			}
			last = -1
		}
	}
	return hi
}
