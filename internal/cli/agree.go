package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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
	"deem/report"
)

const agreeHelp = `Compare the judge of a run with human labels, or with the judge of another run over the
same items: how often they agree, which errors the judge makes, and what the score would
be if people had judged everything. -v prints all measures.

  deem agree RUN LABELS...   human labels from CSV, JSONL, JSON, Parquet or YAML files
  deem agree RUN             human labels from the database (deem label, deem label
                             import, or the labelling page)
  deem agree RUN RUN         the second judge counts as the truth
  deem agree RUN RUN... LABELS   several judges: each alone, and what they are worth together

A row of a label file has an item's id and yes or no (correct, incorrect, pass, fail,
true, false, 1, 0), or a score; --scale sets the highest score. A column "annotator"
separates annotators: the majority decides, and on a tie the item has no label. A label
that repeats the response counts only if the response is still the same.

A label file can be bound to a judge (judge_hash; --bind writes it). Another judge is
then refused, because labels that were decided with one judge's verdicts in view say
less about the next: --rebind binds the file to this judge, --anyway compares as it is.

--plan N chooses items to label next: at random from every category and verdict, more
where the judge is unsure, and blind, without its verdicts. --width 4pp prints how many more labels make the
corrected interval 4 points wide.

--criteria compares criteria instead of items, for a judge that decides each criterion
of an item separately. The label of the second criterion of item q1 has the id q1#2.

--known FILE is a list of known disagreements. The command exits with 4 if a new one
appears or a known one is gone. --write-known writes the list.

EXIT STATUS
  0 shown   1 error   2 wrong usage or input, or labels bound to another judge
  3 too many items unjudged: scores are withheld   4 the disagreements are not the known ones`

const agreeExample = `  deem agree last labels.csv
  deem agree last~1 last
  deem agree last~2 last~1 last labels.csv
  deem agree last labels.csv --width 4pp
  deem agree last --plan 200 -o to-label.csv
  deem agree last labels.yaml --known known.yaml`

// An agreeOptions is the options of "deem agree".
type agreeOptions struct {
	labels    labels.Source
	fromStore bool
	annotate  []string // only labels of these people
	criteria  bool     // count each criterion of an item separately

	width   float64
	plan    int
	planned bool // --plan was given
	out     string
	seed    uint64

	bind, rebind, anyway bool

	known, writeKnown   string
	systemModel, family string
	maxUnjudged         float64
}

