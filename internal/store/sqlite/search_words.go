package sqlite

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"deem/internal/store/internal/search"
)

// Words are told apart by FTS5's unicode61: runs of letters and digits, whatever their
// case and accents. It would make one word of a whole Chinese sentence, because there
// are no spaces in it. So the characters of scripts that write without spaces are set
// apart, as package search has it.
//
// FTS5's trigram tokenizer finds parts of sentences too, but on English answers it took
// eleven times as long to index (57 s against 5 s for 67 MB), made the index four to
// seven times as large, and finds no word of two characters, which most Chinese words
// are.

// spaced returns text with spaces around the characters of scripts that have none.
func spaced(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/2)
	apart := false
	for _, r := range text {
		switch {
		case unicode.Is(unicode.M, r): // A vowel of Thai stays with its consonant.
		case search.IsUnspaced(r):
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

// terms returns what to look for, each as a query of FTS5: a phrase in quotes, with a
// star behind it if its last word is only the beginning of one. Words are letters and
// digits, so there is nothing that FTS5 could take for an operator.
func terms(query string) []string {
	var list []string
	for _, t := range search.Terms(query) {
		q := `"` + strings.Join(search.Words(t.Text), " ") + `"`
		if t.Prefix {
			q += " *"
		}
		list = append(list, q)
	}
	return list
}
