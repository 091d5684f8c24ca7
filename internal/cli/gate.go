package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"deem/internal/reports"
	"deem/internal/words"
)

// errGate is returned if a gate failed.
var errGate = errors.New("a gate failed")

// reportGates parses gates on the report of a run. It rejects gates that no report could
// meet before anything is read or paid for.
func reportGates(texts []string) ([]reports.Gate, error) {
	gates, err := reports.ParseGates(texts)
	if err != nil {
		return nil, err
	}
	return gates, reports.CheckGates(gates, nil)
}

// checkCategories rejects gates on categories that no item has. The categories are known
// from the items, before anything is paid for.
func checkCategories(gates []reports.Gate, data items) error {
	if len(gates) == 0 {
		return nil
	}
	seen := map[string]bool{}
	for it, err := range data.Items() {
		if err != nil {
			return err
		}
		seen[it.Category] = true
	}
	if seen[""] {
		delete(seen, "")
		if len(seen) > 0 {
			seen["(none)"] = true // their name in reports
		}
	}
	return reports.CheckGates(gates, slices.AppendSeq([]string{}, maps.Keys(seen)))
}

// gatesFailed returns errGate unless all gates passed.
func gatesFailed(outcomes []reports.GateOutcome) error {
	failed := 0
	for _, o := range outcomes {
		if !o.OK {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d of %d", errGate, failed, len(outcomes))
}

// printGates prints a line for each gate.
func printGates(w io.Writer, outcomes []reports.GateOutcome) {
	if len(outcomes) > 0 {
		fmt.Fprintln(w, "\ngates")
	}
	for _, o := range outcomes {
		word, run := "failed", ""
		if o.OK {
			word = "ok"
		}
		if o.Run != "" {
			run = words.Printable(o.Run) + ": "
		}
		fmt.Fprintf(w, "  %-7s %s%s: %s\n", word, run, words.Printable(o.Gate), words.Printable(o.Detail))
		if o.Warning != "" {
			fmt.Fprintf(w, "  %-7s %s%s\n", "warning", run, words.Printable(o.Warning))
		}
	}
}
