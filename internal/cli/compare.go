package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/catalog"
	"deem/internal/labels"
	"deem/internal/reports"
	"deem/internal/reports/compare"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge"
	"deem/report"
)

const compareHelp = `Compare two or more runs item by item: which system is better, by how much, and whether
the difference is distinguishable from zero. The first run is the baseline; every
difference is another run minus the baseline. -v prints tests, strict differences and notes.

Runs are named as in "deem report", optionally with a name for the system:
"deem compare rag=last~1 memory=last". Items are paired by their ids. Runs that differ in
more than the system (another judge, other items, other references) are compared only
with --anyway.

Runs of a pairwise judge each compare two systems already, so their systems are ranked
instead, one run or more: by a Bradley-Terry model with ties and an order effect, whose
intervals allow for clusters. Systems are named after their files, or as the argument says:
"deem compare rag:memory=last~1 memory:plain=last".

With --baseline FILE the baseline is a report written by "deem report --json", for a run
that is no longer stored. It has no items, so nothing can be paired.

With --labels the difference is also corrected by human labels. Each run needs its own:
--labels rag=rag-labels.csv --labels memory=memory-labels.csv, or the files in the order
of the runs. "deem agree --help" describes label files.

The outcome of a comparison is better, worse or undecided. With --margin 1pp it may also
be equivalent: two one-sided tests show that the difference lies within 1 point.

A gate is a condition on the results:
  overall >= -1pp               the difference from the baseline is at least -1 point
  overall.lo >= -1pp            the lower end of its interval is at least -1 point
  temporal-reasoning >= -2pp    the same for a category; quote names with spaces
  unjudged <= 1%                the share of unjudged items of the new run
  score >= 70%                  the score of the new run itself
  p < 0.05                      the difference is established
  corrected.lo >= -1pp          the same for the difference corrected by --labels
  better                        the outcome: better, worse, equivalent or undecided
  non-inferior                  not worse by --margin or more, with 95% confidence
All gates must hold, for every run that is compared.

EXIT STATUS
  0 compared   1 error, or the runs differ in more than the system
  2 wrong usage   3 too many items unjudged: the difference is withheld   4 a gate failed`

type compareOptions struct {
	compare.Options
	baseline string
	gates    []string
	flips    string
	html     string

	labels    []string // label files, as NAME=FILE or in the order of the runs
	source    labels.Source
	fromStore bool
}

func (a *app) compareCommand() *cobra.Command {
	o := compareOptions{Options: compare.Options{MaxUnjudged: report.DefaultMaxUnjudged, Seed: 1}}
	cmd := &cobra.Command{
		Use: "compare BASELINE RUN... [flags]", Short: "compare runs item by item", Long: compareHelp,
		Example: "  deem compare last~1 last\n  deem compare rag=last~1 memory=last --gate 'overall.lo >= -1pp' --html compare.html\n" +
			"  deem report last~1 --json > baseline.json\n  deem compare last --baseline baseline.json\n" +
			"  deem compare rag:memory=last~1 memory:plain=last   # of a pairwise judge",
		RunE: func(cmd *cobra.Command, args []string) error { return a.compare(cmd.Context(), args, o) },
	}
	fs := cmd.Flags()
	a.verboseFlag(cmd)
	fs.StringVar(&o.baseline, "baseline", "", "compare with this `run`, or with the report in this JSON file")
	fs.StringArrayVar(&o.gates, "gate", nil, "exit with 4 unless this `condition` holds, for example 'overall >= -1pp'; repeatable")
	notFromFile(fs, "gate")
	fs.BoolVar(&o.Anyway, "anyway", false, "compare runs that differ in more than their systems, with a warning")
	fs.StringVar(&o.flips, "flips", "", "write all items on which runs differ to this CSV `file`")
	fs.StringVar(&o.html, "html", "", "write the comparison as a page to this `file`")
	fs.IntVar(&o.Examples, "show", 10, "how `many` items of each kind to list")
	fs.Uint64Var(&o.Seed, "seed", o.Seed, "random seed (a `number`) for permutation tests of scores")
	fs.StringArrayVar(&o.labels, "labels", nil, "correct the difference with the human labels of a run in this `file`: one file per run, in order, or NAME=FILE")
	notFromFile(fs, "labels")
	fs.BoolVar(&o.fromStore, "labels-from-store", false, "correct the difference with the labels in the database")
	labelFlags(cmd, &o.source)
	fs.Var(pointsFlag(&o.Margin), "margin", "the largest difference that does not matter, for example `1pp`: runs within it are equivalent")
	fs.Var(shareFlag(&o.MaxUnjudged), "max-unjudged", "withhold the difference if more than this `share` of a run's items is unjudged")
	cmd.AddCommand(a.bridgeCommand())
	return cmd
}

