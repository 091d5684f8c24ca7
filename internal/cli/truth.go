package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/agreement"
	"deem/internal/labels"
	"deem/internal/published"
	"deem/internal/reports"
	"deem/internal/reports/agree"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/stat"
)

// truths are what counts as right for the items of a run: labels from files, labels from
// the database, or the verdicts of another run.
type truths struct {
	app   *app
	run   store.Run
	other *store.Run // nil if people's labels are used
	o     agreeOptions

	people *reports.People // nil if another run is used
}

// openFiles reads the labels of files, and checks for which judge they were made.
func (t *truths) openFiles(ctx context.Context) error {
	t.o.labels.Labels = reports.LabelsOf(t.run, t.o.criteria)
	set, err := labels.Read(ctx, t.o.labels)
	if err != nil {
		return usage.Mark(err)
	}
	for _, note := range set.Notes {
		t.app.say("%s", note)
	}
	name := strings.Join(set.Names, ", ")
	if hash := t.run.Judge.Hash; set.JudgeHash != "" && !labels.Bound(set.JudgeHash, hash) {
		if !t.o.rebind && !t.o.anyway {
			err := fmt.Errorf("%s was made for judge %s, and run %s was judged by %s (%s): the judge has changed, and what was found about the old one does not hold for it",
				name, deem.ShortHash(set.JudgeHash), t.run.ID, deem.ShortHash(hash), t.run.Judge.Name)
			return usage.Mark(deem.WithHint(err, "look at the disagreements with --anyway; --rebind then binds the labels to this judge"))
		}
		t.app.say("the labels were made for judge %s, and not for %s, which judged run %s", deem.ShortHash(set.JudgeHash), deem.ShortHash(hash), t.run.ID)
	}
	some := set.Labels
	if len(t.o.annotate) > 0 {
		some = slices.DeleteFunc(slices.Clone(some), func(l labels.Label) bool { return !slices.Contains(t.o.annotate, l.Annotator) })
	}
	if len(some) == 0 && len(set.Labels) > 0 && t.o.plan == 0 {
		return t.noneBy(name, len(set.Labels), set.Annotators())
	}
	t.people = reports.Written(name, some)
	if set.Blank > 0 {
		t.app.say("%s without a label yet", words.Count(set.Blank, "row"))
	}
	return nil
}

// open reads the labels of files, or else of the database.
func (t *truths) open(ctx context.Context, st store.Store) error {
	switch {
	case t.other != nil && t.o.fromStore:
		return usage.Errorf("--labels-from-store and a second run exclude each other: both would be the truth")
	case t.other != nil:
		return nil
	case len(t.o.labels.Names) > 0:
		return t.openFiles(ctx)
	}
	kept, ok := st.(store.Labels)
	if !ok {
		return usage.Errorf("this database keeps no labels; name a file of labels")
	}
	var err error
	if t.people, err = reports.Kept(ctx, kept, store.LabelQuery{Annotators: t.o.annotate}); err != nil {
		return err
	}
	if t.people.Len() > 0 || t.o.plan != 0 {
		return nil
	}
	if len(t.o.annotate) > 0 {
		n, who := 0, map[string]bool{}
		for l, err := range kept.Labels(ctx, store.LabelQuery{}) {
			if err != nil {
				return err
			}
			n++
			who[l.Annotator] = true
		}
		if n > 0 {
			return t.noneBy(t.app.dbName(), n, slices.Sorted(maps.Keys(who)))
		}
	}
	return usage.Mark(deem.WithHint(fmt.Errorf("there are no labels in %s", t.app.dbName()),
		"name a file: deem agree %s labels.csv; import one: deem label import labels.csv; or choose items to label: deem agree %s --plan 200 -o to-label.csv", t.run.ID, t.run.ID))
}

// noneBy returns the error if no label is by the requested annotators.
func (t *truths) noneBy(where string, n int, who []string) error {
	who = slices.DeleteFunc(slices.Clone(who), func(name string) bool { return name == "" })
	err := fmt.Errorf("none of the %s in %s is by %s", words.Count(n, "label"), where, strings.Join(t.o.annotate, " or "))
	if len(who) == 0 {
		return usage.Mark(deem.WithHint(err, "they do not say who labelled; leave --annotator out"))
	}
	return usage.Mark(deem.WithHint(err, "they are by %s; --annotator names one of them, and without it all count", strings.Join(who, ", ")))
}

