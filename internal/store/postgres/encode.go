package postgres

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deem"
)

// longText is from how many bytes on a text of an item is kept by itself, once, however
// many items say it. It is what the SQLite store found best.
const longText = 512

// A sum is a SHA-256.
type sum = [sha256.Size]byte

// A taken text is one that was taken out of its item.
type taken struct {
	place string // "question", "response", "references/0" or "fields/dialogue"
	body  string
	hash  sum // of body
}

// The places of an item that hold texts of any length. Behind a slash follows which
// reference or field it is, and a field may have any name: a place is cut at its first
// slash.
const (
	placeQuestion   = "question"
	placeResponse   = "response"
	placeReferences = "references"
	placeFields     = "fields"
)

// An encodedItem is an item as the database keeps it.
type encodedItem struct {
	hash   sum
	body   string  // canonical JSON, without the long texts
	places *string // JSON: which text goes where, nil if there are none
	long   []taken
}

// encodeItem returns an item as the database keeps it. A weight that is no number has
// no JSON; whoever made the item, a store must not fall over it.
func encodeItem(it deem.Item) (encodedItem, error) {
	if math.IsNaN(it.Weight) || math.IsInf(it.Weight, 0) {
		return encodedItem{}, fmt.Errorf("the weight %v is no number", it.Weight)
	}
	it, long := takeLong(it)
	body := it.Canonical()
	e := encodedItem{body: string(body), long: long}
	if len(long) == 0 {
		e.hash = sha256.Sum256(body)
		return e, nil
	}
	// The texts go into the hash by their own. No item that is whole has the same:
	// nothing follows the JSON there.
	places := map[string][2]any{}
	for _, t := range long {
		body = binary.AppendUvarint(body, uint64(len(t.place)))
		body = append(append(body, t.place...), t.hash[:]...)
		places[t.place] = [2]any{hex.EncodeToString(t.hash[:]), len(t.body)}
	}
	e.hash = sha256.Sum256(body)
	text, err := encode(places)
	e.places = &text
	return e, err
}

// takeLong returns an item without its long texts, and these by their places. The item
// it was given is left alone.
func takeLong(it deem.Item) (deem.Item, []taken) {
	var long []taken
	take := func(s, place string) string {
		if len(s) < longText {
			return s
		}
		if !utf8.ValidString(s) {
			s = string([]rune(s))
		}
		long = append(long, taken{place, s, sha256.Sum256([]byte(s))})
		return ""
	}
	it.Question = take(it.Question, placeQuestion)
	it.Response = take(it.Response, placeResponse)
	it.References = slices.Clone(it.References)
	for i, text := range it.References {
		it.References[i] = take(text, placeReferences+"/"+strconv.Itoa(i))
	}
	// Names that are no UTF-8 may become one name when they are mended. Which of their
	// values remains is for the JSON to say, so they stay in it.
	if validNames(it.Fields) {
		it.Fields = maps.Clone(it.Fields)
		for name, text := range it.Fields {
			it.Fields[name] = take(text, placeFields+"/"+name)
		}
	}
	slices.SortFunc(long, func(a, b taken) int { return strings.Compare(a.place, b.place) })
	return it, long
}

func validNames(fields map[string]string) bool {
	for name := range fields {
		if !utf8.ValidString(name) {
			return false
		}
	}
	return true
}

// putBack sets the text of a place that [takeLong] emptied.
func putBack(it *deem.Item, place, body string) error {
	kind, name, _ := strings.Cut(place, "/")
	switch kind {
	case placeQuestion:
		it.Question = body
		return nil
	case placeResponse:
		it.Response = body
		return nil
	case placeReferences:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(it.References) {
			it.References[i] = body
			return nil
		}
	case placeFields:
		if _, ok := it.Fields[name]; ok {
			it.Fields[name] = body
			return nil
		}
	}
	return fmt.Errorf("there is no place %q", place)
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
	return encode(replyBody{
		Text: r.Text, Refusal: r.Refusal, Stop: r.Stop, Usage: r.Usage, Model: r.Model,
		Fingerprint: r.Fingerprint, RequestID: r.RequestID, Batch: r.Batch, Logprobs: r.Logprobs,
	})
}

func decodeReply(body string) (deem.Reply, error) {
	var b replyBody
	err := json.Unmarshal([]byte(body), &b)
	return deem.Reply{
		Text: b.Text, Refusal: b.Refusal, Stop: b.Stop, Usage: b.Usage, Model: b.Model,
		Fingerprint: b.Fingerprint, RequestID: b.RequestID, Batch: b.Batch, Logprobs: b.Logprobs,
	}, err
}

// encode is json.Marshal without its escaping of <, > and &. JSON holds no NUL as such,
// so it needs no packing.
func encode(v any) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(buf.String(), "\n"), nil
}

// encodeAspects returns the JSON of aspects, or nil if there are none.
func encodeAspects(aspects map[string]float64) (*string, error) {
	if len(aspects) == 0 {
		return nil, nil //nolint:nilnil // NULL is what is to be stored.
	}
	text, err := encode(aspects)
	return &text, err
}
