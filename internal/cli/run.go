package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"deem"
	"deem/benchmark"
	"deem/internal/dataset"
	"deem/internal/store"
	"deem/model"
	"deem/model/replay"
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
the environment (OPENAI_API_KEY) or a file .env.

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

	judge judgeOptions
	model modelOptions

	concurrency, trials, retries int
	rpm, tpm                     int
	prices, record               string

	fresh, retryUnjudged, dryRun bool
	maxUnjudged                  float64
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run [BENCHMARK] --data FILE [flags]", Short: "judge a dataset", Long: runHelp, Example: runExample,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.judge.chosen = cmd.Flags().Changed("judge")
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
	f.StringVar(&o.format, "format", "", "what the file is: "+strings.Join(dataset.Formats(), ", ")+" (default: by its name and first bytes)")
	f.StringVar(&o.mapping, "map", "", "which `columns` hold what, as question=q,response=output")
	f.IntVar(&o.limit, "limit", 0, "judge only the first `n` items")
	f.StringVar(&o.judge.name, "judge", defaultJudge, "who judges: a `name` (deem list judges) or a YAML file")
	f.StringVar(&o.model.name, "model", "", "the `model` that the judge asks, as openai:gpt-4o-mini")
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
	case len(o.data) == 0:
		return usage(deem.WithHint(errors.New("no data to judge"), "name a file: deem run --data answers.jsonl; or try deem demo"))
	case o.benchmark == nil && (len(o.responses) > 0 || o.requireAll):
		return usage(deem.WithHint(errors.New("--responses and --require-all go with a benchmark"), "a file of items has the responses in it: --map response=COLUMN"))
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

// run judges a dataset: it checks all input before anything is written or paid for,
// then opens the store, goes through the items, and reports.
func (a *app) run(ctx context.Context, o runOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	c, err := o.chooseJudge()
	if err != nil {
		return err
	}
	wire, err := a.wireFor(c, o.model)
	if err != nil {
		return err
	}
	data, err := a.openData(ctx, o, c)
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }()
	if err := preflight(ctx, c, data); err != nil {
		return err
	}
	if o.dryRun {
		return a.dryRun(c, wire, data, o)
	}
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	return a.judgeAll(ctx, st, c, wire, data, o)
}

// chooseJudge returns the judge that was named, else the benchmark's own, else the
// one that needs nothing.
func (o runOptions) chooseJudge() (choice, error) {
	if o.benchmark != nil && !o.judge.chosen && o.model.name != "offline" {
		return chooseBenchmark(*o.benchmark, o.judge)
	}
	return choose(o.judge)
}

// wireFor opens the model of a judge that asks one.
func (a *app) wireFor(c choice, o modelOptions) (deem.Model, error) {
	switch {
	case c.rule != nil && (o.name == "" || o.name == "offline"):
		return nil, nil
	case c.rule != nil:
		return nil, usage(deem.WithHint(fmt.Errorf("%s is a rule and asks no model", c.name()), "leave --model out, or choose a judge that asks one: --judge universal"))
	case o.name == "" || o.name == "offline":
		return nil, usage(deem.WithHint(fmt.Errorf("judge %s asks a model, and none is named", c.name()), "add --model openai:gpt-4o-mini, or judge offline with --judge match"))
	}
	return a.openWire(o)
}

// items are what is judged: a file of items, or the set of a benchmark.
type items = benchmark.Set

// openData opens what is judged, which reads and checks all of it.
func (a *app) openData(ctx context.Context, o runOptions, c choice) (items, error) {
	data, err := a.openItems(ctx, o, c)
	if err != nil {
		return nil, usage(err)
	}
	for _, note := range data.Notes() {
		a.say("%s", note)
	}
	return data, nil
}

func (a *app) openItems(ctx context.Context, o runOptions, c choice) (items, error) {
	if o.benchmark != nil {
		return o.benchmark.Open(ctx, a.benchmarkOptions(o, c))
	}
	mapping, err := dataset.ParseMapping(o.mapping)
	if err != nil {
		return nil, err
	}
	return dataset.Open(ctx, dataset.Source{
		Names: o.data, Stdin: a.in, Format: o.format, Map: mapping, Fields: c.wanted, Limit: o.limit,
	})
}

// benchmarkOptions says what a benchmark reads. The reading is that of its own
// judge, since which items there are may depend on it.
func (a *app) benchmarkOptions(o runOptions, c choice) benchmark.Options {
	b := benchmark.Options{Data: o.data, Responses: o.responses, Stdin: a.in, RequireAll: o.requireAll, Limit: o.limit}
	if c.protocol != nil && c.protocol.Name() == o.benchmark.Name {
		b.Reading = c.protocol.Reading()
	}
	return b
}

