package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/benchmark"
	"deem/internal/dataset"
	"deem/report"
)

const runHelp = `Judge the items of a dataset and show what was found.

"deem run BENCHMARK" reads the files of a benchmark and asks its judge as published;
"deem list benchmarks" lists them. Without one, --data is a file of items.

An item is a question, the answers that would be right, and what the system under
test gave. The file is JSONL, JSON, CSV or Parquet, also packed with gzip or zstd;
"deem list formats" says which columns are recognised, and --map names others.

Without --judge the rule "match" decides, offline and without a key. With a judge
that asks a model, --model says which one, as openai:gpt-4o-mini; keys come from
the environment (OPENAI_API_KEY) or a file .env. With several judges each has a run
of its own, and the report shows where the first and the others differ.

Every verdict is saved the moment it exists. The same command goes on where an
earlier one stopped or was killed, and asks only for what is missing. Ctrl-C once
lets the calls in flight finish; twice cancels them.

An item that could not be judged is unjudged, not wrong. When more than
--max-unjudged of the items are, the score is withheld and the exit status is 3.

EXIT STATUS
  0 done   1 could not   2 wrong usage or input   3 done, but too many items unjudged
  130 interrupted: what was judged is saved, and the same command goes on`

const runExample = `  deem run --data answers.jsonl
  deem run longmemeval --data longmemeval_s.json --responses hyp.jsonl --model openai:gpt-4o-2024-08-06
  deem run --data answers.csv --map question=q,references=gold,response=output
  deem run --data answers.jsonl --judge universal --model openai:gpt-4o-mini -j 32
  deem run --data answers.jsonl --judge f1 --judge universal --model openai:gpt-4o-mini
  deem run --data answers.jsonl --judge rubric --model openai:llama3.2 --base-url http://127.0.0.1:11434/v1
  zcat answers.jsonl.gz | deem run --data - --judge my-judge.yaml --model openai:gpt-4o-mini`

// A runOptions is what "deem run" was told.
type runOptions struct {
	benchmark *benchmark.Benchmark // nil for a file of items

	data, responses []string
	title           string // what the data is called, when that is not the names of its files
	format          string
	mapping         string
	limit           int
	requireAll      bool

	judges []string // empty means the benchmark's own judge, or the default
	judge  judgeOptions
	model  modelOptions

	concurrency, trials, retries int
	rpm, tpm                     int
	prices, record, embeddings   string

	fresh, retryUnjudged, dryRun bool
	maxUnjudged                  float64
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run [BENCHMARK] --data FILE [flags]", Short: "judge a dataset", Long: runHelp, Example: runExample,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.setBenchmark(args); err != nil {
				return err
			}
			return a.run(cmd.Context(), o)
		},
		ValidArgs: benchmarkNames(),
	}
	o.maxUnjudged = report.DefaultMaxUnjudged
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.data, "data", nil, "read items from this `file`, - for standard input; may be given again")
	f.StringArrayVar(&o.responses, "responses", nil, "read the system's responses from this `file`, where a benchmark keeps them apart; may be given again")
	f.BoolVar(&o.requireAll, "require-all", false, "a question of the benchmark without a response is an error")
	f.StringToStringVar(&o.judge.with, "with", nil, "an option of the benchmark's own, as `name=value` (deem list benchmarks); may be given again")
	f.StringVar(&o.format, "format", "", "what the file is: "+strings.Join(dataset.Formats(), ", ")+" (default: by its name and first bytes)")
	f.StringVar(&o.mapping, "map", "", "which `columns` hold what, as question=q,response=output")
	f.IntVar(&o.limit, "limit", 0, "judge only the first `n` items")
	f.StringArrayVar(&o.judges, "judge", nil, "who judges: a `name` (deem list judges) or a YAML file; given again, several judge the same items and are set beside each other; f1+bleu are several rules in one run (default: the benchmark's own, or match)")
	f.StringVar(&o.model.name, "model", "", "the `model` that the judge asks, as openai:gpt-4o-mini")
	f.StringVar(&o.embeddings, "embeddings", "", "what the judge semantic compares by: a `folder` with a sentence model's files, or openai:NAME")
	f.StringVar(&o.judge.reading, "reading", "", "how replies are read: upstream or strict (default: upstream where there is one)")
	f.Var(numberFlag{&o.judge.pass}, "pass", "the score from which a verdict passes, from 0 to 1 (default: the judge's)")
	f.Var(numberFlag{&o.judge.temperature}, "temperature", "sampling temperature (default: the judge's)")
	f.IntVar(&o.judge.maxTokens, "max-tokens", 0, "tokens in a reply at most (default: the judge's)")
	f.IntVarP(&o.concurrency, "concurrency", "j", 8, "judge `n` items at once")
	f.IntVar(&o.trials, "trials", 1, "judge each item `n` times")
	f.StringVar(&o.model.baseURL, "base-url", "", "`address` of an OpenAI-compatible server (default: OPENAI_BASE_URL)")
	f.StringArrayVar(&o.model.headers, "header", nil, "send `NAME=value` or NAME=env:VARIABLE with each call; may be given again")
	f.DurationVar(&o.model.timeout, "timeout", 0, "give up a call after this `time` (default 2m)")
	f.IntVar(&o.retries, "retries", 4, "make a call `n` more times when the error may pass")
	f.IntVar(&o.rpm, "rpm", 0, "requests per minute at most")
	f.IntVar(&o.tpm, "tpm", 0, "tokens per minute at most")
	f.StringVar(&o.prices, "prices", "", "take prices from this `file` before the built-in ones")
	f.StringVar(&o.record, "record", "", "append every reply to this `file`, for --model replay:FILE")
	f.BoolVar(&o.fresh, "fresh", false, "start over: do not go on with an earlier run, and ask again what was asked before")
	f.BoolVar(&o.retryUnjudged, "retry-unjudged", false, "judge again what an earlier run could not judge")
	f.Var(shareFlag{&o.maxUnjudged}, "max-unjudged", "withhold the score when more items than this `share` are unjudged")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the first prompt and what would be asked, and call nothing")
	return cmd
}

