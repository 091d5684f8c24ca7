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

// The benchmarks that rows can be of.
const (
	longMemEval = "longmemeval"
	loCoMo      = "locomo"

	// NoBenchmark says that rows are of none.
	NoBenchmark = "none"
)

// Benchmarks returns what [Source.Benchmark] can be.
func Benchmarks() []string { return []string{longMemEval, loCoMo, NoBenchmark} }

// What LongMemEval has.
const lmeQuestions = 500

// lmeTypes are the types of its questions, and whether a dataset of somebody else is
// unlikely to use the same word. Many have a category knowledge-update.
var lmeTypes = map[string]bool{
	"single-session-user": true, "single-session-assistant": true, "single-session-preference": true,
	"multi-session": false, "temporal-reasoning": false, "knowledge-update": false,
}

// lmeID is an id of its questions: eight characters, nearly all of them hexadecimal, as
// gpt4_2655b836 and 0a995998_abs.
var lmeID = regexp.MustCompile(`^(gpt4_)?[0-9a-f]{6}[0-9a-z]{2}(_[0-9a-z]{1,8})*$`)

// isLongMemEval reports whether rows are of LongMemEval: all of their categories are
// types of its questions, and one of them is a type that nobody else has, or all ids are
// of its form, or the columns are those of its own files. Its error asks when rows look as
// if they were, and that is not enough.
func (s *Set) isLongMemEval(columns bool) (bool, error) {
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
	names := strings.Join(slices.Sorted(maps.Keys(found)), ", ")
	switch {
	case all && (only || ids || columns):
		return true, nil
	case all:
		return false, s.ask(fmt.Sprintf("all categories are types of its questions (%s), but neither ids nor columns are its own", names))
	case only:
		return false, s.ask(fmt.Sprintf("some categories are types that only it has (%s), but %s of %s have others", names, words.Count(len(s.items)-its, "row"), words.Count(len(s.items), "row")))
	default:
		return false, nil
	}
}

// ask says why it cannot be told whether rows are of LongMemEval, and how to say so.
func (s *Set) ask(why string) error {
	return deem.WithHint(fmt.Errorf("%s: are these results of LongMemEval? %s", strings.Join(s.names, ", "), why),
		"--benchmark %s says that they are, and --benchmark %s that they are of no benchmark", longMemEval, NoBenchmark)
}

// isLoCoMo reports whether all categories are those of LoCoMo, and the questions are
// about conversations.
func (s *Set) isLoCoMo() bool {
	for _, it := range s.items {
		if it.Cluster == "" && !strings.HasPrefix(it.ID, "locomo_") || !slices.Contains([]string{"1", "2", "3", "4", "5"}, it.Category) {
			return false
		}
	}
	return len(s.items) > 0
}

// benchmarkOf returns the benchmark of rows: the one that the user names, or what the
// rows say. Columns says that they have columns of LongMemEval's own files.
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
	lme, err := s.isLongMemEval(columns)
	if lme {
		return longMemEval, nil
	}
	return "", err
}
