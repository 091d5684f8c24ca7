package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deem"
	"deem/internal/catalog"
	"deem/internal/reports"
	"deem/internal/reports/agree"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
)

const bridgeHelp = `Replace a judge without judging everything again. OLD is a run of the old judge over all
items. --judge and --model name the new judge, which is called for --calls of the items:

  deem run --data answers.jsonl --judge grade --model openai:gpt-4o-mini
  deem compare bridge last --judge grade --model openai:gpt-5-mini --calls 200

The command estimates what the new judge would say of all items, from its verdicts on the
sample and the old judge's verdicts on all. Half of the calls go to items at random, in
proportion to the categories and verdicts of the old judge. The others go to the categories
and verdicts in which the new judge does not always say the same, again at random. The
estimate is unbiased however the old judge errs. If the old judge is too weak to help, the
command says so. The calls are runs: the same command resumes them, and --max-cost limits
them together.

Two runs, of which one is over a random sample of the other's items, are compared without
calls: deem compare bridge OLD NEW. The estimate is then prediction-powered inference, and --calls N
prints how wide the interval would be with N verdicts.

EXIT STATUS
  0 shown   1 error   2 wrong usage   130 interrupted: the same command resumes`

// bridgeFlags are the flags of "deem run" that say what the new judge is and how it is called.
var bridgeFlags = []string{
	"judge", "repeat", "tie", "model", "embeddings", "reading", "pass", "temperature", "max-tokens", "thinking", "concurrency", "trials",
	"base-url", "header", "model-option", "proxy", "ca-file", "timeout", "run-timeout", "retries", "rpm", "tpm", "max-cost", "ask-above",
	"yes", "prices", "record", "fresh", "retry-unjudged", "max-unjudged",
}

func (a *app) bridgeCommand() *cobra.Command {
	var o runOptions
	calls, seed := 0, uint64(1)
	cmd := &cobra.Command{
		Use: "bridge OLD [NEW] [flags]", Short: "carry scores over to a new judge", Long: bridgeHelp,
		Example: "  deem compare bridge last --judge grade --model openai:gpt-5-mini --calls 200\n  deem compare bridge last~1 last",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.bridgeCalls(cmd.Context(), args[0], o, calls, seed)
			}
			return a.bridge(cmd.Context(), args, calls)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(countFlag(&calls), "calls", "call the new judge for `n` items; of two runs: print how wide the interval would be with n verdicts")
	f.Uint64Var(&seed, "seed", 1, "random seed (a `number`) for the items that are drawn")
	shared := pflag.NewFlagSet("run", pflag.ContinueOnError)
	o.flags(shared)
	for _, name := range bridgeFlags {
		f.AddFlag(shared.Lookup(name))
	}
	f.Lookup("judge").Usage = "the new judge: a `name` (deem list judges) or a YAML file (default: grade with --model)"
	return cmd
}

// bridgeCalls calls a new judge for some of the items of a run, and prints what it would say
// of all of them.
func (a *app) bridgeCalls(ctx context.Context, ref string, o runOptions, calls int, seed uint64) error {
	if calls == 0 || len(o.judges) == 0 && o.model.Name == "" {
		return usage.Mark(deem.WithHint(errors.New("deem compare bridge needs a second run, or a new judge and a number of calls"),
			"name a judge: deem compare bridge last --judge grade --model openai:gpt-5-mini --calls 200; or a second run: deem compare bridge last~1 last"))
	}
	if len(o.judges) > 1 {
		return usage.Errorf("deem compare bridge leads to one judge, and %d are named", len(o.judges))
	}
	o.data = []string{"-"} // The items are in the run.
	if err := o.check(); err != nil {
		return err
	}
	choices, err := a.openJudges(&o)
	if err != nil {
		return err
	}
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	was, err := findRun(ctx, st, ref)
	if err != nil {
		return err
	}
	now, err := choices[0].Judge()
	if err != nil {
		return err
	}
	spec, err := run.Spec(choices[0], now, was.Dataset, o.Trials)
	if err != nil {
		return err
	}
	if spec.Judge.Hash == was.Judge.Hash && spec.Model == was.Model {
		return usage.Errorf("there is nothing to bridge: run %s has this judge", was.ID)
	}
	pairs, undecided, err := reports.BridgeItems(ctx, st, was)
	if err != nil {
		return err
	}
	if calls > len(pairs) {
		return usage.Errorf("--calls %d: run %s has %s with a verdict", calls, was.ID, words.Count(len(pairs), "item"))
	}
	b := agree.NewBridge(pairs, calls, seed)
	var is store.Run
	for _, half := range []func() []int{b.First, b.Second} {
		places := half()
		if len(places) == 0 {
			continue
		}
		if is, err = a.callFor(ctx, st, choices[0], was, pairs, places, b, o); err != nil {
			return err
		}
	}
	bridge := reports.DrawnBridge(was, is, b, undecided)
	if a.json {
		return writeJSON(a.out, bridge)
	}
	return a.document(bridge.Document())
}

// callFor judges the items at some places by a new judge, in a run of its own, and hands the
// answers to the bridge.
func (a *app) callFor(ctx context.Context, st store.Database, c catalog.Choice, was store.Run, pairs []agree.Pair, places []int, b *agree.Bridge, o runOptions) (store.Run, error) {
	slices.Sort(places)
	data, err := derive(storedItems{names: was.Dataset.Names}, func(yield func(deem.Item, error) bool) {
		for _, i := range places {
			if !yield(pairs[i].Item, nil) {
				return
			}
		}
	})
	if err != nil {
		return store.Run{}, err
	}
	if err := preflight(ctx, c, data, "name a judge that needs nothing more than these items have: deem list judges"); err != nil {
		return store.Run{}, err
	}
	id, _, err := a.judgeAll(ctx, st, c, data, o)
	if err != nil {
		return store.Run{}, err
	}
	is, err := findRun(ctx, st, id)
	if err != nil {
		return store.Run{}, err
	}
	answers, err := reports.BridgeAnswers(ctx, st, is)
	for _, i := range places {
		if t := answers[pairs[i].Item.Hash()]; t != nil {
			b.Answer(i, t)
		}
	}
	return is, err
}

// storedItems is what is known of a dataset whose items are in a store.
type storedItems struct {
	items
	names []string
}

func (s storedItems) Names() []string { return s.names }
func (s storedItems) Notes() []string { return nil }
func (s storedItems) Close() error    { return nil }

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
