package bundle

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"deem"
)

// A wireRecord is the body of a record line: a [deem.Record] that refers to its item.
type wireRecord struct {
	Item     string        `json:"item"` // hash of the item on the last item line
	Position int           `json:"position"`
	Judge    string        `json:"judge"`
	Trial    int           `json:"trial"`
	Verdict  *deem.Verdict `json:"verdict,omitempty"`
	Failure  *deem.Failure `json:"failure,omitempty"`
	Calls    []deem.Call   `json:"calls,omitempty"`
	Answer   *string       `json:"answer,omitempty"` // of a reader; it is the response that was judged
}

// toRecord returns the body of a record. Texts are cleaned before they are hashed; the
// encoder cleans the others.
func toRecord(rec deem.Record, item string) wireRecord {
	w := wireRecord{item, rec.Position, rec.Judge, rec.Trial, rec.Verdict, rec.Failure, rec.Calls, rec.Answer}
	w = w.over(clean, func(list []deem.TokenLogprob) []deem.TokenLogprob { return list })
	for i, c := range w.Calls { // a copy
		w.Calls[i].Started = c.Started.UTC()
	}
	return w
}

// clean returns s with U+FFFD for each invalid UTF-8 byte, as JSON does.
func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func (w wireRecord) record(it deem.Item) deem.Record {
	if w.Answer != nil {
		it.Response = *w.Answer
	}
	return deem.Record{Item: it, Answer: w.Answer, Position: w.Position, Judge: w.Judge, Trial: w.Trial, Verdict: w.Verdict, Failure: w.Failure, Calls: w.Calls}
}

// A wireItem is the body of an item line.
type wireItem struct {
	hash     string // of the item with its texts, also in a redacted bundle
	item     deem.Item
	position int
}

// encode encodes the body, using the item's own canonical JSON.
func (w wireItem) encode() []byte {
	text := w.item.Canonical()
	body := make([]byte, 0, len(text)+hexLen+48)
	body = append(append(append(body, `{"hash":"`...), w.hash...), `","item":`...)
	body = append(append(body, text...), `,"position":`...)
	return append(strconv.AppendInt(body, int64(w.position), 10), '}')
}

// decodeItem decodes the body of an item strictly, like [decode].
func decodeItem(body []byte) (wireItem, error) {
	var v struct {
		Hash     string    `json:"hash"`
		Item     deem.Item `json:"item"`
		Position int       `json:"position"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return wireItem{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	w := wireItem{hash: v.Hash, item: v.Item, position: v.Position}
	if !isHash(w.hash) {
		return w, fmt.Errorf("%w: an item's hash is not a SHA-256", ErrDamaged)
	}
	return w, sameForm(body, w.encode())
}
