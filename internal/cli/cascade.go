package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/catalog"
	"deem/internal/labels"
	"deem/internal/reports"
	"deem/internal/reports/agree"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge"
	"deem/judge/cascade"
	"deem/stat"
)

const cascadeHelp = `Fit a cascade: a cheap judge decides the items it is sure of, and the next judge, or
people, decide the rest. "deem run --judge cascade.yaml" uses it.

"deem cascade fit" takes a run of the cheap judge and human labels, and finds how sure
the judge must be for people to agree with at least 1-alpha of its decisions. This is
guaranteed with probability 1-delta. The thresholds are written to a file that is bound
to the judge: another model or prompt is refused. With too few labels, or a judge that is
wrong too often when it is sure, nothing is guaranteed and nothing is written.
docs/cascade.md explains the method.

"deem cascade check" measures a run of the cascade against other labels.

EXIT STATUS
  0 done   1 error, or no guarantee is possible for this judge
  2 wrong usage or input, or too few labels
  4 check: people agree less often than guaranteed`

// A fitOptions is the options of "deem cascade fit".
type fitOptions struct {
	labels       labels.Source
	runs         []string
	last         string
	lastModel    string
	name, out    string
	alpha, delta float64
}

func (a *app) cascadeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cascade fit|check", Short: "cheap judges first, with a guarantee", Long: cascadeHelp,
		Example: "  deem cascade fit --run last --labels labels.csv -o cascade.yaml\n  deem cascade check --run last --labels more-labels.csv",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage.Mark(deem.WithHint(fmt.Errorf("deem cascade: do what?"), "there are: fit, check"))
			}
			return usage.Mark(usage.Unknown("subcommand", args[0], []string{"fit", "check"}))
		},
		Args: cobra.ArbitraryArgs,
	}
	cmd.AddCommand(a.cascadeFit(), a.cascadeCheck())
	return cmd
}

func (a *app) cascadeFit() *cobra.Command {
	var o fitOptions
	cmd := &cobra.Command{
		Use: "fit --run RUN --labels FILE [flags]", Short: "find thresholds that can be guaranteed", Long: cascadeHelp, Args: atMost(0),
		Example: "  deem cascade fit --run last --labels labels.csv --alpha 0.05 --delta 0.05 -o cascade.yaml\n" +
			"  deem cascade fit --run last~1 --run last --labels labels.csv --last people -o cascade.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(o.runs) == 0 {
				o.runs = []string{"last"}
			}
			if !(o.alpha > 0 && o.alpha < 1) || !(o.delta > 0 && o.delta < 1) {
				return usage.Errorf("--alpha %v, --delta %v: both lie between 0 and 1", o.alpha, o.delta)
			}
			ctx := cmd.Context()
			st, err := a.readRuns(ctx, o.runs...)
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			// The stages are the judges of the runs, made again: the file must describe the same judges.
			d := &catalog.Composition{File: o.out, Kind: judge.KindCascade, Name: o.name}
			var runs []store.Run
			var stages []string
			for _, ref := range o.runs {
				run, err := findRun(ctx, st, ref)
				if err != nil {
					return err
				}
				m, err := stageOf(run)
				if err != nil {
					return err
				}
				if m.Judge, err = catalog.Relative(o.out, m.Judge); err != nil {
					return err
				}
				runs, stages, d.Members = append(runs, run), append(stages, m.Name), append(d.Members, m)
			}
			last, err := catalog.Relative(o.out, o.last)
			if err != nil {
				return err
			}
			d.Members = append(d.Members, catalog.Member{Judge: last, Model: o.lastModel})
			items, name, err := a.labelled(ctx, st, runs, o.labels)
			if err != nil {
				return err
			}
			fitted, err := cascade.Fit(stages, items, o.alpha, o.delta)
			if err != nil {
				return unfit(err, o)
			}
			d.Promise = &catalog.Promise{Alpha: o.alpha, Delta: o.delta, Labels: name}
			for i, f := range fitted {
				m := &d.Members[i]
				m.Threshold = &fitted[i].Threshold
				m.Fitted = &catalog.Fitted{Threshold: f.Threshold, Labelled: f.Labelled, Decided: f.Decided, Wrong: f.Wrong, Bound: f.Bound}
			}
			return a.writeCascade(d, fitted, len(items), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.runs, "run", nil, "a `run` of each stage's judge, the cheapest first; repeatable (default last)")
	f.StringArrayVar(&o.labels.Names, "labels", nil, "human labels: a `file`, as for deem agree; repeatable (default: the labels in the database)")
	labelFlags(cmd, &o.labels)
	f.Float64Var(&o.alpha, "alpha", 0.05, "annotators may disagree with this `share` of what the stages decide")
	f.Float64Var(&o.delta, "delta", 0.05, "the `probability` that the promise does not hold")
	f.StringVar(&o.last, "last", judge.KindPeople, "what decides the rest: people, or a `judge`")
	f.StringVar(&o.lastModel, "last-model", "", "the `model` that the last judge asks (default: --model of the run)")
	f.StringVar(&o.name, "name", judge.KindCascade, "the `name` of the cascade")
	f.StringVarP(&o.out, "output", "o", "-", "write the cascade to this `file`, - for standard output")
	return cmd
}

