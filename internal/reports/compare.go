package reports

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/reports/agree"
	"deem/internal/reports/compare"
	"deem/internal/store"
	"deem/internal/usage"
)

// A Compared run is a run and what it is called.
type Compared struct {
	store.Run
	Name string
}

// NameRuns gives every run without a name that of its system, of its file, or its id: the
// first that no other run has.
func NameRuns(runs []Compared) ([]Compared, error) {
	given := map[string]int{}
	for i := range runs {
		if name := runs[i].Name; name != "" {
			if given[name]++; given[name] > 1 {
				return nil, usage.Errorf("two runs are named %q", name)
			}
		}
	}
	for _, nameOf := range []func(store.Run) string{
		func(run store.Run) string { return SettingsOf(run.Spec).System }, func(run store.Run) string { return run.About.Name },
		FileName, func(run store.Run) string { return run.ID },
	} {
		seen := map[string]int{}
		for _, r := range runs {
			if r.Name == "" {
				seen[nameOf(r.Run)]++
			}
		}
		for i, r := range runs {
			if name := nameOf(r.Run); r.Name == "" && name != "" && seen[name] == 1 && given[name] == 0 {
				runs[i].Name, given[name] = name, 1
			}
		}
	}
	return runs, nil
}

// FileName returns the name of the file that holds the responses of a run, without
// its folder and ending.
func FileName(run store.Run) string {
	_, set, err := Benchmark(run)
	names := run.Dataset.Names
	if err == nil && len(set.Responses) > 0 {
		names = set.Responses
	}
	if len(names) == 0 {
		return ""
	}
	base := filepath.Base(names[len(names)-1])
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// Describe returns what a comparison says about a run.
func (r Compared) Describe() compare.Run {
	d := compare.Run{
		Name: r.Name, Run: r.ID, Judge: r.Judge.Name, JudgeHash: r.Judge.Hash, Model: r.Model, Endpoint: r.Endpoint,
		Dataset: strings.Join(r.Dataset.Names, ", "), DatasetHash: r.Dataset.Hash, DatasetItems: r.Dataset.Items,
		Trials: r.Trials, Complete: r.State == store.Done, CalibrationError: CalibrationError(r.Run),
	}
	if s := SpecOf(r.Run); s.Kind != "" {
		d.Spec = &s
	}
	if p, err := Protocol(r.Run); err == nil && p != nil {
		// A judge that this deem cannot read again has no reading to show here; its
		// hash says enough.
		d.Reading = p.Reading()
	}
	return d
}

// Compare reads all runs side by side. The builder that it returns knows them all. With
// people, one for each run or none at all, differences are corrected by their labels.
func Compare(ctx context.Context, st store.Store, runs []Compared, people []*People, o compare.Options) (*compare.Builder, error) {
	o.Labels = len(people) > 0
	described := make([]compare.Run, len(runs))
	records := make([]iter.Seq2[deem.Record, error], len(runs))
	var labelled []*labelledRun // of all runs, or none
	for i, r := range runs {
		described[i] = r.Describe()
		records[i] = st.Records(ctx, r.ID, store.Query{})
		if o.Labels {
			calibration := described[i].CalibrationError
			l := &labelledRun{people[i], agree.New(agree.Options{CalibrationError: calibration}), calibration, map[string]*compare.Opinion{}}
			labelled = append(labelled, l)
			records[i] = l.watch(records[i])
		}
	}
	b := compare.New(described, o)
	for row, err := range compare.Join(records...) {
		if err != nil {
			return nil, err
		}
		for i, l := range labelled {
			row.Cells[i].People = l.opinions[row.ID]
		}
		b.Add(row)
	}
	for i, l := range labelled {
		var drawn compare.Labelling
		if c := l.agreement.Corrected(); c != nil {
			drawn.Planned = c.Mix.Planned()
			for _, t := range c.Mix.Tests {
				if t.Differs {
					drawn.Selected = append(drawn.Selected, t.Of)
				}
			}
		}
		b.Labelled(i, drawn)
	}
	return b, nil
}

// A labelledRun is a run with what people say about its responses.
type labelledRun struct {
	people      *People
	agreement   *agree.Builder
	calibration float64                     // the error of the probabilities that the judge states
	opinions    map[string]*compare.Opinion // by item
}

// watch returns the records, and notes what people say about them.
func (l *labelledRun) watch(records iter.Seq2[deem.Record, error]) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		for rec, err := range records {
			if err == nil && l.people != nil && rec.Trial == 0 {
				truth := l.people.Of(rec.Item)
				l.agreement.Add(agree.Pair{Item: rec.Item, Position: rec.Position, Verdict: rec.Verdict, Guess: guess(rec, l.calibration), Truth: truth})
				if truth != nil && !truth.Tie {
					l.opinions[strings.Clone(rec.Item.ID)] = &compare.Opinion{Yes: truth.Yes, Score: truth.Score, Chance: truth.Probability}
				}
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// flipsAtOnce is the number of items that are read in one batch.
const flipsAtOnce = 200

// FlipTexts reads the texts of items on which runs differ, in batches, so that memory does
// not grow with their number.
func FlipTexts(ctx context.Context, st store.Store, runs []Compared, flips []compare.Flip) iter.Seq2[compare.FlipText, error] {
	return func(yield func(compare.FlipText, error) bool) {
		for some := range slices.Chunk(flips, flipsAtOnce) {
			list, err := flipTexts(ctx, st, runs, some)
			if err != nil {
				yield(compare.FlipText{}, err)
				return
			}
			for _, t := range list {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// flipTexts reads the texts of some items from all runs.
func flipTexts(ctx context.Context, st store.Store, runs []Compared, flips []compare.Flip) ([]compare.FlipText, error) {
	list := make([]compare.FlipText, len(flips))
	place := map[string]int{}
	ids := make([]string, len(flips))
	for i, flip := range flips {
		list[i] = compare.FlipText{Flip: flip, Responses: make([]string, len(runs)), Reasons: make([]string, len(runs))}
		ids[i], place[flip.ID] = flip.ID, i
	}
	for j := len(runs) - 1; j >= 0; j-- { // the first run takes precedence
		for rec, err := range st.Records(ctx, runs[j].ID, store.Query{Trial: new(int), IDs: ids}) {
			if err != nil {
				return nil, err
			}
			t := &list[place[rec.Item.ID]]
			t.Question, t.References, t.Responses[j] = rec.Item.Question, rec.Item.References, rec.Item.Response
			if rec.Verdict != nil {
				t.Reasons[j] = rec.Verdict.Reason
			}
		}
	}
	return list, nil
}
