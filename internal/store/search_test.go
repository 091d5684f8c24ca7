package store

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"deem"
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
		if got := strings.Join(searchWords(text), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"?!":                         "",
		"Don't stop-me NOW":          "don t stop me now",
		"Crème Brûlée, Ærø, naïve":   "creme brulee ærø naive",
		"cre\u0300me":                "creme",
		"Йод ЁЖ":                     "йод ёж",
		"3.14 is 42%":                "3 14 is 42",
		"東京タワー42m":                   "東 京 タ ワ ー 42m",
		"한국어 text":                   "한국어 text",
		"ไทย":                        "ไ ท ย",
		"हिन्दी":                     "हिन्दी",
		"a\x00b\x01c":                "a b c",
		"out_of_range":               "out of range",
		"İstanbul":                   "istanbul",
		strings.Repeat("x", 5):       "xxxxx",
		"\ue000":                     "\ue000",
		"tab\there\nthere\u00a0each": "tab here there each",
	} {
		if got := strings.Join(searchWords(fold(text)), " "); got != want {
			t.Errorf("words of %q = %q, want %q", text, got, want)
		}
	}
}

func TestTerms(t *testing.T) {
	for query, want := range map[string][]searchTerm{
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
		if got := searchTerms(query); !slices.Equal(got, want) {
			t.Errorf("Terms(%q) = %v, want %v", query, got, want)
		}
	}
	if n := len(searchTerms(strings.Repeat("? word ", 1000))); n != maxSearchTerms {
		t.Errorf("%d terms of a paragraph, want %d", n, maxSearchTerms)
	}
}

// TestFoldLosesNoWord checks that a folded word is still a word, so that no term is without
// words.
func TestFoldLosesNoWord(t *testing.T) {
	for r := range unicode.MaxRune + 1 {
		if s := string(r); len(searchWords(s)) > 0 && len(searchWords(fold(s))) == 0 {
			t.Errorf("%q is a word, but not when it is folded", s)
		}
	}
}

// FuzzTerms checks that for any input each term has words, and that words contain nothing
// that an index would treat as an operator.
func FuzzTerms(f *testing.F) {
	for _, query := range []string{"", `"a b"* c`, "東京 “x", "a\xff*", "ที่นี่"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, term := range searchTerms(query) {
			words := searchWords(term.Text)
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

// TestNeedles checks that the needles of a search select each record that it finds.
func TestNeedles(t *testing.T) {
	for query, want := range map[string]string{
		"tower": "tower", "Café": "cafe", `"the eiffel tow"*`: "eiffel", "東京 v2": ",v2", "東京": "", "v東2": "v", "a-b": "a",
	} {
		if got := strings.Join(NewSearch(query).Needles(), ","); got != want {
			t.Errorf("the needles of %q are %q, want %q", query, got, want)
		}
	}
}

// finds reports whether a text finds an item.
func finds(tb testing.TB, search Search, it deem.Item) bool {
	tb.Helper()
	found, err := search.Finds(SearchedRecord{Item: string(it.Canonical())})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// FuzzSearch checks that the JSON of an item has the needles of each search that finds it, or
// is not ASCII.
func FuzzSearch(f *testing.F) {
	for _, pair := range [][2]string{{"Tow*", "the tower"}, {"café", "CAFE\u0301"}, {"K", "\u212a"}, {`"a b"`, "a, b"}, {"ı", "I"}, {"故宫", "故宫"}, {"b", "a\nb"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		search, it := NewSearch(query), deem.Item{Response: text}
		if body := string(it.Canonical()); finds(t, search, it) && isASCII(body) {
			for _, needle := range search.Needles() {
				if !strings.Contains(strings.ToLower(body), needle) {
					t.Errorf("%q finds %q, which does not contain %q", query, text, needle)
				}
			}
		}
	})
}

func TestFinds(t *testing.T) {
	it := deem.Item{Question: "Which tower did they climb?", Response: "The Éiffel Tower."}
	for text, want := range map[string]bool{"eiffel climb": true, `"eiffel tower"`: true, "eif": false, "eif*": true, `"climb the"`: false, "question": false} {
		if got := finds(t, NewSearch(text), it); got != want {
			t.Errorf("%q finds the tower: %v, want %v", text, got, want)
		}
	}
	if _, err := NewSearch("x").Finds(SearchedRecord{Item: "{"}); err == nil {
		t.Error("an item that is not JSON is searched without an error")
	}
}
