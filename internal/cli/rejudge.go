package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deem"
	"deem/benchmark"
	"deem/internal/benchmark/locomo"
	"deem/internal/catalog"
	"deem/internal/published"
	"deem/internal/usage"
	"deem/internal/words"
)

const rejudgeHelp = `Check what others published, and judge the same responses again.

A results file is recognised by its content, not by its name: LongMemEval
hypotheses and eval-results; HaluMem's evaluation input and judged results; LoCoMo
results of Mem0, memobase, Zep, MemOS and EverMemOS; results of promptfoo; logs of
inspect (.eval or .json); samples of lm-eval; pairs of LLMBar and PandaLM; and rows of
any other program in JSONL, JSON, CSV or Parquet with recognised columns. "deem list
formats" lists them all. --map names other columns.

First deem recomputes the published number from the rows, by the file's own rule, and
compares it with the file's own totals and with --claimed. Anything that is not a
verdict, such as SKIP, ERROR, judge_failed or null, is unjudged. The recorded verdicts
are stored as a run, which every other command reads. If the file contains the judge's
replies, deem reads them again, which costs nothing.

Then every --judge judges the same responses. The report shows the scores, the items
that changed, how far the judges agree, and, with several files, whether the ranking of
the systems holds.

Each FILE is a system, optionally with a name: mem0=results.json. A folder is one
system in several files, and so are all files with --together. --data names the
benchmark's own questions, for files that have only ids. --map truth=COLUMN compares the
verdicts with human labels, or with a more trusted judge, on the same responses.

--lint prints only irregularities, which the report shows too: repeated ids, numbers
that count rows without a verdict as wrong, a re-run of exactly the failures, one
response to many questions, responses that contain the reference and an alternative, and
numbers in the summary, or in a README next to the file, that the rows do not support. It
judges and stores nothing. A finding is not a proof.

EXIT STATUS
  0 every claimed number agrees, or none is claimed   1 error
  2 wrong usage, or a file that cannot be read   3 too many items unjudged
  4 a claimed number does not agree`

const rejudgeExample = `  deem rejudge results.json
  deem rejudge hyp.jsonl.eval-results-gpt-4o --data longmemeval_s.json --claimed 72.6%
  deem rejudge results.json --judge grade --model openai:gpt-4o-mini
  deem rejudge mem0=a.json zep=b.json --judge match --judge locomo/f1
  deem rejudge per_conversation/ --claimed 1223/1540
  deem rejudge answers.csv --map question=q,references=gold,response=output,label=ok`

// A rejudgeOptions is the options of "deem rejudge".
type rejudgeOptions struct {
	run runOptions // how to judge again

	mapping    string
	pick       string
	benchmark  string
	yes, no    []string
	scale      float64
	only       []string
	split      string
	claimed    []string
	together   bool
	skipBroken bool
	lint       bool
	quotes     string
	html       string
	readings   bool // --reading all
}

