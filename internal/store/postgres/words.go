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
	"deem/internal/store"
)

// Words are in lower case and without the accents of Latin letters, as in the index of the
// SQLite store, so that a search finds the same in both.
//
// Postgres could extract words too, but its parsers split differently from package search,
// and it loses word positions after the first 16,383.

// wordsOf returns the words of a text in order, folded. They are substrings of one string.
func wordsOf(text string) []string { return store.SearchWords(fold(text)) }

// fold returns a text in lower case, with its Latin letters without accents. Other scripts
// keep theirs: й and и are two letters.
func fold(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
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

// wordBytes is the number of bytes from which Postgres cannot index a word.
const wordBytes = 1024

// said returns the words of a record in order, each with a space around it, and a line
// break between two texts, which no phrase spans. Fields are excluded: they are the
// system's input, often as long as a book.
func said(rec deem.Record) (inOrder string, each []string) {
	texts := append([]string{rec.Item.ID, rec.Item.Question, rec.Item.Response}, rec.Item.References...)
	left := store.SearchItemBytes
	for i, text := range texts {
		texts[i] = store.CutText(text, min(left, store.SearchTextBytes))
		left -= len(texts[i])
	}
	if v := rec.Verdict; v != nil {
		texts = append(texts, store.CutText(v.Reason, store.SearchTextBytes))
	}
	if f := rec.Failure; f != nil {
		texts = append(texts, string(f.Kind), store.CutText(f.Detail, store.SearchTextBytes))
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

// vector returns words as a list for a tsvector, or nil if they do not fit: it is limited to
// a megabyte, and to short words.
func vector(words []string) *string {
	size := 0
	for _, w := range words {
		if size += len(w) + 8; len(w) > wordBytes || size > 1<<20 {
			return nil
		}
	}
	return new(strings.Join(words, " "))
}

// selectText adds the condition that all terms of a text occur, and returns the necessary
// join. A text without a word selects everything.
func (c *conditions) selectText(text string) (join string) {
	var each, phrases, query []string
	long := false // a word is too long for Postgres, and so in no tsvector
	for _, t := range store.SearchTerms(text) {
		words := wordsOf(t.Text)
		inOrder := " " + strings.Join(words, " ")
		if !t.Prefix {
			inOrder += " "
		}
		condition := fmt.Sprintf("strpos(w.said, $%d) > 0", c.add(inOrder))
		each = append(each, condition)
		if len(words) > 1 {
			phrases = append(phrases, condition)
		}
		for i, w := range words { // They are letters and digits, so nothing needs quoting.
			word := "'" + w + "'"
			if t.Prefix && i == len(words)-1 {
				word += ":*"
			}
			query, long = append(query, word), long || len(w) > wordBytes
		}
	}
	if len(each) == 0 {
		return ""
	}
	// Records with too many words are scanned.
	all := "w.found IS NULL AND " + strings.Join(each, " AND ")
	if !long {
		all = fmt.Sprintf("(w.found @@ $%d::tsquery OR %s)", c.add(strings.Join(query, " & ")), all)
	}
	c.terms = append(append(c.terms, all), phrases...)
	return "JOIN words w ON w.record = r.n AND w.version = r.version"
}
