package report

import (
	"math"

	"deem/stat"
)

// differs is the footnote of a category whose score differs from that of all other items.
const differs = "differs from the rest: the interval of the difference leaves out 0, and all such intervals hold together with 95% confidence"

// significant is the p-value below which a category differs from the rest.
const significant = 0.05

// A Contrast compares the judged items of a category with all other judged items.
type Contrast struct {
	// Difference is the score of the category minus that of the rest. The intervals of all
	// categories hold simultaneously with 95% confidence, so each has a higher level. An
	// interval excludes 0 exactly if PAdjusted is below 0.05.
	Difference stat.Estimate `json:"difference"`

	// P is the larger of two p-values: that of an exact test, if all scores are 0 or 1, and
	// the smallest p at which an interval at level 1-p excludes 0, with a lower limit of
	// 1e-9. It is 1 if there is no exact test and the category has fewer than six clusters. PAdjusted is P times the number of comparisons, at most 1.
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
		pair := by.pairOf(part, &whole, rests[i], all.guesses.Minus(part.guesses), metric)
		p := math.Max(stat.IntervalP(pair.At), pair.exact)
		c := &Contrast{P: p, PAdjusted: math.Min(1, p*float64(tests))}
		c.Difference = pair.At(1 - significant/float64(tests))
		switch {
		case c.PAdjusted >= significant:
			c.Difference.Lo, c.Difference.Hi = math.Min(c.Difference.Lo, 0), math.Max(c.Difference.Hi, 0)
		case !c.Difference.LeavesOut(0):
			c.PAdjusted = significant // p has four digits, and rounding moved it below
		}
		rows[i].Rest = c
	}
}

// A pair is a category and all other items. Their means are correlated if they share
// clusters.
type pair struct {
	stat.Contrast
	exact float64 // the p-value of an exact test, 0 if there is none
}

// enoughToMark is the number of clusters with items of a category from which its difference
// from the rest is tested by its interval. The correlation of the two means is estimated
// from these clusters: two of them always give -1 or 1, and up to five made every
// twelfth to third report mark a category of graded scores that did not differ.
const enoughToMark = 6

// pairOf returns a category and all other items, of which the given ones are guesses. Tests
// always use formulas, even if intervals are resampled: p-values need levels beyond what a
// few thousand draws can resolve.
func (by estimator) pairOf(part *tally, whole *cast, rest stat.Moments, guesses stat.Guesses, metric string) pair {
	one := part.values(metric)
	a, b := by.score(one, metric), by.score(rest, metric)
	a.Undecided = part.guesses.Allowance(one.Weight(), by.calibration)
	b.Undecided = guesses.Allowance(rest.Weight(), by.calibration)
	// Means of trials count as the rounded sum, which makes the test more conservative.
	countable := a.Share && b.Share && !weighted(one) && !weighted(rest)
	out := pair{}
	if by.clustered {
		mine := cast{named: part.cast.named.coarse(whole.named.shift), alone: part.cast.alone.coarse(whole.alone.shift)}
		others := cast{named: whole.named.without(&mine.named), alone: whole.alone.without(&mine.alone)}
		s := side{metric: metric}
		a.Clusters, b.Clusters = mine.clustered(s), others.clustered(s)
		out.Correlation = correlation(&mine, &others, s, one.Mean(), rest.Mean())
		if countable {
			out.exact = exactWithin(&mine, &others, s)
		}
		if out.exact == 0 && a.Clusters.Clusters() < enoughToMark {
			out.exact = 1
		}
	} else if countable {
		out.exact = stat.FisherExact(stat.Stratum{K1: hits(one), N1: one.N(), K2: hits(rest), N2: rest.N()}).P
	}
	out.One, out.Rest = a.At, b.At
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
