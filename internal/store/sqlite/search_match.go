package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deem/internal/store"
)

// selectText adds the condition that all words of a text occur, each in the item or in the
// record.
func (s *Store) selectText(ctx context.Context, sel *selection, text string) error {
	list := terms(text)
	if len(list) == 0 {
		return nil
	}
	return s.withSearch(ctx, func(db *sql.DB) error {
		// In a second attempt, drop the conditions from an index that turned out to be
		// damaged.
		base := selection{conditions: sel.conditions}
		var of span
		err := db.QueryRowContext(ctx, `SELECT low_item, high_item, low_record, high_record FROM runs WHERE run = ?`, sel.run).
			Scan(&of.items.low, &of.items.high, &of.records.low, &of.records.high)
		if errors.Is(err, sql.ErrNoRows) {
			sel.nothing = true
			return nil
		}
		if err != nil {
			return err
		}
		nothing := false
		for _, term := range list {
			items, err := findWords(ctx, db, matchItems, term, of.items)
			if err != nil {
				return err
			}
			records, err := findWords(ctx, db, matchRecords, term, of.records)
			if err != nil {
				return err
			}
			nothing = nothing || items == nil && records == nil
			base.and("("+items.contain("r.item")+" OR "+records.contain("r.n")+")", append(items.args(), records.args()...)...)
		}
		sel.conditions, sel.nothing = base.conditions, nothing
		return nil
	})
}

// A span is the range of numbers of the items and records of a run.
type span struct{ items, records bounds }

type bounds struct{ low, high int64 }

// numbers are a set of numbers from low on: one byte for each, which is a 1 for members.
// Looking into it costs a query less than half of what a list costs, and the cost does not
// depend on the frequency of the word. nil is the empty set.
type numbers struct {
	low  int64
	bits []byte
}

// contain returns the condition that a column is in the set.
func (s *numbers) contain(column string) string {
	if s == nil {
		return "0"
	}
	// substr would count from the end for a number below the first.
	return "(" + column + " >= ? AND substr(?, " + column + " - ?, 1) = x'31')"
}

// args returns the arguments of that condition.
func (s *numbers) args() []any {
	if s == nil {
		return nil
	}
	return []any{s.low, s.bits, s.low - 1}
}

const (
	matchItems   = `SELECT json_group_array(rowid) FROM item_words WHERE item_words MATCH ? AND rowid BETWEEN ? AND ?`
	matchRecords = `SELECT json_group_array(rowid) FROM record_words WHERE record_words MATCH ? AND rowid BETWEEN ? AND ?`
)

// findWords returns the numbers within bounds under which a query finds a term.
func findWords(ctx context.Context, db *sql.DB, query, term string, within bounds) (*numbers, error) {
	var list string
	if err := db.QueryRowContext(ctx, query, term, within.low, within.high).Scan(&list); err != nil {
		return nil, err
	}
	list = strings.Trim(list, "[]")
	if list == "" {
		return nil, nil //nolint:nilnil // The empty set.
	}
	var set *numbers
	for digits := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < within.low || n > within.high {
			return nil, fmt.Errorf("the index of words has a number %q", digits)
		}
		if set == nil {
			set = &numbers{low: n} // They ascend.
		}
		for at := set.low + int64(len(set.bits)); at < n; at++ {
			set.bits = append(set.bits, '0')
		}
		set.bits = append(set.bits, '1')
	}
	return set, nil
}

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
