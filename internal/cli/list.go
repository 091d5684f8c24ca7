package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/catalog"
	"deem/internal/dataset"
	"deem/internal/doc"
	"deem/internal/published"
	"deem/internal/reader"
	"deem/internal/reports"
	"deem/internal/rows"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge"
	"deem/model/fake"
	"deem/report"
)

const listHelp = `List benchmarks, judges, readers, models, formats, runs or schemas.

  deem list benchmarks   benchmarks that deem run knows, where to get their files, licences;
                         --all adds judges, readings and options
  deem list judges       the usual judges, what each decides and sees; --all lists every judge
  deem list readers      readers that answer from contexts, for deem answer
  deem list models       providers, and the models for tests
  deem list formats      file formats, and the columns that are recognised
  deem list runs         the same as deem runs
  deem list schemas      the JSON Schemas of judges and of deem.yaml; with --json, all of them

EXIT STATUS
  0 listed   1 error   2 wrong usage`

func (a *app) listCommand() *cobra.Command {
	all := false
	names := []string{"benchmarks", "judges", "readers", "models", "formats", "runs", "schemas"}
	cmd := &cobra.Command{
		Use: "list benchmarks|judges|readers|models|formats|runs|schemas", Short: "benchmarks, judges, readers, models, formats, runs, schemas", Long: listHelp,
		Example:   "  deem list judges\n  deem list runs --json",
		ValidArgs: names,
		Args:      atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage.Mark(deem.WithHint(fmt.Errorf("list what?"), "there are: %s", strings.Join(names, ", ")))
			}
			switch what := args[0]; {
			case !slices.Contains(names, what):
				return usage.Mark(usage.Unknown("list", what, names))
			case what == "benchmarks":
				return a.listBenchmarks(all)
			case what == "runs":
				return a.listRuns(cmd.Context(), all)
			case what == "schemas" && a.json:
				return writeJSON(a.out, map[string]json.RawMessage{"judge": judge.Schema, "deem.yaml": configSchema})
			case what == "judges" && !all && !a.json:
				a.listJudges()
				return nil
			default:
				return a.list(what)
			}
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "runs: include those that \"last\" does not count; judges: list every judge, those of benchmarks and text metrics too; benchmarks: show judges, readings and options")
	return cmd
}

// list prints judges, readers, models, formats or the names of schemas.
func (a *app) list(what string) error {
	var things []catalog.Listed
	add := func(name, kind, about string) {
		things = append(things, catalog.Listed{Name: name, Kind: kind, About: about})
	}
	switch what {
	case "judges":
		things = catalog.Judges()
	case "readers":
		for _, name := range reader.Names() {
			d, err := reader.Open(name)
			if err != nil {
				return err
			}
			add(name, "", doc.Join("; ", d.About, d.Source, d.License))
		}
	case "models":
		for _, v := range a.env.Vendors() {
			about := v.About
			if state := a.env.State(v); state != "" {
				about += "; " + state
			}
			if len(v.Options) > 0 {
				about += "; --model-option " + strings.Join(v.Options, ", ")
			}
			add(v.Name+":NAME", "", about)
		}
		for _, f := range fake.Names() {
			add("fake:"+f.Spec, "", f.Doc)
		}
	case "formats":
		for _, f := range dataset.Formats() {
			add(f, "file", "plain, or packed with gzip or zstd")
		}
		for _, c := range rows.Columns() {
			add(c.Target, "column", "read from "+strings.Join(slices.Concat(c.Names, c.Also), ", "))
		}
		for _, s := range published.Shapes() {
			add(s.Name, "results", s.By)
		}
	case "schemas":
		add("judge", "", "the YAML file of a judge")
		add("deem.yaml", "", "the settings of a project")
	}
	if a.json {
		return writeJSON(a.out, things)
	}
	width := 0
	for _, t := range things {
		width = max(width, len(t.Name))
	}
	for _, t := range things {
		kind := t.Kind
		if kind != "" {
			kind = fmt.Sprintf("%-6s ", kind)
		}
		fmt.Fprintf(a.out, "%-*s  %s%s\n", width, t.Name, kind, t.About)
	}
	if what == "judges" {
		fmt.Fprintln(a.out, "\nA YAML file is a judge too: deem init --judge my-judge.yaml writes one to start from.\nA file of kind panel, repeat, cascade or pairwise makes one judge of others (docs/panel.md, docs/cascade.md).")
	}
	return nil
}

