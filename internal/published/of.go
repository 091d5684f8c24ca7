package published

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/internal/words"
)

// The benchmarks that rows can belong to.
const (
	longMemEval = "longmemeval"
	loCoMo      = "locomo"

	// NoBenchmark means that rows belong to none.
	NoBenchmark = "none"
)

// Benchmarks returns the valid values of [Source.Benchmark].
func Benchmarks() []string { return []string{longMemEval, loCoMo, NoBenchmark} }

// The number of questions in LongMemEval.
const lmeQuestions = 500

// lmeTypes are the types of its questions, and whether other datasets are unlikely to use
// the same word. Many have a category knowledge-update.
var lmeTypes = map[string]bool{
	"single-session-user": true, "single-session-assistant": true, "single-session-preference": true,
	"multi-session": false, "temporal-reasoning": false, "knowledge-update": false,
}

// lmeID matches ids of its questions: eight characters, nearly all of them hexadecimal, for
// example gpt4_2655b836 and 0a995998_abs.
var lmeID = regexp.MustCompile(`^(gpt4_)?[0-9a-f]{6}[0-9a-z]{2}(_[0-9a-z]{1,8})*$`)

// isLoCoMo reports whether all categories are those of LoCoMo, and the questions are about
// conversations.
func (s *Set) isLoCoMo() bool {
	for _, it := range s.items {
		if it.Cluster == "" && !strings.HasPrefix(it.ID, "locomo_") || !slices.Contains([]string{"1", "2", "3", "4", "5"}, it.Category) {
			return false
		}
	}
	return len(s.items) > 0
}

// benchmarkOf returns the benchmark of rows: the one named by the user, or the detected
// one. columns reports that they have columns of LongMemEval's own files.
//
// Rows belong to LongMemEval if all of their categories are types of its questions, and one
// of them is a type that only it has, or all ids have its form, or the columns are those of
// its own files. If the evidence is not sufficient, an error asks the user.
func (s *Set) benchmarkOf(src Source, columns bool) (string, error) {
	switch src.Benchmark {
	case "":
	case NoBenchmark:
		return "", nil
	case loCoMo:
		if !s.isLoCoMo() {
			return "", deem.WithHint(fmt.Errorf("%s: these are not results of LoCoMo: its categories are the numbers from 1 to 5, and each question belongs to a conversation", strings.Join(s.names, ", ")),
				"--map category=COLUMN,cluster=COLUMN says which columns hold them")
		}
		return loCoMo, nil
	default:
		return src.Benchmark, nil
	}
	if s.isLoCoMo() {
		return loCoMo, nil
	}
	its, only, ids := 0, false, true
	found := map[string]bool{}
	for _, it := range s.items {
		unique, ok := lmeTypes[it.Category]
		if ok {
			its++
			found[it.Category] = true
		}
		only, ids = only || unique, ids && lmeID.MatchString(it.ID)
	}
	all := its == len(s.items) && its > 0
	names, why := strings.Join(slices.Sorted(maps.Keys(found)), ", "), ""
	switch {
	case all && (only || ids || columns):
		return longMemEval, nil
	case all:
		why = fmt.Sprintf("all categories are types of its questions (%s), but neither ids nor columns are its own", names)
	case only:
		why = fmt.Sprintf("some categories are types that only it has (%s), but %s of %s have others", names, words.Count(len(s.items)-its, "row"), words.Count(len(s.items), "row"))
	default:
		return "", nil
	}
	return "", deem.WithHint(fmt.Errorf("%s: are these results of LongMemEval? %s", strings.Join(s.names, ", "), why),
		"if they are: --benchmark %s; if they are not: --benchmark %s", longMemEval, NoBenchmark)
}
