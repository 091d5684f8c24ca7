package compare

import (
	"io"

	"deem"
	"deem/internal/doc"
	"deem/stat"
)

// A Comparison is the result of comparing runs, as data. The first run is the baseline. Its
// JSON is a contract: fields may be added, but do not change their meaning within one
// version.
type Comparison struct {
	Version string `json:"version"` // "deem.compare/1"
	Metric  string `json:"metric"`  // of all scores and differences

	Level       float64 `json:"level"`
	Margin      float64 `json:"margin,omitempty"` // within which runs count as equivalent; 0 means no such test
	Seed        uint64  `json:"seed"`             // of permutation tests
	MaxUnjudged float64 `json:"max_unjudged"`

	Runs []Side `json:"runs"`

	// Unpaired says why items are not paired: the baseline is a saved report and not a run.
	// It is "" if they are paired.
	Unpaired string `json:"unpaired,omitempty"`

	// Lint lists what makes the comparison unfair, errors first.
	Lint []Finding `json:"lint"`

	// Refused reports whether Lint has an error and Options.Anyway is not set. There are
	// then no pairs and no ranking.
	Refused bool `json:"refused"`

	// Hold says why the differences between judged items are withheld, or is null.
	Hold *Hold `json:"withheld"`

	Items Items `json:"items"`

	// Pairs are the differences of the other runs from the baseline, in their order.
	Pairs []Pair `json:"pairs"`

	// Ranking ranks the runs. It is null if differences are refused or withheld.
	Ranking *Ranking `json:"ranking"`

	// Frontiers plot the scores against the cost of the responses, one for each measure
	// that at least two runs have.
	Frontiers []Frontier `json:"frontiers,omitempty"`

	// Notes are warnings about the whole comparison. Warnings about one number are with
	// that number.
	Notes []string `json:"notes"`
}

// A Side is a run with its own numbers, before anything is paired.
type Side struct {
	Run
	Figures
	Categories []Figures `json:"categories"` // sorted by name; empty if no item has one

	// System is the cost of the responses for the system, if the items contain it.
	System []doc.Sum `json:"system_under_test,omitempty"`
}

// Figures are the numbers of a run, which are always shown together.
type Figures struct {
	Category string `json:"category,omitempty"` // "(none)" for items without one

	// Judged is the estimate over judged items. It is null if too many items are unjudged
	// or none was judged.
	Judged *stat.Estimate `json:"judged"`

	// Strict is the estimate over all items with each failure counted as wrong.
	Strict stat.Estimate `json:"strict"`

	Items    int `json:"items"`
	Unjudged int `json:"unjudged"`
}

// Items counts the items that the runs have in common.
type Items struct {
	All    int `json:"all"`    // items that some run has
	Common int `json:"common"` // items that all runs have
	Judged int `json:"judged"` // items that all runs have a verdict for

	// Missing are the items that a run does not have although another does, in the order of
	// the runs.
	Missing []Named `json:"missing"`
}

// Named counts items and lists the first of them.
type Named struct {
	N        int      `json:"n"`
	Examples []string `json:"examples"`
}

// A Hold says why differences are withheld.
type Hold struct {
	Reason   string  `json:"reason"` // without a full stop
	Run      string  `json:"run"`    // the name of the run with the most unjudged items
	Unjudged int     `json:"unjudged"`
	Items    int     `json:"items"`
	Limit    float64 `json:"limit"`
}

// The outcomes of a comparison of two runs.
const (
	Better     = "better"     // the second is better
	Worse      = "worse"      // the second is worse
	Equivalent = "equivalent" // neither is shown, and the difference is within the margin
	Undecided  = "undecided"  // none of these is shown
)

// A Pair is the difference of a run from the baseline.
type Pair struct {
	First  int `json:"first"` // index in Runs; 0, the baseline
	Second int `json:"second"`

	Overall    Difference   `json:"overall"`
	Categories []Difference `json:"categories"` // sorted by name; empty if no item has one

	// Corrected is the overall difference corrected by human labels. It is null unless both
	// runs have labels, and if differences are withheld.
	Corrected *Corrected `json:"corrected"`

	// Score is the difference of mean scores, if the metric is the pass rate and scores
	// differ from it. It is null otherwise.
	Score *Difference `json:"score"`

	// Won are the items that the second run passes and the first does not, and Lost the
	// opposite. The first of them are listed.
	Won  Flips `json:"won"`
	Lost Flips `json:"lost"`
}