// preflight refuses a dataset in which no item has what the judge needs. It looks
// at the first hundred: whoever forgot a column forgot it in all of them.
func preflight(ctx context.Context, c choice, data items) error {
	const most = 100
	var last *deem.Failure
	n := 0
	for it, err := range data.Items() {
		if err != nil {
			return err
		}
		f, ok := errors.AsType[*deem.Failure](c.try(ctx, it))
		if !ok || f.Kind != deem.Input {
			return nil
		}
		last = f
		if n++; n == most {
			break
		}
	}
	if last == nil {
		return nil
	}
	err := fmt.Errorf("%s: judge %s can judge none of the first %s: %s", strings.Join(data.Names(), ", "), c.name(), count(n, "item"), last.Detail)
	return usage(deem.WithHint(err, "say which column holds it, as --map references=gold,question=q; deem list formats names those that are recognised"))
}

// dryRun prints the first prompt and what a run would ask.
func (a *app) dryRun(c choice, wire deem.Model, data items, o runOptions) error {
	calls := data.Len() * o.trials
	if c.rule != nil {
		a.say("would judge %s with the rule %s and call nothing", count(data.Len(), "item"), c.name())
		return nil
	}
	for it, err := range data.Items() {
		if err != nil {
			return err
		}
		req, err := c.protocol.Request(it)
		if err != nil {
			continue // this item would be unjudged; show the first that would be asked about
		}
		if a.json {
			writeJSON(a.out, req)
		} else {
			for _, m := range req.Messages {
				fmt.Fprintf(a.out, "%s:\n%s\n", m.Role, m.Content)
			}
		}
		break
	}
	a.say("would ask %s %s about %s", wire.Name(), count(calls, "time"), count(data.Len(), "item"))
	return nil
}

// settings are what a run was told that is no part of what it is. They are kept
// with it, so that its benchmark's numbers and files can be made again.
type settings struct {
	Concurrency int      `json:"concurrency"`
	Map         string   `json:"map,omitempty"`
	Limit       int      `json:"limit,omitempty"`
	Benchmark   string   `json:"benchmark,omitempty"`
	Data        []string `json:"data,omitempty"`
	Responses   []string `json:"responses,omitempty"`
	Reading     string   `json:"reading,omitempty"` // of the benchmark
}

// spec says what the run is.
func (a *app) spec(j deem.Judge, c choice, wire deem.Model, data items, o runOptions) (store.Spec, error) {
	hash, err := deem.JudgeHash(j)
	if err != nil {
		return store.Spec{}, err
	}
	s := store.Spec{
		Judge:   store.JudgeSpec{Name: j.Name(), Hash: hash, Rule: c.rule != nil},
		Dataset: store.DatasetSpec{Names: data.Names(), Hash: data.Hash(), Items: data.Len()},
		Trials:  o.trials,
	}
	if o.title != "" {
		s.Dataset.Names = []string{o.title}
	}
	if ij, ok := j.(deem.Identified); ok {
		if s.Judge.Identity, err = deem.Canonical(ij.Identity()); err != nil {
			return store.Spec{}, err
		}
	}
	if wire != nil {
		s.Model, s.Endpoint = wire.Name(), model.Endpoint(wire)
	}
	set := settings{Concurrency: o.concurrency, Map: o.mapping, Limit: o.limit}
	if o.benchmark != nil {
		from := a.benchmarkOptions(o, c)
		set.Benchmark, set.Data, set.Responses, set.Reading = o.benchmark.Name, from.Data, from.Responses, from.Reading
	}
	s.Settings, err = json.Marshal(set)
	return s, err
}

// decorate puts the decorators around the wire. The store is the reply cache.
func (a *app) decorate(wire deem.Model, st store.Store, o runOptions) (deem.Model, func() error, error) {
	if wire == nil {
		return nil, func() error { return nil }, nil
	}
	opts := model.Options{
		Replies: st,
		// What could not be read once cannot be read from the cache either.
		Cache: model.CacheOptions{Fresh: o.fresh || o.retryUnjudged},
		Retry: model.RetryOptions{Attempts: o.retries + 1},
		Limit: model.LimitOptions{Concurrency: o.concurrency, RPM: o.rpm, TPM: o.tpm},
	}
	if o.prices != "" {
		prices, err := model.LoadPrices(o.prices)
		if err != nil {
			return nil, nil, usage(err)
		}
		opts.Prices = prices
	}
	m := model.Assemble(wire, opts)
	if o.record == "" {
		return m, func() error { return nil }, nil
	}
	f, err := os.OpenFile(o.record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, usage(err)
	}
	return replay.Recorder(m, f), f.Close, nil
}

