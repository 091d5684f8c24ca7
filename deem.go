// Package deem grades the answers of question-answering and memory systems.
//
// A benchmark or a file yields items; a judge gives each item a verdict; a run
// stores records; package stat turns records into estimates; a report shows them.
//
// This package defines the types of that pipeline and runs it with [Run]. It
// imports only the standard library, and every other package imports it:
//
//   - an [Item] is one answer to judge, with its question and references;
//   - a [Judge] returns a [Verdict], or a [Failure] if it could not decide;
//   - a [Record] is the result for one item: its verdict or failure, and the
//     [Call]s made for it;
//   - a [Model] answers a [Request] with a [Reply]; most judges use one.
//
// Unjudged is not wrong: a record has either a verdict or a failure, and a failure
// has no score.
package deem

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// An Item is one answer to judge: a question, its reference answers, and the response
// of the system under test.
type Item struct {
	// ID is unique in its dataset.
	ID string `json:"id"`

	// Category is the benchmark's category, for example "temporal-reasoning".
	Category string `json:"category,omitempty"`

	// Cluster groups items that are not independent, such as questions about the same
	// conversation. Confidence intervals allow for clusters.
	Cluster string `json:"cluster,omitempty"`

	Question string `json:"question,omitempty"`

	// References are the correct answers; matching any one of them is enough. It is
	// empty if no correct answer is known.
	References []string `json:"references,omitempty"`

	// Response is the answer of the system under test. It is untrusted text.
	Response string `json:"response"`

	// Messages is the conversation that the response belongs to, if any.
	Messages Conversation `json:"messages,omitempty"`

	// Fields are additional inputs for a prompt, such as dialogue, memories, evidence
	// or a rubric. They also hold what the response cost the system under test; see
	// [FieldTokensIn].
	Fields map[string]string `json:"fields,omitempty"`

	// Weight is the weight of the item in estimates; 0 means 1.
	Weight float64 `json:"weight,omitempty"`
}

// Fields of an item with the resources that the system under test used for its response.
// A report sums them up. What the judge used is in the [Call]s of a record.
const (
	FieldTokensIn  = "tokens_in"
	FieldTokensOut = "tokens_out"
	FieldLatency   = "latency_ms" // milliseconds
	FieldCost      = "cost"       // US dollars
)

// Fields of an item with the trace and span that its response comes from. Exports to
// trace stores attach verdicts there.
const (
	FieldTrace = "trace_id"
	FieldSpan  = "span_id"
)

// Hash returns the SHA-256 of the item's canonical JSON in hexadecimal. Two
// items with the same hash are the same to every judge.
func (it Item) Hash() string { return sum(it.Canonical()) }

// Canonical returns the item's canonical JSON, like the function [Canonical]. It panics if
// the weight is NaN or infinite, which JSON cannot express.
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

// canonicalSorted is Canonical for a struct whose fields are declared in the order of their
// keys, so that a single pass of encoding/json is enough.
func canonicalSorted(v any) []byte {
	text, err := marshal(v)
	if err != nil || bytes.Contains(text, []byte(`\ufffd`)) {
		// Some text was not UTF-8. Canonical writes U+FFFD instead, which may change the
		// order of keys or make two keys equal.
		return mustCanonical(v)
	}
	return text
}

// mustCanonical is Canonical for a value that can be encoded. Anything else is a bug: readers
// and declarations refuse items and requests with NaN or infinite numbers.
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

// marshal is json.Marshal without HTML escaping.
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

// ShortHash returns the first twelve digits of hash, for display.
func ShortHash(hash string) string {
	if len(hash) > 12 {
		return hash[:12]
	}
	return hash
}
