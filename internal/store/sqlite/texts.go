package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deem"
)

// longText is from how many bytes on a text of an item is kept by itself, once,
// however many items say it: the dialogue that all questions about a session
// carry along. A text that only one item says costs a row more that way, which is
// why short ones, which are many and hardly shared, stay in their item. The
// design note on the store has the measurements.
const longText = 512

// A taken text is one that was taken out of its item.
type taken struct {
	place string // "question", "response", "references/0" or "fields/dialogue"
	body  string
	hash  [sha256.Size]byte // of body

	number int64 // of the text, once it has one
}

// The places of an item that hold texts of any length. Behind a slash follows
// which reference or field it is, and a field may have any name: a place is cut at
// its first slash.
const (
	placeQuestion   = "question"
	placeResponse   = "response"
	placeReferences = "references"
	placeFields     = "fields"
)

// takeLong returns an item without its long texts, and these by their places. The
// item it was given is left alone.
func takeLong(it deem.Item) (deem.Item, []taken) {
	if !hasLong(it) {
		return it, nil
	}
	var long []taken
	take := func(from *string, place string) {
		if len(*from) >= longText {
			long = append(long, taken{place: place, body: text(*from)})
			*from = ""
		}
	}
	take(&it.Question, placeQuestion)
	take(&it.Response, placeResponse)
	it.References = slices.Clone(it.References)
	for i := range it.References {
		take(&it.References[i], placeReferences+"/"+strconv.Itoa(i))
	}
	// Names that are no UTF-8 may become one name when they are mended. Which of
	// their values remains is for the JSON to say, so they stay in it.
	if validNames(it.Fields) {
		it.Fields = maps.Clone(it.Fields)
		for name, value := range it.Fields {
			take(&value, placeFields+"/"+name)
			it.Fields[name] = value
		}
	}
	slices.SortFunc(long, func(a, b taken) int { return strings.Compare(a.place, b.place) })
	return it, long
}

// hasLong reports whether an item has long texts. Most have none.
func hasLong(it deem.Item) bool {
	isLong := func(s string) bool { return len(s) >= longText }
	if isLong(it.Question) || isLong(it.Response) || slices.ContainsFunc(it.References, isLong) {
		return true
	}
	for _, value := range it.Fields {
		if isLong(value) {
			return true
		}
	}
	return false
}

func validNames(fields map[string]string) bool {
	for name := range fields {
		if !utf8.ValidString(name) {
			return false
		}
	}
	return true
}

// sums remembers the hashes of the texts of one append. The same dialogue comes
// item after item, and to find it here is far cheaper than to hash it again.
// The zero value is ready for use.
type sums struct {
	known map[string][sha256.Size]byte
	buf   []byte // spares a copy of each text
	json  []byte // and a copy of the JSON of each item
}

func (s *sums) of(body string) [sha256.Size]byte {
	if hash, ok := s.known[body]; ok {
		return hash
	}
	s.buf = append(s.buf[:0], body...)
	hash := sha256.Sum256(s.buf)
	if s.known == nil {
		s.known = map[string][sha256.Size]byte{}
	}
	s.known[body] = hash
	return hash
}

// splitHash identifies an item whose long texts were taken out. The texts go in by
// their hashes, so that they need not be read again. No item that is whole has the
// same: nothing follows the JSON there.
func splitHash(body []byte, long []taken) [sha256.Size]byte {
	said := bytes.Clone(body)
	for _, t := range long {
		said = binary.AppendUvarint(said, uint64(len(t.place)))
		said = append(said, t.place...)
		said = append(said, t.hash[:]...)
	}
	return sha256.Sum256(said)
}

// putBack sets the text of a place that [takeLong] emptied.
func putBack(it *deem.Item, place, body string) error {
	kind, name, _ := strings.Cut(place, "/")
	switch kind {
	case placeQuestion:
		it.Question = body
	case placeResponse:
		it.Response = body
	case placeReferences:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(it.References) {
			return fmt.Errorf("there is no place %q", place)
		}
		it.References[i] = body
	case placeFields:
		if _, ok := it.Fields[name]; !ok {
			return fmt.Errorf("there is no place %q", place)
		}
		it.Fields[name] = body
	default:
		return fmt.Errorf("there is no place %q", place)
	}
	return nil
}

// places returns the JSON that says which text goes where, NULL if none was taken.
func places(long []taken) any {
	if len(long) == 0 {
		return nil
	}
	body := []byte{'{'}
	for i, t := range long {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(append(body, quote(t.place)...), ':')
		body = strconv.AppendInt(body, t.number, 10)
	}
	return string(append(body, '}'))
}

// quote returns the JSON of a place. Only a field's name can need an escape.
func quote(place string) string {
	if !strings.HasPrefix(place, placeFields) {
		return `"` + place + `"`
	}
	body, err := encode(place)
	if err != nil {
		panic(fmt.Sprintf("sqlite: a string has no JSON: %v", err))
	}
	return string(body)
}

// addTexts gives each long text its number, and adds those that are new.
func (a *appender) addTexts(ctx context.Context, rows []row) error {
	var fresh []*taken
	for i := range rows {
		for k := range rows[i].long {
			t := &rows[i].long[k]
			key := string(t.hash[:])
			n, err := a.texts.find(ctx, key)
			if err != nil {
				return err
			}
			if n == 0 {
				n = a.texts.add(key)
				fresh = append(fresh, t)
			}
			t.number = n
		}
	}
	return each(ctx, &a.st.texts, fresh, func(part []*taken, c *cells) {
		for _, t := range part {
			c.add(t.number, t.hash[:], t.body)
		}
	}, nil)
}

// A textReader puts the long texts of the records of one query back. It
// remembers texts of up to keptBytes, so that neighbours which share a text cost
// one query and one string.
type textReader struct {
	s      *Store
	recent recent[int64, string]
}

// keptBytes bounds the texts that one query remembers. It is some hundred
// dialogues.
const keptBytes = 4 << 20

func newTextReader(s *Store) *textReader {
	return &textReader{s: s, recent: recent[int64, string]{limit: keptBytes}}
}

// fill puts the long texts of a record back.
func (r *textReader) fill(ctx context.Context, f *found) error {
	if f.places == "" {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	it := &f.rec.Item
	var numbers map[string]int64
	if err := decode(f.places, &numbers); err != nil {
		return fmt.Errorf("decode texts of item %q: %w", it.ID, err)
	}
	for place, n := range numbers {
		body, err := r.text(ctx, n)
		if err == nil {
			err = putBack(it, place, body)
		}
		if err != nil {
			return fmt.Errorf("read texts of item %q: %w", it.ID, err)
		}
	}
	return nil
}

// text returns the text with the given number. Texts are never changed or removed,
// so it does not matter when it is read.
func (r *textReader) text(ctx context.Context, n int64) (string, error) {
	if body, ok := r.recent.get(n); ok {
		return body, nil
	}
	var body string
	err := r.s.query.text.QueryRowContext(context.WithoutCancel(ctx), n).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return "", deem.WithHint(fmt.Errorf("%s: text %d is missing", damaged.says, n), "%s", damaged.advice)
	}
	if err != nil {
		return "", err
	}
	r.recent.put(n, body, len(body))
	return body, nil
}
