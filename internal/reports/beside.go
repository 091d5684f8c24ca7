package reports

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/reports/agree"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/judge"
)

// CompareJudges compares the judges of two runs.
func CompareJudges(ctx context.Context, st store.Store, first, second store.Run) (agree.Pairing, error) {
	pairs := agree.NewPairs(Party(first), Party(second))
	err := Both(ctx, st, first, second, store.Query{Brief: true}, func(a, b []deem.Record) {
		var x, y *deem.Verdict
		var it deem.Item
		if a != nil {
			p := agree.Judged(a, 0)
			x, it = p.Verdict, p.Item
		}
		if b != nil {
			p := agree.Judged(b, 0)
			y, it = p.Verdict, p.Item
		}
		pairs.Add(it, x, y)
	})
	pairing := pairs.Pairing()
	pairing.Note = Differ(first, second)
	return pairing, err
}

// Both calls visit with the records of both runs on each item that their reports count; one
// of the two lists is nil if a run has none. It reads both runs in parallel in the order of
// their items, so memory does not grow with their size.
func Both(ctx context.Context, st store.Store, first, second store.Run, q store.Query, visit func(a, b []deem.Record)) error {
	if first.Dataset.Hash != second.Dataset.Hash {
		return usage.Errorf("runs %s and %s judged different items: %s (%s) and %s (%s)", first.ID, second.ID,
			first.Dataset.Names, deem.ShortHash(first.Dataset.Hash), second.Dataset.Names, deem.ShortHash(second.Dataset.Hash))
	}
	a, stopA := iter.Pull2(byItem(Counted(ctx, st, first, q)))
	defer stopA()
	b, stopB := iter.Pull2(byItem(Counted(ctx, st, second, q)))
	defer stopB()
	ra, errA, okA := a()
	rb, errB, okB := b()
	for okA || okB {
		switch {
		case errA != nil:
			return errA
		case errB != nil:
			return errB
		case okA && okB && ra[0].Position == rb[0].Position:
			visit(ra, rb)
			ra, errA, okA = a()
			rb, errB, okB = b()
		case okA && (!okB || ra[0].Position < rb[0].Position):
			visit(ra, nil)
			ra, errA, okA = a()
		default:
			visit(nil, rb)
			rb, errB, okB = b()
		}
	}
	return nil
}

// Party describes the judge of a run for an agreement.
func Party(run store.Run) agree.Party {
	return agree.Party{Run: run.ID, Judge: run.Judge.Name, JudgeHash: run.Judge.Hash, Model: run.Model}
}

// Differ describes how the judges of two runs of one benchmark differ, "" if they do not. A
// benchmark whose judges have different names has one score for each.
func Differ(first, second store.Run) string {
	a, ok := benchmark.All().OfJudge(first.Judge.Name)
	b, both := benchmark.All().OfJudge(second.Judge.Name)
	if !ok || !both || a.Name != b.Name || first.Judge.Name == second.Judge.Name {
		return ""
	}
	one, errA := judge.ParseSpec(first.Judge.Identity)
	other, errB := judge.ParseSpec(second.Judge.Identity)
	if errA != nil || errB != nil {
		return ""
	}
	var parts []string
	for _, d := range judge.Diff(leafOf(one), leafOf(other)) {
		if !strings.Contains(d.Name, ".") && d.Name != "name" && d.Name != "kind" && !slices.Contains(parts, d.Name) {
			parts = append(parts, d.Name)
		}
	}
	if one.Times != other.Times {
		parts = append(parts, "the number of votes")
	}
	in := ""
	if len(parts) > 0 {
		in = ", which differ in " + strings.Join(parts, ", ")
	}
	return fmt.Sprintf("%s and %s are different judges of %s%s: a difference between their scores is one of judges and not of systems",
		first.Judge.Name, second.Judge.Name, a.Name, in)
}

// leafOf returns the judge that is repeated, or the judge itself.
func leafOf(s judge.Spec) judge.Spec {
	if s.Kind == judge.KindRepeat && len(s.Members) == 1 {
		return s.Members[0].Judge
	}
	return s
}
