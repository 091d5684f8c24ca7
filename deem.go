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
)

// An Item is one complete thing to judge: a question, the answers that would be
// right, and what the system under test gave.
type Item struct {
	// ID is unique in its dataset.
	ID string `json:"id"`

	// Category is the benchmark's stratum, as "temporal-reasoning".
	Category string `json:"category,omitempty"`

	// Cluster names items that are not independent, as the questions about
	// one conversation do. Clusters widen error bars.
	Cluster string `json:"cluster,omitempty"`

	Question string `json:"question,omitempty"`

	// References are the right answers; any one of them suffices. Empty means
	// that the item has no known right answer.
	References []string `json:"references,omitempty"`

	// Response is what the system under test gave. It is untrusted text.
	Response string `json:"response"`

	// Messages are the conversation that the response is part of, if there was one.
	Messages Conversation `json:"messages,omitempty"`

	// Fields are further slots that a protocol may fill: dialogue, memories,
	// evidence, rubric. They also hold what the response took the system under
	// test; see [FieldTokensIn].
	Fields map[string]string `json:"fields,omitempty"`

	// Weight is the importance of the item; 0 means 1.
	Weight float64 `json:"weight,omitempty"`
}

// The fields of an item that say what its response took the system under test. A
// report sums them up. What the judge took is in the [Call]s of a record.
const (
	FieldTokensIn  = "tokens_in"
	FieldTokensOut = "tokens_out"
	FieldLatency   = "latency_ms" // milliseconds
	FieldCost      = "cost"       // US dollars
)

// The fields of an item that say which trace and which span of it the response comes from.
// Exports to trace stores attach verdicts there.
const (
	FieldTrace = "trace_id"
	FieldSpan  = "span_id"
)

// Hash returns the SHA-256 of the item's canonical JSON in hexadecimal. Two
// items with the same hash are the same to every judge.
func (it Item) Hash() string { return sum(it.Canonical()) }

// Canonical returns the item's canonical JSON, as the function [Canonical] does. An
// item with a weight that is not a number has no JSON, and Canonical panics.
func (it Item) Canonical() []byte {
	return canonicalSorted(struct {
		Category   string            `json:"category,omitempty"`
		Cluster    string            `json:"cluster,omitempty"`
		Fields     map[string]string `json:"fields,omitempty"`
		ID         string            `json:"id"`
		Messages   Conversation      `json:"messages,omitempty"`
		Question   string            `json:"question,omitempty"`
		References []string          `json:"references,omitempty"`
		Response   string            `json:"response"`
		Weight     float64           `json:"weight,omitempty"`
	}{it.Category, it.Cluster, it.Fields, it.ID, it.Messages, it.Question, it.References, it.Response, it.Weight})
}

// canonicalSorted is Canonical of a struct whose fields are in the order of their keys, so
// that one pass of encoding/json does.
func canonicalSorted(v any) []byte {
	text, err := marshal(v)
	if err != nil || bytes.Contains(text, []byte(`\ufffd`)) {
		// Something was not UTF-8. Canonical writes the character in its place, which may
		// change how names sort, and make two of them one.
		return mustCanonical(v)
	}
	return text
}

// mustCanonical is Canonical of a value that has a JSON. One that has none is a bug: an
// Item or Request with a number that is not one, which readers and declarations refuse.
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
