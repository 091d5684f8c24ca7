package compare

import (
	"fmt"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/judge"
)

// Version is the version of the JSON form. It changes if a field changes its meaning or is
// removed; new fields do not change it.
const Version = "deem.compare/1"

// A Run describes one of the runs of a comparison.
type Run struct {
	// Name is the name of the run in tables: the name of the system, if known.
	Name string `json:"name"`

	Run       string `json:"run,omitempty"` // its id
	Judge     string `json:"judge"`
	JudgeHash string `json:"judge_hash,omitempty"`
	Reading   string `json:"reading,omitempty"`
	Model     string `json:"model,omitempty"`    // of the judge
	Endpoint  string `json:"endpoint,omitempty"` // the endpoint of the judge's model

	// Reader is the reader that answered the items, with its model, budget and hash; "" if
	// they came with responses.
	Reader string `json:"reader,omitempty"`

	Dataset      string `json:"dataset,omitempty"`
	DatasetHash  string `json:"dataset_hash,omitempty"`
	DatasetItems int    `json:"dataset_items,omitempty"` // size of the dataset, 0 if unknown
	Trials       int    `json:"trials,omitempty"`        // how many times each item is judged; 0 means once
	Complete     bool   `json:"complete"`

	// Stopped is the rule that stopped the run, "" without one. The builder sets it.
	Stopped string `json:"stopped_by,omitempty"`

	// CalibrationError is that of the report. If it is above 0, an undecided item counts
	// with its probability.
	CalibrationError float64 `json:"calibration_error,omitempty"`

	// AnswerModel and AnswerPrompt describe how the system produced its responses, from the
	// items' fields answer_model and answer_prompt. The builder sets them; "(several)"
	// means that items differ.
	AnswerModel  string `json:"answer_model,omitempty"`
	AnswerPrompt string `json:"answer_prompt,omitempty"`

	// Spec is the spec of the judge, nil if unknown. It is used to describe how two judges
	// differ.
	Spec *judge.Spec `json:"-"`
}

// StoppedBy says what a stopping rule means for a difference, "" without one.
func (r Run) StoppedBy() string {
	if r.Stopped == "" {
		return ""
	}
	text := fmt.Sprintf("%s was stopped by the rule %s after looking at every item: its score allows for that, and the difference does not", r.called(), r.Stopped)
	if strings.HasPrefix(r.Stopped, "better") {
		text += "; at such a stop the difference is larger than the true one on average"
	}
	return text
}

// Options configures a comparison. The zero value is usable.
type Options struct {
	// Level is the confidence level of intervals; 0 means 0.95. A difference is established
	// if its p-value is below 1 - Level.
	Level float64

	// Margin is the largest difference that does not matter, for example 0.01. Runs are
	// equivalent if their difference is shown to be within it. 0 disables this test.
	Margin float64

	// Seed is the seed of permutation tests, which are used if there are too many scores to
	// enumerate all signs.
	Seed uint64

	// MaxUnjudged is the share of unjudged items in a run above which the difference is
	// withheld. There is no default: 0 allows none.
	MaxUnjudged float64

	// Anyway compares runs despite errors in the lint, with a warning.
	Anyway bool

	// Examples is the number of items in a list of examples; 0 means 10.
	Examples int
}

// The metrics that runs are compared by. The score of several trials is their mean.
const (
	PassRate  = doc.PassRate
	Score     = doc.Score
	MeanScore = doc.MeanScore
)

// A Row is one item with the result of each run.
type Row struct {
	ID    string
	Cells []Cell // one for each run, in their order
}

// A Cell is the result of one run for one item. It has hashes instead of the item's texts,
// so that many rows can wait for their other half.
type Cell struct {
	Present  bool // the run has a record of the item
	Position int
	Category string
	Cluster  string
	Weight   float64

	// Judged reports whether some trial gave a verdict. Score is the mean of the verdicts,
	// Pass whether at least half of them pass, nil if one has no pass mark, and Label that
	// of the first verdict that agrees with the majority.
	Judged bool
	Label  string
	Score  float64
	Pass   *bool
	Kind   deem.Kind // of the failure, if the item is unjudged

	// Guess is the probability that the response is right if the judge did not decide. It
	// counts instead of a verdict if the run has a CalibrationError.
	Guess *float64

	// The following are 0 for an item that was judged once.
	Verdicts int     // number of verdicts if the item has several trials
	Yes      float64 // the share of yes among them
	Graded   bool    // one of them has a score other than 0 and 1
	Failed   float64 // the share of trials without a verdict, 0 if all of them failed

	question, references uint64 // hashes, to check that runs asked the same
	answeredBy, prompt   string // how the response was produced, if known
	took                 *doc.Took
}

// yes reports whether the verdict passes or, without a pass mark, whether its score is at
// least one half. Of several verdicts, at least half must be yes.
func (c *Cell) yes() bool { return c.share() >= 0.5 }

// share returns the share of yes among the cell's verdicts.
func (c *Cell) share() float64 {
	switch {
	case c.Verdicts > 0:
		return c.Yes
	case c.Pass != nil && *c.Pass, c.Pass == nil && c.Score >= 0.5:
		return 1
	}
	return 0
}

// counts reports whether the cell has a verdict, or a probability instead.
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
