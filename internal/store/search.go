package store

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// unspaced are the scripts without spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// isUnspaced reports whether r is a character of a script without spaces. The Japanese
// prolonged sound mark counts too: it is shared by several scripts, so no table has it.
func isUnspaced(r rune) bool {
	return r >= 0x0e00 && (r == 'ー' || r == 'ｰ' || unicode.In(r, unspaced...))
}

// isWord reports whether r is part of a word.
func isWord(r rune) bool {
	if r < utf8.RuneSelf { // The usual case; the tables are slow.
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Co)
}

// searchWords returns the words of a text in order. Words are runs of letters, digits and
// marks. Each character of a script that is written without spaces is a word, in a record
// and in a query, because otherwise a Chinese sentence would be one word; a Chinese word is
// a phrase of characters.
func searchWords(text string) []string {
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

// A searchTerm is a word or phrase to search for.
type searchTerm struct {
	Text   string // as typed, with at least one word
	Prefix bool   // the last word is a prefix
}

// maxSearchTerms is the maximum number of terms of a query; further terms are ignored. Only
// a pasted paragraph has more.
const maxSearchTerms = 64

// searchTerms returns the terms of a query: its words, and phrases in quotes. A star after a
// term makes it a prefix.
func searchTerms(query string) []searchTerm {
	var list []searchTerm
	for query != "" && len(list) < maxSearchTerms {
		var t searchTerm
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

// fold returns a text in lower case, with its Latin letters without accents. Other scripts
// keep theirs: й and и are two letters.
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

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// A Search finds records by words; see [View.Text]. A database cannot know what a word is,
// so a store selects candidates by [Search.Needles], and asks [Search.Finds] about each.
type Search []string // phrases of folded words, each between spaces

// NewSearch returns the search for a text, nil for a text without words.
func NewSearch(text string) (s Search) {
	for _, t := range searchTerms(text) {
		phrase := " " + strings.Join(searchWords(fold(t.Text)), " ")
		if !t.Prefix {
			phrase += " "
		}
		s = append(s, phrase)
	}
	return s
}

// Needles returns for each phrase its longest word of ASCII letters and digits, or "". A
// record can only be found if each needle is in one of its texts, in upper or lower case, or
// if it has a text that is not ASCII.
func (s Search) Needles() []string {
	needles := make([]string, len(s))
	for i, phrase := range s {
		for word := range strings.FieldsSeq(phrase) {
			if isASCII(word) && len(word) > len(needles[i]) {
				needles[i] = word
			}
		}
		needles[i] = needles[i][:min(len(needles[i]), 100)] // databases limit patterns
	}
	return needles
}

// A SearchedRecord is what a search reads of a record. Fields and conversations are not
// searched: they are the system's input, often as long as a book.
type SearchedRecord struct {
	Item  string   // its JSON
	Parts *string  // JSON; see [StoredRecord]
	Texts []string // the long texts of the item, and those of the verdict or the failure
}

// Finds reports whether each phrase is in a text of the record.
func (s Search) Finds(rec SearchedRecord) (bool, error) {
	var it struct {
		ID         string   `json:"id"`
		Question   string   `json:"question"`
		References []string `json:"references"`
		Response   string   `json:"response"`
	}
	var p struct {
		Answer string `json:"answer"`
	}
	err := DecodeJSON(rec.Item, &it)
	if rec.Parts != nil {
		err = errors.Join(err, DecodeJSON(*rec.Parts, &p))
	}
	var said strings.Builder // words between spaces, and a line break that no phrase spans
	said.Grow(len(rec.Item) + len(rec.Item)/2)
	for _, texts := range [][]string{{it.ID, it.Question, it.Response, p.Answer}, it.References, rec.Texts} {
		for _, text := range texts {
			for _, word := range searchWords(fold(text)) {
				said.WriteByte(' ')
				said.WriteString(word)
			}
			said.WriteString(" \n")
		}
	}
	for _, phrase := range s {
		if !strings.Contains(said.String(), phrase) {
			return false, err
		}
	}
	return err == nil, err
}
