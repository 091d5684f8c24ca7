package reports

import (
	"cmp"
	"encoding/json"
	"strings"

	"deem/internal/benchmark"
	"deem/internal/doc"
	"deem/internal/labels"
	"deem/internal/store"
	"deem/judge"
	"deem/judge/match"
	"deem/judge/rule"
	"deem/report"
)

// harnessOf describes how a run was made. All of it is stored with the run, so a report
// says the same wherever it is made.
func harnessOf(run store.Run) *doc.Harness {
	set := SettingsOf(run.Spec)
	h := DescribeHarness(SpecOf(run))
	h.Deem, h.Excluded, h.Lock = set.Deem, LeftOut(set.Exclude), lockOf(run, set)
	if set.Sample != nil {
		h.Excluded = append(h.Excluded, "all but "+set.Sample.String())
	}
	if b, ok := benchmark.All().Named(set.Benchmark); ok && b.Policy != nil && h.Policy == "" { // a different judge for its questions
		h.Policy = b.Policy(set.With)
	}
	return &h
}

// judgeNote returns the note about a judge that is not a protocol with a model, "" for one
// that is.
func judgeNote(run store.Run) string {
	switch s := SpecOf(run); {
	case s.Kind == judge.KindRecorded:
		return "the verdicts were recorded by others, in " + strings.Join(run.Dataset.Names, ", ") + "; deem asked nobody"
	case s.Kind == labels.Kind:
		return "the verdicts were read from a file of labels: people gave them, or another program"
	case s.Composed():
		return describeParts(s)
	case !run.Judge.Rule:
		return ""
	}
	note := run.Judge.Name + " is a rule, not a model"
	if doc := cmp.Or(match.Doc(run.Judge.Name), rule.Doc(run.Judge.Name)); doc != "" {
		note += ": " + doc
	}
	return note
}

// addSystem adds what is known about the system under test to the head of a report.
func addSystem(h *report.Head, run store.Run) {
	var set Settings
	if json.Unmarshal(run.Settings, &set) == nil { // a run may have no settings
		h.System, h.SystemModel = set.System, set.SystemModel
	}
}