func benchmarkNames() []string {
	var names []string
	for _, b := range benchmark.All() {
		names = append(names, b.Name)
	}
	return names
}

// setBenchmark takes the word behind "deem run".
func (o *runOptions) setBenchmark(args []string) error {
	if len(args) == 0 {
		return nil
	}
	b, ok := benchmark.Named(args[0])
	if ok {
		o.benchmark = &b
		return nil
	}
	if fileExists(args[0]) {
		return usage(deem.WithHint(fmt.Errorf("no benchmark %q", args[0]), "a file is given with --data: deem run --data %s", args[0]))
	}
	return usage(unknown("benchmark", args[0], benchmarkNames()))
}

// check refuses options that make no sense before anything is opened.
func (o runOptions) check() error {
	switch {
	case len(o.data) == 0 && (o.benchmark == nil || len(o.responses) == 0):
		return usage(deem.WithHint(errors.New("no data to judge"), "name a file: deem run --data answers.jsonl; or try deem demo"))
	case o.benchmark == nil && (len(o.responses) > 0 || o.requireAll || len(o.judge.with) > 0):
		return usage(deem.WithHint(errors.New("--responses, --require-all and --with go with a benchmark"), "a file of items has the responses in it: --map response=COLUMN"))
	case o.benchmark != nil && (o.format != "" || o.mapping != ""):
		return usagef("--format and --map do not go with a benchmark, whose files have a form of their own")
	case o.concurrency < 1:
		return usagef("-j is %d; at least one item must be judged at once", o.concurrency)
	case o.trials < 1:
		return usagef("--trials is %d; each item must be judged at least once", o.trials)
	case o.limit < 0 || o.retries < 0 || o.rpm < 0 || o.tpm < 0 || o.judge.maxTokens < 0 || o.model.timeout < 0:
		return usagef("--limit, --retries, --rpm, --tpm, --max-tokens and --timeout cannot be negative")
	}
	return nil
}

// A judging is one judge that goes over the items, with the model that it asks.
type judging struct {
	choice
	wire deem.Model // nil for a rule
}

// run judges a dataset: it checks all input before anything is written or paid for,
// then opens the store, lets each judge go through the items, and reports.
func (a *app) run(ctx context.Context, o runOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	var err error
	if o.judge.embedder, err = a.openEmbedder(o.embeddings, o.model); err != nil {
		return err
	}
	judgings, err := a.chooseAll(o)
	if err != nil {
		return err
	}
	data, err := a.openData(ctx, o, judgings)
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }()
	for _, j := range judgings {
		if err := preflight(ctx, j.choice, data); err != nil {
			return err
		}
	}
	if o.dryRun {
		return a.dryRun(judgings, data, o)
	}
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	var runs []string
	for _, j := range judgings {
		id, err := a.judgeAll(ctx, st, j, data, o)
		if err != nil {
			return err
		}
		runs = append(runs, id)
	}
	return a.show(ctx, st, runs, o.maxUnjudged)
}

// chooseAll returns the judges that were named, else the benchmark's own, else the
// one that needs nothing, each with its model.
func (a *app) chooseAll(o runOptions) ([]judging, error) {
	names := o.judges
	if len(names) == 0 && (o.benchmark == nil || o.model.name == offline) {
		names = []string{defaultJudge}
	}
	var choices []choice
	if len(names) == 0 {
		c, err := chooseBenchmark(*o.benchmark, o.benchmark.Judges[0], o.judge)
		if err != nil {
			return nil, err
		}
		choices = append(choices, c)
	}
	for _, name := range names {
		c, err := choose(name, o.judge, len(names) > 1)
		if err != nil {
			return nil, err
		}
		choices = append(choices, c)
	}
	return a.withModels(choices, o.model)
}

// offline is the model that is none.
const offline = "offline"

// withModels opens the model for the judges that ask one. A model that nobody would
// ask is a mistake.
func (a *app) withModels(choices []choice, o modelOptions) ([]judging, error) {
	named := o.name != "" && o.name != offline
	var judgings []judging
	asked := false
	for _, c := range choices {
		j := judging{choice: c}
		if c.rule == nil {
			if !named {
				return nil, usage(deem.WithHint(fmt.Errorf("judge %s asks a model, and none is named", c.name()), "add --model openai:gpt-4o-mini, or judge offline with --judge match"))
			}
			var err error
			if j.wire, err = a.openWire(o); err != nil {
				return nil, err
			}
			asked = true
		}
		judgings = append(judgings, j)
	}
	if named && !asked {
		return nil, usage(deem.WithHint(fmt.Errorf("%s is a rule and asks no model", choices[0].name()), "leave --model out, or choose a judge that asks one: --judge universal"))
	}
	return judgings, nil
}
