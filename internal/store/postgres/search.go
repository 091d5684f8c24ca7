package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"deem/internal/store"
)

// There is no index of words. A search reads the run: Postgres selects the records that may
// have the words, and Go looks at those.

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
	numbers, err := collect(ctx, s, func(row pgx.Row) (int64, error) {
		var n int64
		var rec store.SearchedRecord
		var reason, kind, detail *string
		var long [][]byte
		if err := row.Scan(&n, &rec.Item, &rec.Parts, &reason, &kind, &detail, &long); err != nil {
			return 0, err
		}
		rec.Texts = []string{unpackNull(reason), unpackNull(kind), unpackNull(detail)}
		for _, text := range long {
			rec.Texts = append(rec.Texts, string(text))
		}
		if found, err := search.Finds(rec); !found {
			return 0, err
		}
		return n, nil
	}, `SELECT r.n, i.body, r.parts, r.reason, r.kind, r.detail, CASE WHEN i.texts IS NOT NULL THEN (SELECT array_agg(body) FROM (`+searchedTexts+`) t) END
		FROM records r JOIN items i ON i.hash = r.item WHERE `+where.String(), where.args...)
	sel.and("r.n = ANY ($%d::bigint[])", numbers) // No record has the number 0.
	return err
}

// searchedTexts are the long texts of the item i that are searched.
const searchedTexts = `SELECT t.body FROM json_each(i.texts::json) x JOIN texts t ON t.hash = decode(x.value->>0, 'hex')
	WHERE x.key <> 'messages' AND x.key NOT LIKE 'fields/%'`

// contain requires a record to have a text with a needle or with characters that are not
// ASCII. The needle is letters and digits, which neither JSON nor pack escapes. Items with long
// texts are not excluded, because those are stored as bytes.
func (c *conditions) contain(needle string) {
	may := func(column string) string {
		term := fmt.Sprintf("length(%[1]s) <> octet_length(%[1]s)", column)
		if needle == "" {
			return term
		}
		return fmt.Sprintf("%s ILIKE $%d OR %s", column, c.add("%"+needle+"%"), term)
	}
	either := []string{may("i.body"), may("r.reason"), may("r.parts"), may("r.kind"), may("r.detail"), "i.texts IS NOT NULL"}
	c.terms = append(c.terms, "("+strings.Join(either, " OR ")+")")
}
