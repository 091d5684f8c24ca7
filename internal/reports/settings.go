package reports

import (
	"encoding/json"
	"fmt"
	"time"

	"deem/internal/benchmark"
	"deem/internal/store"
	"deem/internal/words"
	"deem/report"
)

// An Exclusion is a set of items that are left out on purpose.
type Exclusion struct {
	Items string `json:"items"` // as typed by the user: "category=adversarial"
	N     int    `json:"n"`     // the number of items
}

// LeftOut formats exclusions for a report.
func LeftOut(list []Exclusion) []string {
	var texts []string
	for _, e := range list {
		texts = append(texts, fmt.Sprintf("%s (%s)", e.Items, words.Count(e.N, "item")))
	}
	return texts
}

// A Sample is a simple random sample of the items that were not excluded.
type Sample struct {
	N    int    `json:"n"`
	Of   int    `json:"of"`
	Seed uint64 `json:"seed"`
}

func (s Sample) String() string {
	return fmt.Sprintf("a random sample of %s of %s, seed %d", words.Comma(s.N), words.Count(s.Of, "item"), s.Seed)
}

// Excluded returns the exclusions of the run, as typed by the user.
func (s Settings) Excluded() []string {
	var list []string
	for _, e := range s.Exclude {
		list = append(list, e.Items)
	}
	return list
}

// BenchmarkOptions returns the options of the benchmark.
func (s Settings) BenchmarkOptions() benchmark.Options {
	return benchmark.Options{Data: s.Data, Responses: s.Responses, Limit: s.Limit, Reading: s.Reading, With: s.With, Judges: s.Judges, Unanswered: s.Reader != nil}
}

// Settings are the settings of a run that are not part of its identity. They are stored
// with it, so that its benchmark's numbers and files can be reproduced.
type Settings struct {
	Concurrency int      `json:"concurrency"`
	Map         string   `json:"map,omitempty"`
	Limit       int      `json:"limit,omitempty"`
	Benchmark   string   `json:"benchmark,omitempty"`
	Data        []string `json:"data,omitempty"`
	Responses   []string `json:"responses,omitempty"`
	Reading     string   `json:"reading,omitempty"` // of the benchmark
	Errata      string   `json:"errata,omitempty"`
	Corrected   bool     `json:"corrected,omitempty"` // the items were judged with corrected references
	System      string   `json:"system,omitempty"`    // under test, and
	SystemModel string   `json:"system_model,omitempty"`

	With   map[string]string `json:"with,omitempty"`   // the benchmark's own options
	Judges []string          `json:"judges,omitempty"` // all judges that grade its items together

	Judge   string   `json:"judge,omitempty"`   // as typed by the user
	Promise *Promise `json:"promise,omitempty"` // of a fitted cascade

	Until *UntilSettings `json:"until,omitempty"` // the stopping rule of the run

	Reader *report.Reader `json:"reader,omitempty"` // nil if no reader answered the items

	Deem    string        `json:"deem,omitempty"` // the version that judged
	Exclude []Exclusion   `json:"exclude,omitempty"`
	Sample  *Sample       `json:"sample,omitempty"` // nil if all items were judged
	Lock    *LockSettings `json:"lock,omitempty"`
}

// UntilSettings are the stopping rule of a run, with the results of the run that it is
// compared with, so that its report is the same wherever it is made.
type UntilSettings struct {
	report.Until
	Base   []*float64 `json:"base,omitempty"`   // by item position, null for unjudged
	Passes bool       `json:"passes,omitempty"` // they are pass marks
}

// LockSettings are the parts of a lock that are stored with a run.
type LockSettings struct {
	Hash    string    `json:"hash"`
	Created time.Time `json:"created"`
	Broken  []string  `json:"broken,omitempty"`
	Gates   []string  `json:"gates,omitempty"`
}

// SettingsOf returns the settings of a run, or empty settings if they cannot be read.
func SettingsOf(s store.Spec) Settings {
	var set Settings
	_ = json.Unmarshal(s.Settings, &set) // a run may have no settings
	return set
}
