package reports

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/labels"
	"deem/internal/reports/agree"
	"deem/internal/store"
)

// People is the human labels of items. Labels from files refer to an item by its id, labels
// in a store by its hash.
type People struct {
	// Name is the source of the labels.
	Name string

	// OtherResponses counts the labels that belong to a different response than the one
	// that was judged.
	OtherResponses int

	byID, byHash map[string][]labels.Label
	ids          map[string]bool // of items with a label in a store
	texts        bool            // the texts of the items are needed
	used         map[string]bool // ids or hashes of the items that were looked up
}

// Written returns labels from files.
func Written(name string, list []labels.Label) *People {
	p := &People{Name: name, byID: map[string][]labels.Label{}, used: map[string]bool{}}
	for _, l := range list {
		p.byID[l.Item] = append(p.byID[l.Item], l)
		p.texts = p.texts || l.Response != nil
	}
	return p
}

// Kept returns labels from a store.
func Kept(ctx context.Context, st store.Labels, q store.LabelQuery) (*People, error) {
	p := &People{Name: "the database", byHash: map[string][]labels.Label{}, ids: map[string]bool{}, texts: true, used: map[string]bool{}}
	for l, err := range st.Labels(ctx, q) {
		if err != nil {
			return nil, err
		}
		p.ids[l.ID] = true
		p.byHash[l.Item] = append(p.byHash[l.Item], labels.Label{
			Item: l.ID, Annotator: l.Annotator, Yes: l.Yes, Label: l.Label, Score: l.Score, Graded: l.Score != 0 && l.Score != 1, Reason: l.Note, Drawn: labels.ReadDrawn(l.Drawn),
		})
	}
	return p, nil
}

// Kept reports whether the labels come from a store.
func (p *People) Kept() bool { return p.byHash != nil }

// Len returns the number of items with a label.
func (p *People) Len() int { return len(p.byID) + len(p.byHash) }

// Used returns the number of items with a label that were looked up.
func (p *People) Used() int { return len(p.used) }

// Missing returns the ids of items with a label that were not looked up, sorted.
func (p *People) Missing() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for id := range maps.Keys(p.byID) {
			if !p.used[id] && !yield(id) {
				return
			}
		}
	})
}

// Of returns the human label of an item, or nil.
func (p *People) Of(it deem.Item) *agree.Truth {
	list, key := p.byID[it.ID], it.ID
	if p.byHash != nil {
		if !p.ids[it.ID] {
			return nil // The id is part of the hash, which is slow for long texts.
		}
		key = it.Hash()
		list = p.byHash[key]
	}
	if len(list) == 0 {
		return nil
	}
	p.used[key] = true
	var same []labels.Label
	for _, l := range list {
		if l.Other(it.Response) {
			p.OtherResponses++
			continue
		}
		same = append(same, l)
	}
	if len(same) == 0 {
		return nil
	}
	o := labels.Together(same)
	t := &agree.Truth{Yes: o.Yes, Score: o.Score, Label: o.Label, Tie: o.Tie, Votes: map[string]bool{}}
	if !o.Graded {
		// Yes and no count as 1 and 0 once the majority has decided.
		t.Score = float64(toInt(o.Yes))
	}
	for _, l := range o.Labels {
		t.Votes[l.Annotator] = l.Yes
		if t.Reason == "" {
			t.Reason = l.Reason
		}
		if l.Drawn.Of > 0 {
			t.Stratum, t.Of, t.Probability = l.Drawn.Stratum, l.Drawn.Of, float64(l.Drawn.N)/float64(l.Drawn.Of)
		}
	}
	return t
}

