package catalog

import (
	"context"
	"fmt"
	"strings"

	"deem"
	"deem/bundle"
	"deem/internal/benchmark"
	"deem/internal/labels"
	"deem/internal/rows"
	"deem/internal/store"
	"deem/judge"
	"deem/judge/cascade"
	"deem/judge/panel"
)

// Restore rebuilds the judge of a run file for [bundle.Verify], if it needs neither a model
// nor any other file.
func Restore(_ bundle.Run, j bundle.Judge, model func(name, settings string) deem.Model, record func(context.Context) (deem.Record, bool)) (bundle.Again, error) {
	kept := store.JudgeSpec{Name: j.Name, Hash: j.Hash, Identity: j.Identity, Rule: j.Rule}
	s, err := judge.ParseSpec(j.Identity)
	switch {
	case err != nil:
		return bundle.Again{}, err
	case s.Kind == judge.KindRecorded:
		return bundle.Again{Note: j.Name + " was recorded by others, and deem asked nobody"}, nil
	case s.Kind == labels.Kind:
		return bundle.Again{Note: j.Name + " judges by a file of its own"}, nil
	case s.Composed():
		return composedAgain(kept, s, model, record)
	case s.Kind == judge.KindModel:
		p, err := benchmark.Protocol(s)
		if err != nil {
			return bundle.Again{}, err
		}
		if _, several := p.(judge.Dialogue); several {
			return composedAgain(kept, s, model, record)
		}
		return bundle.Again{Protocol: p}, nil
	}
	again, err := Stored(kept, Parts{})
	if err != nil {
		return bundle.Again{Note: fmt.Sprintf("this deem cannot make the rule %s (%s) without further data, or has another version of it", j.Name, deem.ShortHash(j.Hash))}, nil //nolint:nilerr // The note reports the error.
	}
	return bundle.Again{Rule: Answered(again)}, nil
}

// composedAgain rebuilds a judge that is composed of others.
func composedAgain(kept store.JudgeSpec, s judge.Spec, model func(name, settings string) deem.Model, record func(context.Context) (deem.Record, bool)) (bundle.Again, error) {
	taken := &takenMembers{record: record}
	j, err := Build(s, Parts{
		Instead: taken.take,
		Model:   func(name, settings string) (deem.Model, error) { return model(name, settings), nil },
	})
	if err != nil {
		return bundle.Again{}, fmt.Errorf("%s is a %s, and %w", kept.Name, s.Kind, err)
	}
	hash, err := deem.JudgeHash(j)
	if err != nil {
		return bundle.Again{}, err
	}
	if hash != kept.Hash {
		return bundle.Again{Note: fmt.Sprintf("this deem makes another judge of what the file says of %s", kept.Name)}, nil
	}
	again := bundle.Again{Judge: j, Partly: len(taken.names) > 0, Unchecked: taken.models}
	if again.Partly {
		again.Note = fmt.Sprintf("%s cannot be asked without further data; what a record says of it is taken as it stands", strings.Join(taken.names, ", "))
	}
	return again, nil
}

// takenMembers are members that could not be rebuilt, and whose votes are taken from the
// record.
type takenMembers struct {
	record func(context.Context) (deem.Record, bool)
	names  []string
	models []string // used by them
}

// take returns a judge that repeats the recorded verdicts of a member that cannot be
// rebuilt: its vote in a panel, or its decision as a stage of a cascade, which is known if
// it decided.
func (t *takenMembers) take(of judge.Spec, i int) deem.Judge {
	m := of.Members[i]
	said := func(rec deem.Record) (deem.Verdict, error) {
		if rec.Verdict == nil || rec.Verdict.Aspects[cascade.StageAspect] != float64(i+1) {
			return deem.Verdict{}, deem.Failf(deem.Unsure, "not asked again")
		}
		return *rec.Verdict, nil
	}
	if of.Kind == judge.KindPanel {
		names := make([]string, len(of.Members))
		for i, m := range of.Members {
			names[i] = m.Name
		}
		said = func(rec deem.Record) (deem.Verdict, error) {
			votes, ok := panel.Votes(names, rec)
			if !ok || votes[i] == panel.VoteNone {
				return deem.Verdict{}, deem.Failf(deem.Unsure, "not asked again")
			}
			yes := votes[i] == panel.VoteYes
			v := deem.Verdict{Label: votes[i].String(), Pass: &yes}
			if yes {
				v.Score = 1
			}
			if rec.Verdict != nil {
				if score, ok := rec.Verdict.Aspects["score/"+names[i]]; ok {
					v.Score = score
				}
			}
			return v, nil
		}
	}
	t.names = append(t.names, m.Name)
	t.models = append(t.models, m.Judge.Models()...)
	return &takenJudge{m.Name, m.Judge, t.record, said}
}

// A takenJudge stands for a member that cannot be rebuilt. It has the member's name and spec,
// and returns the member's verdict from the record that is being checked.
type takenJudge struct {
	name   string
	spec   judge.Spec
	record func(context.Context) (deem.Record, bool)
	said   func(deem.Record) (deem.Verdict, error)
}

func (j *takenJudge) Name() string  { return j.name }
func (j *takenJudge) Identity() any { return j.spec }

func (j *takenJudge) Judge(ctx context.Context, _ deem.Item) (deem.Verdict, error) {
	rec, ok := j.record(ctx)
	if !ok {
		return deem.Verdict{}, fmt.Errorf("%s is asked while no bundle is checked", j.name)
	}
	return j.said(rec)
}

// A checkedMember judge converts a panic into an error. A judge from a file is untrusted, and the
// members of a panel run in their own goroutines.
type checkedMember struct{ inside deem.Judge }

func (j checkedMember) Name() string { return j.inside.Name() }

func (j checkedMember) Identity() any { return judge.SpecOf(j.inside) }

func (j checkedMember) Judge(ctx context.Context, it deem.Item) (v deem.Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panics over this record: %v", j.Name(), p)
		}
	}()
	return j.inside.Judge(ctx, it)
}

// Answered returns a judge that leaves items unjudged if a result file has no response for
// them, which is not the same as an empty response.
func Answered(j deem.Judge) deem.Judge { return answered{j} }

type answered struct{ judge deem.Judge }

func (j answered) Name() string { return j.judge.Name() }

// Judge fails for items without a response, and calls the inner judge for the others.
func (j answered) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if it.Fields[rows.NoResponse] != "" {
		return deem.Verdict{}, deem.Failf(deem.Input, "the file has no response here")
	}
	return j.judge.Judge(ctx, it)
}
