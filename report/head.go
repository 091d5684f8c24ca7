package report

import (
	"math"
	"time"

	"deem/stat"
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

	// System is the name of the system under test, and SystemModel the model that it
	// answers with, as far as somebody said so. A judge of the same family is noted.
	System      string `json:"system,omitempty"`
	SystemModel string `json:"system_model,omitempty"`

	Dataset     string `json:"dataset,omitempty"`
	DatasetHash string `json:"dataset_hash,omitempty"`

	// Items is how many items the dataset has, 0 when that is not known.
	Items int `json:"items,omitempty"`

	// Trials is how often each item is judged; 0 means once. The noise of the judge is
	// measured only when it is said here.
	Trials int `json:"trials,omitempty"`

	// MaxUnjudged is the share of unjudged items above which the headline is
	// withheld. It is taken as it is: 0 allows none. Commands use
	// [DefaultMaxUnjudged] unless told otherwise.
	MaxUnjudged float64 `json:"max_unjudged"`

	// CalibrationError is the error of the probabilities that the judge states for items
	// that it does not decide: how far their mean is from the share of right responses. 0
	// means that the judge states none that can be used, and such items are unjudged.
	CalibrationError float64 `json:"calibration_error,omitempty"`

	// UpstreamName names an upstream that counts failures as wrong, as "universal
	// upstream". Its own number is then printed under that name.
	UpstreamName string `json:"upstream_name,omitempty"`

	// Bootstrap asks for intervals by resampling instead of from formulas. It is null
	// when nobody asked.
	Bootstrap *Bootstrap `json:"bootstrap,omitempty"`

	// Until is the rule by which the run stops before its last item, nil without one. In
	// JSON it is part of [Report.Stopped].
	Until *Until `json:"-"`

	// Harness is what else made the numbers, null when nobody said.
	Harness *Harness `json:"harness,omitempty"`

	// Complete is false while the run goes on and after it was stopped.
	Complete bool `json:"complete"`

	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
}

// Bootstrap says how intervals are resampled. The same draws and seed give the same
// digits on every machine.
type Bootstrap struct {
	Draws int    `json:"draws"` // 0 means [stat.DefaultDraws]
	Seed  uint64 `json:"seed"`
}

// resampling returns what package stat needs to know, nil when nothing is resampled.
func (h Head) resampling() *stat.Resampling {
	if h.Bootstrap == nil {
		return nil
	}
	return &stat.Resampling{Draws: h.Bootstrap.Draws, Seed: h.Bootstrap.Seed, Level: stat.DefaultLevel}
}

// maxAlone returns how many groups of items without a cluster are told apart. Without
// resampling they matter only in a run where some items name a cluster and others do
// not.
func (h Head) maxAlone() int {
	if h.Bootstrap != nil {
		return maxResample
	}
	return maxAlone
}

// sane returns h with what JSON cannot hold or no reader should miss put right.
func (h Head) sane() Head {
	if math.IsNaN(h.MaxUnjudged) || h.MaxUnjudged < 0 {
		h.MaxUnjudged = 0
	}
	h.MaxUnjudged = math.Min(h.MaxUnjudged, 1)
	if !(h.CalibrationError > 0 && h.CalibrationError <= 1) {
		h.CalibrationError = 0
	}
	if h.Bootstrap != nil {
		set := *h.Bootstrap
		if set.Draws <= 0 {
			set.Draws = stat.DefaultDraws
		}
		h.Bootstrap = &set
	}
	if h.JudgeKind == KindRule && h.JudgeNote == "" {
		h.JudgeNote = h.Judge + " is a rule, not a model"
	}
	// Reports are compared byte by byte between machines in different zones.
	h.Started, h.Ended = h.Started.UTC(), h.Ended.UTC()
	return h
}
