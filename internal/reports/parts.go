package reports

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports/agree"
	"deem/internal/store"
	"deem/judge"
	"deem/judge/cascade"
	"deem/judge/panel"
)

// SpecOf returns the spec of the judge of a run. If it cannot be read, only the name is
// known.
func SpecOf(run store.Run) judge.Spec {
	s, err := judge.ParseSpec(run.Judge.Identity)
	if err != nil {
		return judge.Spec{Name: run.Judge.Name}
	}
	return s
}

// LabelsOf returns the labels that the judge of a run gives to an item, or to each of its
// criteria, highest score first. There are none if the judge gives numbers or is not
// declared.
func LabelsOf(run store.Run, criteria bool) []judge.Label {
	d := SpecOf(run).Declaration
	if d == nil || d.Criteria != nil && !criteria {
		return nil
	}
	list := slices.Clone(d.Labels)
	slices.SortStableFunc(list, func(a, b judge.Label) int { return cmp.Compare(b.Score, a.Score) })
	return list
}

// WithLabels returns options that compare these labels.
func WithLabels(o agree.Options, list []judge.Label) agree.Options {
	o.Ordered = true
	for i, l := range list {
		o.Labels = append(o.Labels, l.Label)
		o.Ordered = o.Ordered && (i == 0 || l.Score != list[i-1].Score)
	}
	return o
}

// PartNames returns the names of the members of a judge. The calls of repeat are numbered.
func PartNames(s judge.Spec) []string {
	var names []string
	if s.Kind == judge.KindRepeat {
		for i := range s.Times {
			names = append(names, fmt.Sprint(i+1))
		}
		return names
	}
	for _, m := range s.Members {
		names = append(names, m.Name)
	}
	return names
}

// describeParts describes in one sentence how a composed judge decides.
func describeParts(s judge.Spec) string {
	list := strings.Join(PartNames(s), ", ")
	switch s.Kind {
	case judge.KindPanel:
		return fmt.Sprintf("%s is a panel that decides by %s: %s", s.Name, s.Rule, list)
	case judge.KindRepeat:
		return fmt.Sprintf("%s asks one judge %d times and decides by %s", s.Name, s.Times, s.Rule)
	case judge.KindCascade:
		return fmt.Sprintf("%s asks one judge after the other until one is sure: %s", s.Name, list)
	case judge.KindPairwise:
		return s.Name + " asks about both orders of two responses, A and B: the score is how far A is better, and where the orders disagree the two are tied"
	}
	return s.Name
}

// Parts is a report on the parts of a judge.
type Parts interface{ AddTo(d *doc.Document) }

// partsOf returns the report on the parts of a run's judge, nil if it has none. Only the
// first trial counts.
func partsOf(ctx context.Context, st store.Store, run store.Run) (Parts, error) {
	spec := SpecOf(run)
	if !spec.Composed() || spec.Kind == judge.KindPairwise {
		return nil, nil
	}
	var add func(deem.Record)
	var done func() Parts
	if spec.Kind == judge.KindCascade {
		b, err := cascadeBuilder(run, spec)
		if err != nil {
			return nil, err
		}
		add = func(rec deem.Record) { addStage(b, rec) }
		done = func() Parts { return b.Cascade() }
	} else {
		b := NewPanel(PartNames(spec), spec.Rule, spec.Kind == judge.KindRepeat)
		add = func(rec deem.Record) { addVotes(b, PartNames(spec), rec) }
		done = func() Parts { return b.Panel() }
	}
	for rec, err := range st.Records(ctx, run.ID, store.Query{Trial: new(int), Brief: true, WithCalls: true}) {
		if err != nil {
			return nil, err
		}
		add(rec)
	}
	return done(), nil
}

// addVotes counts the votes in a record.
func addVotes(b *PanelBuilder, names []string, rec deem.Record) {
	votes, ok := panel.Votes(names, rec)
	if !ok {
		return
	}
	counted := make([]Vote, len(votes))
	for i, v := range votes {
		counted[i] = Vote(v)
	}
	outcome := None
	if rec.Verdict != nil {
		outcome = No
		if rec.Verdict.Yes() {
			outcome = Yes
		}
	}
	b.Add(counted, outcome)
}

func cascadeBuilder(run store.Run, spec judge.Spec) (*CascadeBuilder, error) {
	var set Settings
	if len(run.Settings) > 0 {
		if err := json.Unmarshal(run.Settings, &set); err != nil {
			return nil, fmt.Errorf("settings of run %s: %w", run.ID, err)
		}
	}
	var stages []Stage
	for _, s := range spec.Members {
		stages = append(stages, Stage{Name: s.Name, Threshold: s.Threshold, Models: s.Judge.Models()})
	}
	return NewCascade(stages, set.Promise), nil
}

// addStage counts which stage decided a record.
func addStage(b *CascadeBuilder, rec deem.Record) {
	stage := 0
	if rec.Verdict != nil {
		stage = int(rec.Verdict.Aspects[cascade.StageAspect])
	}
	var calls []Asked
	for _, c := range rec.Calls {
		asked := Asked{Model: c.Model}
		if c.Reply != nil && !c.Reply.Cached { // cached calls are not paid again
			asked.CostMicros = c.Reply.CostMicros
		}
		calls = append(calls, asked)
	}
	b.Add(stage, calls)
}
