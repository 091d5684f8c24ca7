package cli

import (
	"bytes"
	_ "embed"

	"github.com/spf13/cobra"

	"deem/internal/run"
	"deem/report"
)

// demoItems is a dataset of 120 items about six invented people. demo/README.md says how it
// was made.
//
//go:embed demo/items.jsonl
var demoItems []byte

const demoHelp = `Judge a bundled example offline: the answers of a fictional memory system to 120
questions about fictional conversations. The rule "match" decides, so no key and no
network is needed. The run is stored with the system name "demo", so that deem report,
deem show and deem serve work next; deem runs rm last deletes it.

EXIT STATUS
  0 done   1 error`

// demoCommand is "deem run" on the bundled items.
func (a *app) demoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "demo", Short: "judge a bundled example offline", Long: demoHelp, Example: "  deem demo", Args: atMost(0),
		Annotations: map[string]string{noConfig: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.in = bytes.NewReader(demoItems)
			o := runOptions{
				dataOptions: dataOptions{data: []string{"-"}, title: "the bundled example", format: "jsonl", system: "demo"},
				wayOptions:  wayOptions{Options: run.Options{Concurrency: 8, Trials: 1}},
				showOptions: showOptions{maxUnjudged: report.DefaultMaxUnjudged},
			}
			if err := a.run(cmd.Context(), o); err != nil {
				return err
			}
			a.say("judge your own: deem run --data answers.jsonl [--model openai:gpt-4o-mini]")
			return nil
		},
	}
	a.verboseFlag(cmd)
	return cmd
}