// compare compares runs, named by the arguments as NAME=RUN or RUN, and prints the result.
func (a *app) compare(ctx context.Context, args []string, o compareOptions) error {
	gates, err := reports.ParseGates(o.gates)
	if err == nil {
		err = reports.CheckMargin(gates, o.Margin)
	}
	if err != nil {
		return err
	}
	saved, err := o.saved()
	if err != nil {
		return err
	}
	if saved == nil && o.baseline != "" {
		args = append([]string{o.baseline}, args...)
	}
	tooFew := usage.Mark(deem.WithHint(fmt.Errorf("deem compare needs two or more runs, not %s", words.Count(len(args), "argument")), "deem compare last~1 last"))
	if len(args) < 1 {
		return tooFew
	}
	if o.Examples < 1 {
		return usage.Errorf("--show %d: at least one item is listed", o.Examples)
	}
	st, err := a.readRuns(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	var runs []reports.Compared
	for _, arg := range args {
		name, ref, ok := strings.Cut(arg, "=")
		if !ok || isBundle(arg) && !isBundle(ref) {
			name, ref = "", arg
		}
		run, err := findRun(ctx, st, ref)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(runs, func(r reports.Compared) bool { return r.ID == run.ID }) {
			return usage.Errorf("run %s is named twice", run.ID)
		}
		runs = append(runs, reports.Compared{Run: run, Name: name})
	}
	if saved == nil && !slices.ContainsFunc(runs, func(r reports.Compared) bool { return reports.SpecOf(r.Run).Kind != judge.KindPairwise }) {
		return a.rank(ctx, st, runs, o)
	}
	if len(args) < 2 && saved == nil {
		return tooFew
	}
	if runs, err = reports.NameRuns(runs); err != nil {
		return err
	}
	people, err := a.peopleOf(ctx, st, runs, saved, o)
	if err != nil {
		return err
	}
	var said []*reports.People
	for _, t := range people {
		said = append(said, t.people)
	}
	b, err := reports.Compare(ctx, st, runs, said, o.Options)
	for _, t := range people {
		if err == nil && t.people != nil {
			err = t.unmatched()
		}
	}
	if err != nil {
		return err
	}
	f := comparison{store: st, runs: runs}
	if saved == nil {
		f.Comparison, f.flips = b.Comparison(), b.Flips()
	} else if f.Comparison, err = b.Against(*saved); err != nil {
		return usage.Mark(err)
	}
	return a.conclude(ctx, f, gates, o)
}

// A comparison also has the data needed to show items.
type comparison struct {
	compare.Comparison
	store store.Store
	runs  []reports.Compared
	flips []compare.Flip
}

// saved returns the baseline of --baseline FILE, or nil if the flag names a run or is not
// set.
func (o compareOptions) saved() (*compare.Saved, error) {
	if o.baseline == "" || isBundle(o.baseline) || !strings.HasSuffix(o.baseline, ".json") && !catalog.FileExists(o.baseline) {
		return nil, nil
	}
	f, err := os.Open(o.baseline)
	if err != nil {
		return nil, usage.Mark(err)
	}
	defer func() { _ = f.Close() }()
	s, err := compare.ReadBaseline(f)
	if err != nil {
		return nil, usage.Mark(deem.WithHint(fmt.Errorf("%s: %w", o.baseline, err), "%s", orHint(err, "deem report RUN --json writes a baseline")))
	}
	s.Side.Name = filepath.Base(o.baseline)
	return &s, nil
}

// orHint returns the hint of err, or another hint if it has none.
func orHint(err error, otherwise string) string { return cmp.Or(deem.HintOf(err), otherwise) }

// peopleOf reads the labels of the runs, if requested.
func (a *app) peopleOf(ctx context.Context, st store.Store, runs []reports.Compared, saved *compare.Saved, o compareOptions) ([]*truths, error) {
	switch {
	case !o.fromStore && len(o.labels) == 0:
		return nil, nil
	case saved != nil:
		return nil, usage.Errorf("--labels: a saved report has no items that labels could be about; compare two runs")
	case o.fromStore && len(o.labels) > 0:
		return nil, usage.Errorf("--labels and --labels-from-store exclude each other")
	}
	files := make([][]string, len(runs))
	unnamed := 0
	for _, arg := range o.labels {
		name, file, named := strings.Cut(arg, "=")
		at := slices.IndexFunc(runs, func(r reports.Compared) bool { return r.Name == name || r.ID == name })
		switch {
		case named && at < 0 && !catalog.FileExists(arg):
			return nil, usage.Mark(deem.WithHint(fmt.Errorf("--labels %s: no run is named %q", arg, name), "--labels %s=%s", runs[0].Name, file))
		case !named || at < 0:
			at, file = unnamed, arg
			unnamed++
		}
		if at < len(runs) {
			files[at] = append(files[at], file)
		}
	}
	if unnamed > 0 && unnamed != len(runs) {
		return nil, usage.Mark(deem.WithHint(fmt.Errorf("%s of labels without a name for %s: each run has labels of its own", words.Count(unnamed, "file"), words.Count(len(runs), "run")),
			"name the run: --labels %s=%s", runs[0].Name, o.labels[0]))
	}
	list := make([]*truths, len(runs))
	for i, run := range runs {
		list[i] = &truths{app: a, run: run.Run, o: agreeOptions{labels: o.source, fromStore: o.fromStore}}
		if list[i].o.labels.Names = files[i]; len(files[i]) == 0 && !o.fromStore {
			continue
		}
		if err := list[i].open(ctx, st); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// conclude checks the gates for every run against the baseline, writes the files, and prints
// the comparison.
func (a *app) conclude(ctx context.Context, f comparison, gates []reports.Gate, o compareOptions) error {
	outcomes := []reports.GateOutcome{}
	for _, pair := range f.Pairs {
		list, err := reports.HoldGates(gates, reports.ComparisonScope(f.Comparison, pair))
		if err != nil {
			return err
		}
		for i := range list {
			list[i].Warning = cmp.Or(gates[i].Caution(pair.Overall), f.Runs[pair.Second].StoppedBy(), f.Runs[pair.First].StoppedBy())
			if len(f.Pairs) > 1 {
				list[i].Run = f.Runs[pair.Second].Name
			}
		}
		outcomes = append(outcomes, list...)
	}
	if err := a.writeComparison(ctx, f, o); err != nil {
		return err
	}
	if a.json {
		_ = writeJSON(a.out, struct {
			compare.Comparison
			Gates []reports.GateOutcome `json:"gates"`
		}{f.Comparison, outcomes})
	} else {
		if err := a.document(f.Document()); err != nil {
			return err
		}
		printGates(a.out, outcomes)
	}
	switch failed := gatesFailed(outcomes); {
	case f.Refused:
		var kinds []string
		for _, l := range f.Lint {
			if l.Level == compare.Error && !slices.Contains(kinds, l.Kind) {
				kinds = append(kinds, l.Kind)
			}
		}
		hint := "judge both in the same way, or compare them with --anyway and say what differs"
		if len(f.runs) == 2 && f.runs[0].Dataset.Hash == f.runs[1].Dataset.Hash && !slices.Contains(kinds, compare.KindReader) {
			hint = fmt.Sprintf("both runs judged the same responses: deem agree %s %s compares their judges; --anyway compares the runs anyway",
				f.runs[0].ID, f.runs[1].ID)
		}
		return deem.WithHint(errors.New("the runs differ in more than their systems: "+strings.Join(kinds, ", ")), "%s", hint)
	case failed != nil:
		return failed
	case f.Hold != nil:
		return deem.WithHint(fmt.Errorf("%w: %s", errUnjudged, f.Hold.Reason), "deem report names the items and what helps; --max-unjudged allows more")
	}
	return nil
}

// writeComparison writes the requested files. It writes none for a refused comparison.
func (a *app) writeComparison(ctx context.Context, f comparison, o compareOptions) error {
	if f.Refused {
		return nil
	}
	texts := func(flips []compare.Flip) iter.Seq2[compare.FlipText, error] {
		return reports.FlipTexts(ctx, f.store, f.runs, flips)
	}
	if o.flips != "" {
		names := make([]string, len(f.Runs))
		for i, r := range f.Runs {
			names[i] = r.Name
		}
		if f.Unpaired != "" {
			return usage.Errorf("--flips: %s", f.Unpaired)
		}
		err := writeWhole(o.flips, func(w io.Writer) error { return compare.WriteCSV(w, names, texts(f.flips)) })
		if err != nil {
			return err
		}
		a.say("wrote %s with %s", o.flips, words.Count(len(f.flips), "item"))
	}
	if o.html != "" {
		if err := writeWhole(o.html, func(w io.Writer) error { return f.HTML(w, f.flips, texts) }); err != nil {
			return err
		}
		a.say("wrote %s", o.html)
	}
	return nil
}
