// Package bundle reads, writes and checks the run file of deem: one file, NAME.deem,
// with everything that a run's numbers were made from.
//
// A bundle holds the run, its judge with the bytes of its prompts, the prices, every
// item, every record with its calls and raw replies, and at its end a manifest with
// what was counted. Each line is chained to the one before by SHA-256. So anybody who has
// the file needs neither the database nor the dataset nor a model to see what was
// found, and to find it again:
//
//   - [Write] makes a bundle out of a stream of records;
//   - [NewReader] streams the records back;
//   - [Verify] checks the file: its bytes, its chain, its signature; it renders every
//     prompt again, reads every reply again, and counts every number again;
//   - [Redact] takes the texts out of a bundle and leaves chain and signature whole;
//   - an [Anchor] is one line that names a bundle by the hash at the end of its chain.
//
// The chain is not over the texts themselves but over their hashes. That is why a
// redacted bundle has the same chain as the full one, and the signature of the one
// holds for the other.
//
// The format is described in docs/bundle.md, precisely enough to write it again in
// another language. All of it works on streams: memory does not grow with the run.
package bundle

import (
	"encoding/json"
	"errors"
	"time"

	"deem"
)

// Format names the format and its version. It is the first line of every bundle.
const Format = "deem.bundle/1"

// ErrDamaged means that a file is not a bundle, is not whole, or was changed. What
// exactly is wrong [Verify] says.
var ErrDamaged = errors.New("the bundle is damaged")

// ErrNewer means that a newer deem wrote the file in a format that this one does not
// know.
var ErrNewer = errors.New("the bundle is in a newer format")

// A Header says what kind of bundle the file is.
type Header struct {
	Format   string `json:"format"`             // [Format]
	Redacted bool   `json:"redacted,omitempty"` // texts are replaced by their hashes
	Software string `json:"software"`           // that wrote the file
}

// A Run says what was judged, and how far it got.
type Run struct {
	CostMicros int64           `json:"cost_micros"` // of the calls, in millionths of a US dollar
	Created    time.Time       `json:"created"`
	Dataset    Dataset         `json:"dataset"`
	Endpoint   string          `json:"endpoint,omitempty"`
	ID         string          `json:"id"`
	Model      string          `json:"model,omitempty"` // "" for a rule
	Records    int             `json:"records"`
	Settings   json.RawMessage `json:"settings,omitempty"` // what else the command was told
	State      string          `json:"state"`              // "done", or "open" when items are missing
	Trials     int             `json:"trials"`
	Unjudged   int             `json:"unjudged"` // how many of the records are failures
	Updated    time.Time       `json:"updated"`
}

// A Dataset says which items were judged.
type Dataset struct {
	Hash  string   `json:"hash"`
	Items int      `json:"items"`
	Names []string `json:"names"`
}

// A Judge says who judged. Its identity is whole, with the bytes of its prompts.
type Judge struct {
	Hash     string          `json:"hash"` // of Identity
	Identity json.RawMessage `json:"identity,omitempty"`
	Name     string          `json:"name"`
	Rule     bool            `json:"rule,omitempty"` // the judge asks no model
}

// A Manifest is the last word of a bundle: what stands in it, and what was counted.
type Manifest struct {
	Calls      int             `json:"calls"`
	CostMicros int64           `json:"cost_micros"`
	Head       string          `json:"head"`  // hash of the last line before the manifest
	Items      int             `json:"items"` // that have a record
	Judged     int             `json:"judged"`
	Numbers    json.RawMessage `json:"numbers,omitempty"` // the report of the run
	Records    int             `json:"records"`
	Replies    int             `json:"replies"`
	Tokens     Tokens          `json:"tokens"`
	Unjudged   int             `json:"unjudged"`

	// Root is the hash of the manifest's own line, and through the chain of everything
	// before it. It is what a signature signs and an [Anchor] names.
	Root string `json:"-"`
}

// Tokens count what was paid for, cached replies not.
type Tokens struct {
	Input  int `json:"input"`
	Output int `json:"output"`
}

// A Counter counts the numbers of a run from its records: package report does it for
// the command. Records come in the order of the dataset.
type Counter interface {
	Add(rec deem.Record)

	// Numbers returns what was counted as JSON. The names in left are keys of it at
	// the top that could not be counted, because texts were missing.
	Numbers() (numbers json.RawMessage, left []string, err error)
}

// add counts a record.
func (m *Manifest) add(rec deem.Record) {
	m.Records++
	if rec.Verdict != nil {
		m.Judged++
	} else {
		m.Unjudged++
	}
	for _, c := range rec.Calls {
		m.Calls++
		if c.Reply == nil {
			continue
		}
		m.Replies++
		if !c.Reply.Cached {
			m.CostMicros += c.Reply.CostMicros
			m.Tokens.Input += c.Reply.Usage.Input
			m.Tokens.Output += c.Reply.Usage.Output
		}
	}
}
