package cli

import (
	"context"
	"fmt"
	"strings"

	"deem"
	"deem/internal/labels"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/report"
	"deem/report/agree"
)

// truths are what is taken to be right about the items of a run: labels from files,
// labels from the database, or the verdicts of another run.
type truths struct {
	app   *app
	run   store.Run
	other *store.Run // nil when people are right
	o     agreeOptions

	name   string // of the labels
	byID   map[string][]labels.Label
	byHash map[string][]labels.Label // of the items in the database
	texts  bool                      // somebody has to look at the items themselves

	used         map[string]bool // ids and hashes of items with labels that the run has
	otherAnswers int             // labels of another response
}

// open reads the labels.
func (t *truths) open(ctx context.Context, st store.Store) error {
	t.used = map[string]bool{}
	switch {
	case t.other != nil && t.o.fromStore:
		return usage.Errorf("--labels-from-store and a second run: who is right?")
	case t.other != nil:
		return nil
	case len(t.o.labels.Names) > 0:
		return t.openFiles(ctx)
	default:
		return t.openStore(ctx, st)
	}
}

// openFiles reads the labels of files, and looks which judge they were made for.
func (t *truths) openFiles(ctx context.Context) error {
	set, err := labels.Read(ctx, t.o.labels)
	if err != nil {
		return usage.Mark(err)
	}
	for _, note := range set.Notes {
		t.app.say("%s", note)
	}
	if err := t.bound(set); err != nil {
		return err
	}
	t.name, t.byID = strings.Join(set.Names, ", "), map[string][]labels.Label{}
	for _, l := range t.only(set.Labels) {
		t.byID[l.Item] = append(t.byID[l.Item], l)
		t.texts = t.texts || l.Response != nil
	}
	if set.Blank > 0 {
		t.app.say("%s without a label yet", words.Count(set.Blank, "row"))
	}
	return nil
}

// bound refuses labels that were made for another judge.
func (t *truths) bound(set *labels.Set) error {
	hash := t.run.Judge.Hash
	if set.JudgeHash == "" || labels.Bound(set.JudgeHash, hash) {
		return nil
	}
	if t.o.rebind || t.o.anyway {
		t.app.say("the labels were made for judge %s, and not for %s, which judged run %s", deem.ShortHash(set.JudgeHash), deem.ShortHash(hash), t.run.ID)
		return nil
	}
	err := fmt.Errorf("%s was made for judge %s, and run %s was judged by %s (%s): the judge has changed, and what was found about the old one does not hold for it",
		strings.Join(set.Names, ", "), deem.ShortHash(set.JudgeHash), t.run.ID, deem.ShortHash(hash), t.run.Judge.Name)
	return usage.Mark(deem.WithHint(err, "look at the disagreements with --anyway; --rebind then binds the labels to this judge"))
}

// only returns the labels of the annotators that were asked for.
func (t *truths) only(list []labels.Label) []labels.Label {
	if len(t.o.annotate) == 0 {
		return list
	}
	wanted := map[string]bool{}
	for _, name := range t.o.annotate {
		wanted[name] = true
	}
	var some []labels.Label
	for _, l := range list {
		if wanted[l.Annotator] {
			some = append(some, l)
		}
	}
	return some
}

// openStore reads the labels of the database.
func (t *truths) openStore(ctx context.Context, st store.Store) error {
	kept, ok := st.(store.Labels)
	if !ok {
		return usage.Errorf("this database keeps no labels; name a file of labels")
	}
	t.name, t.byHash, t.texts = "the database", map[string][]labels.Label{}, true
	for l, err := range kept.Labels(ctx, store.LabelQuery{Annotators: t.o.annotate}) {
		if err != nil {
			return err
		}
		t.byHash[l.Item] = append(t.byHash[l.Item], labels.Label{
			Item: l.ID, Annotator: l.Annotator, Yes: l.Yes, Label: l.Label, Score: l.Score, Reason: l.Note,
		})
	}
	if len(t.byHash) == 0 && t.o.plan == 0 {
		return usage.Mark(deem.WithHint(fmt.Errorf("there are no labels in %s", t.app.db),
			"name a file: deem agree %s labels.csv; import one: deem labels import labels.csv; or choose items to label: deem agree %s --plan 200 -o to-label.csv", t.run.ID, t.run.ID))
	}
	return nil
}

// of returns what people say of an item, nil when they say nothing.
func (t *truths) of(it deem.Item) *agree.Truth {
	list := t.byID[it.ID]
	key := it.ID
	if t.byHash != nil {
		key = it.Hash()
		list = t.byHash[key]
	}
	if len(list) == 0 {
		return nil
	}
	t.used[key] = true
	var same []labels.Label
	for _, l := range list {
		if l.Other(it.Response) {
			t.otherAnswers++
			continue
		}
		same = append(same, l)
	}
	if len(same) == 0 {
		return nil
	}
	return truthOf(labels.Together(same))
}