// unfit explains why no guarantee is possible, and what would help.
func unfit(err error, o fitOptions) error {
	no, ok := errors.AsType[*cascade.FitError](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, cascade.ErrNoConfidence):
		return usage.Mark(deem.WithHint(err, "match says how sure it is; a declared judge does with top_logprobs under params, and any judge that a file of kind repeat asks several times"))
	case errors.Is(err, cascade.ErrContradicted):
		return deem.WithHint(err, "label items in more clusters: the few that count now are not typical of their clusters")
	case errors.Is(err, cascade.ErrTooFew) && no.Clustered > 0:
		return usage.Mark(deem.WithHint(fmt.Errorf("%w: items of one cluster are not independent, so one of each counts, which leaves %s, and alpha %v with delta %v wants %s even if people agree with all of them",
			err, words.Count(no.Labelled, "label"), o.alpha, o.delta, words.Comma(no.Need)),
			"label items of %d clusters or more, or promise less with a larger --alpha", no.Need))
	case errors.Is(err, cascade.ErrTooFew):
		return usage.Mark(deem.WithHint(fmt.Errorf("%w: %s with a label and a verdict, and alpha %v with delta %v wants %s even if people agree with all of them",
			err, words.Count(no.Labelled, "item"), o.alpha, o.delta, words.Comma(no.Need)),
			"label more: deem agree RUN --plan %d -o to-label.csv; or promise less with a larger --alpha", 3*no.Need))
	}
	return deem.WithHint(fmt.Errorf("%w: people disagree with %s of the surest %s", err, words.Comma(no.Wrong), words.Comma(no.Decided)),
		"a larger --alpha promises less; another judge may be better when it is sure; deem agree shows what confidence is worth")
}

func stageOf(run store.Run) (catalog.Member, error) {
	_, set, err := reports.Benchmark(run)
	if err != nil {
		return catalog.Member{}, err
	}
	m := catalog.Member{Judge: run.Judge.Name, Name: run.Judge.Name, Model: run.Model, Hash: run.Judge.Hash}
	if set.Judge != "" {
		m.Judge = set.Judge
	}
	if reports.SpecOf(run).Composed() {
		m.Model = "" // its members name their own models
	}
	kept, err := judge.ParseSpec(run.Judge.Identity)
	if err != nil {
		return m, err
	}
	if kept.Kind == judge.KindModel || kept.Kind == judge.KindRule {
		m.Reading = kept.Reading
	}
	c, err := catalog.Choose(m.Judge, catalog.JudgeOptions{Reading: m.Reading, With: set.With}, true)
	if err == nil && !kept.Composed() {
		c.Spec.Model, c.Spec.Settings = kept.Model, kept.Settings
		if len(judge.Diff(c.Spec, kept)) > 0 {
			err = errors.New("another judge")
		}
	}
	if err == nil {
		return m, nil
	}
	return m, usage.Mark(deem.WithHint(fmt.Errorf("run %s: %s cannot be made again as it judged (%s), and a cascade would ask another judge", run.ID, m.Judge, deem.ShortHash(run.Judge.Hash)),
		"its file may have changed, or flags of the run changed its pass mark, temperature or length of replies: put those into the file of the judge, and judge again"))
}

