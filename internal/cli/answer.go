package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deem"
	"deem/internal/catalog"
	"deem/internal/contexts"
	"deem/internal/dataset"
	"deem/internal/reader"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/report"
)

const answerHelp = `Answer questions from the contexts that a memory system retrieved.

One fixed reader answers everybody's contexts, so that systems differ by what they
retrieved and not by the model that read it. --contexts is a file, or a folder of files, of
any program: rows with a question, or an id, and contexts as a text or a list. The answer
key, if the file has it, never reaches the reader. --data names the file with the questions
and references, if they are elsewhere; contexts are found by id, else by the question
within its conversation.

A reader is a prompt, a way to join contexts and a budget; "deem list readers" lists them,
and a YAML file is one, too. An empty list of contexts is answered. A failed retrieval is
a failure, and not a wrong answer.

-o writes answers that "deem run --data" judges. "deem run --contexts" does both at once.
Every answer is saved immediately, and the same command resumes an interrupted one.

EXIT STATUS
  0 done   1 error   2 wrong usage or input   3 done, but too many items unanswered
  130 interrupted: finished items are saved; the same command resumes`

const answerExample = `  deem answer --contexts search_results.json --model openai:gpt-4o-mini -o answers.jsonl
  deem answer --contexts dumps/ --reader longmemeval-direct --context-tokens 4000 --model openai:gpt-4o-mini
  deem run longmemeval --data longmemeval_s.json --contexts dump.json --reader-model openai:gpt-4o-mini --model openai:gpt-4o-2024-08-06`

// readerOptions say from which contexts a reader answers the items before they are judged.
type readerOptions struct {
	contexts      []string
	readerName    string
	readerModel   string
	contextTokens int
	arm           string // of [reader.Arms]; "" means the contexts of the system under test

	onlyAnswers bool   // the answers are not judged
	answersFile string // where answers are written, "" for nowhere

	by *reader.Declaration // once everything is open; nil if no reader answers
}

func (o *readerOptions) readerFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.contexts, "contexts", nil, "have a reader answer from the contexts in this `file` or folder, and judge its answers; repeatable (docs/answer.md)")
	f.StringVar(&o.readerName, "reader", "", "the reader: a `name` (deem list readers) or a YAML file (default deem)")
	f.StringVar(&o.readerModel, "reader-model", "", "the `model` that the reader asks, for example openai:gpt-4o-mini")
	f.Var(countFlag(&o.contextTokens), "context-tokens", "show the reader at most `n` tokens of contexts, counted as four bytes each (default: the reader's)")
	f.StringVar(&o.arm, "arm", "", "other contexts: `none`, full, oracle, refuse or shuffle (docs/answer.md)")
}

// answers reports whether a reader answers the items.
func (o readerOptions) answers() bool { return len(o.contexts) > 0 || o.arm != "" }

// refusing is the model of the arm refuse.
const refusing = "fake:say=" + reader.Refusal

// setArm sets what follows from the arm: a refusal asks no model, and reports need a name for
// what gave the contexts.
func (o *runOptions) setArm() {
	if o.arm == "" {
		return
	}
	o.system = cmp.Or(o.system, "arm "+o.arm)
	if o.arm == reader.ArmRefuse && o.onlyAnswers {
		o.model.Name = cmp.Or(o.model.Name, refusing)
	} else if o.arm == reader.ArmRefuse {
		o.readerModel = cmp.Or(o.readerModel, refusing)
	}
}

// checkArm rejects an arm for which there are no contexts.
func (o runOptions) checkArm() error {
	history := o.benchmark != nil && o.benchmark.Histories
	switch asked := cmp.Or(o.readerModel, o.model.Name); {
	case o.arm == "":
		return nil
	case !slices.Contains(reader.Arms(), o.arm):
		return usage.Mark(usage.Unknown("arm", o.arm, reader.Arms()))
	case len(o.data) == 0 && len(o.contexts) == 0:
		return usage.Mark(deem.WithHint(fmt.Errorf("--arm %s has no questions", o.arm), "name the file that has them: --data FILE"))
	case (o.arm == reader.ArmFull || o.arm == reader.ArmOracle) && !history:
		return usage.Mark(deem.WithHint(fmt.Errorf("--arm %s needs a benchmark whose files have the history", o.arm), "deem answer longmemeval --data FILE --arm %s, or locomo; other questions have --arm none", o.arm))
	case (o.arm == reader.ArmFull || o.arm == reader.ArmOracle) && len(o.contexts) > 0:
		return usage.Errorf("--arm %s takes contexts from the data, and --contexts has others: leave one out", o.arm)
	case o.arm == reader.ArmShuffle && len(o.contexts) == 0 && !history:
		return usage.Mark(deem.WithHint(errors.New("--arm shuffle has no contexts to shuffle"), "name them: --contexts FILE"))
	case o.arm == reader.ArmRefuse && asked != refusing:
		return usage.Errorf("--arm refuse gives the same answer to every question and asks no model: leave %s out", asked)
	}
	return nil
}