// usualJudges are the judges that most people need, with what each decides in a few words.
var usualJudges = [][2]string{
	{"match", "right, wrong or unsure; offline, the default"},
	{"exact", "the response equals a reference"},
	{"contains", "a reference occurs in the response"},
	{"choice", "the option that the response takes"},
	{"grade", "right or wrong; the default with --model"},
	{"grade/points", "partial credit from 0 to 10"},
	{"universal", "right or wrong, as published"},
	{"rubric", "correctness and relevance, as published"},
	{"faithful", "is each sentence in the context?"},
	{"relevant", "is the question answered, right or wrong?"},
	{"context", "does the context hold the answer?"},
	{"helpful", "does it help the person who asked?"},
	{"refusal", "does the response decline?"},
	{"memory-use", "are stored facts used or contradicted?"},
	{"safe-instructions", "is every constraint followed?"},
	{"pairwise", "which of two responses is better?"},
}

// listJudges prints the usual judges.
func (a *app) listJudges() {
	listed := map[string]catalog.Listed{}
	for _, j := range catalog.Judges() {
		listed[j.Name] = j
	}
	fmt.Fprintf(a.out, "%-17s  %-5s  %6s  %s\n", "judge", "sees", "tokens", "decides")
	for _, usual := range usualJudges {
		j := listed[usual[0]]
		var sees, tokens []string
		for _, s := range j.Sees {
			sees = append(sees, strings.ToUpper(s[:1]))
		}
		if j.Tokens > 0 {
			tokens = append(tokens, words.Comma(j.Tokens))
		}
		fmt.Fprintf(a.out, "%-17s  %-5s  %6s  %s\n", j.Name, strings.Join(sees, " "), strings.Join(tokens, ""), usual[1])
	}
	fmt.Fprintln(a.out, "\nAll see the response; Q question, R reference, C context. Tokens: prompt alone.\n"+
		"docs/which-judge.md compares them; deem list judges --all lists every judge.")
}

// listBenchmarks lists the benchmarks by what they measure, one per line; with all, each
// with its judges, readings and options.
func (a *app) listBenchmarks(all bool) error {
	rows := catalog.Benchmarks()
	if a.json {
		return writeJSON(a.out, rows)
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r.Name))
	}
	for _, kind := range benchmark.Kinds() {
		title := kind + "\n"
		for _, r := range rows {
			if r.Kind != kind {
				continue
			}
			fmt.Fprintf(a.out, "%s  %-*s  %s (licence: %s; data: %s)\n", title, width, r.Name, r.About, r.Licence, r.Where)
			if title = ""; all {
				fmt.Fprintf(a.out, "    judges: %s\n    readings: %s\n", strings.Join(r.Judges, ", "), strings.Join(r.Readings, ", "))
				for _, p := range r.Params {
					fmt.Fprintf(a.out, "    --with %s=...: %s\n", p.Name, p.About)
				}
			}
		}
	}
	if !all {
		fmt.Fprintln(a.out, "\nJudges, readings and options of each: deem list benchmarks --all.")
	}
	return nil
}

