package deem

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// A Model answers prompts. Clients of vendors, fakes and replays are models, and so are the
// decorators of package model.
type Model interface {
	// Name identifies the model in records and reports, for example
	// "openai:gpt-4o-2024-08-06".
	Name() string

	// Complete returns the model's reply to req. The error is a [*ModelError], or the
	// error of ctx if ctx is done.
	Complete(ctx context.Context, req Request) (Reply, error)
}

// A Tuned model has vendor-specific settings that change its answers, such as how long it
// may think. They are part of the model's identity: judges with different settings are
// different judges, and do not share cached replies.
type Tuned interface {
	Model

	// Settings returns the settings in a fixed form, for example "thinkingBudget=0", or
	// "" for the vendor's defaults.
	Settings() string
}

// SettingsOf returns the settings of m, or of the model that it wraps.
func SettingsOf(m Model) string {
	for m != nil {
		if t, ok := m.(Tuned); ok {
			return t.Settings()
		}
		w, ok := m.(interface{ Unwrap() Model })
		if !ok {
			break
		}
		m = w.Unwrap()
	}
	return ""
}

// A Wired model can describe the parameters it sends for a request. Both strings are encoded
// as a URL query, for example "max_completion_tokens=8197&reasoning_effort=low".
type Wired interface {
	Model

	// Wire returns the parameters sent for req, with the vendor's names, and the
	// parameters of req that are dropped, each with the reason. Messages are not
	// included, and no call is made.
	Wire(req Request) (sent, dropped string)
}

// WireOf returns the parameters that m, or the model it wraps, sends for req. Both strings
// are empty if the model is not [Wired].
func WireOf(m Model, req Request) (sent, dropped string) {
	for m != nil {
		if w, ok := m.(Wired); ok {
			return w.Wire(req)
		}
		w, ok := m.(interface{ Unwrap() Model })
		if !ok {
			break
		}
		m = w.Unwrap()
	}
	return "", ""
}

// A Request is a prompt with its parameters. The zero value of a field means the vendor's
// default.
type Request struct {
	Messages    []Message       `json:"messages"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"top_p,omitempty"`
	Seed        *int64          `json:"seed,omitempty"`
	Stop        []string        `json:"stop,omitempty"`
	JSON        bool            `json:"json,omitempty"`         // the reply must be one JSON object
	Schema      json.RawMessage `json:"schema,omitempty"`       // the JSON Schema that the object must meet
	TopLogprobs int             `json:"top_logprobs,omitempty"` // log-probabilities of this many tokens per place; 0 asks for none

	// Optional lists parameters, such as "temperature", that may be dropped in one retry
	// if the vendor reports that it does not support them.
	Optional []string `json:"optional,omitempty"`

	// Trial is the number of the trial, from 0. It is not part of the prompt; it keeps
	// the replies of trials separate in the cache.
	Trial int `json:"trial,omitempty"`
}

// A Message is one turn of a prompt.
type Message struct {
	Role    string `json:"role"` // "system", "user" or "assistant"
	Content string `json:"content"`
}

// Prompt returns a request with one user message.
func Prompt(text string) Request {
	return Request{Messages: []Message{{Role: "user", Content: text}}}
}

// Hash returns the SHA-256 of the request's canonical JSON in hexadecimal.
func (r Request) Hash() string {
	type message struct {
		Content string `json:"content"`
		Role    string `json:"role"`
	}
	messages := make([]message, len(r.Messages))
	for i, m := range r.Messages {
		messages[i] = message{m.Content, m.Role}
	}
	if len(r.Schema) > 0 {
		r.Schema = mustCanonical(r.Schema)
	}
	return sum(canonicalSorted(struct {
		JSON        bool            `json:"json,omitempty"`
		MaxTokens   int             `json:"max_tokens,omitempty"`
		Messages    []message       `json:"messages"`
		Optional    []string        `json:"optional,omitempty"`
		Schema      json.RawMessage `json:"schema,omitempty"`
		Seed        *int64          `json:"seed,omitempty"`
		Stop        []string        `json:"stop,omitempty"`
		Temperature *float64        `json:"temperature,omitempty"`
		TopLogprobs int             `json:"top_logprobs,omitempty"`
		TopP        *float64        `json:"top_p,omitempty"`
		Trial       int             `json:"trial,omitempty"`
	}{
		r.JSON, r.MaxTokens, messages, r.Optional, r.Schema, r.Seed, r.Stop, r.Temperature, r.TopLogprobs, r.TopP, r.Trial,
	}))
}

// A Stop says why a model stopped writing.
type Stop string

// The reasons to stop that judges distinguish.
const (
	StopEnd    Stop = "end"    // the reply is complete
	StopLength Stop = "length" // the token limit was reached
	StopFilter Stop = "filter" // a content filter stopped it
	StopOther  Stop = "other"  // any other reason
)