func (a *app) agreeCommand() *cobra.Command {
	o := agreeOptions{maxUnjudged: report.DefaultMaxUnjudged}
	cmd := &cobra.Command{
		Use: "agree [RUN...] [LABELS...] [flags]", Short: "compare a judge with human labels or another judge", Long: agreeHelp, Example: agreeExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := a.readRuns(cmd.Context(), args...)
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			o.planned = cmd.Flags().Changed("plan")
			return a.agree(cmd.Context(), st, args, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	a.verboseFlag(cmd)
	f.BoolVar(&o.fromStore, "labels-from-store", false, "take human labels from the database (default if no file or run is named)")
	f.StringArrayVar(&o.annotate, "annotator", nil, "use only labels of this `person`; repeatable")
	f.BoolVar(&o.criteria, "criteria", false, "compare the criteria of items, each with the id ITEM#N, instead of the items")
	labelFlags(cmd, &o.labels)
	f.Var(widthFlag(&o.width), "width", "print how many more labels make the corrected interval this `wide`, for example 4pp")
	f.IntVar(&o.plan, "plan", 0, "choose `n` items to label, and do nothing else")
	f.StringVarP(&o.out, "output", "o", "-", "write the items to label to this `file`, - for standard output")
	f.Uint64Var(&o.seed, "seed", 0, "random seed (a `number`) for --plan and the interval of alpha")
	f.BoolVar(&o.bind, "bind", false, "write this judge's hash into the label file, which binds the labels to it")
	f.BoolVar(&o.rebind, "rebind", false, "bind a label file to this judge that was bound to another")
	f.BoolVar(&o.anyway, "anyway", false, "compare even if the labels are bound to another judge")
	f.StringVar(&o.known, "known", "", "fail if the disagreements differ from those in this `file`")
	f.StringVar(&o.writeKnown, "write-known", "", "write the disagreements to this `file`, for --known")
	f.StringVar(&o.systemModel, "system-model", "", "the `model` under test, to check whether the judge favours its own kind (default: the run's --system-model)")
	notFromFile(f, "system-model") // The run's own setting is more reliable.
	f.StringVar(&o.family, "own-family", "", "the `model` whose answers count as the judge's own kind (default: the judge's model)")
	f.Var(shareFlag(&o.maxUnjudged), "max-unjudged", "withhold scores if more than this `share` of items is unjudged")
	return cmd
}

// labelFlags adds the flags for reading label files. None has the name of a setting in
// deem.yaml, because those are about the items.
func labelFlags(cmd *cobra.Command, src *labels.Source) {
	f := cmd.Flags()
	f.StringVar(&src.Format, "labels-format", "", "the format of label files: csv, tsv, jsonl, json, parquet or yaml (default: by name and first bytes)")
	f.StringToStringVar(&src.Columns, "map", nil, "which `columns` hold what, for example item=qid,label=human; the parts are "+strings.Join(labels.Parts(), ", "))
	f.Float64Var(&src.Scale, "scale", 0, "the highest score annotators could give (default: what the file says, or 1)")
	f.Float64Var(&src.Pass, "label-pass", 0, "the `share` of the scale from which an annotator's score means yes (default 0.5)")
	f.StringArrayVar(&src.Yes, "yes-word", nil, "another `word` that means yes; repeatable")
	f.StringArrayVar(&src.No, "no-word", nil, "another `word` that means no; repeatable")
}

// widthFlag is a width in percentage points: 4pp, 4% or 0.04.
func widthFlag(to *float64) valueFlag[float64] {
	f := pointsFlag(to)
	f.kind, f.parse = "width", func(s string) (float64, error) {
		number, points := strings.CutSuffix(strings.Replace(s, "%", "pp", 1), "pp")
		v, err := parseNumber(number)
		if points {
			v /= 100
		}
		if err == nil && (v <= 0 || v >= 1) {
			err = fmt.Errorf("%s is not a width between 0 and 100pp", s)
		}
		return v, err
	}
	return f
}

// agree separates runs from files in the arguments, a name that is both being a file, and
// shows the agreement.
func (a *app) agree(ctx context.Context, st store.Store, args []string, o agreeOptions) error {
	var refs, files []string
	for _, arg := range args {
		if arg == "-" || catalog.FileExists(arg) && !isBundle(arg) {
			files = append(files, arg)
		} else {
			refs = append(refs, arg)
		}
	}
	if len(refs) == 0 {
		refs = []string{"last"}
	}
	run, err := findRun(ctx, st, refs[0])
	if err != nil {
		return noRunOrFile(refs[0], err)
	}
	t := &truths{app: a, run: run, o: o}
	if len(refs) > 2 || len(refs) == 2 && (len(files) > 0 || o.fromStore) {
		return a.agreeSeveral(ctx, st, t, refs, files)
	}
	if len(refs) == 2 {
		second, err := findRun(ctx, st, refs[1])
		if err != nil {
			return noRunOrFile(refs[1], err)
		}
		if second.ID == run.ID {
			return usage.Errorf("a judge agrees with itself: both are run %s", run.ID)
		}
		t.other = &second
	}
	if err := o.check(files, t.other != nil); err != nil {
		return err
	}
	if o.criteria {
		st = reports.ByCriterion(st)
	}
	t.o.labels.Names, t.o.labels.Stdin = files, a.in
	if err := t.open(ctx, st); err != nil {
		return err
	}
	if o.plan > 0 {
		return a.planLabels(ctx, st, t)
	}
	ag, err := t.agreement(ctx, st)
	if err != nil {
		return err
	}
	return a.showAgreement(ctx, t, ag)
}

// check rejects options that do not fit each other or the files of labels.
func (o agreeOptions) check(files []string, twoRuns bool) error {
	switch {
	case o.planned && o.plan < 1:
		return usage.Errorf("--plan is %d; it chooses one item or more", o.plan)
	case o.plan == 0 && o.out != "-":
		return usage.Mark(deem.WithHint(fmt.Errorf("--output names the file for items to label, and needs --plan"), "deem agree last --plan 200 -o %s", o.out))
	case o.criteria && (o.plan > 0 || len(files) == 0 && !twoRuns):
		return usage.Mark(deem.WithHint(errors.New("--criteria compares with a file of labels, or with another run"), "deem agree last labels.csv --criteria"))
	case (o.bind || o.rebind) && len(files) != 1:
		return usage.Errorf("--bind and --rebind need exactly one file of labels")
	case o.labels.Pass < 0 || o.labels.Pass > 1:
		return usage.Errorf("--label-pass %v lies outside 0 to 1", o.labels.Pass)
	}
	return nil
}

// agreeSeveral compares the judges of several runs with human labels.
func (a *app) agreeSeveral(ctx context.Context, st store.Store, t *truths, refs, files []string) error {
	if o := t.o; o.planned || o.criteria || o.bind || o.rebind || o.known != "" || o.writeKnown != "" || o.width > 0 {
		return usage.Errorf("--plan, --criteria, --width, --bind, --rebind, --known and --write-known are for one run, and %d are named", len(refs))
	}
	var runs []store.Run
	for _, ref := range refs {
		run, err := findRun(ctx, st, ref)
		if err != nil {
			return noRunOrFile(ref, err)
		}
		if slices.ContainsFunc(runs, func(r store.Run) bool { return r.ID == run.ID }) {
			return usage.Errorf("run %s is named twice", run.ID)
		}
		runs = append(runs, run)
	}
	t.o.labels.Names, t.o.labels.Stdin, t.o.anyway = files, a.in, true
	if err := t.open(ctx, st); err != nil {
		return err
	}
	j, err := reports.CompareJudgesWithPeople(ctx, st, runs, t.people)
	if err != nil {
		return err
	}
	if err := t.unmatched(); err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, j)
	}
	return a.document(j.Document())
}

