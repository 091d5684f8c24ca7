package cascade

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"deem"
	"deem/stat"
)

// A Labelled is an item of which people have said whether it is right, with what the
// judge of each stage said of it.
type Labelled struct {
	ID      string
	Cluster string // "" when the item stands for itself
	Yes     bool   // what people say

	// Verdicts are those of the stages in their order; nil where a stage has none.
	Verdicts []*deem.Verdict
}

// A Fitted is the threshold of one stage with what it promises, and what the stage did
// on all labelled items.
type Fitted struct {
	Name string `json:"name"`
	stat.Promise

	Reached int `json:"reached"` // labelled items that no stage before decided
	Took    int `json:"took"`    // of them this stage decided so many
	Agreed  int `json:"agreed"`  // of these people say the same of so many

	// Clustered counts labels that were left out, so that one item at most is taken of
	// each cluster: items that are not independent are not independent evidence.
	Clustered int `json:"clustered,omitempty"`
}

// A FitError says which stage nothing can be promised of. It wraps a [*stat.NoPromise],
// or [ErrNoConfidence].
type FitError struct {
	Stage     string
	Clustered int // labels that were left out; see [Fitted]
	Err       error
}

// Error names the stage.
func (e *FitError) Error() string { return fmt.Sprintf("stage %s: %v", e.Stage, e.Err) }

// Unwrap returns what is the matter with the stage.
func (e *FitError) Unwrap() error { return e.Err }

// A Contradiction says that people disagree with a larger share of what a stage decides on
// all labelled items than the bound allows that was found with one item of each cluster.
type Contradiction struct {
	Decided, Wrong int
	Bound          float64
}

// Error says so.
func (e *Contradiction) Error() string {
	return fmt.Sprintf("people disagree with %d of %d labelled decisions, more than the bound of %.1f%% found with one item of each cluster",
		e.Wrong, e.Decided, 100*e.Bound)
}

// ErrNoConfidence means that no verdict of a stage says how sure it is.
var ErrNoConfidence = errors.New("its verdicts do not say how sure they are, and a threshold would have nothing to hold on to")

// Fit returns the thresholds of the named stages, such that what they decide agrees
// with people in a share of at least 1-alpha of items, with a probability of at least
// 1-delta.
//
// Several stages share delta equally, and each has labels of its own: which items the
// second stage is asked about depends on the threshold of the first, so the labels
// that the first was fitted on say nothing unbiased about the second any more. Which
// labels go to which stage depends on the id of the item alone, or on its cluster, whose
// items would tell one stage about the other. If each stage keeps its
// promise, so do all together, because each agrees on 1-alpha of what it decides.
func Fit(stages []string, items []Labelled, alpha, delta float64) ([]Fitted, error) {
	for _, x := range []float64{alpha, delta} {
		if !(x > 0 && x < 1) {
			return nil, fmt.Errorf("alpha and delta lie between 0 and 1, and %v does not", x)
		}
	}
	var fitted []Fitted
	open := items
	for i, name := range stages {
		var own []Labelled
		for _, it := range open {
			if part(cmp.Or(it.Cluster, it.ID), len(stages)) == i {
				own = append(own, it)
			}
		}
		f := Fitted{Name: name, Reached: len(open)}
		own, f.Clustered = thin(own)
		var err error
		if f.Promise, err = promise(own, i, alpha, delta/float64(len(stages))); err != nil {
			return nil, &FitError{Stage: name, Clustered: f.Clustered, Err: err}
		}
		open = f.take(open, i)
		if f.Clustered > 0 && float64(f.Took-f.Agreed) > f.Bound*float64(f.Took) {
			return nil, &FitError{Stage: name, Err: &Contradiction{Decided: f.Took, Wrong: f.Took - f.Agreed, Bound: f.Bound}}
		}
		fitted = append(fitted, f)
	}
	return fitted, nil
}

// promise fits the i-th stage on its own labels.
func promise(own []Labelled, i int, alpha, delta float64) (stat.Promise, error) {
	var decisions []stat.Trusted
	verdicts := 0
	for _, it := range own {
		v := it.Verdicts[i]
		if v == nil {
			continue
		}
		verdicts++
		if v.Confidence != nil {
			decisions = append(decisions, stat.Trusted{Confidence: *v.Confidence, Right: v.Yes() == it.Yes})
		}
	}
	if verdicts > 0 && len(decisions) == 0 {
		return stat.Promise{}, ErrNoConfidence
	}
	return stat.Guarantee(decisions, alpha, delta)
}

// take counts what the stage decides of the items that are open, and returns the rest.
func (f *Fitted) take(open []Labelled, i int) []Labelled {
	var rest []Labelled
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
	return rest
}

// digest returns a number that depends on nothing but the id, of an item or a cluster.
func digest(id string) uint64 {
	sum := sha256.Sum256([]byte("cascade " + id))
	return binary.BigEndian.Uint64(sum[:])
}

// part returns which of n stages has the labels of an item or a cluster.
func part(id string, n int) int { return int(digest(id) % uint64(n)) } //nolint:gosec // n is a handful of stages.

// thin keeps one item of some clusters, and says how many items it left out. A cluster is
// kept with a probability that is proportional to its size, so that the items that are
// kept are independent of each other and each is drawn from all items alike: one item of
// every cluster would say how often clusters go wrong, and not items. Which are kept
// depends on names alone, and not on what anybody said of them.
func thin(items []Labelled) (kept []Labelled, out int) {
	largest := 1
	size := map[string]int{}
	for _, it := range items {
		if it.Cluster != "" {
			size[it.Cluster]++
			largest = max(largest, size[it.Cluster])
		}
	}
	best := map[string]int{} // place in kept
	for _, it := range items {
		lot := float64(digest("size "+cmp.Or(it.Cluster, it.ID))) / math.MaxUint64
		if lot*float64(largest) > float64(max(size[it.Cluster], 1)) {
			out++
			continue
		}
		at, seen := best[it.Cluster]
		switch {
		case it.Cluster == "" || !seen:
			best[it.Cluster] = len(kept)
			kept = append(kept, it)
		case digest(it.ID) < digest(kept[at].ID):
			kept[at] = it
			out++
		default:
			out++
		}
	}
	return kept, out
}
