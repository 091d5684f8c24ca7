package claims

import (
	"regexp"
	"slices"
	"strings"
)

// A role is what a row or a column of a table holds.
type role int

// The roles.
const (
	plainRole   role = iota // a system, or a category of questions
	overallRole             // all questions
	sizeRole                // numbers of questions
	rightRole               // numbers of right answers
	otherRole               // something that is not a share of right answers
)

// The names that are neither categories nor systems.
var (
	overallNames = names("overall", "total", "all", "average", "avg", "mean", "overall score", "overall accuracy", "accuracy", "acc", "score",
		"macro avg", "macro average", "micro avg", "weighted average", "llm judge", "judge score", "j score")
	sizeNames = names("n", "size", "sizes", "questions", "items", "count", "#", "no. of questions", "number of questions", "num questions",
		"# questions", "n questions", "total questions", "support")
	rightNames = names("correct", "right", "# correct", "num correct", "n correct", "correct answers", "number correct", "correct count", "passed", "hits")
	otherNames = names("wrong", "incorrect", "f1", "em/f1", "token f1", "meteor", "cost", "price", "tokens", "rank", "std", "stderr", "mrr",
		"bertscore")
	differenceNames = names("delta", "Δ", "change", "diff")
	otherName       = regexp.MustCompile(`^(f1|bleu|rouge|ndcg|latency|p50|p95|p99|avgtokens|meantokens|tokens|(recall|precision|hit|r|p)@)`)
)

func names(list ...string) map[string]bool {
	m := map[string]bool{}
	for _, name := range list {
		m[fold(name)] = true
	}
	return m
}

// areDifferences reports whether numbers may be differences between systems, because one has
// a sign or all are small. A system may be called Delta.
func areDifferences(cells []field) bool {
	small := true
	for _, c := range cells {
		text := strings.TrimSpace(c.text)
		if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "−") {
			return true
		}
		if c, err := parseCell(text); err == nil && c.Percent != nil && c.Percent.units >= 50*pow10(c.Percent.decimals) {
			small = false
		}
	}
	return small
}

// rolesOf returns the roles of rows or columns by their names. The numbers of a line decide
// with: "Correct" counts right answers only if its numbers are whole, and "Total" beside it
// counts questions.
func rolesOf(lines [][]field, known []Category) []role {
	roles := make([]role, len(lines))
	counted := false
	for i, line := range lines {
		name, _, _ := splitName(line[0].text)
		folded := fold(name)
		switch {
		case categoryOf(known, name) >= 0:
		case sizeNames[folded]:
			roles[i] = sizeRole
		case rightNames[folded] && areWhole(line[1:]):
			roles[i], counted = rightRole, true
		case overallNames[folded]:
			roles[i] = overallRole
		case differenceNames[folded] && areDifferences(line[1:]), otherNames[folded] || otherName.MatchString(folded):
			roles[i] = otherRole
		}
	}
	for i, line := range lines {
		if name, _, _ := splitName(line[0].text); counted && !slices.Contains(roles, sizeRole) && fold(name) == "total" && areWhole(line[1:]) {
			roles[i] = sizeRole
		}
	}
	return roles
}

// areWhole reports whether all numbers, of which there is one, are whole and without a unit.
func areWhole(fields []field) bool {
	found := false
	for _, f := range fields {
		text := strings.ReplaceAll(strings.Trim(f.text, "*_` "), ",", "")
		switch {
		case isBlank(text):
		case wholeNumber.MatchString(text):
			found = true
		default:
			return false
		}
	}
	return found
}

var wholeNumber = regexp.MustCompile(`^\d{1,9}$`)

// arePercentages reports whether at least half of the numbers can be percentages.
func arePercentages(fields []field) bool {
	can, all := 0, 0
	for _, f := range fields {
		if isBlank(strings.Trim(f.text, "*_` ")) {
			continue
		}
		all++
		c, err := parseCell(f.text)
		if err == nil && (c.Percent == nil || c.Percent.units <= 100*pow10(c.Percent.decimals)) {
			can++
		}
	}
	return 2*can >= all
}

// transposed returns the table with its rows as columns.
func transposed(rows [][]field) [][]field {
	list := make([][]field, len(rows[0]))
	for i := range list {
		for _, row := range rows {
			list[i] = append(list[i], row[i])
		}
	}
	return list
}
