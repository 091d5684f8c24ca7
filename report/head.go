package report

import (
	"math"
	"time"
)

// Version is the version of the JSON form. It grows when a field changes its
// meaning or goes away; new fields do not change it.
const Version = "deem.report/1"

// DefaultMaxUnjudged is the share of unjudged items up to which a headline is
// usually given.
const DefaultMaxUnjudged = 0.01

// The kinds of judge that a head tells apart.
const (
	KindRule  = "rule"
	KindModel = "model"
)

// A Head is what a report says about the run before any number.
type Head struct {
	Run string `json:"run,omitempty"`

	Judge     string `json:"judge"`
	JudgeHash string `json:"judge_hash,omitempty"`
	JudgeKind string `json:"judge_kind,omitempty"` // "rule" or "model"

	// JudgeNote is printed at the top of every report, as "match is a rule, not a
	// model: it cannot follow a paraphrase". A rule without one gets a plain note.
	JudgeNote string `json:"judge_note,omitempty"`

	// Reading is how replies were read, as "upstream".
	Reading string `json:"reading,omitempty"`

	// Model is the model that was asked for. What vendors say they ran is in the
	// calls.
	Model string `json:"model,omitempty"`

	Dataset     string `json:"dataset,omitempty"`
	DatasetHash string `json:"dataset_hash,omitempty"`

	// Items is how many items the dataset has, 0 when that is not known.
	Items int `json:"items,omitempty"`

	// Trials is how often each item is judged; 0 means once.
	Trials int `json:"trials,omitempty"`

	// MaxUnjudged is the share of unjudged items above which the headline is
	// withheld. It is taken as it is: 0 allows none. Commands use
	// [DefaultMaxUnjudged] unless told otherwise.
	MaxUnjudged float64 `json:"max_unjudged"`

	// UpstreamName names an upstream that counts failures as wrong, as "universal
	// upstream". Its own number is then printed under that name.
	UpstreamName string `json:"upstream_name,omitempty"`

	// Complete is false while the run goes on and after it was stopped.
	Complete bool `json:"complete"`

	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
}

// sane returns h with what JSON cannot hold or no reader should miss put right.
func (h Head) sane() Head {
	if math.IsNaN(h.MaxUnjudged) || h.MaxUnjudged < 0 {
		h.MaxUnjudged = 0
	}
	h.MaxUnjudged = math.Min(h.MaxUnjudged, 1)
	if h.JudgeKind == KindRule && h.JudgeNote == "" {
		h.JudgeNote = h.Judge + " is a rule, not a model"
	}
	// Reports are compared byte by byte between machines in different zones.
	h.Started, h.Ended = h.Started.UTC(), h.Ended.UTC()
	return h
}
