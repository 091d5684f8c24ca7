package ci_test

import (
	"regexp"
	"slices"
	"strings"
)

// varying is what differs from machine to machine and from day to day.
var varying = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\b20\d{6}-[0-9a-f]{6}\b`), "RUN"},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z)?`), "TIME"},
	{regexp.MustCompile(`\b([0-9][0-9.]*(ns|µs|ms|h|m|s))+\b`), "TIME"},
	{regexp.MustCompile(`[0-9][0-9,.]*/s\b`), "RATE"},
	{regexp.MustCompile(`\b127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`(?m)^(deem +)(\(devel\)|v\d\S*|dev|[0-9a-f]{7,}\S*)$`), "${1}VERSION"},
	{regexp.MustCompile(`\bgo1\.\d+(\.\d+)?\b`), "GO"},
	{regexp.MustCompile(`/tmp/[\w./-]+`), "FOLDER"},
}

var blanks = regexp.MustCompile(`[ \t]+`)

// Settle returns the lines of a text with all that varies replaced. Where something was
// replaced, columns may have moved, so blanks there count once.
func Settle(text string) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		settled := line
		for _, v := range varying {
			settled = v.re.ReplaceAllString(settled, v.with)
		}
		if settled != line {
			settled = blanks.ReplaceAllString(settled, " ")
		}
		lines[i] = strings.TrimRight(settled, " ")
	}
	return lines
}

// Matches reports whether a program printed what a block of output shows.
func Matches(b Block, printed string) bool {
	want, got := Settle(b.Text), Settle(printed)
	if b.Part {
		want = slices.Concat([]string{"..."}, want, []string{"..."})
	}
	return match(want, got)
}

// match holds lines against a pattern in which "..." stands for any number of them.
func match(want, got []string) bool {
	for len(want) > 0 && want[0] != "..." {
		if len(got) == 0 || got[0] != want[0] {
			return false
		}
		want, got = want[1:], got[1:]
	}
	if len(want) == 0 {
		return len(got) == 0
	}
	for i := range len(got) + 1 {
		if match(want[1:], got[i:]) {
			return true
		}
	}
	return false
}
