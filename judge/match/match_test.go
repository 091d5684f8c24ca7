package match_test

import (
	"bufio"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deem"
	"deem/judge/match"
)

// A pair is one line of a file in testdata.
type pair struct {
	theme, line string
	it          deem.Item
	want        string
}

func readPairs(t testing.TB, name string) []pair {
	t.Helper()
	f, err := os.Open("testdata/" + name)
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
	pairs := readPairs(t, "match.txt")
	if len(pairs) < 250 {
		t.Fatalf("testdata/match.txt has %d pairs, want at least 250", len(pairs))
	}
	for _, p := range pairs {
		v, err := match.New().Judge(t.Context(), p.it)
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

// TestProperties holds what must be true of any pair of the table.
func TestProperties(t *testing.T) {
	pairs := readPairs(t, "match.txt")
	rapid.Check(t, func(rt *rapid.T) {
		p := pairs[rapid.IntRange(0, len(pairs)-1).Draw(rt, "pair")]
		want := verdictOf(t, p.it)

		// The order of references does not matter, nor does a repeated one.
		refs := slices.Clone(p.it.References)
		slices.Reverse(refs)
		doubled := p.it
		doubled.References = slices.Concat(refs, p.it.References)
		if got := verdictOf(t, doubled); got != want {
			rt.Fatalf("%s: %s, with the references doubled %s", p.line, want, got)
		}

		// Repeating the reference as the response is correct.
		echo := p.it
		echo.Response = echo.References[0]
		if got := verdictOf(t, echo); got == match.Incorrect {
			rt.Fatalf("%s: the reference itself is %s", p.line, got)
		}

		// White space around the response does not matter.
		padded := p.it
		padded.Response = "  " + padded.Response + "\n"
		if got := verdictOf(t, padded); got != want {
			rt.Fatalf("%s: %s, padded %s", p.line, want, got)
		}
	})
}

func verdictOf(t *testing.T, it deem.Item) string {
	t.Helper()
	v, err := match.New().Judge(t.Context(), it)
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return string(f.Kind)
	}
	return v.Label
}

func TestForcedAlwaysDecides(t *testing.T) {
	for _, p := range readPairs(t, "match.txt") {
		v, err := match.Forced().Judge(t.Context(), p.it)
		if err != nil {
			t.Errorf("%s: %v", p.line, err)
			continue
		}
		if p.want != "unsure" && v.Label != p.want {
			t.Errorf("%s: match/forced says %s", p.line, v.Label)
		}
	}
}
