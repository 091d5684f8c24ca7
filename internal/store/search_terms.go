package store

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A SearchTerm is one thing to look for: words that stand together.
type SearchTerm struct {
	Text   string // as it was typed, with at least one word in it
	Prefix bool   // the last word is only the beginning of one
}

// MaxSearchTerms is how many terms of a query are looked for. More come only from a paragraph
// that was pasted.
const MaxSearchTerms = 64

// SearchTerms returns what to look for: each word of a query, and what is in quotes together. A
// star behind either makes a beginning of it.
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

// cutTerm returns what a query begins with, and the rest.
func cutTerm(query string) (t SearchTerm, rest string) {
	r, size := utf8.DecodeRuneInString(query)
	switch {
	case unicode.IsSpace(r):
		return SearchTerm{}, query[size:]
	case isQuote(r): // One that is not closed reaches to the end.
		t.Text, rest = cutAt(query[size:], isQuote)
		_, size = utf8.DecodeRuneInString(rest)
		rest, t.Prefix = strings.CutPrefix(rest[size:], "*")
	default:
		t.Text, rest = cutAt(query, func(r rune) bool { return unicode.IsSpace(r) || isQuote(r) })
		t.Prefix = strings.HasSuffix(t.Text, "*")
	}
	return t, rest
}

// isQuote reports whether r begins or ends a phrase, also as telephones write it.
func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' }

// cutAt cuts s before the first character that end knows, or at its end.
func cutAt(s string, end func(rune) bool) (before, rest string) {
	i := strings.IndexFunc(s, end)
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i:]
}