// noRunOrFile returns an error that a name is neither a run nor a file, if it looks like a
// file.
func noRunOrFile(name string, err error) error {
	if strings.ContainsAny(name, "./") {
		return usage.Mark(deem.WithHint(fmt.Errorf("%s is neither a file nor a run", name), "a run is an id, its beginning, last or last~1; deem runs shows them"))
	}
	return err
}

// showAgreement prints the agreement and writes the requested files. Its error determines
// the exit code.
func (a *app) showAgreement(ctx context.Context, t *truths, ag agree.Agreement) error {
	var err error
	if a.json {
		err = writeJSON(a.out, ag)
	} else {
		err = a.document(ag.Document())
	}
	if err != nil {
		return err
	}
	if name := t.o.writeKnown; name != "" {
		why := map[string]string{} // the reasons of an existing registry are kept
		if catalog.FileExists(name) {
			old, err := labels.ReadKnown(ctx, name)
			if err != nil {
				return usage.Mark(err)
			}
			for _, k := range old {
				why[k.Item] = k.Why
			}
		}
		list := make([]labels.Known, len(ag.Disagreements))
		for i, d := range ag.Disagreements {
			list[i] = labels.Known{Item: d.Item, Judge: d.Judge, People: d.People, Why: why[d.Item]}
		}
		err := writeWhole(name, func(w io.Writer) error {
			_, err := io.WriteString(w, labels.WriteKnown(list))
			return err
		})
		if err != nil {
			return err
		}
		a.say("wrote %s to %s", words.Count(len(list), "known disagreement"), name)
	}
	if t.o.bind || t.o.rebind {
		if err := labels.Bind(ctx, t.o.labels, t.run.Judge.Hash); err != nil {
			return usage.Mark(err)
		}
		a.say("%s is bound to judge %s now", t.o.labels.Names[0], deem.ShortHash(t.run.Judge.Hash))
	}
	if c := ag.Registry; c != nil && !c.Pass() {
		err := fmt.Errorf("%w: %s appeared and %s gone", errGate, words.Count(len(c.Appeared), "disagreement"), words.Plural(len(c.Gone), "is", "are"))
		return deem.WithHint(err, "look at each with deem show ITEM; --write-known writes the registry as it is now")
	}
	if h := ag.Withheld; h != nil {
		return fmt.Errorf("%w: %s of %s, and more than %s withholds the scores",
			errUnjudged, words.Comma(h.Unjudged), words.Comma(h.Items), percent(h.MaxUnjudged))
	}
	return nil
}
