package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"deem"
	"deem/internal/store"
)

// placesColumn is the JSON that maps places in the item i to texts, for example
// {"fields/dialogue":12}.
const placesColumn = `(SELECT json_group_object(place, text) FROM item_texts WHERE item = i.n)`

// A textReader restores the long texts of the records of one query. It caches texts up to
// keptBytes, so that neighbours that share a text cost one query and one string.
type textReader struct {
	s    *Store
	kept map[int64]store.LongText
	size int
}

// keptBytes limits the cached texts of one query. It is some hundred conversations.
const keptBytes = 4 << 20

func newTextReader(s *Store) *textReader {
	return &textReader{s: s, kept: map[int64]store.LongText{}}
}

// fill restores the long texts of a record, and checks that its item is the one that was
// judged.
func (r *textReader) fill(ctx context.Context, f *found) error {
	switch {
	case f.body == "":
		return nil
	case f.places == "{}":
		return f.checkItem(nil)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	it := &f.rec.Item
	var numbers map[string]int64
	if err := store.DecodeJSON(f.places, &numbers); err != nil {
		return fmt.Errorf("decode texts of item %q: %w", it.ID, err)
	}
	texts := make([]store.LongText, 0, len(numbers))
	for _, place := range slices.Sorted(maps.Keys(numbers)) {
		text, err := r.text(ctx, numbers[place])
		if err == nil {
			err = store.PutBackText(it, place, text.Body)
		}
		if err != nil {
			return fmt.Errorf("read texts of item %q: %w", it.ID, err)
		}
		text.Place = place
		texts = append(texts, text)
	}
	return f.checkItem(texts)
}

// text returns the text with the given number. Texts are never changed or removed, so it
// does not matter when it is read.
func (r *textReader) text(ctx context.Context, n int64) (store.LongText, error) {
	if text, ok := r.kept[n]; ok {
		return text, nil
	}
	var text store.LongText
	err := r.s.query.text.QueryRowContext(context.WithoutCancel(ctx), n).Scan(&text.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return text, deem.WithHint(fmt.Errorf("%s: text %d is missing", damaged.says, n), "%s", damaged.advice)
	}
	if err != nil {
		return text, err
	}
	text.Hash = sha256.Sum256([]byte(text.Body)) // The hash of the item shows whether it is the right one.
	if r.size += len(text.Body); r.size > keptBytes {
		clear(r.kept)
		r.size = len(text.Body)
	}
	r.kept[n] = text
	return text, nil
}
