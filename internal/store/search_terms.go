package store

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A SearchTerm is a word or phrase to search for.
type SearchTerm struct {
	Text   string // as typed, with at least one word
	Prefix bool   // the last word is a prefix
}

// MaxSearchTerms is the maximum number of terms of a query; further terms are ignored. Only
// a pasted paragraph has more.
const MaxSearchTerms = 64

// SearchTerms returns the terms of a query: its words, and phrases in quotes. A star after a
// term makes it a prefix.
func SearchTerms(query string) []SearchTerm {
	var list []SearchTerm
	for query != "" && len(list) < MaxSearchTerms {
		var t SearchTerm
		if t, query = cutTerm(query); strings.ContainsFunc(t.Text, isWord) {
			list = append(list, t)
		}
	}
	return list
}

// cutTerm returns the first term of a query, and the rest.
func cutTerm(query string) (t SearchTerm, rest string) {
	r, size := utf8.DecodeRuneInString(query)
	switch {
	case unicode.IsSpace(r):
		return SearchTerm{}, query[size:]
	case isQuote(r): // An unclosed quote extends to the end.
		t.Text, rest = cutAt(query[size:], isQuote)
		_, size = utf8.DecodeRuneInString(rest)
		rest, t.Prefix = strings.CutPrefix(rest[size:], "*")
	default:
		t.Text, rest = cutAt(query, func(r rune) bool { return unicode.IsSpace(r) || isQuote(r) })
		t.Prefix = strings.HasSuffix(t.Text, "*")
	}
	return t, rest
}

// isQuote reports whether r is a straight or typographic quote.
func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' }

// cutAt splits s before the first character for which end is true, or at its end.
func cutAt(s string, end func(rune) bool) (before, rest string) {
	i := strings.IndexFunc(s, end)
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i:]
}
