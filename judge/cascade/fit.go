package cascade

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"deem"
)

// A Labelled is an item with a human label and the verdict of each stage.
type Labelled struct {
	ID      string
	Cluster string // "" if the item is not in a cluster
	Yes     bool   // the human label

	// Verdicts are those of the stages in order; nil if a stage has none.
	Verdicts []*deem.Verdict
}

// A Fitted is the threshold of one stage with its guarantee, and the stage's results on all
// labelled items. The guarantee is that of the decisions with at least the confidence
// Threshold, at most a share of Alpha is wrong, with a probability of at least 1-Delta over
// the choice of the labels.
type Fitted struct {
	Name string `json:"name"`

	Alpha float64 `json:"alpha"`
	Delta float64 `json:"delta"`

	Threshold float64 `json:"threshold"`

	Labelled int `json:"labelled"` // decisions with known truth
	Decided  int `json:"decided"`  // of them at or above the threshold
	Wrong    int `json:"wrong"`    // of these

	// Bound is the upper end of the exact one-sided interval of the share of wrong
	// decisions at level 1-Delta. It is at most Alpha.
	Bound float64 `json:"bound"`

	Reached int `json:"reached"` // labelled items that no earlier stage decided
	Took    int `json:"took"`    // how many of these this stage decided
	Agreed  int `json:"agreed"`  // how many of these decisions agree with people

	// Clustered is the number of labels left out so that at most one item of each
	// cluster is used: items that are not independent are not independent evidence.
	Clustered int `json:"clustered,omitempty"`
}

// A FitError is returned if there is no guarantee for a stage. It wraps [ErrTooFew],
// [ErrNoConfidence] or [ErrContradicted], or says that the most confident decisions are
// wrong too often.
type FitError struct {
	Stage     string
	Clustered int // labels left out; see [Fitted]
	Labelled  int // decisions with known truth
	Need      int // the number needed even if none of them is wrong

	// Decided and Wrong are the number of decisions in the test that failed, and the number
	// of those that were wrong.
	Decided, Wrong int

	Err error
}

// Error describes the error with the name of the stage.
func (e *FitError) Error() string { return fmt.Sprintf("stage %s: %v", e.Stage, e.Err) }

// Unwrap returns the reason.
func (e *FitError) Unwrap() error { return e.Err }

// The reasons why a stage has no guarantee.
var (
	// ErrTooFew means that more labels are needed for any guarantee.
	ErrTooFew = errors.New("too few labels to promise anything")

	// ErrNoConfidence means that no verdict of a stage has a confidence.
	ErrNoConfidence = errors.New("its verdicts do not say how sure they are, and a threshold would have nothing to hold on to")

	// ErrContradicted means that people disagree with a larger share of a stage's decisions
	// on all labelled items than the bound found with one item of each cluster allows.
	ErrContradicted = errors.New("labelled items contradict the bound found with one item of each cluster")

	errTooWrong = errors.New("the surest decisions are wrong too often to promise anything")
)

// Fit returns the thresholds of the named stages such that, with a probability of at least
// 1-delta, at least a share 1-alpha of their decisions agree with people.
//
// Several stages share delta equally, and each stage has separate labels: which items the
// second stage sees depends on the threshold of the first, so the labels that the first was
// fitted on are biased for the second. Labels are assigned to stages by the id of the item,
// or by its cluster, because items of one cluster would connect the stages. If each stage
// meets its guarantee, the cascade does too, because each stage agrees on 1-alpha of its
// decisions.
func Fit(stages []string, items []Labelled, alpha, delta float64) ([]Fitted, error) {
	for _, x := range []float64{alpha, delta} {
		if !(x > 0 && x < 1) {
			return nil, fmt.Errorf("alpha and delta lie between 0 and 1, and %v does not", x)
		}
	}
	var fitted []Fitted
	open := items
	for i, name := range stages {
		var own []Labelled // the labels of this stage
		for _, it := range open {
			if digest(cmp.Or(it.Cluster, it.ID))%uint64(len(stages)) == uint64(i) { //nolint:gosec // Both are small.
				own = append(own, it)
			}
		}
		f := Fitted{Name: name, Reached: len(open)}
		own, f.Clustered = thin(own)
		var decisions []trusted
		verdicts := 0
		for _, it := range own {
			v := it.Verdicts[i]
			if v == nil {
				continue
			}
			verdicts++
			if v.Confidence != nil {
				decisions = append(decisions, trusted{confidence: *v.Confidence, right: v.Yes() == it.Yes})
			}
		}
		if verdicts > 0 && len(decisions) == 0 {
			return nil, &FitError{Stage: name, Clustered: f.Clustered, Err: ErrNoConfidence}
		}
		if err := f.guarantee(decisions, alpha, delta/float64(len(stages))); err != nil {
			return nil, err
		}
		var rest []Labelled // the items that stay undecided
		stage := Stage{Threshold: &f.Threshold}
		for _, it := range open {
			v := it.Verdicts[i]
			if v == nil || !stage.accepts(*v) {
				rest = append(rest, it)
				continue
			}
			f.Took++
			if v.Yes() == it.Yes {
				f.Agreed++
			}
		}
		open = rest
		if f.Clustered > 0 && float64(f.Took-f.Agreed) > f.Bound*float64(f.Took) {
			return nil, &FitError{
				Stage: name, Decided: f.Took, Wrong: f.Took - f.Agreed,
				Err: fmt.Errorf("%w: people disagree with %d of %d decisions, more than %.1f%%", ErrContradicted, f.Took-f.Agreed, f.Took, 100*f.Bound),
			}
		}
		fitted = append(fitted, f)
	}
	return fitted, nil
}

// digest returns a number that depends only on the id of an item or a cluster.
func digest(id string) uint64 {
	sum := sha256.Sum256([]byte("cascade " + id))
	return binary.BigEndian.Uint64(sum[:])
}

// thin keeps at most one item per cluster, and returns the number of items left out. A
// cluster is kept with a probability proportional to its size. So the kept items are
// independent, and each item is equally likely to be kept; one item of every cluster would
// measure the error rate of clusters, not of items. The choice depends only on names, not
// on labels or verdicts.
func thin(items []Labelled) (kept []Labelled, out int) {
	largest := 1
	size := map[string]int{}
	for _, it := range items {
		if it.Cluster != "" {
			size[it.Cluster]++
			largest = max(largest, size[it.Cluster])
		}
	}
	best := map[string]int{} // index in kept
	for _, it := range items {
		lot := float64(digest("size "+cmp.Or(it.Cluster, it.ID))) / math.MaxUint64
		if lot*float64(largest) > float64(max(size[it.Cluster], 1)) {
			continue
		}
		at, seen := best[it.Cluster]
		switch {
		case it.Cluster == "" || !seen:
			best[it.Cluster] = len(kept)
			kept = append(kept, it)
		case digest(it.ID) < digest(kept[at].ID):
			kept[at] = it
		}
	}
	return kept, len(items) - len(kept)
}