func (a *app) listRuns(ctx context.Context, all bool) error {
	st, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	runs, others := []store.Run{}, 0
	for run, err := range st.Runs(ctx) {
		if err != nil {
			return err
		}
		if all || run.Counts() {
			runs = append(runs, run)
		} else {
			others++
		}
	}
	slices.SortFunc(runs, func(x, y store.Run) int { return cmp.Compare(y.Asked, x.Asked) })
	if a.json {
		return writeJSON(a.out, runs)
	}
	if others > 0 {
		a.say("not listed: %s over probes or without a verdict (deem runs --all)", words.Count(others, "run"))
	}
	if len(runs) == 0 {
		a.say("there is no run yet; start one with deem run")
		return nil
	}
	var list []listedRun
	for _, run := range runs[:min(len(runs), listedRuns)] {
		l, err := listed(ctx, st, run)
		if err != nil {
			return err
		}
		list = append(list, l)
	}
	t := tableOf(list)
	blocks := []doc.Block{t}
	for _, l := range list {
		if l.names != "" {
			blocks = append(blocks, doc.Paragraph{Text: l.id + ": " + l.names})
		}
	}
	if more := len(runs) - listedRuns; more > 0 {
		blocks = append(blocks, doc.Paragraph{Text: fmt.Sprintf("and %s earlier; deem runs --json lists all", words.Count(more, "run"))})
	}
	d := &doc.Document{}
	d.Add(doc.Section{ID: "runs", Blocks: blocks})
	return a.document(d)
}

// listedRuns is the maximum number of runs listed for people. The score of each is computed
// from its records, which takes a while.
const listedRuns = 30

// A listedRun is a line in the list of runs.
type listedRun struct {
	id, score, items, system, judge, age string
	names                                string // name and tags
}

func listed(ctx context.Context, st store.Store, run store.Run) (listedRun, error) {
	found, err := reports.Of(ctx, st, run, reports.Options{MaxUnjudged: report.DefaultMaxUnjudged})
	if err != nil {
		return listedRun{}, err
	}
	_, model, _ := strings.Cut(run.Model, ":")
	l := listedRun{
		id: run.ID, score: doc.Absent(found.Report.Hold != nil), items: words.Comma(run.Dataset.Items),
		system: cmp.Or(reports.SettingsOf(run.Spec).System, reports.FileName(run)),
		judge:  doc.Join(" ", run.Judge.Name, cmp.Or(model, run.Model)),
		age:    age(clock().Sub(run.Updated)),
	}
	if m := found.Report.Metrics; len(m) > 0 && m[0].Judged != nil {
		l.score = doc.Share(*m[0].Judged)
	}
	switch {
	case run.State != store.Done:
		l.items = words.Comma(run.Records) + " of " + words.Comma(run.Wanted())
	case run.Trials > 1:
		l.items += fmt.Sprintf(" x %d", run.Trials)
	}
	if run.About.Name != "" {
		l.names = strconv.Quote(run.About.Name)
	}
	l.names = doc.Join(", ", l.names, doc.Prefix(words.Form(len(run.About.Tags), "tag ", "tags "), strings.Join(run.About.Tags, ", ")))
	return l, nil
}

// tableOf returns the list of runs as a table. It shortens systems and judges as far as the
// table needs to fit the default width.
func tableOf(list []listedRun) doc.Table {
	t := doc.Table{Columns: []doc.Column{
		doc.Col("run"), doc.Est("score [95%]"), doc.Num("items"), doc.Col("system"), doc.Col("judge"), doc.Num("age"),
	}}
	widest := func(least int, of func(listedRun) string) int {
		for _, l := range list {
			least = max(least, doc.Width(of(l)))
		}
		return least
	}
	const gaps = 5 * 2
	room := doc.DefaultWidth - gaps -
		widest(len("run"), func(l listedRun) string { return l.id }) -
		widest(0, func(l listedRun) string { value, _, _ := strings.Cut(l.score, " ["); return value }) -
		widest(len("[95%]"), func(l listedRun) string { _, interval, _ := strings.Cut(l.score, " "); return interval }) - 1 -
		widest(len("items"), func(l listedRun) string { return l.items }) -
		widest(len("age"), func(l listedRun) string { return l.age })
	system := widest(len("system"), func(l listedRun) string { return l.system })
	judge := widest(len("judge"), func(l listedRun) string { return l.judge })
	if system+judge > room {
		system = min(system, max(room/2, room-judge))
		judge = room - system
	}
	for _, l := range list {
		t.Rows = append(t.Rows, []doc.Cell{
			doc.T(l.id), doc.T(l.score), doc.T(l.items), doc.T(doc.Clip(l.system, system)), doc.T(doc.Clip(l.judge, judge)), doc.T(l.age),
		})
	}
	return t
}

// age returns a time span in its largest unit, for example "3d".
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "<1m"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}