// applyArm replaces the contexts of the items by those of the arm. Those of full and oracle
// came with the items.
func (a *app) applyArm(data items, o runOptions) (items, error) {
	set := func(contexts func(at int) string) (items, error) {
		return derive(data, changed(data, func(at int, it deem.Item) (deem.Item, bool) {
			it = withField(it, reader.FieldContexts, contexts(at))
			delete(it.Fields, reader.FieldStatus) // A retrieval that failed does not matter here.
			it.Response = ""
			return it, true
		}))
	}
	switch o.arm {
	case reader.ArmNone, reader.ArmRefuse:
		return set(func(int) string { return "[]" })
	case reader.ArmShuffle:
		list, err := contexts.Shuffle(data.Items(), o.seed)
		if err != nil {
			return nil, usage.Mark(fmt.Errorf("--arm shuffle: %w", err))
		}
		return set(func(at int) string { return list[at] })
	}
	return data, nil
}

func (a *app) answerCommand() *cobra.Command {
	o := runOptions{readerOptions: readerOptions{onlyAnswers: true}}
	cmd := &cobra.Command{
		Use: "answer [BENCHMARK] --contexts FILE --model MODEL [flags]", Short: "answer questions from retrieved contexts", Long: answerHelp, Example: answerExample,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.setBenchmark(args); err != nil {
				return err
			}
			if err := answersOutput.check(o.answersFile, o.contextFiles()); err != nil {
				return usage.Mark(err)
			}
			return a.run(cmd.Context(), o)
		},
	}
	o.flags(cmd.Flags())
	o.sampleFlags(cmd.Flags())
	cmd.Flags().StringVarP(&o.answersFile, "output", "o", "", "write the answers to this `file`, - for standard output")
	a.verboseFlag(cmd)
	return hiding(cmd, "judge", "reader-model", "reading", "pass", "repeat", "tie", "queue", "other", "responses", "require-all", "embeddings", "gate", "errata", "corrected", "with",
		"batch", "batch-only", "batch-size", "batch-poll")
}

// checkReader rejects options of a reader that make no sense together.
func (o runOptions) checkReader() error {
	switch {
	case !o.answers() && o.onlyAnswers:
		return usage.Mark(deem.WithHint(errors.New("no contexts to answer from"), "name a file: deem answer --contexts dump.json --model openai:gpt-4o-mini"))
	case !o.answers() && (o.readerName != "" || o.readerModel != "" || o.contextTokens != 0):
		return usage.Errorf("--reader, --reader-model and --context-tokens go with --contexts or --arm")
	case !o.answers():
		return nil
	case o.contextTokens < 0:
		return usage.Errorf("--context-tokens cannot be negative")
	case o.onlyAnswers && o.readerModel != "":
		return usage.Errorf("deem answer asks one model, and --model names it: leave --reader-model out")
	case o.onlyAnswers && (len(o.judges) > 0 || o.repeat != 0):
		return usage.Mark(deem.WithHint(errors.New("deem answer does not judge"), "deem run --contexts answers and judges"))
	case o.onlyAnswers && (o.model.Name == "" || o.model.Name == offline):
		return usage.Mark(deem.WithHint(errors.New("a reader needs a model, and none is given"), "add --model openai:gpt-4o-mini"))
	case !o.onlyAnswers && o.readerModel == "":
		return usage.Mark(deem.WithHint(errors.New("a reader needs a model, and none is given"), "add --reader-model openai:gpt-4o-mini, which may differ from the model of the judge"))
	case len(o.responses) > 0 || len(o.other) > 0:
		return usage.Errorf("a reader answers the questions, so --responses and --other do not go with --contexts and --arm")
	case o.benchmark != nil && len(o.data) == 0:
		return usage.Mark(deem.WithHint(fmt.Errorf("%s needs its own file for a reader to answer", o.benchmark.Name), "name it with --data"))
	}
	return o.checkArm()
}