// truthOf returns what annotators say together.
func truthOf(o labels.Opinion) *agree.Truth {
	t := &agree.Truth{Yes: o.Yes, Score: o.Score, Tie: o.Tie, Votes: map[string]bool{}}
	if !o.Graded {
		// Yes and no count as 1 and 0 after the majority has decided.
		t.Score = 0
		if o.Yes {
			t.Score = 1
		}
	}
	for _, l := range o.Labels {
		t.Votes[l.Annotator] = l.Yes
		if t.Reason == "" {
			t.Reason = l.Reason
		}
	}
	return t
}

// options returns what the builder is told.
func (t *truths) options(ctx context.Context) (agree.Options, error) {
	known, err := knownOf(ctx, t.o.known)
	o := agree.Options{
		Judge: party(t.run), Truth: agree.Party{Judge: t.name}, People: t.other == nil, Items: t.run.Dataset.Items,
		Seed: t.o.seed, Width: t.o.width, MaxUnjudged: t.o.maxUnjudged,
		SystemModel: t.o.model(t.run), Own: t.o.family, SameFamily: report.SameFamily, Registry: known,
	}
	if t.other != nil {
		o.Truth = party(*t.other)
	}
	return o, err
}

// agreement goes through the run.
func (t *truths) agreement(ctx context.Context, st store.Store) (agree.Agreement, error) {
	o, err := t.options(ctx)
	if err != nil {
		return agree.Agreement{}, err
	}
	b := agree.New(o)
	if t.other != nil {
		err = t.besideRun(ctx, st, b)
	} else {
		err = t.besidePeople(ctx, st, b)
	}
	return b.Agreement(), err
}

// query asks for the first trial, and for the items' texts only where they matter:
// who gave an answer stands in the items too.
func (t *truths) query() store.Query {
	judged := t.run.Model != "" || t.o.family != ""
	return store.Query{Trial: new(int), Brief: !t.texts && !judged}
}

func (t *truths) besidePeople(ctx context.Context, st store.Store, b *agree.Builder) error {
	for rec, err := range st.Records(ctx, t.run.ID, t.query()) {
		if err != nil {
			return err
		}
		b.Add(agree.Pair{Item: rec.Item, Position: rec.Position, Verdict: rec.Verdict, Truth: t.of(rec.Item)})
	}
	return t.unmatched()
}

func (t *truths) besideRun(ctx context.Context, st store.Store, b *agree.Builder) error {
	return bothRuns(ctx, st, t.run, *t.other, t.query(), func(first, second *deem.Record) {
		if first == nil {
			return // an item that this judge has not come to yet
		}
		p := agree.Pair{Item: first.Item, Position: first.Position, Verdict: first.Verdict}
		if second != nil && second.Verdict != nil {
			v := second.Verdict
			p.Truth = &agree.Truth{Yes: v.Yes(), Score: v.Score, Reason: v.Reason}
		}
		b.Add(p)
	})
}

// unmatched says which labels found no item. That none did is a mistake.
func (t *truths) unmatched() error {
	if t.otherAnswers > 0 {
		t.app.say("%s about another response than the one that was judged, and left out", areLabels(t.otherAnswers))
	}
	if t.byHash != nil {
		if len(t.used) == 0 {
			return usage.Mark(deem.WithHint(fmt.Errorf("none of the labels in %s is about an item of run %s", t.app.db, t.run.ID),
				"import some: deem labels import labels.csv --run %s", t.run.ID))
		}
		return nil
	}
	var missing []string
	for id := range t.byID {
		if !t.used[id] {
			missing = append(missing, id)
		}
	}
	switch {
	case len(missing) == 0:
		return nil
	case len(t.used) == 0:
		return usage.Mark(deem.WithHint(fmt.Errorf("%s: none of its %s is about an item of run %s, as %q", t.name, words.Count(len(missing), "item"), t.run.ID, first(missing)),
			"ids must be those of the dataset; --columns item=NAME says which column holds them"))
	default:
		t.app.say("%s labelled that run %s does not have, as %q", isItems(len(missing)), t.run.ID, first(missing))
		return nil
	}
}

// first returns the smallest of some names.
func first(names []string) string {
	least := names[0]
	for _, name := range names {
		least = min(least, name)
	}
	return least
}

func areLabels(n int) string {
	if n == 1 {
		return "1 label is"
	}
	return words.Thousands(n) + " labels are"
}

func isItems(n int) string {
	if n == 1 {
		return "1 item is"
	}
	return words.Thousands(n) + " items are"
}
