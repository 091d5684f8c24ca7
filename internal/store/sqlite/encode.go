package sqlite

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"deem"
)

// encodeItem returns the canonical JSON of an item without its long texts, these
// texts, and the hash that the item is kept under. That of an item without long
// texts is the SHA-256 of its JSON.
func encodeItem(it deem.Item, hashes *sums) (body string, long []taken, hash [sha256.Size]byte, err error) {
	it, long = takeLong(it)
	for i := range long {
		long[i].hash = hashes.of(long[i].body)
	}
	if hashes.json, err = canonical(it, hashes.json[:0]); err != nil {
		return "", nil, hash, err
	}
	if len(long) == 0 {
		hash = sha256.Sum256(hashes.json)
	} else {
		hash = splitHash(hashes.json, long)
	}
	return string(hashes.json), long, hash, nil
}

// canonical appends the canonical JSON of an item. A weight that is no number has no
// JSON; whoever made the item, a store must not fall over it.
func canonical(it deem.Item, to []byte) ([]byte, error) {
	if math.IsNaN(it.Weight) || math.IsInf(it.Weight, 0) {
		return to, fmt.Errorf("item %q: the weight %v is no number", it.ID, it.Weight)
	}
	return it.AppendCanonical(to), nil
}

// replyBody is what a reply says, whoever paid for it. The rest of a [deem.Reply]
// belongs to the call and is kept there.
type replyBody struct {
	Text        string              `json:"text"`
	Refusal     string              `json:"refusal,omitempty"`
	Stop        deem.Stop           `json:"stop"`
	Usage       deem.Usage          `json:"usage"`
	Model       string              `json:"model,omitempty"`
	Fingerprint string              `json:"fingerprint,omitempty"`
	RequestID   string              `json:"request_id,omitempty"`
	Batch       string              `json:"batch,omitempty"`
	Logprobs    []deem.TokenLogprob `json:"logprobs,omitempty"`
}

func encodeReply(r deem.Reply) (string, error) {
	body, err := encode(replyBody{
		Text: r.Text, Refusal: r.Refusal, Stop: r.Stop, Usage: r.Usage, Model: r.Model,
		Fingerprint: r.Fingerprint, RequestID: r.RequestID, Batch: r.Batch, Logprobs: r.Logprobs,
	})
	return string(body), err
}

// encode is json.Marshal without its escaping of <, > and &.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// encodeAspects returns the JSON of aspects, or nil if there are none.
func encodeAspects(aspects map[string]float64) (any, error) {
	if len(aspects) == 0 {
		return nil, nil //nolint:nilnil // NULL is what is to be stored.
	}
	body, err := encode(aspects)
	return string(body), err
}

// text returns s as the database keeps it. The texts in JSON lose bytes that are
// no UTF-8 when they are encoded; those in columns of their own lose them here, so
// that every store gives back the same.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// nullText is text, but NULL for "".
func nullText(s string) any {
	if s == "" {
		return nil
	}
	return text(s)
}

// nullable returns what p points to, or NULL.
func nullable[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func nullJSON(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return string(raw)
}

func rawJSON(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}

// nanos returns t as the database keeps it. The zero time has no nanoseconds since
// 1970 that an integer could hold, and becomes NULL.
func nanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}
