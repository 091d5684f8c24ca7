package report

import (
	"io"

	"deem"
	"deem/internal/doc"
	"deem/stat"
)

// A Report is the result of a run as data. Its JSON is a contract: fields may be added, but
// do not change their meaning within one version.
type Report struct {
	Version string `json:"version"` // "deem.report/1"
	Head    Head   `json:"head"`

	// Records counts all records of every trial. Judged counts the items with a verdict in
	// any trial, Undecided those for which the judge gave only a probability, and Unjudged
	// the others.
	Records  int `json:"records"`
	Items    int `json:"items"`
	Judged   int `json:"judged"`
	Unjudged int `json:"unjudged"`

	// Undecided are the items that the judge did not decide, with the first of them. The
	// score counts each with its probability. It is absent if all were decided.
	Undecided *Failures `json:"undecided,omitempty"`

	// Hold says why the headline is withheld. It is null if the headline is given.
	Hold *Hold `json:"withheld"`

	// Metrics are the headline and, if verdicts have both a pass mark and a score, the
	// second metric.
	Metrics []Figures `json:"metrics"`

	// Stopped is the result of the run's stopping rule. It is absent without such a rule.
	Stopped *Stopped `json:"stopped,omitempty"`

	Failures   []Failures `json:"failures"`
	Categories []Category `json:"categories"` // sorted by name; empty if no item has one
	Trials     []Trial    `json:"trials"`     // empty unless there is more than one

	// Noise separates the noise of the judge from that of the choice of items. It is null
	// unless items were judged more than once.
	Noise *Noise `json:"noise"`

	// Confidence is the confidence of the judge. It is null if unknown.
	Confidence *Confidence `json:"confidence"`

	// Detectable is the smallest difference from another run that would be detected with
	// 80% probability. It is null if the headline is.
	Detectable *Detectable `json:"detectable"`

	Aspects  []Aspect  `json:"aspects"`
	Labels   []Label   `json:"labels"` // most frequent first
	Readings []Reading `json:"readings"`
	Clusters Clusters  `json:"clusters"`

	// Retrieval scores what the system retrieved, if the items' fields contain it. It is
	// absent otherwise.
	Retrieval *doc.Retrieval `json:"retrieval,omitempty"`

	// System is what the responses cost the system under test, if the items have the fields
	// tokens_in, tokens_out, latency_ms and cost. Calls is what the judge used.
	System []doc.Sum `json:"system_under_test,omitempty"`
	Calls  Calls     `json:"calls"`

	// Overspent says that the run cost more than its budget. It is absent otherwise.
	Overspent *Overspent `json:"overspent,omitempty"`

	// Published are a benchmark's own metrics, in the form that its package returns. They
	// are absent if the run is not of a benchmark.
	Published any `json:"published,omitempty"`

	// Errata is the effect of known errors in the answer key on the numbers, in the form
	// that package errata returns. It is absent without a list of errors.
	Errata any `json:"errata,omitempty"`

	// Members are the results of the members of a composite judge, in the form that package
	// members returns. They are absent for other judges.
	Members any `json:"members,omitempty"`

	// Lost says where wrong answers of a reader lost the evidence, in the form of the package
	// that compares contexts with evidence. It is absent if no item names its evidence.
	Lost any `json:"lost,omitempty"`

	// Gates are the conditions that the report was checked against, with their results, in
	// the form that the command uses. They are absent if there are none.
	Gates any `json:"gates,omitempty"`

	// PublishedText is Published as text, as the benchmark's package prints it. The HTML
	// form shows it.
	PublishedText string `json:"-"`

	// Notes are warnings about the whole report. Warnings about one number are with that
	// number.
	Notes []string `json:"notes"`
}

