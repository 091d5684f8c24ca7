package report

import (
	"fmt"
	"io"

	"deem"
	"deem/internal/doc"
	"deem/internal/report/retrieval"
	"deem/internal/report/spent"
	"deem/internal/words"
	"deem/stat"
)

// A Report is what a run showed, as data. Its JSON is a contract: fields are
// added, and never change their meaning within one version.
type Report struct {
	Version string `json:"version"` // "deem.report/1"
	Head    Head   `json:"head"`

	// Records counts all records, those of every trial. Judged counts the items with a
	// verdict in any trial, Undecided those for which the judge gave only a probability,
	// and Unjudged the others.
	Records  int `json:"records"`
	Items    int `json:"items"`
	Judged   int `json:"judged"`
	Unjudged int `json:"unjudged"`

	// Undecided are the items that the judge did not decide, with the first of them. The
	// score counts each with its probability. It is absent when all were decided.
	Undecided *Failures `json:"undecided,omitempty"`

	// Hold says why the headline is withheld. It is null when it is not.
	Hold *Hold `json:"withheld"`

	// Metrics are the headline and, when verdicts carry a pass mark as well as a
	// score, the second number beside it.
	Metrics []Figures `json:"metrics"`

	// Stopped says what became of the rule by which the run stops before its last item.
	// It is absent without such a rule.
	Stopped *Stopped `json:"stopped,omitempty"`

	// Upstream is the number as an upstream would print it that counts failures
	// as wrong. It is null when there is no such upstream.
	Upstream *Upstream `json:"upstream"`

	Failures   []Failures `json:"failures"`
	Categories []Category `json:"categories"` // sorted by name; empty when no item has one
	Trials     []Trial    `json:"trials"`     // empty unless there is more than one

	// Noise tells the noise of the judge from that of the choice of items. It is null
	// unless items were judged more than once.
	Noise *Noise `json:"noise"`

	// Confidence is how sure the judge is. It is null when nobody can tell.
	Confidence *Confidence `json:"confidence"`

	// Detectable is the smallest difference to another run that would be detected with 80% probability. It is
	// null when the headline is.
	Detectable *Detectable `json:"detectable"`

	Aspects  []Aspect  `json:"aspects"`
	Labels   []Label   `json:"labels"` // the most frequent first
	Readings []Reading `json:"readings"`
	Clusters Clusters  `json:"clusters"`

	// Retrieval scores what the system retrieved, where items say it in their fields. It is
	// absent otherwise.
	Retrieval *retrieval.Summary `json:"retrieval,omitempty"`

	// System is what the responses took the system under test, where items say it in their
	// fields tokens_in, tokens_out, latency_ms and cost. Calls are what the judge took.
	System []spent.Sum `json:"system_under_test,omitempty"`
	Calls  Calls       `json:"calls"`

	// Published are a benchmark's own metrics, in the form that its package gives
	// them. They are absent when the run is of no benchmark.
	Published any `json:"published,omitempty"`

	// Errata are what known faults of the answer key do to the numbers, in the form
	// that package errata gives them. They are absent when no list was named.
	Errata any `json:"errata,omitempty"`

	// Members are what the parts of a judge did that is made of others, in the form
	// that package members gives them. They are absent for other judges.
	Members any `json:"members,omitempty"`

	// Gates are the conditions that were held against the report, with what became
	// of each, in the form that the command gives them. They are absent without any.
	Gates any `json:"gates,omitempty"`

	// PublishedText is the same for people, as the benchmark's package prints it. It is
	// shown in the HTML form.
	PublishedText string `json:"-"`

	// Notes say in plain words what to beware of. Warnings about one number are
	// with that number.
	Notes []string `json:"notes"`
}

// The metrics of a report.
const (
	PassRate  = "pass rate"  // the share of items that meet the judge's pass mark, averaged over trials
	Score     = "score"      // the share of items with score 1, when all scores are 0 or 1, averaged over trials
	MeanScore = "mean score" // the mean of scores between 0 and 1
)

