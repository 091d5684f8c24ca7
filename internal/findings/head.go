package findings

import (
	"cmp"
	"encoding/json"
	"strings"

	"deem/benchmark/locomo"
	"deem/internal/labels"
	"deem/internal/published"
	"deem/internal/store"
	"deem/report"
	"deem/report/card"
)

// harnessOf returns what a report says of how a run was made. All of it is kept with
// the run: a report of it says the same wherever it is made.
func harnessOf(run store.Run) *report.Harness {
	set := SettingsOf(run.Spec)
	h := card.Describe(run.Judge.Identity)
	h.Deem, h.Excluded, h.Lock = set.Deem, LeftOut(set.Exclude), lockOf(run, set)
	if set.Sample != nil {
		h.Excluded = append(h.Excluded, "all but "+set.Sample.String())
	}
	if set.Benchmark == locomo.Name && h.Policy == "" { // Another judge over its questions.
		h.Policy = "category 5 (adversarial): " + cmp.Or(set.With["category5"], string(locomo.Excluded))
	}
	return &h
}

// labelsNote returns what a report says of a judge that is a file of labels, "" for
// other judges.
func labelsNote(run store.Run) string {
	var id struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(run.Judge.Identity, &id) != nil || id.Kind != labels.Kind {
		return ""
	}
	return "the verdicts were read from a file of labels: people gave them, or another program"
}

// IsRecorded reports whether the judge of a run is a file of results.
func IsRecorded(run store.Run) bool {
	var id struct {
		Kind string `json:"kind"`
	}
	return json.Unmarshal(run.Judge.Identity, &id) == nil && id.Kind == published.Kind
}

// recordedNote returns what a report says of a judge that is a file of results, "" for
// other judges.
func recordedNote(run store.Run) string {
	if !IsRecorded(run) {
		return ""
	}
	return "the verdicts were recorded by others, in " + strings.Join(run.Dataset.Names, ", ") + "; deem asked nobody"
}

// addSystem puts what is known of the system under test into the head of a report.
func addSystem(h *report.Head, run store.Run) {
	var set Settings
	if json.Unmarshal(run.Settings, &set) == nil { // A run without settings was told nothing.
		h.System, h.SystemModel = set.System, set.SystemModel
	}
}