// AgreeOptions returns the options of an agreement of the judge of a run: what its report
// knows about the score.
func AgreeOptions(ctx context.Context, st store.Store, run store.Run, maxUnjudged float64) (agree.Options, error) {
	set := SettingsOf(run.Spec)
	o := agree.Options{
		Judge: Party(run), Items: run.Dataset.Items, Trials: run.Trials, MaxUnjudged: maxUnjudged,
		CalibrationError: CalibrationError(run), SystemModel: set.SystemModel,
	}
	if set.Until == nil {
		return o, nil
	}
	f, err := Of(ctx, st, run, Options{MaxUnjudged: 1})
	if err != nil {
		return o, err
	}
	o.Stopped = &agree.Stopped{Rule: f.Report.Stopped.Rule}
	for _, m := range f.Report.Metrics {
		if m.Judged != nil {
			o.Stopped.Scores = append(o.Stopped.Scores, *m.Judged)
		}
	}
	return o, nil
}

// CompareWithPeople compares the judge of a run with people.
func CompareWithPeople(ctx context.Context, st store.Store, run store.Run, p *People, o agree.Options) (agree.Agreement, error) {
	b := agree.New(o)
	if err := EachWithPeople(ctx, st, run, p, o, b.Add); err != nil {
		return agree.Agreement{}, err
	}
	a := b.Agreement()
	var err error
	a.Votes, err = PanelVotes(ctx, st, run, p)
	return a, err
}

// EachWithPeople calls visit with each item of a run, its verdict and its human label. If
// the labels come from a store, it reads only labelled items in full, and passes on none of
// their texts.
func EachWithPeople(ctx context.Context, st store.Store, run store.Run, p *People, o agree.Options, visit func(agree.Pair)) error {
	known, err := p.inStore(ctx, st, run)
	if err != nil {
		return err
	}
	// Labels from a file may have been selected by the length of a response.
	for trials, err := range byItem(Counted(ctx, st, run, store.Query{Brief: p.Kept()})) {
		if err != nil {
			return err
		}
		pair := agree.Judged(trials, o.CalibrationError)
		if !p.Kept() {
			pair.Truth = p.Of(pair.Item)
		} else if it, ok := known[Drawn{pair.Item.ID, pair.Position}]; ok {
			pair.Truth, pair.Item.Fields = it.truth, it.fields
		}
		visit(pair)
	}
	return nil
}

// A labelledItem is what is needed of an item with a label in a store: the label, and the
// fields that name the answering model.
type labelledItem struct {
	truth  *agree.Truth
	fields map[string]string
}

// inStore returns the items of a run that have a label in a store. There are none if the
// labels come from files.
func (p *People) inStore(ctx context.Context, st store.Store, run store.Run) (map[Drawn]labelledItem, error) {
	known := map[Drawn]labelledItem{}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(p.ids)), lookAtOnce) {
		for rec, err := range st.Records(ctx, run.ID, store.Query{Trial: new(int), IDs: ids}) {
			if err != nil {
				return nil, err
			}
			truth := p.Of(rec.Item)
			if truth == nil {
				continue
			}
			it := labelledItem{truth: truth, fields: map[string]string{}}
			for _, name := range agree.ModelFields {
				if text, ok := rec.Item.Fields[name]; ok {
					it.fields[name] = strings.Clone(text)
				}
			}
			known[Drawn{strings.Clone(rec.Item.ID), rec.Position}] = it
		}
	}
	return known, nil
}

// lookAtOnce is the number of labelled items that are read in one batch.
const lookAtOnce = 500

// EachWithRun calls visit with each item of a run and the verdicts of both runs.
func EachWithRun(ctx context.Context, st store.Store, run, other store.Run, o agree.Options, visit func(agree.Pair)) error {
	// The answering model is in the items.
	q := store.Query{Brief: run.Model == "" && o.Own == ""}
	return Both(ctx, st, run, other, q, func(first, second []deem.Record) {
		if first == nil {
			return // an item that this judge has not judged yet
		}
		p := agree.Judged(first, o.CalibrationError)
		p.Truth = agree.TruthOf(second)
		visit(p)
	})
}