func (a *app) rejudgeCommand() *cobra.Command {
	var o rejudgeOptions
	given := map[string]bool{}
	cmd := &cobra.Command{
		Use: "rejudge FILE... [flags]", Short: "check and rescore published results", Long: rejudgeHelp, Example: rejudgeExample,
		// Arguments are checked before deem.yaml is read, so that flags of the user can be
		// distinguished from settings.
		Args: func(cmd *cobra.Command, args []string) error {
			cmd.Flags().Visit(func(f *pflag.Flag) { given[f.Name] = true })
			if len(args) == 0 {
				return usage.Mark(deem.WithHint(errors.New("no file of results is named"), "deem rejudge results.json"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			// Published files are read and judged only as the command line says, without the
			// settings of deem.yaml for the user's own items and judges: otherwise looking at
			// a file would cost money.
			if !given["judge"] {
				o.run.judges = nil
				if !given["model"] {
					o.run.model.Name = ""
				}
			}
			if !given["data"] {
				o.run.data = nil
			}
			if !given["format"] {
				o.run.format = ""
			}
			if !given["map"] {
				o.mapping = ""
			}
			if !given["trials"] {
				o.run.Trials = 1
			}
			if !given["pass"] {
				o.run.judge.Pass = catalog.Optional[float64]{}
			}
			if o.run.judge.Reading == "all" {
				o.readings, o.run.judge.Reading = true, ""
			}
			return a.rejudge(cmd.Context(), args, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.claimed, "claimed", nil, "the published `number`, or NAME=number: 88.6%, 0.886, 443/500, majority=74.35%, temporal-reasoning=58.6%; repeatable")
	f.StringVar(&o.mapping, "map", "", "which `columns` hold what, for example question=q,response=output,label=ok; the parts are "+strings.Join(published.Parts(), ", "))
	f.StringVar(&o.pick, "pick", "", "the `name` of the system, scorer or filter to use, if a file has several; \"each\" uses every system separately, \"all\" uses them together")
	f.StringVar(&o.benchmark, "benchmark", "", "the `benchmark` the rows belong to: "+strings.Join(published.Benchmarks(), ", ")+" (default: detected from the rows)")
	f.BoolVar(&o.together, "together", false, "all files are parts of one system's results")
	f.StringArrayVar(&o.yes, "right", nil, "another `label` that counts as right; repeatable")
	f.StringArrayVar(&o.no, "wrong", nil, "another `label` that counts as wrong; repeatable")
	f.Float64Var(&o.scale, "scale", 0, "the largest score in the file (default 1)")
	f.StringArrayVar(&o.only, "only", nil, "use only rows with this `column`=value, or with any value in a column; repeatable, and then all must hold")
	f.StringVar(&o.split, "split", "", "the separator `between` several references in one text, for example /")
	f.StringVar(&o.quotes, "quotes", "", "none: quotes in a CSV or TSV file are ordinary `characters` (default: they enclose cells)")
	f.BoolVar(&o.skipBroken, "skip-broken", false, "skip rows that cannot be read, and report them")
	f.StringVar(&o.html, "html", "", "write the scores under all judges as a page to this `file`")
	f.BoolVar(&o.lint, "lint", false, "print only irregularities in the files, and judge nothing")
	o.run.sourceFlags(f)
	o.run.judgeFlags(f)
	o.run.modelFlags(f)
	o.run.wayFlags(f)
	f.Lookup("judge").Usage = "judge the responses again: a `name` (deem list judges) or a YAML file; repeatable"
	f.Lookup("reading").Usage = "how replies are parsed: upstream (as the published code does), strict, or all, which shows every judge with each of its parsers (default: upstream where there is one)"
	f.Lookup("data").Usage = "the benchmark's own `file` of questions, for results that have only ids; repeatable"
	a.verboseFlag(cmd)
	return cmd
}

// A checkedSystem is the file of one system, with its claims checked.
type checkedSystem struct {
	name   string
	set    *published.Set
	checks []published.Check
}

// rejudge reads all files, checks their claims, judges again, and shows the results.
func (a *app) rejudge(ctx context.Context, args []string, o rejudgeOptions) error {
	systems, err := a.openPublished(ctx, args, o)
	if err != nil {
		return err
	}
	if o.lint {
		return a.lintPublished(systems)
	}
	judgings, err := a.judgesAgain(ctx, systems, &o)
	if err != nil {
		return err
	}
	recorded := func(sys checkedSystem) bool { return sys.set.Trials() > 0 }
	if len(judgings) == 0 && !slices.ContainsFunc(systems, recorded) {
		return usage.Mark(deem.WithHint(fmt.Errorf("%s: %s: no verdicts were recognised", strings.Join(systems[0].set.Names(), ", "), systems[0].set.Shape),
			"if a column holds verdicts, --map label=COLUMN names it; otherwise judge the responses with --judge match, or --judge grade --model openai:gpt-4o-mini"))
	}
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	s := &study{app: a, store: st, o: o, judgings: judgings}
	for _, sys := range systems {
		if err := s.add(ctx, sys); err != nil {
			return err
		}
	}
	return s.show(ctx)
}

// openPublished reads the files of all systems.
func (a *app) openPublished(ctx context.Context, args []string, o rejudgeOptions) ([]checkedSystem, error) {
	groups := make([][]string, 0, len(args))
	names := make([]string, 0, len(args))
	for _, arg := range args {
		name, file, named := strings.Cut(arg, "=") // as in mem0=results.json
		if !named || name == "" || catalog.FileExists(arg) {
			name, file = "", arg
		}
		if o.together && len(groups) > 0 {
			groups[0] = append(groups[0], file)
			continue
		}
		groups, names = append(groups, []string{file}), append(names, name)
	}
	if len(groups) > 1 && len(o.claimed) > 0 {
		return nil, usage.Errorf("--claimed is about one system, and there are %d; --together makes the files one", len(groups))
	}
	var systems []checkedSystem
	for i, files := range groups {
		if slices.ContainsFunc(groups[:i], func(g []string) bool { return slices.Equal(g, files) }) {
			return nil, usage.Errorf("%s is named twice", files[0])
		}
		if o.pick == "each" {
			each, err := a.openEach(ctx, names[i], files, o)
			if err != nil {
				return nil, err
			}
			systems = append(systems, each...)
			continue
		}
		sys, err := a.openSystem(ctx, names[i], files, o)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(systems, func(s checkedSystem) bool { return s.name == sys.name }) {
			sys.name = files[0] // The path distinguishes systems whose files have the same name.
		}
		if slices.ContainsFunc(systems, func(s checkedSystem) bool { return s.name == sys.name }) {
			return nil, usage.Errorf("two systems are called %s", sys.name)
		}
		systems = append(systems, sys)
	}
	return systems, nil
}

// openEach reads a file with the results of several systems, one after the other.
func (a *app) openEach(ctx context.Context, name string, files []string, o rejudgeOptions) ([]checkedSystem, error) {
	o.pick = ""
	sys, err := a.openSystem(ctx, name, files, o)
	several, ok := errors.AsType[*published.SeveralError](err)
	if !ok {
		return []checkedSystem{sys}, err
	}
	var list []checkedSystem
	for _, pick := range several.Systems {
		o.pick = pick
		sys, err := a.openSystem(ctx, strings.TrimSpace(name+" "+pick), files, o)
		if err != nil {
			return nil, err
		}
		list = append(list, sys)
	}
	return list, nil
}

// openSystem reads the files of one system and checks their claims.
func (a *app) openSystem(ctx context.Context, name string, files []string, o rejudgeOptions) (checkedSystem, error) {
	if o.benchmark != "" && !slices.Contains(published.Benchmarks(), o.benchmark) {
		return checkedSystem{}, usage.Mark(usage.Unknown("benchmark of rows", o.benchmark, published.Benchmarks()))
	}
	if o.quotes != "" && o.quotes != "none" {
		return checkedSystem{}, usage.Mark(usage.Unknown("kind of quotes", o.quotes, []string{"none"}))
	}
	mapping := published.Mapping{}
	if strings.TrimSpace(o.mapping) != "" {
		for pair := range strings.SplitSeq(o.mapping, ",") {
			part, column, ok := strings.Cut(pair, "=")
			if !ok {
				return checkedSystem{}, usage.Mark(deem.WithHint(fmt.Errorf("mapping %q: no = in %q", o.mapping, pair), "write it as question=COLUMN,label=COLUMN"))
			}
			part = strings.TrimSpace(part)
			if part == "reference" {
				part = "references"
			}
			mapping[part] = strings.TrimSpace(column)
		}
	}
	set, err := published.Open(ctx, published.Source{
		Names: files, Stdin: a.in, Format: o.run.format, Map: mapping, Pick: o.pick, Benchmark: o.benchmark,
		Yes: o.yes, No: o.no, Scale: o.scale, Only: o.only, Split: o.split, SkipBroken: o.skipBroken, Unquoted: o.quotes == "none",
	})
	if err != nil {
		return checkedSystem{}, usage.Mark(err)
	}
	if len(o.run.data) > 0 {
		if err := a.adopt(ctx, set, o.run); err != nil {
			return checkedSystem{}, err
		}
	}
	if err := applyCategory5(set, o.run.judge.With["category5"]); err != nil {
		return checkedSystem{}, usage.Mark(err)
	}
	if err := compareWithTruth(set); err != nil {
		return checkedSystem{}, err
	}
	claims := set.Claims
	for _, spec := range o.claimed {
		c, err := set.ParseClaim(spec)
		if err != nil {
			return checkedSystem{}, usage.Mark(deem.WithHint(fmt.Errorf("--claimed %s: %w", spec, err), "%s", deem.HintOf(err)))
		}
		claims = append(claims, c)
	}
	return checkedSystem{name: cmp.Or(name, set.Stem()), set: set, checks: set.Check(claims)}, nil
}

// applyCategory5 applies --with to the adversarial questions of LoCoMo. Recorded verdicts
// on them can be counted or left out. The other policies are ways of judging, and only
// affect judges that are called now.
func applyCategory5(set *published.Set, policy string) error {
	switch {
	case policy == "":
		return nil
	case set.Benchmark != locomo.Name:
		return fmt.Errorf("%s: %s, and --with category5 is about results of LoCoMo", strings.Join(set.Names(), ", "), set.Shape)
	case policy == string(locomo.Excluded):
		return set.WithoutCategory(locomo.Adversarial, "--with category5="+policy)
	case policy == string(locomo.Phrases) || policy == string(locomo.Abstention):
		if set.Trials() > 0 {
			set.Note("the recorded verdicts on category 5 are counted as recorded; --with category5=%s is for judges that are asked now", policy)
		}
		return nil
	}
	return usage.Unknown("policy for category 5", policy, []string{string(locomo.Excluded), string(locomo.Phrases), string(locomo.Abstention)})
}

// adopt joins the rows of a file with the questions of its benchmark.
func (a *app) adopt(ctx context.Context, set *published.Set, o runOptions) error {
	b, ok := benchmark.All().Named(set.Benchmark)
	if !ok {
		return usage.Mark(deem.WithHint(fmt.Errorf("%s: %s, and of no benchmark that is recognised, so that --data says nothing to it", strings.Join(set.Names(), ", "), set.Shape),
			"--map names the columns of questions and references in the file itself"))
	}
	if policy := cmp.Or(o.judge.With["category5"], string(locomo.Excluded)); b.Name == locomo.Name && policy == string(locomo.Excluded) {
		// The benchmark leaves these questions out, so their rows would seem to answer none.
		if err := set.WithoutCategory(locomo.Adversarial, "--with category5="+policy); err != nil {
			return usage.Mark(err)
		}
	}
	var rows bytes.Buffer
	enc := json.NewEncoder(&rows)
	for it := range set.Items() {
		row := map[string]any{"question_id": it.ID, "hypothesis": it.Response}
		if it.Question != "" {
			row["question"] = it.Question
		}
		if it.Cluster != "" {
			row["sample_id"] = it.Cluster
		}
		if it.Category != "" && b.Name != "longmemeval" {
			row["category"] = it.Category
		}
		if err := enc.Encode(row); err != nil {
			return err
		}
	}
	joined, err := b.Open(ctx, benchmark.Options{Data: o.data, Responses: []string{"-"}, Stdin: &rows, With: o.judge.With, Judges: o.judges})
	if err != nil {
		return usage.Mark(err)
	}
	defer func() { _ = joined.Close() }()
	for _, note := range joined.Notes() {
		a.say("%s", note)
	}
	dropped, err := set.Adopt(joined.Items())
	if dropped > 0 {
		a.say("%s of %s answer no question of the data, and are left out", words.Comma(dropped), filepath.Base(set.Names()[0]))
	}
	return err
}

// judgesAgain chooses the judges that judge again and checks that they can.
func (a *app) judgesAgain(ctx context.Context, systems []checkedSystem, o *rejudgeOptions) ([]catalog.Choice, error) {
	r := &o.run
	if len(r.judges) == 0 {
		if r.model.Name == "" || r.model.Name == offline {
			return nil, nil
		}
		b, ok := benchmark.All().Named(systems[0].set.Benchmark)
		if !ok || b.Name == "locomo" {
			return nil, usage.Mark(deem.WithHint(errors.New("--model needs a judge that asks it, and no --judge is given"), "add --judge grade"))
		}
		r.judges = []string{b.Judges[0]}
	}
	sets := make([]items, len(systems))
	for i, sys := range systems {
		if err := sys.set.CheckResponses(); err != nil {
			return nil, usage.Mark(err)
		}
		sets[i] = answered(sys.set)
	}
	probe := *r
	probe.data, probe.format = []string{"-"}, "" // The items are there already.
	if b, ok := benchmark.All().Named(systems[0].set.Benchmark); ok {
		probe.benchmark = &b
	}
	if err := probe.check(); err != nil {
		return nil, err
	}
	judgings, err := a.openJudges(r)
	if err != nil {
		return nil, err
	}
	for _, j := range judgings {
		for _, set := range sets {
			if err := preflight(ctx, j, set, mapHint); err != nil {
				return nil, err
			}
		}
	}
	return judgings, nil
}

// lintPublished prints irregularities in result files. Findings are not failures, except
// for a number that is claimed, by the file's own summary or by --claimed, and cannot be
// reproduced.
func (a *app) lintPublished(systems []checkedSystem) error {
	type linted struct {
		Name     string              `json:"name"`
		Files    []string            `json:"files"`
		Findings []published.Finding `json:"findings"`
	}
	list := make([]linted, len(systems))
	wrong := 0
	for i, sys := range systems {
		list[i] = linted{Name: sys.name, Files: sys.set.Names(), Findings: append([]published.Finding{}, sys.set.Findings()...)}
		for j, c := range sys.checks {
			if c.Agrees {
				continue
			}
			wrong++
			if j >= len(sys.set.Claims) { // --claimed comes after the claims of the file
				list[i].Findings = append(list[i].Findings, published.Finding{
					Kind: published.FoundNumber, Claim: c.Name, Text: fmt.Sprintf("--claimed says %s %s, which the rows do not give", c.Name, c.Text),
				})
			}
		}
	}
	if a.json {
		_ = writeJSON(a.out, struct {
			Version string   `json:"version"`
			Systems []linted `json:"systems"`
		}{"deem.lint/1", list})
	} else {
		for _, sys := range list {
			found := "nothing odd"
			if n := len(sys.Findings); n > 0 {
				found = words.Count(n, "finding")
			}
			fmt.Fprintf(a.out, "%s: %s\n", words.Printable(sys.Name), found)
			for _, f := range sys.Findings {
				fmt.Fprintf(a.out, "  %s: %s\n", f.Kind, words.Printable(f.Text))
			}
		}
	}
	if wrong > 0 {
		return deem.WithHint(fmt.Errorf("%w: the rows do not give %s", errClaim, words.Count(wrong, "claimed number")), "the findings of kind %s name them", published.FoundNumber)
	}
	return nil
}
