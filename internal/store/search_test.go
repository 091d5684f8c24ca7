package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"deem/internal/store"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"?!":                         "",
		"Don't stop-me NOW":          "Don t stop me NOW",
		"Crème cre\u0300me":          "Crème cre\u0300me",
		"3.14 is 42%":                "3 14 is 42",
		"東京タワー42m":                   "東 京 タ ワ ー 42m",
		"2024年の":                     "2024 年 の",
		"한국어 text":                   "한국어 text",
		"ไทย":                        "ไ ท ย",
		"ที่นี่a":                    "ที่ นี่ a",
		"हिन्दी":                     "हिन्दी",
		"a\x00b\x01c\xffd":           "a b c d",
		"out_of_range":               "out of range",
		"\ue000":                     "\ue000",
		"tab\there\nthere\u00a0each": "tab here there each",
	} {
		if got := strings.Join(store.SearchWords(text), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTerms(t *testing.T) {
	for query, want := range map[string][]store.SearchTerm{
		"":                   nil,
		"  ":                 nil,
		"tower":              {{"tower", false}},
		"  two\twords ":      {{"two", false}, {"words", false}},
		`"a phrase" word`:    {{"a phrase", false}, {"word", false}},
		`open "never closed`: {{"open", false}, {"never closed", false}},
		"“the tower„":        {{"the tower", false}},
		"tow* x":             {{"tow*", true}, {"x", false}},
		`"eiffel tow"* x`:    {{"eiffel tow", true}, {"x", false}},
		`"eiffel tow*" x`:    {{"eiffel tow*", false}, {"x", false}},
		`* ? "" "`:           nil,
		"a*b":                {{"a*b", false}},
		"well-known":         {{"well-known", false}},
		`x"y"z`:              {{"x", false}, {"y", false}, {"z", false}},
		"NEAR(a, b)":         {{"NEAR(a,", false}, {"b)", false}},
		"' OR 1=1; -- &":     {{"OR", false}, {"1=1;", false}},
		"a\x00b\"\xff":       {{"a\x00b", false}},
	} {
		if got := store.SearchTerms(query); !slices.Equal(got, want) {
			t.Errorf("Terms(%q) = %v, want %v", query, got, want)
		}
	}
	if n := len(store.SearchTerms(strings.Repeat("? word ", 1000))); n != store.MaxSearchTerms {
		t.Errorf("%d terms of a paragraph, want %d", n, store.MaxSearchTerms)
	}
}

// FuzzTerms checks that for any input each term has words, and that words contain nothing
// that an index would treat as an operator.
func FuzzTerms(f *testing.F) {
	for _, query := range []string{"", `"a b"* c`, "東京 “x", "a\xff*", "ที่นี่"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, term := range store.SearchTerms(query) {
			words := store.SearchWords(term.Text)
			if len(words) == 0 {
				t.Errorf("Terms(%q) has %q, in which there is no word", query, term.Text)
			}
			for _, w := range words {
				if sign := strings.IndexFunc(w, isSign); sign >= 0 || !utf8.ValidString(w) || w == "" {
					t.Errorf("Terms(%q) has the word %q", query, w)
				}
			}
		}
	})
}

func isSign(r rune) bool {
	return unicode.In(r, unicode.P, unicode.S, unicode.Z, unicode.Cc)
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		limit int
		want  string
	}{{0, ""}, {1, "a"}, {2, "a"}, {3, "aé"}, {4, "aéb"}, {9, "aéb"}} {
		if got := store.CutText("aéb", tt.limit); got != tt.want {
			t.Errorf("Cut(%d) = %q, want %q", tt.limit, got, tt.want)
		}
	}
}

func ExampleSearchTerms() {
	for _, term := range store.SearchTerms(`tower "built in"`) {
		fmt.Println(store.SearchWords(term.Text))
	}
	// Output:
	// [tower]
	// [built in]
}
