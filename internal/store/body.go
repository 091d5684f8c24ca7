package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"deem"
)

// A TextSum is a SHA-256.
type TextSum = [sha256.Size]byte

// A StoredItem is a [deem.Item] as it is stored.
type StoredItem struct {
	JSON string     // canonical, without the long texts
	Long []LongText // sorted by place

	// Hash identifies the item. It is the SHA-256 of the JSON if there are no long texts.
	Hash TextSum
}

// An ItemEncoder encodes the items of one append. It caches the hashes of their long texts:
// consecutive items often have the same dialogue, and a lookup is far cheaper than a hash.
// The zero value is ready for use.
type ItemEncoder struct {
	known map[string]TextSum
}

// Item returns an item as it is stored. NaN cannot be written in JSON, but a store must
// accept every item.
func (e *ItemEncoder) Item(it deem.Item) (StoredItem, error) {
	if !finite(it.Weight) {
		return StoredItem{}, fmt.Errorf("the weight %v is not a number", it.Weight)
	}
	it, long := takeLong(it)
	for i, t := range long {
		hash, ok := e.known[t.Body]
		if !ok {
			hash = sha256.Sum256([]byte(t.Body))
			if e.known == nil {
				e.known = map[string]TextSum{}
			}
			e.known[t.Body] = hash
		}
		long[i].Hash = hash
	}
	body := it.Canonical()
	return StoredItem{string(body), long, ItemSum(body, long)}, nil
}

// A StoredRecord is a record with its parts as they are stored.
type StoredRecord struct {
	deem.Record
	Stored  StoredItem
	Parts   *string  // JSON; nil if there are none
	Replies []string // one for each call; "" if there is no reply
}

// Record checks a record and returns it as it is stored.
func (e *ItemEncoder) Record(rec deem.Record) (r StoredRecord, err error) {
	if err := CheckRecord(rec); err != nil {
		return r, err
	}
	r = StoredRecord{Record: rec, Replies: make([]string, len(rec.Calls))}
	it := rec.Item
	if rec.Answer != nil {
		it.Response = "" // as in the dataset
	}
	if r.Stored, err = e.Item(it); err != nil {
		return r, fmt.Errorf("encode item %q: %w", rec.Item.ID, err)
	}
	p := recordParts{Answer: rec.Answer}
	if rec.Verdict != nil {
		p.Aspects, p.Parts = rec.Verdict.Aspects, rec.Verdict.Parts
	} else {
		p.Probability = rec.Failure.Probability
	}
	if len(p.Aspects) > 0 || len(p.Parts) > 0 || p.Probability != nil || p.Answer != nil {
		text, err := EncodeJSON(p)
		if err != nil {
			return r, fmt.Errorf("encode verdict on item %q: %w", rec.Item.ID, err)
		}
		r.Parts = &text
	}
	for i, c := range rec.Calls {
		if c.Reply == nil {
			continue
		}
		if r.Replies[i], err = EncodeReply(*c.Reply); err != nil {
			return r, fmt.Errorf("encode reply about item %q: %w", rec.Item.ID, err)
		}
	}
	return r, nil
}

// ItemSum returns the hash of an item with the given JSON and long texts, sorted by place.
// It covers the hashes of the texts, so that the texts need not be read again. An item
// without long texts cannot have the same hash, because there nothing follows the JSON.
func ItemSum(json []byte, long []LongText) TextSum {
	buf := slices.Clip(json)
	for _, t := range long {
		buf = binary.AppendUvarint(buf, uint64(len(t.Place)))
		buf = append(append(buf, t.Place...), t.Hash[:]...)
	}
	return sha256.Sum256(buf)
}

// replyBody is the part of a [deem.Reply] that all runs share. The rest belongs to the call
// and is stored there.
type replyBody struct {
	deem.Reply
	Latency  *int `json:"latency_ns,omitempty"`
	Attempts *int `json:"attempts,omitempty"`
}

// EncodeReply returns the shared part of a reply as JSON.
func EncodeReply(r deem.Reply) (string, error) {
	r.CostMicros, r.Unpriced, r.Cached, r.Key = 0, false, false, ""
	return EncodeJSON(replyBody{Reply: r})
}

// ReplyColumns are the columns of a reply, all NULL if there is none.
type ReplyColumns struct {
	Body                    *string // what EncodeReply returned
	Latency, Attempts, Cost *int64
	Unpriced                *bool
}

