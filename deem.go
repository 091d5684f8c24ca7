// Package deem judges what a question-answering or memory system answered.
//
// One sentence tells the whole program: a benchmark reads lines into items; a
// judge gives each item a verdict; the run keeps records; package stat turns
// records into estimates; a report shows them.
//
// This package holds the nouns of that sentence and its one verb, [Run]. It
// imports only the standard library, and every other package imports it:
//
//   - an [Item] is one complete thing to judge;
//   - a [Judge] gives it a [Verdict], or says with a [Failure] why it has none;
//   - a [Record] is one line of a run: an item with its verdict or its failure,
//     and the [Call]s that were paid for it;
//   - a [Model] completes a [Request] with a [Reply]; a judge may ask one.
//
// The law of the house is that unjudged is not wrong: a record holds a verdict
// or a failure, and a failure has no score.
package deem

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// An Item is one complete thing to judge: a question, the answers that would be
// right, and what the system under test gave.
type Item struct {
	// ID is unique in its dataset.
	ID string `json:"id"`

	// Category is the benchmark's stratum, as "temporal-reasoning".
	Category string `json:"category,omitempty"`

	// Cluster names items that stand or fall together, as the questions about
	// one conversation do. Clusters widen error bars.
	Cluster string `json:"cluster,omitempty"`

	Question string `json:"question,omitempty"`

	// References are the right answers; any one of them suffices. Empty means
	// that the item has no known right answer.
	References []string `json:"references,omitempty"`

	// Response is what the system under test gave. It is untrusted text.
	Response string `json:"response"`

	// Fields are further slots that a protocol may fill: dialogue, memories,
	// evidence, rubric.
	Fields map[string]string `json:"fields,omitempty"`

	// Weight is the importance of the item; 0 means 1.
	Weight float64 `json:"weight,omitempty"`
}

// Hash returns the SHA-256 of the item's canonical JSON in hexadecimal. Two
// items with the same hash are the same to every judge.
func (it Item) Hash() string { return hashOf(it.AppendCanonical) }

// Canonical returns the item's canonical JSON, as the function [Canonical] does. An
// item with a weight that is no number has no JSON, and Canonical panics.
func (it Item) Canonical() []byte {
	size := 128 + len(it.ID) + len(it.Category) + len(it.Cluster) + len(it.Question) + len(it.Response)
	for _, ref := range it.References {
		size += len(ref) + 8
	}
	return it.AppendCanonical(make([]byte, 0, size+size/16))
}

// AppendCanonical appends what [Item.Canonical] returns to a text that may hold
// something already. It is for those who encode many items.
func (it Item) AppendCanonical(to []byte) []byte {
	// The fields come in the order of their keys.
	for name := range it.Fields {
		if !utf8.ValidString(name) {
			// The character in place of what is no UTF-8 may change how names sort,
			// and make two of them one.
			return append(to, mustCanonical(it)...)
		}
	}
	o := begin(to)
	o.str("category", it.Category)
	o.str("cluster", it.Cluster)
	o.texts("fields", it.Fields)
	o.key("id")
	o.text = appendText(o.text, it.ID)
	o.str("question", it.Question)
	o.list("references", it.References)
	o.key("response")
	o.text = appendText(o.text, it.Response)
	if it.Weight != 0 {
		o.float("weight", it.Weight)
	}
	return o.end()
}

// mustCanonical is Canonical of a value that has a JSON. One that has none is a bug:
// an Item or Request with a number that is none, which readers and declarations refuse.
func mustCanonical(v any) []byte {
	text, err := Canonical(v)
	if err != nil {
		panic(fmt.Sprintf("deem: canonical JSON: %v", err))
	}
	return text
}

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// Canonical returns the one JSON text of v that hashes are taken of: keys
// sorted, no white space, nothing escaped that need not be, numbers as
// encoding/json writes them.
func Canonical(v any) ([]byte, error) {
	raw, err := marshal(v)
	if err != nil {
		return nil, err
	}
	var tree any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	return marshal(tree)
}

// marshal is json.Marshal without its escaping of <, > and &, which is meant for
// web pages.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Hash returns the SHA-256 of the canonical JSON of v in hexadecimal.
func Hash(v any) (string, error) {
	text, err := Canonical(v)
	if err != nil {
		return "", err
	}
	return sum(text), nil
}

// ShortHash returns the first twelve digits of hash, the form that is shown
// beside a number.
func ShortHash(hash string) string {
	if len(hash) > 12 {
		return hash[:12]
	}
	return hash
}
