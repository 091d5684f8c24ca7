package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/reports"
	"deem/internal/usage"
)

const bridgeHelp = `Replace a judge without judging everything again. OLD is a run of the old judge over all
items, and NEW a run of the new judge over a random sample of the same items:

  deem run --data answers.jsonl --judge universal --model openai:gpt-4o-mini
  deem run --data answers.jsonl --judge universal --model openai:gpt-5-mini --sample 200
  deem compare bridge last~1 last

The command estimates what the new judge would say of all items, from its verdicts on the
sample and the old judge's verdicts on all (prediction-powered inference). The estimate is
unbiased however the old judge errs. The more the two agree, the fewer calls are needed;
if the old judge is too weak to help, the command says so. It works in both directions: if
the old judge has judged fewer items, its score of all items is estimated.

The items of the shorter run must be drawn at random, as --sample does. --calls N prints how
wide the interval would be if the new judge had judged N items.

EXIT STATUS
  0 shown   1 error   2 wrong usage`

func (a *app) bridgeCommand() *cobra.Command {
	calls := 0
	cmd := &cobra.Command{
		Use: "bridge OLD NEW [flags]", Short: "carry scores over to a new judge", Long: bridgeHelp,
		Example: "  deem compare bridge last~1 last\n  deem compare bridge last~1 last --calls 400",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.bridge(cmd.Context(), args, calls) },
	}
	cmd.Flags().Var(countFlag(&calls), "calls", "print how wide the interval would be with `n` verdicts of the new judge")
	return cmd
}

// bridge prints what two judges would say of all items of their runs.
func (a *app) bridge(ctx context.Context, args []string, calls int) error {
	if len(args) != 2 {
		return usage.Mark(deem.WithHint(errors.New("deem compare bridge needs a run of the old judge and one of the new"), "deem compare bridge last~1 last"))
	}
	st, err := a.readRuns(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	was, err := findRun(ctx, st, args[0])
	if err != nil {
		return err
	}
	is, err := findRun(ctx, st, args[1])
	if err != nil {
		return err
	}
	if was.ID == is.ID {
		return usage.Errorf("there is nothing to bridge: both are run %s", was.ID)
	}
	b, err := reports.NewBridge(ctx, st, was, is, calls)
	if err != nil {
		return err
	}
	if b.Both == 0 {
		return usage.Mark(deem.WithHint(fmt.Errorf("runs %s and %s have no item in common that both have judged", was.ID, is.ID),
			"judge a sample of the same items: deem run --sample 200"))
	}
	if a.json {
		return writeJSON(a.out, b)
	}
	return a.document(b.Document())
}