// labelled returns the labelled items of the runs, with the verdicts of the judges of all
// runs, and the source of the labels.
func (a *app) labelled(ctx context.Context, st store.Store, runs []store.Run, src labels.Source) ([]cascade.Labelled, string, error) {
	t := &truths{app: a, run: runs[0], o: agreeOptions{labels: src}}
	for _, run := range runs {
		if run.Dataset.Hash != t.run.Dataset.Hash {
			return nil, "", usage.Errorf("runs %s and %s judged different items", t.run.ID, run.ID)
		}
	}
	if err := t.open(ctx, st); err != nil {
		return nil, "", err
	}
	var items []cascade.Labelled
	var judged []agree.Item // by the first judge
	at := map[int]int{}     // position of an item to its index
	for rec, err := range st.Records(ctx, t.run.ID, store.Query{Trial: new(int)}) {
		if err != nil {
			return nil, "", err
		}
		truth := t.people.Of(rec.Item)
		labelled := truth != nil && !truth.Tie
		if v := rec.Verdict; v != nil {
			judged = append(judged, agree.Item{
				Labelled: labelled, Yes: v.Yes(), Category: strings.Clone(rec.Item.Category), Cluster: strings.Clone(rec.Item.Cluster),
				Confidence: v.Confidence, Position: rec.Position, Length: len(rec.Item.Response),
			})
		}
		if labelled {
			at[rec.Position] = len(items)
			items = append(items, cascade.Labelled{ID: rec.Item.ID, Cluster: rec.Item.Cluster, Yes: truth.Yes, Verdicts: make([]*deem.Verdict, len(runs))})
			items[len(items)-1].Verdicts[0] = rec.Verdict
		}
	}
	if err := t.unmatched(); err != nil {
		return nil, "", err
	}
	for i := 1; i < len(runs); i++ {
		for rec, err := range st.Records(ctx, runs[i].ID, store.Query{Trial: new(int)}) {
			if err != nil {
				return nil, "", err
			}
			if place, ok := at[rec.Position]; ok {
				items[place].Verdicts[i] = rec.Verdict
			}
		}
	}
	// The guarantee applies to items that are drawn like the labelled ones.
	var same, other []string
	for _, s := range agree.Selection(judged, 0) {
		if s.Differs {
			other = append(other, fmt.Sprintf("%s (p = %.2g after Holm)", s.Of, s.PHolm))
		} else {
			same = append(same, s.Of)
		}
	}
	switch {
	case len(other) > 0:
		a.say("warning: the labelled items differ from the others in %s, and the promise holds for items like the labelled ones only", strings.Join(other, ", "))
	case len(same) > 0:
		a.say("no sign of selection among the labelled items in %s", strings.Join(same, ", "))
	}
	return items, t.people.Name, nil
}

// writeCascade describes the fit in words, and writes the file, or the fit as JSON.
func (a *app) writeCascade(d *catalog.Composition, fitted []cascade.Fitted, labels int, o fitOptions) error {
	left := labels
	for _, f := range fitted {
		left -= f.Took
		a.say("%s decides from %.4g on: %s of %s, and people agree with %s of them; lower %[7]s%% confidence bound %.1[6]f%%", f.Name, f.Threshold,
			words.Comma(f.Took), words.Count(labels, "labelled item"), words.Comma(f.Agreed), 100*(1-f.Bound), strconv.FormatFloat(100*(1-f.Delta), 'g', 4, 64))
		if f.Clustered > 0 {
			a.say("%s left out, so that at most one item of a cluster counts, and large clusters count as often as their size says", words.Plural(f.Clustered, "label is", "labels are"))
		}
	}
	a.say("%s of %s left to %s", words.Comma(left), words.Count(labels, "labelled item"), o.last)
	text, err := d.Write("# Written by deem cascade fit. Thresholds hold for these judges only, and the promise for items\n" +
		"# like those that were labelled.\n")
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
	if o.out == "-" && !a.json {
		return write(a.out)
	}
	if o.out != "-" {
		if err := writeNew(o.out, write); err != nil {
			return err
		}
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"written": o.out, "alpha": o.alpha, "delta": o.delta, "stages": fitted})
	}
	a.say("wrote %s; use it: deem run --data FILE --judge %s", o.out, o.out)
	return nil
}

func (a *app) cascadeCheck() *cobra.Command {
	var src labels.Source
	ref := "last"
	cmd := &cobra.Command{
		Use: "check --run RUN --labels FILE [flags]", Short: "measure the guarantee on other labels", Long: cascadeHelp, Args: atMost(0),
		Example: "  deem cascade check --run last --labels more-labels.csv",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.checkCascade(cmd.Context(), ref, src) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&ref, "run", ref, "the `run` of a cascade")
	f.StringArrayVar(&src.Names, "labels", nil, "human labels: a `file`; repeatable (default: the labels in the database)")
	labelFlags(cmd, &src)
	return cmd
}