// Draw selects n items of a run for people to label, at random and from every category and
// verdict. It returns them with their positions, in random order, and the number of
// candidates: items with a verdict and without a label.
func Draw(ctx context.Context, st store.Store, run store.Run, p *People, n int, seed uint64) (chosen []agree.Chosen, free int, err error) {
	from, places, err := candidates(ctx, st, run, p)
	if err != nil {
		return nil, 0, err
	}
	for _, c := range from {
		if !c.Labelled {
			free++
		}
	}
	chosen = agree.DrawStrata(from, n, seed)
	for i, c := range chosen {
		chosen[i].Place = places[c.Place].Position
	}
	return chosen, free, nil
}

// candidates returns the items of a run that have a verdict or a probability, with their
// positions.
func candidates(ctx context.Context, st store.Store, run store.Run, p *People) ([]agree.Candidate, []Drawn, error) {
	var from []agree.Candidate
	var places []Drawn
	var confidence []float64
	calibration := CalibrationError(run)
	for trials, err := range byItem(Counted(ctx, st, run, store.Query{Brief: run.Model == "" && !p.texts})) {
		if err != nil {
			return nil, nil, err
		}
		it := agree.Judged(trials, calibration)
		if it.Verdict == nil && it.Guess == nil {
			continue // an unjudged item cannot be compared
		}
		yes := it.Verdict != nil && it.Verdict.Yes() || it.Guess != nil && *it.Guess >= 0.5
		from = append(from, agree.Candidate{Category: strings.Clone(it.Item.Category), Yes: yes, Labelled: p.Of(it.Item) != nil})
		confidence = append(confidence, it.Confidence())
		places = append(places, Drawn{ID: strings.Clone(it.Item.ID), Position: it.Position})
	}
	for i, unsure := range agree.Unsure(confidence) {
		from[i].Unsure = unsure
	}
	return from, places, nil
}

// A Drawn item was selected to be labelled.
type Drawn struct {
	ID       string
	Position int
}

// An Order is the order in which people should label the items of a run.
type Order struct {
	Items []Drawn

	plan   string
	strata []agree.Candidate       // of each item
	sizes  map[agree.Candidate]int // of each stratum
}

// Design returns how the first n items were drawn.
func (o Order) Design(n int) []labels.Drawn {
	drawn, numbers := map[agree.Candidate]int{}, map[agree.Candidate]int{}
	for _, c := range o.strata[:n] {
		if drawn[c]++; numbers[c] == 0 {
			numbers[c] = len(numbers) + 1 // in order of appearance, which does not reveal the verdict
		}
	}
	list := make([]labels.Drawn, n)
	for i, c := range o.strata[:n] {
		list[i] = labels.Drawn{Stratum: fmt.Sprintf("%s-%d", o.plan, numbers[c]), N: drawn[c], Of: o.sizes[c]}
	}
	return list
}

// DrawOrder returns all items of a run that have a verdict in the order in which people
// should label them: the first n are those that [Draw] selects without labels, the next n
// those that it selects once these are labelled, then twice as many, and so on. Wherever
// people stop, the labels are a draw from every category and verdict, and the same seed
// gives the same order.
func DrawOrder(ctx context.Context, st store.Store, run store.Run, n int, seed uint64) (Order, error) {
	from, places, err := candidates(ctx, st, run, Written("", nil))
	if err != nil {
		return Order{}, err
	}
	plan, err := deem.Hash([]any{run.ID, n, seed})
	if err != nil {
		return Order{}, err
	}
	out := Order{plan: plan[:4], sizes: map[agree.Candidate]int{}}
	for _, c := range from {
		out.sizes[c]++
	}
	for round := uint64(0); len(out.Items) < len(from); round++ {
		for _, i := range agree.Draw(from, max(n, len(out.Items)), seed+round) {
			out.Items, out.strata = append(out.Items, places[i]), append(out.strata, from[i])
			from[i].Labelled = true
		}
	}
	return out, nil
}
