package findings

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"deem/benchmark"
	"deem/internal/catalog"
	"deem/internal/store"
	"deem/internal/words"
	"deem/report"
)

// An Exclusion is a set of items that are left out on purpose.
type Exclusion struct {
	Items string `json:"items"` // as the user typed it: "category=adversarial"
	N     int    `json:"n"`     // how many they are
}

// LeftOut returns exclusions for a report.
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

// Excluded returns what the run left out, as the user typed it.
func (s Settings) Excluded() []string {
	var list []string
	for _, e := range s.Exclude {
		list = append(list, e.Items)
	}
	return list
}

// BenchmarkOptions returns what the benchmark read.
func (s Settings) BenchmarkOptions() benchmark.Options {
	return benchmark.Options{Data: s.Data, Responses: s.Responses, Limit: s.Limit, Reading: s.Reading, With: s.With, Judges: s.Judges}
}

// Settings are what a run was told that is not part of what it is. They are kept
// with it, so that its benchmark's numbers and files can be made again.
type Settings struct {
	Concurrency int      `json:"concurrency"`
	Map         string   `json:"map,omitempty"`
	Limit       int      `json:"limit,omitempty"`
	Benchmark   string   `json:"benchmark,omitempty"`
	Data        []string `json:"data,omitempty"`
	Responses   []string `json:"responses,omitempty"`
	Reading     string   `json:"reading,omitempty"` // of the benchmark
	Errata      string   `json:"errata,omitempty"`
	Corrected   bool     `json:"corrected,omitempty"` // the items were judged with the errata put into effect
	System      string   `json:"system,omitempty"`    // under test, and
	SystemModel string   `json:"system_model,omitempty"`

	With   map[string]string `json:"with,omitempty"`   // the benchmark's own options
	Judges []string          `json:"judges,omitempty"` // all that judge its items together

	Judge   string                  `json:"judge,omitempty"`   // as the user named it
	Promise *catalog.CascadePromise `json:"promise,omitempty"` // of a cascade that was fitted

	Until *UntilSettings `json:"until,omitempty"` // the rule by which the run stops

	Deem    string        `json:"deem,omitempty"` // the version that judged
	Exclude []Exclusion   `json:"exclude,omitempty"`
	Sample  *Sample       `json:"sample,omitempty"` // nil when all items were judged
	Lock    *LockSettings `json:"lock,omitempty"`
}

// UntilSettings are the rule by which a run stops, with the results of the run that it is
// compared with, so that its report is the same wherever it is made.
type UntilSettings struct {
	report.Until
	Base   []*float64 `json:"base,omitempty"`   // by the position of the item, null for unjudged
	Passes bool       `json:"passes,omitempty"` // they are pass marks
}

// rule returns the rule for a report, nil without one.
func (s *UntilSettings) rule() *report.Until {
	if s == nil {
		return nil
	}
	u := s.Until
	u.Base, u.Passes = s.Base, s.Passes
	return &u
}

// LockSettings are what a run keeps of its lock.
type LockSettings struct {
	Hash    string    `json:"hash"`
	Created time.Time `json:"created"`
	Broken  []string  `json:"broken,omitempty"`
	Gates   []string  `json:"gates,omitempty"`
}

// SettingsOf returns what a run was told, or nothing where that cannot be read.
func SettingsOf(s store.Spec) Settings {
	var set Settings
	_ = json.Unmarshal(s.Settings, &set) // A run without settings was told nothing.
	return set
}

// Afterwards is what is broken when the run is older than its lock.
const Afterwards = "the run began before it was locked"

// lockOf returns what a report says of the lock of a run, nil without one.
func lockOf(run store.Run, set Settings) *report.Lock {
	l := set.Lock
	if l == nil {
		return nil
	}
	broken := slices.Clone(l.Broken)
	if run.Created.Before(l.Created) {
		broken = append(broken, Afterwards)
	}
	return &report.Lock{Hash: l.Hash, Created: l.Created.UTC(), Kept: len(broken) == 0, Broken: broken, Gates: l.Gates}
}
