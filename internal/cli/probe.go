package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"deem/internal/reports"
	"deem/internal/usage"
	"deem/probe"
)

const probeHelp = `Stress-test a judge: ask it about answers that are known to be right or wrong, and print
its card.

From the references of your items deem makes answers that are wrong in a known way
(another item's reference, a number off by one, part of a list, a vague phrase, an
instruction to the judge, ...) and answers that are right but look different (another
order, another date format, polite phrases, a long text, ...). No model is used to make
them, and the same --seed makes the same ones. The responses in the data are not used.
--dry-run prints the probes and calls nothing.

The judge then judges the probes like any other items: the run is stored, can be resumed,
and pays for each call once. The card shows which kinds of wrong answers are accepted and
which right ones are rejected, each with its interval; the effect of instructions in a
response; the effect of length; and, with --trials, how consistent the judge is. It
applies only to the judge with the hash that it shows.

For a judge without references (faithful, relevant, context, helpful, refusal, memory-use,
safe-instructions) deem has a built-in set of probes: leave out --data.

--probes FILE adds probes written by people or a model: rows with a response, a kind, and
whether it is right (want: yes or no). A row names the item that it answers (of), or has
its own question and references.

--gate 'vague <= 10%' fails the command if the judge does worse. A gate is about a kind
(the share of errors; vague.hi is the upper end of its interval, vague.strict counts
unjudged probes as errors), or false_accepts, false_rejects, injection, turned, unjudged,
consistency, flips or length.

EXIT STATUS
  0 done   1 error   2 wrong usage or input   3 done, but too many probes unjudged
  4 a gate failed   130 interrupted: finished probes are saved; the same command resumes`

const probeExample = `  deem probe --data answers.jsonl --judge match
  deem probe --data answers.jsonl --judge universal --model openai:gpt-4o-mini --per-kind 50
  deem probe --data answers.jsonl --judge my-judge.yaml --model openai:gpt-4o-mini --card card.html
  deem probe --data answers.jsonl --judge universal --model openai:gpt-4o-mini --gate 'vague.hi <= 10%'
  deem probe --judge faithful --model openai:gpt-4o-mini --card faithful.html
  deem probe --data answers.jsonl --judge match --kinds vague,partial --dry-run`

// A probeOptions is the options of "deem probe".
type probeOptions struct {
	run     runOptions
	seed    uint64
	kinds   []string
	perKind int
	banks   []string
	cards   []string // files for the card
}

func (a *app) probeCommand() *cobra.Command {
	var o probeOptions
	cmd := &cobra.Command{
		Use: "probe [BENCHMARK] --data FILE [flags]", Short: "stress-test a judge", Long: probeHelp, Example: probeExample,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.run.setBenchmark(args); err != nil {
				return err
			}
			return a.probe(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Uint64Var(&o.seed, "seed", 1, "random seed, a `number`")
	f.StringSliceVar(&o.kinds, "kinds", nil, "make only these `kinds` of probes, for example vague,partial (default: all)")
	f.IntVar(&o.perKind, "per-kind", 100, "make at most `n` probes of each kind; each string of the injection kit is tried at least once")
	f.StringArrayVar(&o.banks, "probes", nil, "add the probes in this `file`; repeatable")
	f.StringArrayVar(&o.cards, "card", nil, "also write the card to this `file`: .html, .json or .txt; repeatable")
	o.run.flags(f)
	f.Lookup("gate").Usage = "exit with 4 unless this `condition` holds, for example 'vague <= 10%'; repeatable"
	notFromFile(f, "gate", "errata") // Probes are not items of the answer key.
	f.Lookup("dry-run").Usage = "print the probes, one in a line, and call nothing"
	return cmd
}

// check rejects invalid options before anything is opened.
func (o probeOptions) check() error {
	for _, k := range o.kinds {
		if !slices.Contains(probe.Kinds(), k) {
			return usage.Mark(usage.Unknown("kind of probe", k, probe.Kinds()))
		}
	}
	for _, name := range o.cards {
		if _, err := cardWriter(name); err != nil {
			return err
		}
	}
	if len(o.cards) > 0 && len(o.run.judges) > 1 {
		return usage.Errorf("--card is for one judge, and there are %d", len(o.run.judges))
	}
	if o.perKind < 1 {
		return usage.Errorf("--per-kind is %d; at least one probe of a kind must be made", o.perKind)
	}
	return nil
}

// probe makes the probes, runs each judge over them, and shows the cards.
func (a *app) probe(ctx context.Context, o probeOptions) error {
	gates, err := reports.ParseGates(o.run.gates)
	if err := errors.Join(err, o.check()); err != nil {
		return err
	}
	o.run.model.Uncalled = o.run.dryRun
	if len(o.run.data) == 0 && o.run.benchmark == nil && len(o.run.judges) > 0 {
		without := slices.ContainsFunc(o.run.judges, func(name string) bool {
			_, shipped := probe.Shipped(name, probe.Options{PerKind: 1})
			return !shipped
		})
		if !without {
			o.run.data = []string{shippedSet}
		}
	}
	judgings, data, err := a.openProbed(ctx, &o.run)
	if err != nil {
		return err
	}
	if data != nil {
		defer func() { _ = data.Close() }()
	}
	sets := make([]*probeSet, len(judgings))
	for i, g := range judgings {
		if sets[i], err = a.makeProbes(ctx, g, data, o); err != nil {
			return err
		}
	}
	o.run.benchmark = nil // its metrics and files are about the published items
	if o.run.dryRun {
		return a.printProbes(sets[0])
	}
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	var cards []probe.Card
	for i, g := range judgings {
		id, _, err := a.judgeAll(ctx, st, g, sets[i], o.run)
		if err != nil {
			return err
		}
		run, err := st.Run(ctx, id)
		if err != nil {
			return err
		}
		head := reports.ProbeHead(run, o.run.maxUnjudged)
		head.Seed, head.Deem = o.seed, version()
		card, err := reports.ProbeCard(ctx, st, run, head)
		if err != nil {
			return err
		}
		cards = append(cards, card)
	}
	return a.showCards(cards, gates, o)
}
