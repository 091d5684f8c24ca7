package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
)

const runsHelp = `Release money of a run that was set aside for calls and never settled.

  deem runs settle RUN    shows how much it is, and lets it count no longer

With --max-cost, money is set aside before calls are made. When a call timed out, its answer
was cut, or deem was killed, nobody knows whether the vendor charged for it, and what was set
aside counts as spent. Look at the vendor's bill before you release it.

EXIT STATUS
  0 done   1 could not   2 wrong usage`

func (a *app) runsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "runs settle RUN", Short: "release money that was set aside for calls", Long: runsHelp,
		Example: "  deem runs settle last", ValidArgs: []string{"settle"}, Args: atMost(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 || args[0] != "settle" {
				return usage.Mark(deem.WithHint(errors.New("say what to do with which run"), "deem runs settle RUN; deem list runs lists them"))
			}
			return a.settleRun(cmd.Context(), args[1])
		},
	}
}

// A settledRun is what "deem runs settle --json" writes.
type settledRun struct {
	Run            string `json:"run"`
	CostMicros     int64  `json:"cost_micros"`
	ReleasedMicros int64  `json:"released_micros"`
}

// settleRun releases what a run has set aside.
func (a *app) settleRun(ctx context.Context, ref string) error {
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	money, ok := st.(store.Money)
	if !ok {
		return usage.Errorf("this store keeps no money")
	}
	run, err := st.Run(ctx, ref)
	if err != nil {
		return err
	}
	if err := a.notQueued(ctx, st, run.ID); err != nil {
		return err
	}
	released, err := money.Settle(ctx, run.ID)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, settledRun{run.ID, run.CostMicros, released})
		return nil
	}
	fmt.Fprintf(a.out, "run %s: %s recorded, %s was set aside and counts no longer\n", run.ID, words.ExactDollars(run.CostMicros), words.ExactDollars(released))
	return nil
}
