package stat

import (
	"cmp"
	"math"
	"slices"
)

// A Trusted is one decision of a judge whose truth is known: how sure the judge was,
// and whether it was right.
type Trusted struct {
	Confidence float64
	Right      bool
}

// A Promise is a threshold on confidence with what it promises: of decisions at least
// that sure, a share of at most Alpha is wrong. The promise is kept with a probability
// of at least 1-Delta over the choice of the labelled decisions.
type Promise struct {
	Alpha float64 `json:"alpha"`
	Delta float64 `json:"delta"`

	Threshold float64 `json:"threshold"`

	Labelled int `json:"labelled"` // decisions whose truth was known
	Decided  int `json:"decided"`  // of them at least as sure as the threshold
	Wrong    int `json:"wrong"`    // of these

	// Bound is the upper end of the exact one-sided interval of the share of wrong
	// decisions at level 1-Delta. It is at most Alpha.
	Bound float64 `json:"bound"`
}

// A NoPromise says why no threshold can be promised.
type NoPromise struct {
	Labelled int // decisions whose truth is known
	Need     int // so many are needed even if none of them is wrong

	// First and Wrong are how many decisions were looked at first, and how many of
	// those were wrong, when there were enough.
	First, Wrong int
}

// TooFew reports whether more labels are needed before anything can be said.
func (e *NoPromise) TooFew() bool { return e.Labelled < e.Need }

// Error says which of the two it is.
func (e *NoPromise) Error() string {
	if e.TooFew() {
		return "too few labels to promise anything"
	}
	return "the surest decisions are wrong too often to promise anything"
}

// promiseSteps is how many thresholds are tried at most. Each further threshold is one
// more chance for the sequence to end early by bad luck.
const promiseSteps = 20

// Guarantee returns the lowest threshold on confidence for which it can be promised
// that a share of at most alpha of the decisions above it is wrong, with a probability
// of at least 1-delta. The error is a [*NoPromise] when there is none. Alpha and delta
// lie between 0 and 1, both excluded; otherwise no number of labels is enough.
//
// Thresholds are tested from the highest down, each at level delta with the exact
// binomial test of "more than alpha is wrong", and the first that does not pass ends
// the sequence. As their order was fixed before any label was looked at, and the first
// failure ends it, none of the tests has to be made stricter for the others. The first
// threshold has so many decisions above it that the test passes with 60% of the errors
// that are allowed, but not more than a third of all decisions: above a higher one luck
// would decide, and above a lower one a judge of which only the surest decisions can
// be trusted would have no chance. That looks at confidences, never at labels.
//
// Decisions must be independent of each other and of the same kind as those that the
// promise is for.
//
// Source: A. Angelopoulos et al., "Learn then test", arXiv 2110.01052; used for judges
// by J. Jung, F. Brahman and Y. Choi, "Trust or escalate", arXiv 2407.18370.
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
		// Decisions that are equally sure are above a threshold together.
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

// firstTest returns the smallest number of decisions with which the test passes when
// 60% of the errors are made that are allowed.
func firstTest(alpha, delta float64) int {
	n := labelsNeeded(alpha, delta)
	for atMost(int(math.Ceil(float64(n)*alpha*0.6)), n, alpha) > delta {
		n += 1 + n/50
	}
	return n
}

// labelsNeeded returns how many decisions must be known to be right, and none wrong,
// before a promise can be made: the smallest n with (1-alpha)^n <= delta. It is the
// largest integer when no number would do, as for an alpha of 0.
func labelsNeeded(alpha, delta float64) int {
	if !(alpha > 0 && alpha < 1 && delta > 0 && delta < 1) {
		return math.MaxInt
	}
	about := math.Log(delta) / math.Log1p(-alpha)
	if about > 1e9 { // One more or less is beyond what a float tells.
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
