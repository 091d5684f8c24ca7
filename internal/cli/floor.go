package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/reader"
	"deem/internal/reports"
	"deem/internal/reports/compare"
	"deem/internal/store"
	"deem/internal/usage"
)

const floorHelp = `Print how much the scores of a benchmark say about a memory system.

A reader answers the questions without a system, in five arms: from no contexts (none),
from the whole history (full), from the evidence (oracle), from the contexts of another
question (shuffle), and with a constant refusal (refuse). The card shows the floor, which
is the highest score of none, refuse and shuffle; the ceiling, which is that of oracle; the
spread between them; and the smallest difference between two systems that these items can
show. With --errata it shows the ceiling that the errors of the answer key allow.

Without a benchmark, questions come from --contexts or --data: full and oracle are left
out, and shuffle too if there are no contexts.

Each arm is a run, so the same command resumes it, and --max-cost is for all arms together.
Reports of runs with the same questions, judge and reader say if their score is below one
of these floors.

EXIT STATUS
  0 done   1 error   2 wrong usage or input   3 done, but the score of an arm is withheld
  130 interrupted: finished items are saved; the same command resumes`

const floorExample = `  deem floor longmemeval --data longmemeval_s.json --reader-model openai:gpt-4o-mini --model openai:gpt-4o-2024-08-06
  deem floor locomo --data locomo10.json --reader mem0-2025-full-context --reader-model openai:gpt-4o-mini --model openai:gpt-4o-mini --max-cost 5
  deem floor --contexts search_results.json --reader-model openai:gpt-4o-mini --model openai:gpt-4o-mini`

func (a *app) floorCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "floor [BENCHMARK] --data FILE --reader-model MODEL --model MODEL [flags]", Short: "measure what a benchmark scores without a system", Long: floorHelp, Example: floorExample,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.setBenchmark(args); err != nil {
				return err
			}
			return a.floor(cmd.Context(), o)
		},
	}
	o.flags(cmd.Flags())
	o.sampleFlags(cmd.Flags())
	a.verboseFlag(cmd)
	return hiding(cmd, "arm", "system", "system-model", "responses", "require-all", "other", "queue", "gate", "dry-run",
		"batch", "batch-only", "batch-size", "batch-poll")
}

// checkFloor rejects options that do not go with several arms.
func (o runOptions) checkFloor() error {
	switch {
	case o.arm != "" || o.system != "" || len(o.gates) > 0 || o.queue != "" || o.dryRun || o.batch.on:
		return usage.Errorf("--arm, --system, --gate, --queue, --dry-run and --batch do not go with deem floor, which runs every arm")
	case len(o.judges) > 1:
		return usage.Errorf("deem floor takes one judge, and %d are named", len(o.judges))
	case o.readerModel == "":
		return usage.Mark(deem.WithHint(errors.New("a reader needs a model, and none is given"), "add --reader-model openai:gpt-4o-mini, which may differ from the model of the judge"))
	}
	return nil
}

// floorArms returns the arms that can be run.
func (o runOptions) floorArms() []string {
	if o.benchmark != nil && o.benchmark.Histories && len(o.contexts) == 0 {
		return reader.Arms()
	}
	return slices.DeleteFunc(reader.Arms(), func(arm string) bool {
		return arm == reader.ArmFull || arm == reader.ArmOracle || arm == reader.ArmShuffle && len(o.contexts) == 0
	})
}

// floor runs all arms and prints the card.
func (a *app) floor(ctx context.Context, o runOptions) error {
	if err := o.checkFloor(); err != nil {
		return err
	}
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	var arms []reports.Found
	var errata *reports.ErrataReport
	for _, name := range o.floorArms() {
		f, err := a.runArm(ctx, st, name, &o)
		if err != nil {
			return err
		}
		arms = append(arms, f)
		if name != reader.ArmOracle && errata != nil {
			continue
		}
		if errata, err = a.errataOf(ctx, st, f.Run, f.Report.Head, ""); err != nil {
			return err
		}
	}
	card, err := reports.NewFloor(ctx, st, arms, errata, compare.Options{Seed: o.seed, MaxUnjudged: o.maxUnjudged})
	if err != nil {
		return err
	}
	if a.json {
		err = writeJSON(a.out, card)
	} else {
		err = a.document(card.Document())
	}
	if err != nil {
		return err
	}
	for _, f := range arms {
		if f.Report.Hold != nil {
			return withheld(f.Report, o.maxUnjudged)
		}
	}
	return nil
}

// runArm runs one arm and returns what was found. The budget is shared by all arms.
func (a *app) runArm(ctx context.Context, st store.Store, name string, shared *runOptions) (reports.Found, error) {
	o := *shared
	o.arm = name
	if name == reader.ArmRefuse {
		o.readerModel = ""
	}
	judgings, data, err := a.open(ctx, &o)
	if err != nil {
		return reports.Found{}, err
	}
	defer func() { _ = data.Close() }()
	shared.Budget = o.Budget
	id, _, err := a.judgeAll(ctx, st, judgings[0], data, o)
	if err != nil {
		return reports.Found{}, err
	}
	run, err := findRun(ctx, st, id)
	if err != nil {
		return reports.Found{}, err
	}
	return reports.Of(ctx, st, run, reports.Options{MaxUnjudged: o.maxUnjudged})
}