// judgeAll begins or continues the run and takes it to its end.
func (a *app) judgeAll(ctx context.Context, st store.Store, c choice, wire deem.Model, data items, o runOptions) error {
	m, closeRecord, err := a.decorate(wire, st, o)
	if err != nil {
		return err
	}
	j := c.with(m)
	s, err := a.spec(j, c, wire, data, o)
	if err != nil {
		return err
	}
	run, resumed, err := st.Begin(ctx, s, o.fresh)
	if err != nil {
		return err
	}
	a.announce(run, resumed, o)
	err = a.judge(ctx, st, run, j, m, data, o)
	if c, ok := model.As[io.Closer](m); ok {
		err = errors.Join(err, c.Close())
	}
	if cerr := closeRecord(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = st.Release(run.ID)
		return a.unfinished(ctx, st, run, err)
	}
	if err := st.Finish(ctx, run.ID); err != nil {
		return err
	}
	return a.show(ctx, st, run.ID, o.maxUnjudged)
}

// announce says what is about to happen.
func (a *app) announce(run store.Run, resumed bool, o runOptions) {
	total := run.Dataset.Items * o.trials
	who := run.Judge.Name
	if run.Model != "" {
		who += " with " + run.Model
	}
	switch {
	case resumed && run.Records >= total && !o.retryUnjudged:
		a.say("run %s is done already: %s (--fresh starts over)", run.ID, count(run.Records, "record"))
	case resumed:
		a.say("run %s goes on: %s of %s done, %s judges the rest", run.ID, thousands(run.Records), thousands(total), who)
	default:
		a.say("run %s: %s judges %s", run.ID, who, count(run.Dataset.Items, "item"))
	}
}

// judge goes through the items. What ends it early comes as an error.
func (a *app) judge(ctx context.Context, st store.Store, run store.Run, j deem.Judge, m deem.Model, data items, o runOptions) error {
	ctx, stop, release := a.watchSignals(ctx)
	defer release()
	opts := deem.Options{Concurrency: o.concurrency, Trials: o.trials, Stop: stop}
	if run.Records > 0 {
		opts.Done = func(ctx context.Context, it deem.Item, trial int) (bool, error) {
			status, err := st.Status(ctx, run.ID, it.ID, trial)
			return status == store.Judged || status == store.Unjudged && !o.retryUnjudged, err
		}
	}
	w := store.NewWriter(st, run.ID, store.WriterOptions{})
	p := a.startProgress(run, o, m)
	var ended error
	for rec, err := range deem.Run(ctx, data.Items(), j, opts) {
		if err != nil {
			ended = err
			break
		}
		p.add(rec)
		// What is judged is kept, however the run ends.
		if err := w.Put(context.WithoutCancel(ctx), rec); err != nil {
			ended = err
			break
		}
	}
	p.stop()
	if err := w.Close(); err != nil {
		return err
	}
	return ended
}

// watchSignals makes the first interrupt close the returned channel and the second
// cancel the returned context.
func (a *app) watchSignals(ctx context.Context) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals, stop, over := make(chan os.Signal, 2), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-over:
				return
			case <-signals:
			}
			if n == 0 {
				a.say("stopping: calls in flight finish and are kept; again to cancel them")
				close(stop)
			} else {
				cancel()
			}
		}
	}()
	return ctx, stop, func() {
		signal.Stop(signals)
		close(over)
		cancel()
	}
}

// unfinished says how far a run came that ended early, and how to go on.
func (a *app) unfinished(ctx context.Context, st store.Store, run store.Run, err error) error {
	interrupted := errors.Is(err, deem.ErrStopped) || errors.Is(err, context.Canceled)
	now, rerr := st.Run(context.WithoutCancel(ctx), run.ID)
	if rerr == nil {
		a.say("%s of %s judged and kept in %s as run %s", thousands(now.Records), thousands(run.Dataset.Items*run.Trials), a.db, run.ID)
	}
	if !interrupted {
		return err
	}
	a.say("go on with: %s", commandLine(a.args))
	return errInterrupted
}

// commandLine returns the command that continues, ready to be pasted. What starts
// over is left out.
func commandLine(args []string) string {
	words := []string{"deem"}
	for _, arg := range args {
		if arg == "--fresh" || arg == "--fresh=true" {
			continue
		}
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\$`*?[]{}()<>|&;#~!") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// clock is the time for progress and for nothing that is kept.
func clock() time.Time { return time.Now() }
