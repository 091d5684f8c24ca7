package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
)

// Version is the version of the JSON form. It changes if a field changes its meaning or is
// removed; new fields do not change it.
const Version = "deem.report/1"

// DefaultMaxUnjudged is the default share of unjudged items above which the headline is
// withheld.
const DefaultMaxUnjudged = 0.01

// A Head describes the run of a report.
type Head struct {
	Run string `json:"run,omitempty"`

	// JudgeHash is the hash of the judge that gives verdicts. A reader has its own.
	Judge     string `json:"judge"`
	JudgeHash string `json:"judge_hash,omitempty"`
	JudgeKind string `json:"judge_kind,omitempty"` // "rule" or "model", as in [deem/judge.Spec]

	// JudgeNote is printed at the top of every report, for example "match is a rule, not a
	// model: it cannot follow a paraphrase". A rule without one gets a default note.
	JudgeNote string `json:"judge_note,omitempty"`

	// Reading is the name of the reply parser, for example "upstream".
	Reading string `json:"reading,omitempty"`

	// Model is the requested model. The models that vendors reported are in the calls.
	Model string `json:"model,omitempty"`

	// System is the name of the system under test, and SystemModel the model that it uses,
	// if known. A judge of the same family is noted.
	System      string `json:"system,omitempty"`
	SystemModel string `json:"system_model,omitempty"`

	// Reader describes what answered the items, null if they came with responses.
	Reader *Reader `json:"reader,omitempty"`

	Dataset     string `json:"dataset,omitempty"`
	DatasetHash string `json:"dataset_hash,omitempty"`

	// Items is the number of items in the dataset, 0 if unknown.
	Items int `json:"items,omitempty"`

	// Trials is how many times each item is judged; 0 means once. The noise of the judge is
	// measured only if Trials is set.
	Trials int `json:"trials,omitempty"`

	// MaxUnjudged is the share of unjudged items above which the headline is withheld; nil
	// means [DefaultMaxUnjudged].
	MaxUnjudged *float64 `json:"max_unjudged"`

	// CalibrationError is the error of the probabilities that the judge gives for items
	// that it does not decide: the difference between their mean and the share of right
	// responses. 0 means that the judge gives no usable probabilities, and such items are
	// unjudged.
	CalibrationError float64 `json:"calibration_error,omitempty"`

	// UpstreamName names an upstream that counts failures as wrong, for example "universal
	// upstream". Its score is then printed under that name.
	UpstreamName string `json:"upstream_name,omitempty"`

	// Bootstrap requests resampled intervals instead of formulas. It is null by default.
	Bootstrap *Bootstrap `json:"bootstrap,omitempty"`

	// Until is the stopping rule of the run, nil without one. In JSON it is part of
	// [Report.Stopped].
	Until *Until `json:"-"`

	// Harness describes what else produced the numbers, null if unknown.
	Harness *doc.Harness `json:"harness,omitempty"`

	// Overspent says that the run cost more than its budget; nil if it did not. In JSON it is
	// [Report.Overspent].
	Overspent *Overspent `json:"-"`

	// Complete is false while the run is in progress or if it was stopped.
	Complete bool `json:"complete"`

	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
}

// Overspent says by how much a run exceeded its budget, in millionths of a US dollar, and how
// many times what its request allows a reply has cost at most.
type Overspent struct {
	MaxMicros  int64 `json:"max_micros"`
	OverMicros int64 `json:"over_micros"`
	Times      int64 `json:"times"`
}

func (o Overspent) words() string {
	why := ""
	if o.Times > 1 {
		why = fmt.Sprintf(", because a reply cost %s times what its request allows: the model, or a proxy before it, used more tokens than it was sent or was allowed to return",
			words.Comma(int(o.Times)))
	}
	return fmt.Sprintf("the run cost %s more than its budget of %s%s", words.ExactDollars(o.OverMicros), words.ExactDollars(o.MaxMicros), why)
}

// A Reader is what answered the items of a run from contexts.
type Reader struct {
	Name  string `json:"name"`
	Hash  string `json:"hash"` // of prompt, joining, budget, parameters and model
	Model string `json:"model,omitempty"`
	Arm   string `json:"arm,omitempty"` // what gave the contexts, if not the system under test

	// Budget is the largest number of tokens of contexts that the reader shows the model
	// for a question, 0 without a limit. Tokens is the mean number of those that it shows.
	Budget int     `json:"budget,omitempty"`
	Tokens float64 `json:"context_tokens"`

	// Questions is the hash of the ids, questions and references of the items, without what a
	// system retrieved for them. Runs of different systems over the same questions share it.
	Questions string `json:"questions_hash,omitempty"`
}

// String describes the reader and what it showed.
func (r Reader) String() string {
	return fmt.Sprintf("%s, %s on average%s", r.Fixed(), words.Comma(int(math.Round(r.Tokens))), doc.Prefix("; arm ", r.Arm))
}

// Fixed describes what is the same for every system that the reader answers for.
func (r Reader) Fixed() string {
	budget := "any number of"
	if r.Budget > 0 {
		budget = "at most " + words.Comma(r.Budget)
	}
	return fmt.Sprintf("reader %s%s (hash %s) from %s tokens of contexts", r.Name, doc.Prefix(" with ", r.Model), deem.ShortHash(r.Hash), budget)
}

// Bootstrap configures resampled intervals. The same draws and seed give the same digits on
// every machine.
type Bootstrap struct {
	Draws int    `json:"draws"` // 0 means [stat.DefaultDraws]
	Seed  uint64 `json:"seed"`
}

// readerText describes the reader, "" without one.
func (h Head) readerText() string {
	if h.Reader == nil {
		return ""
	}
	return strings.TrimPrefix(h.Reader.String(), "reader ")
}

// maxAlone returns how many groups of items without a cluster are kept apart. Without
// resampling they matter only if some items have a cluster and others do not.
func (h Head) maxAlone() int {
	if h.Bootstrap != nil {
		return maxResample
	}
	return maxAlone
}
