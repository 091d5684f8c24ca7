package cli

import (
	"errors"
	"fmt"
	"io"

	"deem/internal/gate"
	"deem/internal/words"
)

// errGate means that a gate did not hold.
var errGate = errors.New("a gate failed")

// gatesFailed returns errGate unless all gates hold.
func gatesFailed(outcomes []gate.Outcome) error {
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
func printGates(w io.Writer, outcomes []gate.Outcome) {
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
	}
}
