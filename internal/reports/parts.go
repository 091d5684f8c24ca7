package reports

import (
	"cmp"
	"fmt"
	"slices"

	"deem"
	"deem/internal/reports/agree"
	"deem/internal/store"
	"deem/judge"
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
	s := SpecOf(run)
	if d := s.Declaration; d != nil && d.Criteria != nil && criteria {
		return byScore(d.Labels)
	}
	return LabelsOfJudge(s)
}

// LabelsOfJudge returns the labels that a judge gives items, highest score first.
func LabelsOfJudge(s judge.Spec) []judge.Label {
	if s.Declaration == nil || s.Declaration.Criteria != nil {
		return nil
	}
	return byScore(s.Declaration.Labels)
}

func byScore(list []judge.Label) []judge.Label {
	return slices.SortedStableFunc(slices.Values(list), func(a, b judge.Label) int { return cmp.Compare(b.Score, a.Score) })
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

// Grader returns the judge that gives the verdicts: the one inside, if a reader answers the
// items first.
func Grader(s judge.Spec) judge.Spec {
	if s.Kind == judge.KindAnswer && len(s.Members) > 1 {
		return s.Members[1].Judge
	}
	if s.Kind == judge.KindAnswer {
		return s.Members[0].Judge
	}
	return s
}

// GraderHash returns the hash of the judge that gives the verdicts of a run.
func GraderHash(run store.Run) string {
	if s := SpecOf(run); s.Kind == judge.KindAnswer {
		if hash, err := deem.Hash(Grader(s)); err == nil {
			return hash
		}
	}
	return run.Judge.Hash
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