// briefReply is a reply without what only reading it needs: its text and its tokens.
type briefReply struct {
	*deem.Reply
	Text     skipped `json:"text"`
	Refusal  skipped `json:"refusal"`
	Logprobs skipped `json:"logprobs"`
}

// skipped is a value that is not decoded.
type skipped struct{}

// UnmarshalJSON implements [json.Unmarshaler].
func (skipped) UnmarshalJSON([]byte) error { return nil }

// Reply returns the reply with its key, or nil if there is none. A brief reply lacks its text,
// refusal and tokens.
func (c *ReplyColumns) Reply(key string, brief bool) (*deem.Reply, error) {
	if c.Body == nil {
		return nil, nil //nolint:nilnil // NULL was stored.
	}
	var r deem.Reply
	var into any = &r
	if brief {
		into = &briefReply{Reply: &r}
	}
	err := DecodeJSON(*c.Body, into)
	if c.Latency != nil && c.Attempts != nil && c.Cost != nil && c.Unpriced != nil {
		r.Latency, r.Attempts, r.CostMicros, r.Unpriced = time.Duration(*c.Latency), int(*c.Attempts), *c.Cost, *c.Unpriced
	}
	r.Key = key
	return &r, err
}

// Null returns the value of p, or nil, which is stored as NULL.
func Null[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// Nanos returns t in the stored form. The zero time does not fit into nanoseconds since
// 1970, and becomes NULL.
func Nanos(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixNano())
}

// TimeOf returns the stored time.
func TimeOf(n *int64) time.Time {
	if n == nil {
		return time.Time{}
	}
	return time.Unix(0, *n).UTC()
}

// recordParts are rarely used parts of a record: the aspects and criteria of a verdict, the
// probability of a failure, and the answer of a reader.
type recordParts struct {
	Aspects     map[string]float64 `json:"aspects,omitempty"`
	Parts       []deem.Part        `json:"parts,omitempty"`
	Probability *float64           `json:"probability,omitempty"`
	Answer      *string            `json:"answer,omitempty"`
}

// DecodeParts sets the parts of a record from [StoredRecord.Parts]. The answer of a reader
// becomes the response of the item where the item is read, too.
func DecodeParts(text string, rec *deem.Record) error {
	var p recordParts
	err := DecodeJSON(text, &p)
	if rec.Verdict != nil {
		rec.Verdict.Aspects, rec.Verdict.Parts = p.Aspects, p.Parts
	}
	if rec.Failure != nil {
		rec.Failure.Probability = p.Probability
	}
	rec.Answer = p.Answer
	return err
}

// EncodeJSON is json.Marshal without its escaping of <, > and &.
func EncodeJSON(v any) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}

// DecodeJSON parses JSON that EncodeJSON wrote.
func DecodeJSON(text string, v any) error { return json.Unmarshal([]byte(text), v) }

// ValidText returns s with U+FFFD for each byte that is not UTF-8. JSON encoding does this
// for texts in JSON; ValidText does it for texts in separate columns, so that all stores
// return the same text.
func ValidText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// SealBytes is the number of bytes of a SHA-256 in a seal.
const SealBytes = 16

// Seal returns a hash over the columns of a row, with the type and length of each. Stores
// keep it with each row that a printed number depends on. A column is an int64, bool,
// float64, string or []byte, or nil for NULL.
//
// A database notices if its pages do not fit together, but not if a byte within a value
// changed. So stores check the seal of a row when they read it. A seal detects accidents, not
// forgery, because a person who edits the database can compute seals too. A signature
// detects forgery.
func Seal[T any](columns []T) []byte {
	buf := make([]byte, 0, 1024)
	for _, c := range columns {
		switch v := any(c).(type) {
		case nil:
			buf = append(buf, 0)
		case int64:
			buf = binary.AppendVarint(append(buf, 1), v)
		case bool: // SQLite stores it as a number.
			var n int64
			if v {
				n = 1
			}
			buf = binary.AppendVarint(append(buf, 1), n)
		case float64: // SQLite stores -0 as 0, and -0 + 0 is 0.
			buf = binary.BigEndian.AppendUint64(append(buf, 2), math.Float64bits(v+0))
		case string:
			buf = append(binary.AppendUvarint(append(buf, 3), uint64(len(v))), v...)
		case []byte:
			buf = append(binary.AppendUvarint(append(buf, 3), uint64(len(v))), v...)
		default:
			panic(fmt.Sprintf("body: a column is a %T", c))
		}
	}
	sum := sha256.Sum256(buf)
	return sum[:SealBytes]
}
