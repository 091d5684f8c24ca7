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
	"deem/stat"
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
		func(run store.Run) string { return run.About.Name }, func(run store.Run) string { return SettingsOf(run.Spec).System },
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
		Name: r.Name, Run: r.ID, Judge: r.Judge.Name, JudgeHash: GraderHash(r.Run), Model: r.Model, Endpoint: r.Endpoint,
		Dataset: strings.Join(r.Dataset.Names, ", "), DatasetHash: r.Dataset.Hash, DatasetItems: r.Dataset.Items,
		Trials: r.Trials, Complete: r.State == store.Done, CalibrationError: CalibrationError(r.Run),
	}
	if by := SettingsOf(r.Spec).Reader; by != nil {
		d.Reader = by.Fixed()
	}
	if s := Grader(SpecOf(r.Run)); s.Kind != "" {
		d.Spec = &s
	}
	if p, err := Protocol(r.Run); err == nil && p != nil {
		// A judge that this deem cannot read again has no reading to show here; its
		// hash says enough.
		d.Reading = p.Reading()
	}
	return d
}

// Compare reads all runs side by side, as far as their reports count them. The builder that
// it returns knows them all. With people, one for each run or none at all, differences are
// corrected by their labels.
func Compare(ctx context.Context, st store.Store, runs []Compared, people []*People, o compare.Options) (*compare.Builder, error) {
	described := make([]compare.Run, len(runs))
	records := make([]iter.Seq2[deem.Record, error], len(runs))
	for i, r := range runs {
		described[i] = r.Describe()
		records[i] = Counted(ctx, st, r.Run, store.Query{})
	}
	b := compare.New(described, o)
	for row, err := range compare.Join(records...) {
		if err != nil {
			return nil, err
		}
		b.Add(row)
	}
	for i, r := range runs {
		if SettingsOf(r.Spec).Until != nil {
			f, err := Of(ctx, st, r.Run, Options{MaxUnjudged: 1})
			if err != nil {
				return nil, err
			}
			b.Stopped(i, f.Report.Stopped.Rule, f.Report.Metrics[0].Judged, f.Report.Metrics[0].Strict)
		}
		if len(people) == 0 || people[i] == nil {
			continue
		}
		l, err := labelling(ctx, st, r.Run, people[i])
		if err != nil {
			return nil, err
		}
		b.Labelled(i, l)
	}
	return b, nil
}

// labelling returns what people's labels say about the score of a run.
func labelling(ctx context.Context, st store.Store, run store.Run, p *People) (compare.Labelling, error) {
	o, err := AgreeOptions(ctx, st, run, 1)
	if err != nil {
		return compare.Labelling{}, err
	}
	o.People = true
	b := agree.New(o)
	if err := EachWithPeople(ctx, st, run, p, o, b.Add); err != nil {
		return compare.Labelling{}, err
	}
	none := stat.NoInterval(0.5, 0, stat.DefaultLevel, stat.Unit, stat.WarnNoValues)
	k := b.Corrected()
	if k == nil {
		return compare.Labelling{Score: none}, nil
	}
	c := k.Confusion
	l := compare.Labelling{
		Score: k.Quoted(), Influence: k.Influence(), Passes: k.Metric == compare.PassRate,
		Side: compare.CorrectedSide{Labels: c.N(), Right: c.TP + c.FN, Rejected: c.FN, Wrong: c.FP + c.TN, Accepted: c.FP, Lambda: k.PPI.Lambda},
	}
	if c.N() < 3 {
		l.Score = none
	}
	for _, t := range k.Mix.Tests {
		if t.Differs {
			l.Side.Selected = append(l.Side.Selected, t.Of)
		}
	}
	return l, nil
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
