package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"deem"
	"deem/internal/store/internal/body"
)

// places returns the JSON that says which text goes where, NULL if none was taken.
func places(long []body.Text) any {
	if len(long) == 0 {
		return nil
	}
	list := []byte{'{'}
	for i, t := range long {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(append(list, quote(t.Place)...), ':')
		list = strconv.AppendInt(list, t.Number, 10)
	}
	return string(append(list, '}'))
}

// quote returns the JSON of a place. Only a field's name can need an escape.
func quote(place string) string {
	if !body.IsField(place) {
		return `"` + place + `"`
	}
	quoted, err := body.Encode(place)
	if err != nil {
		panic(fmt.Sprintf("sqlite: a string has no JSON: %v", err))
	}
	return quoted
}

// addTexts gives each long text its number, and adds those that are new.
func (a *appender) addTexts(ctx context.Context, rows []row) error {
	var fresh []*body.Text
	for i := range rows {
		for k := range rows[i].item.Long {
			t := &rows[i].item.Long[k]
			key := string(t.Hash[:])
			n, err := a.texts.find(ctx, key)
			if err != nil {
				return err
			}
			if n == 0 {
				n = a.texts.add(key)
				fresh = append(fresh, t)
			}
			t.Number = n
		}
	}
	return each(ctx, &a.st.texts, fresh, func(part []*body.Text, c *cells) {
		for _, t := range part {
			c.add(t.Number, t.Hash[:], t.Body)
		}
	}, nil)
}

// A textReader puts the long texts of the records of one query back. It
// remembers texts of up to keptBytes, so that neighbours which share a text cost
// one query and one string.
type textReader struct {
	s      *Store
	recent recent[int64, body.Text]
}

// keptBytes bounds the texts that one query remembers. It is some hundred
// dialogues.
const keptBytes = 4 << 20

func newTextReader(s *Store) *textReader {
	return &textReader{s: s, recent: recent[int64, body.Text]{limit: keptBytes}}
}

// fill puts the long texts of a record back, and checks that its item is the one that was
// judged.
func (r *textReader) fill(ctx context.Context, f *found) error {
	switch {
	case f.body == "":
		return nil
	case f.places == "":
		return f.checkItem(nil)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	it := &f.rec.Item
	var numbers map[string]int64
	if err := body.Decode(f.places, &numbers); err != nil {
		return fmt.Errorf("decode texts of item %q: %w", it.ID, err)
	}
	texts := make([]body.Text, 0, len(numbers))
	for _, place := range slices.Sorted(maps.Keys(numbers)) {
		text, err := r.text(ctx, numbers[place])
		if err == nil {
			err = body.PutBack(it, place, text.Body)
		}
		if err != nil {
			return fmt.Errorf("read texts of item %q: %w", it.ID, err)
		}
		text.Place = place
		texts = append(texts, text)
	}
	return f.checkItem(texts)
}

// text returns the text with the given number. Texts are never changed or removed,
// so it does not matter when it is read.
func (r *textReader) text(ctx context.Context, n int64) (body.Text, error) {
	if text, ok := r.recent.get(n); ok {
		return text, nil
	}
	var text body.Text
	err := r.s.query.text.QueryRowContext(context.WithoutCancel(ctx), n).Scan(&text.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return text, deem.WithHint(fmt.Errorf("%s: text %d is missing", damaged.says, n), "%s", damaged.advice)
	}
	if err != nil {
		return text, err
	}
	text.Hash = sha256.Sum256([]byte(text.Body)) // The hash of the item tells whether it is the right one.
	r.recent.put(n, text, len(text.Body))
	return text, nil
}