// A Difference is the score of one run minus that of another, over the items that both
// judged.
type Difference struct {
	Category string `json:"category,omitempty"` // "(none)" for items without one

	// First and Second are the scores of both runs over the items that both judged.
	First  float64 `json:"first"`
	Second float64 `json:"second"`

	// Estimate is second - first. It is null if it is withheld or no item was judged by
	// both.
	//
	// The intervals of categories are simultaneous: those of a pair hold together at the
	// level of the comparison, and each excludes 0 exactly if the outcome is "better" or
	// "worse".
	Estimate *stat.Estimate `json:"difference"`

	// Test tests whether there is a difference at all. Adjusted is its p-value after
	// Bonferroni over the categories of a pair or, for overall differences, after Holm over
	// all pairs of runs. Test is null if Estimate is, and in comparisons without tests.
	Test     *stat.Test `json:"test"`
	Adjusted *float64   `json:"p_adjusted"`

	// McNemar is the exact test that treats all items as independent. It is set if Test is
	// a different one because items come in clusters.
	McNemar *stat.Test `json:"mcnemar,omitempty"`

	// Outcome is "better", "worse", "equivalent" or "undecided", and "" without an
	// estimate.
	Outcome string `json:"outcome"`

	// Equivalence says whether the difference is within the margin. It is null without a
	// margin or an estimate.
	Equivalence *Equivalence `json:"equivalence,omitempty"`

	N      int `json:"n"` // items that both judged
	Wins   int `json:"wins"`
	Losses int `json:"losses"`
	Ties   int `json:"ties"`

	// Unjudged counts items that both runs have but not both judged. Strict counts each
	// failure as wrong, so it is over N + Unjudged items.
	Unjudged int           `json:"unjudged"`
	Strict   stat.Estimate `json:"strict"`

	// Detectable is the smallest difference that this number of items would show with 80%
	// power.
	Detectable float64 `json:"min_detectable"`
}

// An Equivalence is the result of two one-sided tests for a margin: equivalent means that
// the difference is between -margin and margin, and non-inferior that it is above -margin.
type Equivalence struct {
	Margin float64 `json:"margin"`

	// P is the larger p-value of the two tests, and NotWorse that of the lower one. Both
	// are adjusted by Bonferroni for the number of differences tested together.
	P        float64 `json:"p_adjusted"`
	NotWorse float64 `json:"p_not_worse_adjusted"`

	Equivalent  bool `json:"equivalent"`
	NonInferior bool `json:"non_inferior"`

	// Interval is the interval that must be within the margin. Its level is lower than that
	// of the difference, 90% for 95%, because each of its ends is a separate test.
	Interval stat.Estimate `json:"interval"`
}

// Flips are items on which two runs differ.
type Flips struct {
	N     int    `json:"n"`
	First []Flip `json:"first"` // the first of them, in the order of the dataset
}

// A Flip is an item on which runs differ: one passes and another does not.
type Flip struct {
	ID       string    `json:"id"`
	Category string    `json:"category,omitempty"`
	Position int       `json:"position"`
	Outcomes []Outcome `json:"outcomes"` // one for each run
}

// An Outcome is the result of a run for an item.
type Outcome struct {
	Yes     *bool     `json:"yes"` // null if the item is unjudged or the run does not have it
	Label   string    `json:"label,omitempty"`
	Score   float64   `json:"score"`
	Failure deem.Kind `json:"failure,omitempty"`
}

// A Ranking orders runs by their score over the items that all of them judged.
type Ranking struct {
	Places []Place `json:"places"` // best first

	// Ordered reports whether some run is better than another. Otherwise there are no
	// ranks.
	Ordered bool `json:"ordered"`

	// Pairs are the differences of all pairs of runs, Holm-adjusted over them, in the
	// order (0,1), (0,2), ..., (1,2), ...
	Pairs []Pairing `json:"pairs"`

	// Cochran tests whether all runs are equally good: Cochran's Q or, if items come in
	// clusters, a permutation test that keeps them together. It is null for two runs, and
	// for scores other than 0 and 1.
	Cochran *stat.Test `json:"cochran"`
}

// A Place is the place of a run in a ranking.
type Place struct {
	// Rank is one plus the number of runs that are better. Indistinguishable runs share a
	// rank. It is 0, and absent from JSON, if no order is established.
	Rank int `json:"rank,omitempty"`

	Run  int    `json:"run"` // index in Runs
	Name string `json:"name"`

	Estimate stat.Estimate `json:"estimate"`
}

// A Pairing is the overall difference of two runs.
type Pairing struct {
	First  int `json:"first"`
	Second int `json:"second"`
	Difference
}

// JSON writes the comparison as indented JSON.
func (c Comparison) JSON(w io.Writer) error { return doc.JSON(w, c) }
