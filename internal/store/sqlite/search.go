package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deem/internal/store"
)

// There is no index of words. A search reads the run: LIKE selects the records that may have
// the words, and Go looks at those. For 100,000 records of half a kilobyte that takes about a
// third of a processor second, and 1.5 for a word that every item has; an index would have to
// be kept up to date with a run that is being judged.

// selectText adds the condition that all words of a text occur.
func (s *Store) selectText(ctx context.Context, sel *selection, text string) error {
	search := store.NewSearch(text)
	if search == nil {
		return nil
	}
	where := conditions{slices.Clone(sel.terms), slices.Clone(sel.args)}
	for _, needle := range search.Needles() {
		where.contain(needle)
	}
	numbers, err := collect(ctx, s, func(row scanner) (int64, error) {
		var n int64
		var rec store.SearchedRecord
		var reason, kind, detail, long *string
		if err := row.Scan(&n, &rec.Item, &rec.Parts, &reason, &kind, &detail, &long); err != nil {
			return 0, err
		}
		for _, text := range []*string{reason, kind, detail, long} {
			if text != nil {
				rec.Texts = append(rec.Texts, strings.Split(*text, betweenTexts)...)
			}
		}
		if found, err := search.Finds(rec); !found {
			return 0, err
		}
		return n, nil
	}, fmt.Sprintf(`SELECT r.n, i.body, r.parts, r.reason, r.kind, r.detail, (SELECT group_concat(body, '%s') FROM (%s))
		FROM records r INDEXED BY %s CROSS JOIN items i ON i.n = r.item WHERE %s`,
		betweenTexts, searchedTexts, sel.index, strings.Join(where.terms, " AND ")), where.args...)
	if err != nil {
		return err
	}
	list, err := store.EncodeJSON(numbers)
	sel.and("r.n IN (SELECT value FROM json_each(?))", list) // No record has the number 0.
	return err
}

// betweenTexts separates texts. No word contains it.
const betweenTexts = "\x1e"

// searchedTexts are the long texts of the item i that are searched.
const searchedTexts = `SELECT t.body FROM item_texts x CROSS JOIN texts t ON t.n = x.text
	WHERE x.item = i.n AND x.place <> 'messages' AND x.place NOT LIKE 'fields/%'`

// contain requires a record r with the item i to have a text with a needle, or with characters
// that are not ASCII. The needle is letters and digits, which JSON does not escape. A text with
// a NUL counts as not ASCII, because LIKE would read only what is before it.
func (c *conditions) contain(needle string) {
	var args []any
	may := func(column string) string {
		term := fmt.Sprintf("length(%[1]s) <> octet_length(%[1]s)", column)
		if needle == "" {
			return term
		}
		args = append(args, "%"+needle+"%")
		return column + " LIKE ? OR " + term
	}
	either := []string{
		may("i.body"), may("r.reason"), may("r.parts"), may("r.kind"), may("r.detail"),
		"EXISTS (SELECT 1 FROM (" + searchedTexts + ") WHERE " + may("body") + ")",
	}
	c.and("("+strings.Join(either, " OR ")+")", args...)
}
