package store

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SearchTextBytes and SearchItemBytes limit how much of a text and of an item is indexed.
// Text after the limit is not found.
const (
	SearchTextBytes = 64 << 10
	SearchItemBytes = 256 << 10
)

// CutText returns at most the first limit bytes of s, without splitting a character.
func CutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// unspaced are the scripts without spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// IsUnspaced reports whether r is a character of a script without spaces. The Japanese
// prolonged sound mark counts too: it is shared by several scripts, so no table has it.
func IsUnspaced(r rune) bool {
	return r >= 0x0e00 && (r == 'ー' || r == 'ｰ' || unicode.In(r, unspaced...))
}

// isWord reports whether r is part of a word.
func isWord(r rune) bool {
	if r < utf8.RuneSelf { // The usual case; the tables are slow.
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Co)
}

// SearchWords returns the words of a text in order. Words are runs of letters, digits and
// marks. Each character of a script that is written without spaces is a word, in the index
// and in a query, because otherwise a Chinese sentence would be one word; a Chinese word is
// a phrase of characters. Stores handle case and accents in their own way.
func SearchWords(text string) []string {
	var words []string
	start := -1 // of the current word
	end := func(at int) {
		if start >= 0 {
			words = append(words, text[start:at])
		}
		start = -1
	}
	apart := false // the last character is of a script without spaces
	for i, r := range text {
		switch {
		case !isWord(r):
			end(i)
			apart = false
			continue
		case r >= 0x300 && unicode.Is(unicode.M, r): // A Thai vowel stays with its consonant.
		case IsUnspaced(r):
			end(i)
			apart = true
		case apart:
			end(i)
			apart = false
		}
		if start < 0 {
			start = i
		}
	}
	end(len(text))
	return words
}

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
		switch r, size := utf8.DecodeRuneInString(query); {
		case unicode.IsSpace(r):
			query = query[size:]
		case isQuote(r): // An unclosed quote extends to the end.
			t.Text, query = cutAt(query[size:], isQuote)
			_, size = utf8.DecodeRuneInString(query)
			query, t.Prefix = strings.CutPrefix(query[size:], "*")
		default:
			t.Text, query = cutAt(query, func(r rune) bool { return unicode.IsSpace(r) || isQuote(r) })
			t.Prefix = strings.HasSuffix(t.Text, "*")
		}
		if strings.ContainsFunc(t.Text, isWord) {
			list = append(list, t)
		}
	}
	return list
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
