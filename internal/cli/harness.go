package cli

import (
	"cmp"

	"deem/benchmark/locomo"
	"deem/internal/store"
	"deem/report"
	"deem/report/card"
	"deem/report/errata"
)

// harnessOf returns what a report says of how a run was made. All of it is kept with
// the run: a report of it says the same wherever it is made.
func harnessOf(run store.Run) *report.Harness {
	set := settingsOf(run.Spec)
	h := card.Describe(run.Judge.Identity)
	h.Deem, h.Excluded, h.Lock = set.Deem, leftOut(set.Exclude), lockOf(run, set)
	if set.Benchmark == locomo.Name && h.Policy == "" { // Another judge over its questions.
		h.Policy = "category 5 (adversarial): " + cmp.Or(set.With["category5"], string(locomo.Excluded))
	}
	return &h
}

// addErrata puts the list of faults that was looked at into the head of a report.
func addErrata(r *report.Report, faults *errata.Report) {
	if faults == nil || r.Head.Harness == nil {
		return
	}
	h := *r.Head.Harness
	h.Errata = &report.ErrataFile{File: faults.File, Hash: faults.Hash, Faulty: faults.Overall.Faulty}
	r.Head.Harness = &h
}