// openReader opens the reader, if items are to be answered.
func (o *runOptions) openReader() error {
	if !o.answers() {
		return nil
	}
	d, err := reader.Open(cmp.Or(o.readerName, reader.Default))
	if err != nil {
		return usage.Mark(deem.WithHint(err, "deem list readers lists them; a YAML file is a reader, too"))
	}
	if o.contextTokens > 0 {
		d.Contexts.Tokens = o.contextTokens
	}
	o.by = d
	return nil
}

// readContexts reads the files of contexts. Next to a file of items, --map is about that file
// unless it names a field.
func (a *app) readContexts(ctx context.Context, o runOptions) (*contexts.Set, error) {
	mapping, err := dataset.ParseMapping(o.mapping)
	if err != nil {
		return nil, err
	}
	src := contexts.Source{Names: o.contexts, Stdin: a.in, Map: mapping}
	if len(o.data) > 0 {
		maps.DeleteFunc(mapping, func(part, _ string) bool { return !strings.HasPrefix(part, "field.") })
	} else {
		src.Format = o.format
	}
	return contexts.Open(ctx, src)
}

// openContexts opens contexts as the items themselves.
func (a *app) openContexts(ctx context.Context, o runOptions) (items, error) {
	set, err := a.readContexts(ctx, o)
	if err == nil {
		err = set.Asked()
	}
	if err == nil && !o.onlyAnswers {
		err = set.Judgeable()
	}
	if err != nil || o.limit == 0 || o.limit >= set.Len() {
		return set, err
	}
	return derive(set, changed(set, func(at int, it deem.Item) (deem.Item, bool) { return it, at < o.limit }))
}

// withContexts adds contexts to the items of a dataset, and removes their responses.
func (a *app) withContexts(ctx context.Context, data items, o *runOptions) (items, error) {
	if len(o.contexts) == 0 || len(o.data) == 0 {
		return data, nil
	}
	set, err := a.readContexts(ctx, *o)
	if err != nil {
		return nil, usage.Mark(err)
	}
	for _, note := range set.Notes() {
		a.say("%s", note)
	}
	gained, unused, err := set.Join(data.Items())
	if err != nil {
		return nil, usage.Mark(err)
	}
	if unused > 0 {
		a.say("%s of no item of the data, left out", words.Plural(unused, "row of contexts is", "rows of contexts are"))
	}
	d, err := derive(data, changed(data, func(at int, it deem.Item) (deem.Item, bool) {
		fields := maps.Clone(it.Fields)
		if fields == nil {
			fields = map[string]string{}
		}
		maps.Copy(fields, gained[at])
		it.Fields, it.Response = fields, ""
		return it, true
	}))
	if err != nil {
		return nil, err
	}
	d.names = append(slices.Clone(d.names), set.Names()...)
	return d, nil
}

// readerSettings describes the reader of a run, with the mean tokens of what it shows.
func (o readerOptions) readerSettings(g catalog.Choice, data items) (*report.Reader, error) {
	meter, err := reports.NewReaderMeter(g.Spec)
	if err != nil {
		return nil, err
	}
	for it, err := range data.Items() {
		if err != nil {
			return nil, err
		}
		meter.Add(it)
	}
	r := meter.Reader()
	r.Arm = o.arm
	return r, nil
}

// An answered line is an answer in the file of "deem answer". "deem run --data" reads it.
type answeredLine struct {
	ID            string   `json:"id"`
	Category      string   `json:"category,omitempty"`
	Cluster       string   `json:"cluster,omitempty"`
	Question      string   `json:"question"`
	References    []string `json:"references,omitempty"`
	Response      string   `json:"response"`
	Reader        string   `json:"reader"`
	ReaderHash    string   `json:"reader_hash"`
	ReaderModel   string   `json:"reader_model"`
	ContextTokens int      `json:"context_tokens"`
	ContextBudget int      `json:"context_budget,omitempty"`
}