// Figures are the numbers of one metric that always go together.
type Figures struct {
	Metric string `json:"metric"`

	// Judged is the estimate over judged and undecided items. An undecided item counts
	// with the probability that its response is right, and the interval allows for the
	// error of the probabilities. Judged is null when it is withheld, and when no item was
	// judged.
	Judged *stat.Estimate `json:"judged"`

	// Decided is the estimate over judged items alone. It is absent when no item is
	// undecided, and when Judged is null.
	Decided *stat.Estimate `json:"decided,omitempty"`

	// Strict is the estimate over all items with each failure, and each undecided item,
	// counted as wrong.
	Strict stat.Estimate `json:"strict"`

	Band Band `json:"band"`

	Items     int `json:"items"`
	Unjudged  int `json:"unjudged"`
	Undecided int `json:"undecided,omitempty"`
}

// A Band reaches from the number with all failures and undecided items wrong to the number
// with all of them right.
type Band struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// A Hold says why a headline is withheld. With several trials it counts trials of items.
type Hold struct {
	Reason   string  `json:"reason"` // the same in plain words, without a full stop
	Unjudged int     `json:"unjudged"`
	Items    int     `json:"items"`
	Limit    float64 `json:"limit"` // the share of unjudged items that would have been allowed
}

// reason returns the reason in plain words.
func (h Hold) reason(noun string) string {
	part := float64(h.Unjudged) / float64(max(h.Items, 1))
	return fmt.Sprintf("%s of %s (%s%%) %s unjudged, and at most %s%% may be",
		words.Comma(h.Unjudged), words.Count(h.Items, noun), doc.Short(100*part), words.IsAre(h.Unjudged), doc.Short(100*h.Limit))
}

// Upstream is a number under the name of those who would print it.
type Upstream struct {
	Name     string        `json:"name"`
	Metric   string        `json:"metric"`
	Estimate stat.Estimate `json:"estimate"`
	Unjudged int           `json:"unjudged"`
}

// Failures are the unjudged items of one kind or, where items are judged several times,
// the trials of items without a verdict.
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

	// Rest sets the category beside all other items. It is null when either has no
	// verdict, and when the headline is withheld.
	Rest *Contrast `json:"rest"`
}

// Differs reports whether the category differs from the rest: whether the interval of
// the difference leaves out 0.
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

	// Judged is the mean over judged items. It is null when it is withheld, and
	// when fewer than two verdicts carry the aspect.
	Judged *stat.Estimate `json:"judged"`

	N        int     `json:"n"`
	Min      float64 `json:"min"`
	Max      float64 `json:"max"`
	Unjudged int     `json:"unjudged"`
}

// A Label is a label with the number of verdicts that carry it.
type Label struct {
	Label string `json:"label"`
	N     int    `json:"n"`
}

// A Reading is what another reading of the same replies would have given.
type Reading struct {
	Reading string `json:"reading"`
	Hold    *Hold  `json:"withheld"`
	Figures

	// Differ counts the items whose verdict would be another, or which only one
	// of the two readings can judge. Examples are the ids of the first ten.
	Differ   int      `json:"differ"`
	Examples []string `json:"examples"`
}

// Clusters count the groups of items that are not independent.
type Clusters struct {
	N     int  `json:"n"`
	More  bool `json:"more,omitempty"` // there are more than N; counting stopped there
	Items int  `json:"items"`          // how many items name a cluster

	// Robust says that intervals allow for clusters, which they do when a cluster
	// holds several items. DesignEffect is then how many times as many items in
	// clusters it takes to know as much as from independent ones, for the headline; it
	// is 0 when that is not known.
	Robust       bool    `json:"robust,omitempty"`
	DesignEffect float64 `json:"design_effect,omitempty"`
}

// Withheld reports whether the headline is withheld.
func (r Report) Withheld() bool { return r.Hold != nil }

// WithheldReason says in plain words why the headline is withheld. It returns ""
// when it is not.
func (r Report) WithheldReason() string {
	if r.Hold == nil {
		return ""
	}
	return r.Hold.Reason
}

// JSON writes the report as indented JSON.
func (r Report) JSON(w io.Writer) error { return doc.JSON(w, r) }