// A checkedPromise compares the promised with the measured agreement.
type checkedPromise struct {
	Run     string        `json:"run"`
	Promise float64       `json:"promise"` // minimum share of items on which people agree
	Agree   stat.Estimate `json:"agreement"`
	Broken  bool          `json:"broken"` // by more than chance explains
}

// checkCascade checks the decisions of all stages except the last against labels.
func (a *app) checkCascade(ctx context.Context, ref string, src labels.Source) error {
	st, run, err := a.readRun(ctx, ref)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	_, set, err := reports.Benchmark(run)
	if err != nil {
		return err
	}
	spec := reports.SpecOf(run)
	if spec.Kind != judge.KindCascade || set.Promise == nil {
		return usage.Mark(deem.WithHint(fmt.Errorf("run %s was not judged by a cascade that promises anything", run.ID), "deem cascade fit makes one"))
	}
	t := &truths{app: a, run: run, o: agreeOptions{labels: src}}
	if err := t.open(ctx, st); err != nil {
		return err
	}
	agreed, n, several := 0, 0, false // several: some cluster has several items
	var clusters stat.Clustered
	seen := map[string]bool{}
	for rec, err := range st.Records(ctx, run.ID, store.Query{Trial: new(int)}) {
		if err != nil {
			return err
		}
		truth := t.people.Of(rec.Item)
		if truth == nil || truth.Tie || rec.Verdict == nil || int(rec.Verdict.Aspects[cascade.StageAspect]) == len(spec.Members) {
			continue
		}
		n++
		agrees := 0.0
		if rec.Verdict.Yes() == truth.Yes {
			agreed++
			agrees = 1
		}
		cluster := rec.Item.Cluster
		clusters.Add(cluster, agrees, 1)
		several = several || cluster != "" && seen[cluster]
		seen[cluster] = true
	}
	if n == 0 {
		return usage.Errorf("no label is about an item that the stages before the last decided")
	}
	c := checkedPromise{Run: run.ID, Promise: 1 - set.Promise.Alpha, Agree: stat.ClopperPearson(agreed, n, stat.DefaultLevel)}
	if several { // These items are not independent, so chance explains more.
		c.Agree = clusters.Mean(stat.DefaultLevel, stat.Unit).AtLeastAsWide(c.Agree)
	}
	c.Broken = c.Agree.Hi < c.Promise
	if a.json {
		_ = writeJSON(a.out, c)
	} else {
		of := "n=" + words.Comma(c.Agree.N)
		if c.Agree.Clusters > 0 {
			of += " in " + words.Count(c.Agree.Clusters, "cluster")
		}
		fmt.Fprintf(a.out, "promised %.1f%%, measured %.1f%% %s, %s\n", 100*c.Promise, 100*c.Agree.Value, c.Agree.Ends("%.1f", 100), of)
	}
	if c.Broken {
		return deem.WithHint(fmt.Errorf("%w: people agree less often than was promised", errGate), "these items may be of another kind than those that it was fitted on: fit again with labels of theirs")
	}
	return nil
}

// writeQueue writes the items that a cascade left to people, as a table to label. The same
// table may exist already, because the command may be repeated.
func (a *app) writeQueue(ctx context.Context, st store.Store, runs []string, name string) error {
	var items []deem.Item
	for _, ref := range runs {
		run, err := findRun(ctx, st, ref)
		if err != nil {
			return err
		}
		for rec, err := range st.Records(ctx, run.ID, store.Query{Trial: new(int), Unjudged: true}) {
			if err != nil {
				return err
			}
			if cascade.LeftToPeople(rec) {
				items = append(items, rec.Item)
			}
		}
	}
	var text bytes.Buffer
	if err := writeTable(&text, items, nil); err != nil {
		return err
	}
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, text.Bytes()) {
		return nil
	}
	if err := writeNew(name, func(w io.Writer) error { return writeTable(w, items, nil) }); err != nil {
		return err
	}
	a.say("wrote %s for people to %s; then their verdicts are a judge: labels:%s", words.Count(len(items), "item"), name, name)
	return nil
}
