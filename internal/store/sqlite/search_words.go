package sqlite

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"deem/internal/store"
)

// Words are separated by FTS5's unicode61: sequences of letters and digits, ignoring case
// and accents. It would treat a whole Chinese sentence as one word, because it has no
// spaces. So the characters of scripts without spaces are separated, as in package search.
//
// FTS5's trigram tokenizer also finds parts of sentences, but on English answers it took
// eleven times as long to index (57 s versus 5 s for 67 MB), made the index four to seven
// times as large, and finds no word of two characters, which most Chinese words are.

// spaced returns text with spaces around the characters of scripts without spaces.
func spaced(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/2)
	apart := false
	for _, r := range text {
		switch {
		case unicode.Is(unicode.M, r): // A Thai vowel stays with its consonant.
		case store.IsUnspaced(r):
			b.WriteByte(' ')
			apart = true
		case apart:
			b.WriteByte(' ')
			apart = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// terms returns the search terms, each as an FTS5 query: a quoted phrase, followed by a
// star if its last word is a prefix. Words are letters and digits, so nothing can be
// interpreted as an operator.
func terms(query string) []string {
	var list []string
	for _, t := range store.SearchTerms(query) {
		q := `"` + strings.Join(store.SearchWords(t.Text), " ") + `"`
		if t.Prefix {
			q += " *"
		}
		list = append(list, q)
	}
	return list
}
