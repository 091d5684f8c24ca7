package rule_test

import (
	"bufio"
	"errors"
	"os"
	"strings"
	"testing"

	"deem"
	"deem/judge/rule"
)

// A pair is one line of testdata/match.txt.
type pair struct {
	theme, line string
	it          deem.Item
	want        string
}

func readPairs(t testing.TB) []pair {
	t.Helper()
	f, err := os.Open("testdata/match.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var pairs []pair
	theme := ""
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line := sc.Text()
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== "):
			theme = line[3:]
		default:
			pairs = append(pairs, parsePair(t, theme, line))
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return pairs
}

func parsePair(t testing.TB, theme, line string) pair {
	t.Helper()
	parts := strings.Split(strings.ReplaceAll(line, "||", "\x00"), "|")
	if len(parts) != 3 && len(parts) != 4 {
		t.Fatalf("%q has %d fields", line, len(parts))
	}
	for i := range parts {
		parts[i] = strings.ReplaceAll(strings.TrimSpace(parts[i]), `\n`, "\n")
	}
	p := pair{theme: theme, line: line, want: parts[2]}
	p.it = deem.Item{References: strings.Split(parts[0], "\x00"), Response: parts[1]}
	if len(parts) == 4 {
		p.it.Question = parts[3]
	}
	return p
}

func TestMatchPairs(t *testing.T) {
	pairs := readPairs(t)
	if len(pairs) < 250 {
		t.Fatalf("testdata/match.txt has %d pairs, want at least 250", len(pairs))
	}
	for _, p := range pairs {
		v, err := rule.Match().Judge(t.Context(), p.it)
		got, why := v.Label, v.Reason
		if f, ok := errors.AsType[*deem.Failure](err); ok {
			got, why = string(f.Kind), f.Detail
		} else if err != nil {
			t.Fatal(err)
		}
		if got != p.want {
			t.Errorf("%s: %s\n\tgot %s: %s", p.theme, p.line, got, why)
		}
	}
}
