package reports

import (
	"fmt"
	"slices"
	"strings"

	"deem/internal/benchmark"
	"deem/internal/store"
	"deem/judge"
)

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