// A Reply is the answer of a model.
type Reply struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal,omitempty"` // the refusal, if the vendor reports it separately
	Stop    Stop   `json:"stop"`
	Usage   Usage  `json:"usage"`

	// Model and Fingerprint identify what ran, as reported by the vendor.
	Model       string `json:"model,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	RequestID   string `json:"request_id,omitempty"`

	// Batch is the vendor's id of the batch that the reply came from, "" for a direct
	// call. A reply from a batch has no latency.
	Batch string `json:"batch,omitempty"`

	// Sent are the parameters that were sent, and Dropped those of the request that were
	// not, each with the reason. See [Wired].
	Sent    string `json:"sent,omitempty"`
	Dropped string `json:"dropped,omitempty"`

	// Logprobs are the tokens of the reply with the most likely alternatives, if they
	// were requested and the vendor provides them.
	Logprobs []TokenLogprob `json:"logprobs,omitempty"`

	// The decorators of package model set the remaining fields.

	Latency    time.Duration `json:"latency_ns"`            // of the attempt that succeeded
	Attempts   int           `json:"attempts"`              // at least 1, but 0 for a cached reply
	CostMicros int64         `json:"cost_micros,omitempty"` // millionths of a US dollar
	Unpriced   bool          `json:"unpriced,omitempty"`    // the model is not in the price table
	Cached     bool          `json:"cached,omitempty"`      // the reply was paid for earlier

	// Key is the cache key of the reply, "" if it is not cached.
	Key string `json:"key,omitempty"`
}

// Failure returns why the reply has no text to read: the model refused, a filter stopped it,
// or it is empty. It returns nil for any other reply.
func (r Reply) Failure() *Failure {
	// Python, whose programs are ported here, also counts these separators as white space.
	empty := strings.TrimFunc(r.Text, func(c rune) bool { return unicode.IsSpace(c) || c >= 0x1c && c <= 0x1f }) == ""
	switch {
	case r.Refusal != "":
		return Failf(Refused, "%s", clip(r.Refusal))
	case r.Stop == StopFilter:
		return Failf(Refused, "stopped by a content filter")
	case empty && r.Stop == StopLength:
		return Failf(Truncated, "the limit of tokens was reached before the reply began")
	case empty:
		return Failf(Empty, "the reply has no text")
	}
	return nil
}

// clip shortens a text so that it fits into a message.
func clip(s string) string {
	const most = 40
	runes := []rune(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\n", " "))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}

// Usage counts the tokens of one call.
type Usage struct {
	Input       int `json:"input"`
	Output      int `json:"output"` // reasoning tokens included
	CachedInput int `json:"cached_input,omitempty"`
	Reasoning   int `json:"reasoning,omitempty"`

	// Estimated means that the vendor did not report plausible numbers. They are then an
	// upper bound computed from the size of the request and the reply.
	Estimated bool `json:"estimated,omitempty"`
}

// A TokenLogprob is one token of a reply with its natural log-probability, and the most
// likely alternatives at its position.
type TokenLogprob struct {
	Token   string         `json:"token"`
	Logprob float64        `json:"logprob"`
	Top     []TokenLogprob `json:"top,omitempty"`
}

// A ModelError says why a model gave no reply. If neither Passing nor Fatal is set, the error
// concerns this request alone, such as a prompt that is too long: a retry does not help, and
// other items are not affected.
type ModelError struct {
	Kind    Kind // the kind of failure it causes: provider, timeout, refused or budget
	Status  int  // the HTTP status, 0 if there was none
	Code    string
	Passing bool // transient: the same request may succeed later
	Fatal   bool // no request can succeed until somebody acts: the run stops

	// Param is the parameter of the [Request] that the vendor rejects, for example
	// "temperature"; "" if it does not say. Unsupported means that the vendor does not
	// support it for this model, so the same request without it may succeed.
	Param       string
	Unsupported bool

	// Absent means that nothing at the address speaks the vendor's API: nothing listens,
	// the host does not exist, or a web page answers. It may be transient while a server
	// starts; if the address has never answered, it is wrong.
	Absent bool

	// Billed means that the vendor may charge for the attempt although there is no reply:
	// the answer was truncated or malformed, or the connection broke during the call.
	Billed bool

	// RetryAfter is how long the vendor asks to wait; 0 if it does not say.
	RetryAfter time.Duration
	Attempts   int // number of attempts, 0 for one
	Err        error
}

// Error returns the status and the vendor's message.
func (e *ModelError) Error() string {
	switch {
	case e.Status != 0 && e.Code != "":
		return fmt.Sprintf("HTTP %d %s: %v", e.Status, e.Code, e.Err)
	case e.Status != 0:
		return fmt.Sprintf("HTTP %d: %v", e.Status, e.Err)
	default:
		return fmt.Sprint(e.Err)
	}
}

// Unwrap returns the underlying error.
func (e *ModelError) Unwrap() error { return e.Err }