// agreement computes the agreement over the run.
func (t *truths) agreement(ctx context.Context, st store.Store) (agree.Agreement, error) {
	var known []agree.Known
	if t.o.known != "" {
		read, err := labels.ReadKnown(ctx, t.o.known)
		if err != nil {
			return agree.Agreement{}, usage.Mark(err)
		}
		known = make([]agree.Known, len(read)) // not nil: an empty registry is still a registry
		for i, k := range read {
			known[i] = agree.Known{Item: k.Item, Judge: k.Judge, People: k.People, Why: k.Why}
		}
	}
	o, err := reports.AgreeOptions(ctx, st, t.run, t.o.maxUnjudged)
	if err != nil {
		return agree.Agreement{}, err
	}
	o.People, o.Seed, o.Width, o.Own, o.Registry = t.other == nil, t.o.seed, t.o.width, t.o.family, known
	o.SystemModel = cmp.Or(t.o.systemModel, o.SystemModel)
	if t.o.criteria {
		o.Stopped = nil // The rule is about items.
	}
	o = reports.WithLabels(o, reports.LabelsOf(t.run, t.o.criteria))
	if t.other != nil {
		o.Truth = reports.Party(*t.other)
		b := agree.New(o)
		err := reports.EachWithRun(ctx, st, t.run, *t.other, o, b.Add)
		return b.Agreement(), err
	}
	o.Truth = agree.Party{Judge: t.people.Name}
	ag, err := reports.CompareWithPeople(ctx, st, t.run, t.people, o)
	if err != nil {
		return ag, err
	}
	return ag, t.unmatched()
}

// unmatched reports labels without an item. If none has one, it returns an error.
func (t *truths) unmatched() error {
	if n := t.people.OtherResponses; n > 0 {
		t.app.say("%s about another response than the one that was judged, and left out", words.Plural(n, "label is", "labels are"))
	}
	if t.people.Kept() {
		if t.people.Used() == 0 {
			return usage.Mark(deem.WithHint(fmt.Errorf("none of the labels in %s is about an item of run %s", t.app.dbName(), t.run.ID),
				"import some: deem label import labels.csv --run %s", t.run.ID))
		}
		return nil
	}
	missing := t.people.Missing()
	switch {
	case len(missing) == 0:
		return nil
	case t.people.Used() == 0:
		return usage.Mark(deem.WithHint(fmt.Errorf("%s: none of its %s is about an item of run %s, as %q", t.people.Name, words.Count(len(missing), "item"), t.run.ID, missing[0]),
			"ids must be those of the dataset; --map item=NAME says which column holds them"))
	default:
		t.app.say("%s labelled that run %s does not have, as %q", words.Plural(len(missing), "item is", "items are"), t.run.ID, missing[0])
		return nil
	}
}

// compareWithTruth compares the recorded verdicts with the truth column of the file, over the
// items that have both, and makes the results available to claims. Kappa is undefined if
// both sides are constant, and then no claim can be about it.
func compareWithTruth(set *published.Set) error {
	truth, ok := set.Truth()
	if !ok {
		return nil
	}
	var judge, right []float64
	var said, known stat.Moments
	var yes agreement.Confusion
	for i, v := range majority(set) {
		if t := truth[i]; v != nil && t != nil {
			judge, right = append(judge, v.Score), append(right, t.Score)
			said.Add(v.Score, 1)
			known.Add(t.Score, 1)
			yes.Add(t.Yes(), v.Yes())
		}
	}
	if len(judge) == 0 {
		return usage.Mark(deem.WithHint(fmt.Errorf("%s: no item has both a verdict and a truth", strings.Join(set.Names(), ", ")),
			"--map label=COLUMN,truth=COLUMN says where the two are"))
	}
	agreed, kappa := yes.Accuracy(stat.DefaultLevel), yes.Kappa(stat.DefaultLevel)
	set.Know(map[string]float64{"judge_mean": said.Mean(), "truth_mean": known.Mean(), "agreement": agreed.Value})
	beyond := "undefined"
	if !slices.Contains(kappa.Warnings, agreement.WarnOneClass) {
		set.Know(map[string]float64{"kappa": kappa.Value})
		beyond = coefficient(kappa)
	}
	set.Note("compared with the truth, over the %s of %s that have both: mean of the verdicts %.4f, of the truth %.4f; "+
		"as yes or no, agreement %.4f, kappa %s, %d yes to right ones, %d yes to wrong ones, %d no to right ones, %d no to wrong ones",
		words.Count(len(judge), "item"), words.Comma(set.Len()), said.Mean(), known.Mean(),
		agreed.Value, beyond, yes.TP, yes.FP, yes.FN, yes.TN)
	pearson, err := agreement.Pearson(judge, right)
	spearman, err2 := agreement.Spearman(judge, right)
	if err := cmp.Or(err, err2); err != nil {
		set.Note("verdicts and truth cannot be correlated: %v", err)
		return nil
	}
	set.Know(map[string]float64{"pearson": pearson.Value, "spearman": spearman.Value})
	set.Note("correlation of verdicts and truth, over the same items: Pearson %s, Spearman %s", coefficient(pearson.Estimate), coefficient(spearman.Estimate))
	return nil
}

// coefficient formats a coefficient with its interval.
func coefficient(e stat.Estimate) string {
	return fmt.Sprintf("%.4f %s", e.Value, e.Ends("%.3f", 1))
}
