package cascade

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// A trusted is one decision of a judge with known truth: its confidence, and whether it was
// right.
type trusted struct {
	confidence float64
	right      bool
}

// guaranteeSteps is the maximum number of thresholds that are tried. Each further threshold
// is another chance for the sequence to end early by bad luck.
const guaranteeSteps = 20

// guarantee sets the lowest confidence threshold for which it can be guaranteed that at
// most a share of alpha of the decisions above it is wrong, with a probability of at least
// 1-delta. It returns a *FitError if there is none. Alpha and delta must be strictly
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
func (f *Fitted) guarantee(decisions []trusted, alpha, delta float64) error {
	sorted := slices.Clone(decisions)
	slices.SortStableFunc(sorted, func(a, b trusted) int { return cmp.Compare(b.confidence, a.confidence) })
	none := &FitError{Stage: f.Name, Clustered: f.Clustered, Labelled: len(sorted), Need: labelsNeeded(alpha, delta)}
	if none.Labelled < none.Need {
		none.Err = ErrTooFew
		return none
	}
	f.Alpha, f.Delta, f.Labelled = alpha, delta, len(sorted)
	enough := none.Need // with which the test passes with 60% of the allowed errors
	for atMost(int(math.Ceil(float64(enough)*alpha*0.6)), enough, alpha) > delta {
		enough += 1 + enough/50
	}
	start := max(none.Need, min(enough, len(sorted)/3))
	step := max(1, len(sorted)/guaranteeSteps)
	wrong, seen := 0, 0
	for n := start; seen < len(sorted); n = max(n, seen) + step {
		// Decisions of equal confidence are above a threshold together.
		for seen < len(sorted) && (seen < n || sorted[seen].confidence == sorted[seen-1].confidence) {
			if !sorted[seen].right {
				wrong++
			}
			seen++
		}
		if atMost(wrong, seen, alpha) > delta {
			break
		}
		f.Threshold, f.Decided, f.Wrong = sorted[seen-1].confidence, seen, wrong
	}
	if f.Decided == 0 {
		none.Decided, none.Wrong, none.Err = seen, wrong, errTooWrong
		return none
	}
	// The upper end of the exact one-sided interval (Clopper and Pearson 1934).
	f.Bound = mathext.InvRegIncBeta(float64(f.Wrong)+1, float64(f.Decided-f.Wrong), 1-delta)
	return nil
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
		return int(min(math.Ceil(about), 1<<62))
	}
	n := max(int(about), 1)
	for atMost(0, n, alpha) > delta {
		n++
	}
	return n
}

// atMost returns the probability of at most k hits in n tries with probability p.
func atMost(k, n int, p float64) float64 {
	switch {
	case k >= n:
		return 1
	case k == 0:
		return math.Pow(1-p, float64(n))
	}
	return mathext.RegIncBeta(float64(n-k), float64(k)+1, 1-p)
}
