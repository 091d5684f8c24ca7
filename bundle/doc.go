// Package bundle reads, writes and verifies the run file of deem: one file, NAME.deem, with
// everything that a run's numbers were computed from.
//
// A bundle contains the run, its judge with the bytes of its prompts, the prices, every
// item, every record with its calls and raw replies, and at its end a manifest with the
// counts. Each line is chained to the previous one by SHA-256. A reader of the file needs
// neither the database nor the dataset nor a model to see the results and to reproduce
// them:
//
//   - [Write] writes a bundle from a stream of records;
//   - [NewReader] streams the records back;
//   - [Verify] checks the file: its bytes, its chain, its signature; it renders every
//     prompt again, parses every reply again, and computes every number again;
//   - [Redact] removes the texts from a bundle and keeps chain and signature valid.
//
// The chain covers the hashes of the texts rather than the texts themselves. So a redacted
// bundle has the same chain as the full one, and the signature is valid for both.
//
// docs/spec/run-file.md specifies the format, precisely enough for another implementation. All
// functions work on streams: memory does not grow with the run.
package bundle

import (
	"encoding/json"
	"errors"
	"time"

	"deem"
)

// format is the name and version of the format. It is the first line of every bundle.
const format = "deem.bundle/1"

// ErrDamaged is returned if a file is not a bundle, is incomplete, or was changed. [Verify]
// reports the details.
var ErrDamaged = errors.New("the bundle is damaged")

// ErrNewer is returned if a newer deem wrote the file in a format that this one does not
// know.
var ErrNewer = errors.New("the bundle is in a newer format")

// A header describes the kind of bundle.
type header struct {
	Format   string `json:"format"`             // [Format]
	Redacted bool   `json:"redacted,omitempty"` // texts are replaced by their hashes
	Software string `json:"software"`           // that wrote the file
}

// A Run describes what was judged, and the progress of the run.
type Run struct {
	CostMicros int64           `json:"cost_micros"` // of the calls, in millionths of a US dollar
	Created    time.Time       `json:"created"`
	Dataset    Dataset         `json:"dataset"`
	Endpoint   string          `json:"endpoint,omitempty"`
	ID         string          `json:"id"`
	Model      string          `json:"model,omitempty"` // "" for a rule
	Records    int             `json:"records"`
	Settings   json.RawMessage `json:"settings,omitempty"` // the command's other settings
	State      string          `json:"state"`              // "done", or "open" if items are missing
	Trials     int             `json:"trials"`
	Unjudged   int             `json:"unjudged"` // the number of records that are failures
	Updated    time.Time       `json:"updated"`
}

// A Dataset identifies the judged items.
type Dataset struct {
	Hash  string   `json:"hash"`
	Items int      `json:"items"`
	Names []string `json:"names"`
}

// A Judge identifies the judge. Its identity is complete, with the bytes of its prompts.
type Judge struct {
	Hash     string          `json:"hash"` // of Identity
	Identity json.RawMessage `json:"identity,omitempty"`
	Name     string          `json:"name"`
	Rule     bool            `json:"rule,omitempty"` // the judge calls no model
}

// A Manifest is the end of a bundle: its contents and counts.
type Manifest struct {
	Calls      int             `json:"calls"`
	CostMicros int64           `json:"cost_micros"`
	Head       string          `json:"head"`  // hash of the last line before the manifest
	Items      int             `json:"items"` // that have a record
	Judged     int             `json:"judged"`
	Numbers    json.RawMessage `json:"numbers,omitempty"` // the report of the run
	Records    int             `json:"records"`
	Replies    int             `json:"replies"`
	Tokens     tokens          `json:"tokens"`
	Unjudged   int             `json:"unjudged"`

	// Root is the hash of the manifest's own line, and through the chain of everything
	// before it. A signature signs it, and it identifies the file.
	Root string `json:"-"`
}

// tokens counts paid tokens, without cached replies.
type tokens struct {
	Input  int `json:"input"`
	Output int `json:"output"`
}

// A Counter computes the numbers of a run from its records; the command uses package
// report. Records come in the order of the dataset.
type Counter interface {
	Add(rec deem.Record)

	// Numbers returns the numbers as JSON. left lists top-level keys that could not be
	// computed because texts were missing.
	Numbers() (numbers json.RawMessage, left []string, err error)
}

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
