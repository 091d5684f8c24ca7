package compare

import (
	"math"

	"deem"
	"deem/internal/report/spent"
	"deem/judge"
	"deem/report"
	"deem/stat"
)

// Version is the version of the JSON form. It grows when a field changes its meaning
// or goes away; new fields do not change it.
const Version = "deem.compare/1"

// A Run is what a comparison says about one of its runs before any number.
type Run struct {
	// Name is what the run is called in tables: the name of the system, if it is
	// known.
	Name string `json:"name"`

	Run       string `json:"run,omitempty"` // its id
	Judge     string `json:"judge"`
	JudgeHash string `json:"judge_hash,omitempty"`
	Reading   string `json:"reading,omitempty"`
	Model     string `json:"model,omitempty"`    // of the judge
	Endpoint  string `json:"endpoint,omitempty"` // where the judge's model was reached

	Dataset      string `json:"dataset,omitempty"`
	DatasetHash  string `json:"dataset_hash,omitempty"`
	DatasetItems int    `json:"dataset_items,omitempty"` // how many the dataset has, 0 when that is not known
	Trials       int    `json:"trials,omitempty"`        // how often each item is judged; 0 means once
	Complete     bool   `json:"complete"`

	// CalibrationError is that of the report: above 0, an item that the judge did not
	// decide counts with its probability.
	CalibrationError float64 `json:"calibration_error,omitempty"`

	// AnswerModel and AnswerPrompt are how the system made its responses, where the
	// items tell: their fields answer_model and answer_prompt. A builder finds them
	// out; "(several)" means that items differ.
	AnswerModel  string `json:"answer_model,omitempty"`
	AnswerPrompt string `json:"answer_prompt,omitempty"`

	// Spec is what the judge is, nil when that is not known. It serves to say what
	// differs between two judges.
	Spec *judge.Spec `json:"-"`
}

// Options say how runs are compared. The zero value is usable.
type Options struct {
	// Level is the confidence level of intervals; 0 means 0.95. A difference is
	// established when its p-value is below 1 - Level.
	Level float64

	// Margin is the largest difference that does not matter, as 0.01. Runs whose
	// difference is shown to lie within it are equivalent. 0 asks for no such test.
	Margin float64

	// Seed is that of permutation tests, for scores that are too many to go through
	// all their signs.
	Seed uint64

	// MaxUnjudged is the share of unjudged items in a run above which the difference
	// is withheld. It is taken as it is: 0 allows none.
	MaxUnjudged float64

	// Labels says that rows carry what people say, so that differences are corrected by it.
	Labels bool

	// Anyway compares what cannot be compared fairly, with a warning.
	Anyway bool

	// Examples is how many items are named where items are named; 0 means 10.
	Examples int
}

// sane returns the options with their defaults.
func (o Options) sane() Options {
	if !(o.Level > 0 && o.Level < 1) {
		o.Level = stat.DefaultLevel
	}
	if math.IsNaN(o.MaxUnjudged) || o.MaxUnjudged < 0 {
		o.MaxUnjudged = 0
	}
	if !(o.Margin > 0 && o.Margin <= 1) {
		o.Margin = 0
	}
	if o.Examples <= 0 {
		o.Examples = 10
	}
	return o
}

// The metrics that runs are compared by. The score of several trials is their mean.
const (
	PassRate  = report.PassRate
	Score     = report.Score
	MeanScore = report.MeanScore
)

// A Row is one item with what each run says about it.
type Row struct {
	ID    string
	Cells []Cell // one for each run, in their order
}

// A Cell is what one run says about one item. It holds none of the item's texts but
// their hashes, so that many rows can wait for their other half.
type Cell struct {
	Present  bool // the run has a record of the item
	Position int
	Category string
	Cluster  string
	Weight   float64

	// Judged says that some trial gave a verdict. Score is the mean of its verdicts, Pass
	// whether at least half of them pass, nil if one has no pass mark, and Label that of
	// the first verdict that sides with the majority.
	Judged bool
	Label  string
	Score  float64
	Pass   *bool
	Kind   deem.Kind // of the failure, when the item is unjudged

	// Guess is the probability that the response is right, where the judge did not decide.
	// It counts in the place of a verdict if the run has a CalibrationError.
	Guess *float64

	// The following are 0 for an item that was judged once.
	Verdicts int     // how many verdicts there are, when the item has several trials
	Yes      float64 // the share of them that say yes
	Graded   bool    // one of them has a score other than 0 and 1
	Failed   float64 // the share of trials without a verdict, 0 when all of them failed

	People *Opinion // nil when nobody labelled the response

	question, references uint64 // hashes, to see whether runs asked the same
	answeredBy, prompt   string // how the response was made, where the item says so
	took                 *spent.Took
}

// yes reads the cell's verdict as yes or no: whether it passes or, without a pass
// mark, whether its score is at least one half. Of several verdicts half must say so.
func (c *Cell) yes() bool { return c.share() >= 0.5 }

// share returns the share of the cell's verdicts that say yes.
func (c *Cell) share() float64 {
	switch {
	case c.Verdicts > 0:
		return c.Yes
	case c.Pass != nil && *c.Pass, c.Pass == nil && c.Score >= 0.5:
		return 1
	}
	return 0
}

// counts reports whether the cell has a verdict, or a probability in its place.
func (c *Cell) counts() bool { return c.Judged || c.Guess != nil }

// values returns the score of a cell that counts, and the share of it that passes.
func (c *Cell) values() (score, pass float64) {
	if !c.Judged {
		return *c.Guess, *c.Guess
	}
	return c.Score, c.share()
}

// graded reports whether a verdict has a score other than 0 and 1.
func (c *Cell) graded() bool {
	return c.Graded || c.Verdicts == 0 && c.Score != 0 && c.Score != 1
}