// answersOutput is the file of "deem answer", which the same command writes again.
var answersOutput = output{flag: "output", what: "file of deem answer", ours: contains(`"reader_hash":`)}

// contextFiles returns the files that an answer must not be written over.
func (o readerOptions) contextFiles() []readFile {
	var list []readFile
	for _, name := range o.contexts {
		if info, err := os.Stat(name); err == nil {
			list = append(list, readFile{info, "--contexts"})
		}
	}
	return list
}

// answersReport is the result of "deem answer" as JSON.
type answersReport struct {
	Run      string            `json:"run"`
	Reader   *report.Reader    `json:"reader"`
	Items    int               `json:"items"`
	Answered int               `json:"answered"`
	Failures map[deem.Kind]int `json:"failures"`
	Calls    report.Calls      `json:"calls"`
	Written  string            `json:"written,omitempty"`
}

// showAnswers writes the answers of a run, and prints how many there are, what failed, and
// what it cost.
func (a *app) showAnswers(ctx context.Context, st store.Store, id string, o runOptions) error {
	run, err := findRun(ctx, st, id)
	if err != nil {
		return err
	}
	f, err := reports.Of(ctx, st, run, reports.Options{MaxUnjudged: 1})
	if err != nil {
		return err
	}
	got := answersReport{
		Run: run.ID, Reader: f.Report.Head.Reader, Items: f.Report.Items, Answered: f.Report.Judged, Failures: map[deem.Kind]int{},
		Calls: f.Report.Calls, Written: o.answersFile,
	}
	for _, k := range f.Report.Failures {
		got.Failures[k.Kind] += k.N
	}
	write := func(w io.Writer) error { return writeAnswers(ctx, st, run, got.Reader, o.by, w) }
	switch o.answersFile {
	case "":
	case "-":
		if err := write(a.out); err != nil {
			return err
		}
	default:
		if err := writeWhole(o.answersFile, write); err != nil {
			return err
		}
	}
	switch {
	case a.json && o.answersFile != "-":
		if err := writeJSON(a.out, got); err != nil {
			return err
		}
	case o.answersFile != "-":
		got.print(a.out)
	}
	if missing := got.Items - got.Answered; float64(missing) > o.maxUnjudged*float64(got.Items) {
		return deem.WithHint(fmt.Errorf("%w: %s of %s without an answer, and at most %.4g%% may be", errUnjudged, words.Comma(missing), words.Count(got.Items, "item"), 100*o.maxUnjudged),
			"deem show ITEM says why; --retry-unjudged asks again, and --max-unjudged allows more")
	}
	return nil
}

// print prints the result for a person.
func (r answersReport) print(w io.Writer) {
	fmt.Fprintf(w, "%s of %s answered by %s\n", words.Comma(r.Answered), words.Count(r.Items, "item"), words.Printable(r.Reader.String()))
	for _, kind := range slices.Sorted(maps.Keys(r.Failures)) {
		fmt.Fprintf(w, "%s unanswered: %s\n", words.Comma(r.Failures[kind]), kind)
	}
	fmt.Fprintf(w, "%s, %s tokens in, %s out, %s\n", words.Count(r.Calls.N, "call"), words.Comma(r.Calls.InputTokens), words.Comma(r.Calls.OutputTokens), words.Dollars(r.Calls.CostMicros))
	if r.Written != "" {
		fmt.Fprintf(w, "wrote %s: deem run --data %s judges it\n", r.Written, r.Written)
	}
}

// writeAnswers writes the answers of a run in the order of its items.
func writeAnswers(ctx context.Context, st store.Store, run store.Run, who *report.Reader, by *reader.Declaration, w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for rec, err := range st.Records(ctx, run.ID, store.Query{Trial: new(int)}) {
		if err != nil {
			return err
		}
		if rec.Answer == nil || rec.Failure != nil {
			continue
		}
		it := rec.Item
		tokens, _ := reports.ShownTokens(by, it) // It was answered, so its contexts can be joined.
		err := enc.Encode(answeredLine{
			ID: it.ID, Category: it.Category, Cluster: it.Cluster, Question: it.Question, References: it.References, Response: *rec.Answer,
			Reader: who.Name, ReaderHash: who.Hash, ReaderModel: who.Model, ContextTokens: tokens, ContextBudget: who.Budget,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
