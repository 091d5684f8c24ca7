package deem

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A Model completes a prompt. Vendors, fakes and replays are models, and so are
// the decorators of package model around them.
type Model interface {
	// Name identifies the model in records and reports, as
	// "openai:gpt-4o-2024-08-06".
	Name() string

	// Complete returns the model's reply to req. If there is none, the error is
	// a [*ModelError], or the error of ctx once ctx is done.
	Complete(ctx context.Context, req Request) (Reply, error)
}

// A Tuned model was given settings of its vendor's own that change what it answers,
// as how long it may think. They are part of what the model is: judges with other
// settings are other judges, and replies are never taken from one for the other.
type Tuned interface {
	Model

	// Settings returns the settings in a fixed form, as "thinkingBudget=0", and ""
	// when the vendor's defaults hold.
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

// A Wired model can say what it puts on the wire for a request. Both texts have the form
// of a query, as "max_completion_tokens=8197&reasoning_effort=low".
type Wired interface {
	Model

	// Wire returns the parameters of the call for req as the vendor names them, and the
	// parameters of req that are left out, each with the reason. Messages are not part of
	// it, and nobody is called.
	Wire(req Request) (sent, dropped string)
}

// WireOf returns what m, or the model that it wraps, puts on the wire for req. Both texts
// are "" when the model does not say.
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

// A Request is what a model is asked. The zero value of each field leaves the
// choice to the vendor.
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

	// Optional names the parameters, as "temperature", without which the request may be
	// made once more if the vendor says that it does not support them.
	Optional []string `json:"optional,omitempty"`

	// Trial is the number of the time this request is made, from 0. It is not part
	// of the prompt; it keeps trials apart in the cache.
	Trial int `json:"trial,omitempty"`
}

// A Message is one turn of a prompt.
type Message struct {
	Role    string `json:"role"` // "system", "user" or "assistant"
	Content string `json:"content"`
}

// Prompt returns a request of one user message.
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

// The reasons to stop that judges tell apart.
const (
	StopEnd    Stop = "end"    // the model was done
	StopLength Stop = "length" // the limit of tokens was reached
	StopFilter Stop = "filter" // a content filter cut in
	StopOther  Stop = "other"  // anything else a vendor may say
)

// A Reply is what a model answered.
type Reply struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal,omitempty"` // the model's own refusal, where the vendor marks it as one
	Stop    Stop   `json:"stop"`
	Usage   Usage  `json:"usage"`

	// Model and Fingerprint are what the vendor says it ran.
	Model       string `json:"model,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	RequestID   string `json:"request_id,omitempty"`

	// Batch is the vendor's id of the batch that brought the reply, "" for a call
	// of its own. Such a reply has no latency.
	Batch string `json:"batch,omitempty"`

	// Sent are the parameters with which the call was made, and Dropped those of the
	// request that were left out, each with the reason. See [Wired].
	Sent    string `json:"sent,omitempty"`
	Dropped string `json:"dropped,omitempty"`

	// Logprobs are the tokens of the reply with their likeliest rivals, when
	// they were asked for and the vendor gives them.
	Logprobs []TokenLogprob `json:"logprobs,omitempty"`

	// The rest is written by the decorators of package model.

	Latency    time.Duration `json:"latency_ns"`            // of the attempt that succeeded
	Attempts   int           `json:"attempts"`              // at least 1, but 0 for a cached reply
	CostMicros int64         `json:"cost_micros,omitempty"` // millionths of a US dollar
	Unpriced   bool          `json:"unpriced,omitempty"`    // the price table does not know the model
	Cached     bool          `json:"cached,omitempty"`      // the reply was paid for earlier

	// Key is the content address under which the reply is cached, "" when it is
	// not.
	Key string `json:"key,omitempty"`
}

// Usage counts the tokens of one call.
type Usage struct {
	Input       int `json:"input"`
	Output      int `json:"output"` // reasoning tokens included
	CachedInput int `json:"cached_input,omitempty"`
	Reasoning   int `json:"reasoning,omitempty"`

	// Estimated means that the vendor did not report believable numbers: these are an
	// upper bound, from the size of what was sent and received.
	Estimated bool `json:"estimated,omitempty"`
}

// A TokenLogprob is one token of a reply with its natural log-probability and
// those of the likeliest tokens in its place.
type TokenLogprob struct {
	Token   string         `json:"token"`
	Logprob float64        `json:"logprob"`
	Top     []TokenLogprob `json:"top,omitempty"`
}

// A ModelError says why a model gave no reply. The zero value of Passing and
// Fatal describes an error that belongs to this one request, as a prompt that is
// too long: asking again is no use, and the next item may do better.
type ModelError struct {
	Kind    Kind // how it is recorded when it ends an item: provider, timeout, refused or budget
	Status  int  // the HTTP status, 0 when there was none
	Code    string
	Passing bool // the same request may succeed later
	Fatal   bool // no request can succeed until a person acts: the run stops

	// Param is the parameter of the [Request] that the vendor does not take, as
	// "temperature"; "" when it does not say. Unsupported says that the vendor has no such
	// parameter for this model, so that the same request without it may succeed.
	Param       string
	Unsupported bool

	// Absent says that nobody there speaks the vendor's language: nothing listens, there
	// is no such host, or what answers is a web page. It may pass, as when a server is
	// about to start; but where nobody ever answered the address is wrong.
	Absent bool

	// Billed says that the vendor may charge for the attempt although no reply came of
	// it: the answer was cut or could not be read, or the connection broke while the
	// vendor was at work.
	Billed bool

	// RetryAfter is how long the vendor asks to be left alone; 0 when it does
	// not say.
	RetryAfter time.Duration
	Attempts   int // how often the request was made, 0 for once
	Err        error
}

// Error returns what the vendor said.
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
