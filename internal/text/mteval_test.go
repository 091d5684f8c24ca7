package text_test

import (
	"regexp"
	"strings"
	"testing"

	"deem/internal/text"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The expressions of mteval-v13a, in order of application.
var mtevalExpressions = []struct {
	match *regexp.Regexp
	by    string
}{
	{regexp.MustCompile(`([\x20-\x26\x28-\x2b\x2f\x3a-\x40\x5b-\x60\x7b-\x7e])`), " $1 "},
	{regexp.MustCompile(`([^0-9])([.,])`), "$1 $2 "},
	{regexp.MustCompile(`([.,])([^0-9])`), " $1 $2"},
	{regexp.MustCompile(`([0-9])(-)`), "$1 $2 "},
}

func mteval(s string) []string {
	for _, e := range mtevalExpressions {
		s = e.match.ReplaceAllString(s, e.by)
	}
	return strings.FieldsFunc(s, text.IsSpace)
}

// mtevalPieces are what the expressions distinguish, and characters that are easily
// mistaken for others.
var mtevalPieces = rapid.SampledFrom([]string{
	".", ",", "-", "'", "1", "23", "a", "Bc", " ", "  ", "\t", "\n", "\u00a0", "\u3000", "\u2003", "\x1c",
	"(", "$", "_", "~", "é", "中", "。", "\xff", "\xe2\x80", "\uFFFD", "&amp;", "&lt;", "<skipped>",
})

func drawText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(mtevalPieces, 0, 20).Draw(t, "pieces"), "")
}

// TestBLEU13aByExpressions compares the tokens with those of the regular expressions.
func TestBLEU13aByExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t)
		plain := s
		for _, r := range [][2]string{
			{"<skipped>", ""}, {"-\n", ""}, {"\n", " "}, {"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"},
		} {
			plain = strings.ReplaceAll(plain, r[0], r[1])
		}
		if diff := cmp.Diff(mteval(" "+plain+" "), text.BLEU13aWords(s)); diff != "" {
			t.Fatalf("BLEU13aWords(%q) (-want +got):\n%s", s, diff)
		}
	})
}

// TestSplitByCharacters splits at each white space character; all are among the first
// 65536.
func TestSplitByCharacters(t *testing.T) {
	for r := range rune(0x10000) {
		s := "a" + string(r) + "b"
		if got, want := len(text.Split(s)) == 2, text.IsSpace(r); got != want {
			t.Errorf("Split(%q) has two words: %t, want %t", s, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t)
		if diff := cmp.Diff(strings.FieldsFunc(s, text.IsSpace), text.Split(s)); diff != "" {
			t.Fatalf("Split(%q) (-want +got):\n%s", s, diff)
		}
	})
}
