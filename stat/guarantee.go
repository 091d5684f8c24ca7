package stat

import (
	"cmp"
	"math"
	"slices"
)

// A Trusted is one decision of a judge with known truth: its confidence, and whether it was
// right.
type Trusted struct {
	Confidence float64
	Right      bool
}

// A Promise is a confidence threshold with its guarantee: of decisions with at least that
// confidence, at most a share of Alpha is wrong. The guarantee holds with a probability of
// at least 1-Delta over the choice of the labelled decisions.
type Promise struct {
	Alpha float64 `json:"alpha"`
	Delta float64 `json:"delta"`

	Threshold float64 `json:"threshold"`

	Labelled int `json:"labelled"` // decisions with known truth
	Decided  int `json:"decided"`  // of them at or above the threshold
	Wrong    int `json:"wrong"`    // of these

	// Bound is the upper end of the exact one-sided interval of the share of wrong
	// decisions at level 1-Delta. It is at most Alpha.
	Bound float64 `json:"bound"`
}

// A NoPromise is returned if no threshold can be guaranteed.
type NoPromise struct {
	Labelled int // decisions with known truth
	Need     int // the number needed even if none of them is wrong

	// First and Wrong are the number of decisions in the first test, and the number of
	// those that were wrong, if there were enough.
	First, Wrong int
}

// TooFew reports whether more labels are needed for any guarantee.
func (e *NoPromise) TooFew() bool { return e.Labelled < e.Need }

// Error says which of the two reasons applies.
func (e *NoPromise) Error() string {
	if e.TooFew() {
		return "too few labels to promise anything"
	}
	return "the surest decisions are wrong too often to promise anything"
}

// promiseSteps is the maximum number of thresholds that are tried. Each further threshold
// is another chance for the sequence to end early by bad luck.
const promiseSteps = 20

// Guarantee returns the lowest confidence threshold for which it can be guaranteed that at
// most a share of alpha of the decisions above it is wrong, with a probability of at least
// 1-delta. The error is a [*NoPromise] if there is none. Alpha and delta must be strictly
// between 0 and 1; otherwise no number of labels is enough.
//
// Thresholds are tested from the highest down, each at level delta with the exact binomial
// test of "more than alpha is wrong", and the first that does not pass ends the sequence.
// Because their order was fixed before any label was used, and the first failure ends the
// sequence, no correction for multiple tests is needed. The first threshold has as many
// decisions above it as the test needs to pass with 60% of the allowed errors, but at most
// a third of all decisions: with a higher one chance would decide, and with a lower one a
// judge that is reliable only in its most confident decisions would have no chance. This
// choice uses confidences, never labels.
//
// Decisions must be independent of each other and of the same kind as those that the
// guarantee is for.
//
// Source: A. Angelopoulos et al., "Learn then test", arXiv 2110.01052; used for judges by
// J. Jung, F. Brahman and Y. Choi, "Trust or escalate", arXiv 2407.18370.
func Guarantee(decisions []Trusted, alpha, delta float64) (Promise, error) {
	sorted := slices.Clone(decisions)
	slices.SortStableFunc(sorted, func(a, b Trusted) int { return cmp.Compare(b.Confidence, a.Confidence) })
	none := &NoPromise{Labelled: len(sorted), Need: labelsNeeded(alpha, delta)}
	if none.TooFew() {
		return Promise{}, none
	}
	best := Promise{Alpha: alpha, Delta: delta, Labelled: len(sorted)}
	start := max(none.Need, min(firstTest(alpha, delta), len(sorted)/3))
	step := max(1, len(sorted)/promiseSteps)
	wrong, seen := 0, 0
	for n := start; seen < len(sorted); n = max(n, seen) + step {
		// Decisions of equal confidence are above a threshold together.
		for seen < len(sorted) && (seen < n || sorted[seen].Confidence == sorted[seen-1].Confidence) {
			wrong += boolToInt(!sorted[seen].Right)
			seen++
		}
		if atMost(wrong, seen, alpha) > delta {
			break
		}
		best.Threshold, best.Decided, best.Wrong = sorted[seen-1].Confidence, seen, wrong
	}
	if best.Decided == 0 {
		none.First, none.Wrong = seen, wrong
		return Promise{}, none
	}
	best.Bound = upperShare(best.Wrong, best.Decided, delta)
	return best, nil
}

// firstTest returns the smallest number of decisions for which the test passes with 60% of
// the allowed errors.
func firstTest(alpha, delta float64) int {
	n := labelsNeeded(alpha, delta)
	for atMost(int(math.Ceil(float64(n)*alpha*0.6)), n, alpha) > delta {
		n += 1 + n/50
	}
	return n
}

// labelsNeeded returns the number of right decisions, with none wrong, that a guarantee
// needs: the smallest n with (1-alpha)^n <= delta. It is the largest integer if no number
// is enough, for example for an alpha of 0.
func labelsNeeded(alpha, delta float64) int {
	if !(alpha > 0 && alpha < 1 && delta > 0 && delta < 1) {
		return math.MaxInt
	}
	about := math.Log(delta) / math.Log1p(-alpha)
	if about > 1e9 { // a float cannot resolve one more or less
		return wholeItems(about)
	}
	n := int(about)
	for atMost(0, n, alpha) > delta {
		n++
	}
	return max(n, 1)
}

// upperShare returns the upper end of the exact one-sided interval of k in n at level
// 1-delta (Clopper and Pearson 1934).
func upperShare(k, n int, delta float64) float64 {
	if k >= n {
		return 1
	}
	return betaQuantile(1-delta, float64(k)+1, float64(n-k))
}
