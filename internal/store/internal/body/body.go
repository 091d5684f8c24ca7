// Package body says how stores keep items and replies: as JSON, and the long texts of
// items by themselves. These are the same in every store, to the byte, and so are the
// hashes that they are kept under. A store that keeps calls within their records has JSON
// for these too.
package body

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"deem"
)

// A Sum is a SHA-256.
type Sum = [sha256.Size]byte

// An Item is a [deem.Item] as stores keep it.
type Item struct {
	JSON string // canonical, without the long texts
	Long []Text // by their places

	// Hash is what the item is kept under. That of an item without long texts is the
	// SHA-256 of its JSON.
	Hash Sum
}

// An Encoder encodes the items of one append. It remembers the hashes of their long
// texts: the same dialogue comes item after item, and to find it here is far cheaper than
// to hash it again. The zero value is ready for use.
type Encoder struct {
	known map[string]Sum
	text  []byte // spares a copy of each text
	json  []byte // and a copy of the JSON of each item
}

// Item returns an item as stores keep it. A weight that is no number has no JSON;
// whoever made the item, a store must not fall over it.
func (e *Encoder) Item(it deem.Item) (Item, error) {
	if math.IsNaN(it.Weight) || math.IsInf(it.Weight, 0) {
		return Item{}, fmt.Errorf("the weight %v is no number", it.Weight)
	}
	it, long := takeLong(it)
	for i := range long {
		long[i].Hash = e.sum(long[i].Body)
	}
	e.json = it.AppendCanonical(e.json[:0])
	body := string(e.json)
	return Item{body, long, ItemSum(e.json[:0], body, long)}, nil
}

// ItemSum returns the hash of an item with the given JSON and long texts, which are sorted
// by their places. It uses the room of buf.
//
// The texts go into the hash by their own, so that they need not be read again. No item
// that is whole has the same: nothing follows the JSON there.
func ItemSum(buf []byte, json string, long []Text) Sum {
	buf = append(buf, json...)
	for _, t := range long {
		buf = binary.AppendUvarint(buf, uint64(len(t.Place)))
		buf = append(append(buf, t.Place...), t.Hash[:]...)
	}
	return sha256.Sum256(buf)
}

// sum returns the hash of a text.
func (e *Encoder) sum(text string) Sum {
	if hash, ok := e.known[text]; ok {
		return hash
	}
	e.text = append(e.text[:0], text...)
	hash := sha256.Sum256(e.text)
	if e.known == nil {
		e.known = map[string]Sum{}
	}
	e.known[text] = hash
	return hash
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
	Sent        string              `json:"sent,omitempty"`
	Dropped     string              `json:"dropped,omitempty"`
	Logprobs    []deem.TokenLogprob `json:"logprobs,omitempty"`
}

// EncodeReply returns the JSON of what a reply says. It is written by hand, as it is read,
// but for log-probabilities, which few replies have.
func EncodeReply(r deem.Reply) (string, error) {
	if len(r.Logprobs) > 0 {
		return Encode(replyBody{
			Text: r.Text, Refusal: r.Refusal, Stop: r.Stop, Usage: r.Usage, Model: r.Model,
			Fingerprint: r.Fingerprint, RequestID: r.RequestID, Batch: r.Batch, Sent: r.Sent, Dropped: r.Dropped, Logprobs: r.Logprobs,
		})
	}
	b := make([]byte, 0, 256)
	b = AppendText(append(b, `{"text":`...), r.Text)
	b = appendName(b, `,"refusal":`, r.Refusal)
	b = AppendText(append(b, `,"stop":`...), string(r.Stop))
	b = strconv.AppendInt(append(b, `,"usage":{"input":`...), int64(r.Usage.Input), 10)
	b = strconv.AppendInt(append(b, `,"output":`...), int64(r.Usage.Output), 10)
	b = appendCount(b, `,"cached_input":`, int64(r.Usage.CachedInput))
	b = appendCount(b, `,"reasoning":`, int64(r.Usage.Reasoning))
	if r.Usage.Estimated {
		b = append(b, `,"estimated":true`...)
	}
	b = append(b, '}')
	b = appendName(b, `,"model":`, r.Model)
	b = appendName(b, `,"fingerprint":`, r.Fingerprint)
	b = appendName(b, `,"request_id":`, r.RequestID)
	b = appendName(b, `,"batch":`, r.Batch)
	b = appendName(b, `,"sent":`, r.Sent)
	b = appendName(b, `,"dropped":`, r.Dropped)
	return string(append(b, '}')), nil
}

// Encode is json.Marshal without its escaping of <, > and &.
func Encode(v any) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}

// Decode reads JSON that Encode wrote.
func Decode(text string, v any) error { return json.Unmarshal([]byte(text), v) }

// Valid returns s with U+FFFD for each byte that is no UTF-8. The texts in JSON lose such
// bytes when they are encoded; those in columns of their own lose them here, so that every
// store gives back the same.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
