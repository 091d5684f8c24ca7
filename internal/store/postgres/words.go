package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"deem"
)

// Words are what the SQLite store makes of a text, so that a search finds the same in
// both: runs of letters, digits and marks, in lower case and without the accents of
// Latin letters. The characters of scripts that write without spaces are words of their
// own, and a Chinese word is a phrase of its characters.
//
// Postgres could make words too, but its dictionaries know neither, and forget in which
// order they were after the first 16,383.

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
func isWord(r rune) bool {
	if r < utf8.RuneSelf { // Nearly all are, and the tables are slow.
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Co)
}

// wordsOf returns the words of a text in order. They are parts of one string.
func wordsOf(text string) []string {
	text = fold(text)
	var words []string
	start := -1 // of the word that is being read
	end := func(at int) {
		if start >= 0 {
			words = append(words, text[start:at])
		}
		start = -1
	}
	apart := false // the last character was one of a script without spaces
	for i, r := range text {
		switch {
		case !isWord(r):
			end(i)
			apart = false
			continue
		case r >= 0x300 && unicode.Is(unicode.M, r): // A vowel of Thai stays with its consonant.
		case isUnspaced(r):
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

// fold returns a text in lower case, and its Latin letters without accents. Other
// scripts keep theirs: й and и are two letters.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	var b strings.Builder
	latin := false
	for _, r := range norm.NFD.String(text) {
		if r >= 0x300 && r <= 0x36f {
			if latin {
				continue
			}
		} else {
			latin = unicode.Is(unicode.Latin, r)
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return norm.NFC.String(b.String())
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

const (
	// textBytes and itemBytes bound what is indexed of one text and of one item, as in
	// the SQLite store. What comes later in a text of that length is not found.
	textBytes = 64 << 10
	itemBytes = 256 << 10

	// wordBytes is from how many bytes on a word is none that Postgres can index.
	wordBytes = 1024
)

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

// said returns the words of a record in order, with a space around each, and a line
// break between two texts, over which no phrase goes. Fields are not among them: they
// are what the system was given, often as long as a book.
func said(rec deem.Record) (inOrder string, each []string) {
	texts := append([]string{rec.Item.ID, rec.Item.Question, rec.Item.Response}, rec.Item.References...)
	left := itemBytes
	for i, text := range texts {
		texts[i] = cut(text, min(left, textBytes))
		left -= len(texts[i])
	}
	if v := rec.Verdict; v != nil {
		texts = append(texts, cut(v.Reason, textBytes))
	}
	if f := rec.Failure; f != nil {
		texts = append(texts, string(f.Kind), cut(f.Detail, textBytes))
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, text := range texts {
		words := wordsOf(text)
		for _, w := range words {
			seen[w] = true
			b.WriteByte(' ')
			b.WriteString(w)
		}
		if len(words) > 0 {
			b.WriteString(" \n")
		}
	}
	return b.String(), slices.Sorted(maps.Keys(seen))
}

// indexable reports whether a tsvector can hold the words: it has a megabyte for all of
// them, and no long ones.
func indexable(words []string) bool {
	size := 0
	for _, w := range words {
		if size += len(w) + 8; len(w) > wordBytes || size > 1<<20 {
			return false
		}
	}
	return true
}

// A term is one thing to look for: words that stand together, of which the last may be
// only the beginning of one.
type term struct {
	words  []string
	prefix bool
}

// maxTerms is how many words of a text are looked for. More come only from a paragraph
// that was pasted.
const maxTerms = 64

// terms returns what to look for.
func terms(query string) []term {
	var list []term
	add := func(text string, prefix bool) {
		if words := wordsOf(text); len(words) > 0 && len(list) < maxTerms {
			list = append(list, term{words, prefix})
		}
	}
	for query != "" {
		r, size := utf8.DecodeRuneInString(query)
		rest := query[size:]
		switch {
		case unicode.IsSpace(r):
			query = rest
		case isQuote(r):
			words, after := cutAt(rest, isQuote)
			_, size := utf8.DecodeRuneInString(after)
			after, prefix := strings.CutPrefix(after[size:], "*")
			add(words, prefix)
			query = after
		default:
			word, after := cutAt(query, func(r rune) bool { return unicode.IsSpace(r) || isQuote(r) })
			add(word, strings.HasSuffix(word, "*"))
			query = after
		}
	}
	return list
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

// inOrder returns the text that is part of what a record with the term said.
func (t term) inOrder() string {
	text := " " + strings.Join(t.words, " ")
	if !t.prefix {
		text += " "
	}
	return text
}

// tsquery returns the query of Postgres that all words of the terms occur, and whether
// it could be made: a word that is too long for Postgres is in no tsvector either. Words
// are letters and digits, so there is nothing in them to be quoted.
func tsquery(list []term) (query string, ok bool) {
	var parts []string
	for _, t := range list {
		for i, w := range t.words {
			if len(w) > wordBytes {
				return "", false
			}
			part := fmt.Sprintf("'%s'", w)
			if t.prefix && i == len(t.words)-1 {
				part += ":*"
			}
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " & "), true
}

// selectText adds the condition that all terms of a text occur, and returns what has to
// be joined for it. A text without a word selects everything.
func (c *conditions) selectText(text string) (join string) {
	list := terms(text)
	if len(list) == 0 {
		return ""
	}
	var each, phrases []string
	for _, t := range list {
		condition := fmt.Sprintf("strpos(w.said, $%d) > 0", c.add(t.inOrder()))
		each = append(each, condition)
		if len(t.words) > 1 {
			phrases = append(phrases, condition)
		}
	}
	// Records with too many words are looked through.
	all := "w.found IS NULL AND " + strings.Join(each, " AND ")
	if query, ok := tsquery(list); ok {
		all = fmt.Sprintf("(w.found @@ $%d::tsquery OR %s)", c.add(query), all)
	}
	c.terms = append(append(c.terms, all), phrases...)
	return "JOIN words w ON w.record = r.n AND w.version = r.version"
}
