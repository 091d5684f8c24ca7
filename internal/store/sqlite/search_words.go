package sqlite

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words are told apart by FTS5's unicode61: runs of letters and digits, whatever their
// case and accents. It would make one word of a whole Chinese sentence, because there
// are no spaces in it. So the characters of scripts that write without spaces are set
// apart, in what is indexed and in what is looked for, and a Chinese word is a phrase of
// its characters.
//
// FTS5's trigram tokenizer finds parts of sentences too, but on English answers it took
// eleven times as long to index (57 s against 5 s for 67 MB), made the index four to
// seven times as large, and finds no word of two characters, which most Chinese words
// are.

// unspaced are the scripts that put no spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// isUnspaced reports whether r is a character of a script without spaces. The sign that
// makes a Japanese vowel long belongs to several scripts, and so to none.
func isUnspaced(r rune) bool {
	return r >= 0x0e00 && (r == 'ー' || r == 'ｰ' || unicode.In(r, unspaced...))
}

// isWord reports whether r is part of a word.
func isWord(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Co) }

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
		case isUnspaced(r):
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

// maxTerms is how many words of a text are looked for. More come only from a paragraph
// that was pasted.
const maxTerms = 64

// terms returns what to look for, each as a query of FTS5: a phrase in quotes, with a
// star behind it if its last word is only the beginning of one. Whatever people type is
// letters and digits between signs, so there is nothing that FTS5 could take for an
// operator.
func terms(query string) []string {
	var list []string
	add := func(words string, prefix bool) {
		if term := phrase(words, prefix); term != "" && len(list) < maxTerms {
			list = append(list, term)
		}
	}
	for query != "" {
		r, size := utf8.DecodeRuneInString(query)
		rest := query[size:]
		switch {
		case unicode.IsSpace(r):
			query = rest
		case isQuote(r):
			words, after := cutQuote(rest)
			after, prefix := strings.CutPrefix(after, "*")
			add(words, prefix)
			query = after
		default:
			word, after := cutWord(query)
			add(word, strings.HasSuffix(word, "*"))
			query = after
		}
	}
	return list
}

// isQuote reports whether r begins or ends a phrase, also as telephones write it.
func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' }

// cutQuote returns what comes before the next quote, and what comes after it. A quote
// that is not closed reaches to the end.
func cutQuote(s string) (words, rest string) {
	end := strings.IndexFunc(s, isQuote)
	if end < 0 {
		return s, ""
	}
	_, size := utf8.DecodeRuneInString(s[end:])
	return s[:end], s[end+size:]
}

// cutWord returns what comes before the next space or quote, and the rest.
func cutWord(s string) (word, rest string) {
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || isQuote(r) })
	if end < 0 {
		return s, ""
	}
	return s[:end], s[end:]
}

// phrase returns the query of FTS5 for words that stand together, "" if there is no word.
func phrase(words string, prefix bool) string {
	words = strings.Map(func(r rune) rune {
		if isWord(r) {
			return r
		}
		return ' '
	}, spaced(words))
	fields := strings.Fields(words)
	if len(fields) == 0 {
		return ""
	}
	q := `"` + strings.Join(fields, " ") + `"`
	if prefix {
		q += " *"
	}
	return q
}

// cut returns at most limit bytes of the beginning of s, and no half character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
