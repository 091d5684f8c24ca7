package agreement

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"deem/stat"
)

// warnSeparated means that the area is 0 or 1.
const warnSeparated = "the scores separate right from wrong completely, so their spread is unknown: " +
	"the interval is that of Newcombe's method 5"

// AUROC returns the probability that a right answer scores higher than a wrong one,
// with equal scores counting half, which is the area under the receiver operating
// characteristic. Weights may be nil; otherwise there is one per answer, and an
// answer of weight 0 does not count. It returns an error if right or wrong answers are
// missing, or if a score or weight is not a usable number.
//
// Source: D. Bamber, Journal of Mathematical Psychology 12 (1975), 387-415. The
// interval at level 0.95 uses the variance of E. R. DeLong, D. M. DeLong and D. L.
// Clarke-Pearson, Biometrics 44 (1988), 837-845, on the logit scale, which keeps it
// within 0 and 1 (Pepe 2003); weights enter it by Kish's effective number. If the
// area is 0 or 1, that variance is 0, and the interval is method 5 of R. G. Newcombe,
// Statistics in Medicine 25 (2006), 559-573. It is good if both kinds occur some
// twenty times.
func AUROC(scores []float64, truth []bool, weights []float64) (stat.Estimate, error) {
	r, err := newRanked(scores, truth, weights)
	if err != nil {
		return stat.Estimate{}, err
	}
	if r.right <= 0 || r.wrong <= 0 {
		return stat.Estimate{}, errors.New("the area under the curve needs right answers and wrong ones")
	}
	sum, below := 0.0, 0.0
	for _, g := range r.groups {
		sum += float64(g.right * (below + g.wrong/2))
		below += g.wrong
	}
	area := stat.Unit.Clip(sum / r.right / r.wrong)
	est := stat.Estimate{Value: area, Level: stat.DefaultLevel, N: len(r.items)}
	if v := r.deLong(area); v > 0 && area > 0 && area < 1 {
		est.Method, est.SE = "delong-logit", math.Sqrt(v)
		z := normalQuantile(stat.DefaultLevel) * est.SE / (area * (1 - area))
		logit := math.Log(area / (1 - area))
		est.Lo, est.Hi = min(logistic(logit-z), area), max(logistic(logit+z), area)
		return est, nil
	}
	// The ends are the areas whose own standard error, as Hanley and McNeil (1982) approximate
	// it for m right and n wrong answers, just reaches to the area.
	est.Method = "newcombe-area"
	m, n := r.effective(true), r.effective(false)
	z := normalQuantile(stat.DefaultLevel)
	more := (m+n)/2 - 1
	reaches := func(a float64) bool {
		v := a * (1 - a) * (1 + float64(more*(1-a))/(2-a) + float64(more*a)/(1+a)) / (m * n)
		return math.Abs(area-a) <= z*math.Sqrt(v)
	}
	est.Lo, est.Hi = edge(area, 0, reaches), edge(area, 1, reaches)
	return est.Warn(warnSeparated), nil
}

// ranked are answers in the order of their scores.
type ranked struct {
	items        []rankedItem
	groups       []scoreGroup
	right, wrong float64 // sums of weights
}

type rankedItem struct {
	score, weight float64
	truth         bool
	group         int
}

// A scoreGroup is all answers with one score.
type scoreGroup struct{ right, wrong float64 }

func newRanked(scores []float64, truth []bool, weights []float64) (*ranked, error) {
	if len(scores) != len(truth) || weights != nil && len(weights) != len(scores) {
		return nil, fmt.Errorf("%d scores, %d labels and %d weights do not match", len(scores), len(truth), len(weights))
	}
	r := &ranked{}
	for i, s := range scores {
		it := rankedItem{score: s, weight: 1, truth: truth[i]}
		if weights != nil {
			it.weight = weights[i]
		}
		if math.IsNaN(s) || !(it.weight >= 0 && it.weight <= maxSize) {
			return nil, fmt.Errorf("answer %d has score %v and weight %v, which is not usable", i+1, s, it.weight)
		}
		if it.weight > 0 {
			r.items = append(r.items, it)
		}
	}
	// Ties have a defined order, so that the order of the answers changes no digit of a
	// sum.
	slices.SortFunc(r.items, func(a, b rankedItem) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.weight, b.weight), cmp.Compare(Number(a.truth), Number(b.truth)))
	})
	for i := range r.items {
		it := &r.items[i]
		if i == 0 || it.score != r.items[i-1].score {
			r.groups = append(r.groups, scoreGroup{})
		}
		it.group = len(r.groups) - 1
		g := &r.groups[it.group]
		if it.truth {
			g.right += it.weight
		} else {
			g.wrong += it.weight
		}
	}
	for _, g := range r.groups {
		r.right += g.right
		r.wrong += g.wrong
	}
	return r, nil
}

// deLong returns the variance of the area: the spread of how each right answer is
// placed among the wrong ones, and each wrong one among the right ones.
func (r *ranked) deLong(area float64) float64 {
	rightBelow, wrongBelow := make([]float64, len(r.groups)), make([]float64, len(r.groups))
	for i := 1; i < len(r.groups); i++ {
		rightBelow[i] = rightBelow[i-1] + r.groups[i-1].right
		wrongBelow[i] = wrongBelow[i-1] + r.groups[i-1].wrong
	}
	var right, wrong float64
	for _, it := range r.items {
		g := r.groups[it.group]
		if it.truth {
			d := (wrongBelow[it.group]+g.wrong/2)/r.wrong - area
			right += float64(it.weight * it.weight * d * d)
		} else {
			d := 1 - (rightBelow[it.group]+g.right/2)/r.right - area
			wrong += float64(it.weight * it.weight * d * d)
		}
	}
	m, n := r.effective(true), r.effective(false)
	if m <= 1 || n <= 1 {
		return 0
	}
	return right/(r.right*r.right)*m/(m-1) + wrong/(r.wrong*r.wrong)*n/(n-1)
}

// effective returns Kish's effective number of right or wrong answers.
func (r *ranked) effective(truth bool) float64 {
	var sum, squares float64
	for _, it := range r.items {
		if it.truth == truth {
			sum += it.weight
			squares += float64(it.weight * it.weight)
		}
	}
	return sum * sum / squares
}

// edge returns the last point on the way from a point that is in to one that may be
// out at which in still holds, by halving.
func edge(from, to float64, in func(float64) bool) float64 {
	if in(to) && to != from {
		return to
	}
	for range 60 {
		mid := (from + to) / 2
		// At 0 and 1 the variance is 0, so the start itself may not be in.
		if in(mid) {
			from = mid
		} else {
			to = mid
		}
	}
	return from
}