// Figures are the numbers of one metric, which are always shown together.
type Figures struct {
	// Metric is "pass rate", the share of items that reach the judge's pass mark; "score", the
	// share of items with score 1, if all scores are 0 or 1; or "mean score", the mean of scores
	// between 0 and 1. All are averaged over trials.
	Metric string `json:"metric"`

	// Judged is the estimate over judged and undecided items. An undecided item counts with
	// the probability that its response is right, and the interval allows for the error of
	// the probabilities. Judged is null if it is withheld or no item was judged.
	Judged *stat.Estimate `json:"judged"`

	// Decided is the estimate over judged items alone. It is absent if no item is undecided
	// or Judged is null.
	Decided *stat.Estimate `json:"decided,omitempty"`

	// Strict is the estimate over all items with each failure, and each undecided item,
	// counted as wrong.
	Strict stat.Estimate `json:"strict"`

	Band Band `json:"band"`

	Items     int `json:"items"`
	Unjudged  int `json:"unjudged"`
	Undecided int `json:"undecided,omitempty"`
}

// A Band ranges from the score with all failures and undecided items wrong to the score
// with all of them right.
type Band struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// A Hold says why a headline is withheld. With several trials it counts trials, not items.
type Hold struct {
	Reason   string  `json:"reason"` // the reason in words, without a full stop
	Unjudged int     `json:"unjudged"`
	Items    int     `json:"items"`
	Limit    float64 `json:"limit"` // the largest allowed share of unjudged items
}

// Failures are the unjudged items of one kind or, if items are judged several times, the
// trials without a verdict.
type Failures struct {
	Kind deem.Kind `json:"kind"`
	N    int       `json:"n"`

	// Examples are the ids of the first few such items of the dataset.
	Examples []string `json:"examples"`
}

// A Category is one stratum of the benchmark with its headline figures.
type Category struct {
	Name string `json:"name"` // "(none)" for items without one
	Figures

	// Rest compares the category with all other items. It is null if either has no verdict
	// or the headline is withheld.
	Rest *Contrast `json:"rest"`
}

// Differs reports whether the category differs from the rest: whether the interval of the
// difference excludes 0.
func (c Category) Differs() bool { return c.Rest != nil && c.Rest.Difference.LeavesOut(0) }

// A Trial is one pass over the items with its headline figures.
type Trial struct {
	Trial int   `json:"trial"`
	Hold  *Hold `json:"withheld"`
	Figures
}

// An Aspect is a named part of the verdicts, on its own scale.
type Aspect struct {
	Name string `json:"name"`

	// Judged is the mean over judged items. It is null if it is withheld or fewer than two
	// verdicts have the aspect.
	Judged *stat.Estimate `json:"judged"`

	N        int     `json:"n"`
	Min      float64 `json:"min"`
	Max      float64 `json:"max"`
	Unjudged int     `json:"unjudged"`
}

// A Label is a label with the number of verdicts that have it.
type Label struct {
	Label string `json:"label"`
	N     int    `json:"n"`
}

// A Reading is the result of another reading of the same replies.
type Reading struct {
	Reading string `json:"reading"`
	Hold    *Hold  `json:"withheld"`
	Figures

	// Differ counts the items with a different verdict, or that only one of the two
	// readings can judge. Examples are the ids of the first ten.
	Differ   int      `json:"differ"`
	Examples []string `json:"examples"`
}

// Clusters counts the groups of items that are not independent.
type Clusters struct {
	N     int  `json:"n"`
	More  bool `json:"more,omitempty"` // there are more than N; counting stopped there
	Items int  `json:"items"`          // the number of items with a cluster

	// Robust reports whether intervals allow for clusters, which they do if a cluster has
	// several items. DesignEffect is then the number of clustered items that are worth one
	// independent item, for the headline; it is 0 if unknown.
	Robust       bool    `json:"robust,omitempty"`
	DesignEffect float64 `json:"design_effect,omitempty"`
}

// JSON writes the report as indented JSON.
func (r Report) JSON(w io.Writer) error { return doc.JSON(w, r) }
