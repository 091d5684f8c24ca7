// Package openai implements the wire format of OpenAI's Chat Completions, which many
// servers share: vLLM, llama.cpp, LM Studio, Ollama, OpenRouter, Azure and others.
//
// The package makes one HTTP call for a request, and classifies each error as transient, as
// an error of this item, or as fatal to the run. Retries, limits and prices are handled by
// package model.
//
// Keys never appear in text that the package produces: errors, String and panics. If a
// server repeats the key in an error, it is redacted.
package openai

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/wire"
	"deem/internal/words"
)

// defaultBaseURL is the address of OpenAI itself.
const defaultBaseURL = "https://api.openai.com/v1"

// The paths of the calls, below the base URL.
const (
	chatPath  = "/chat/completions"
	embedPath = "/embeddings"
)

// Options configure which model is called and how.
type Options struct {
	hidden
	Model string // the server's name for it, for example "gpt-4o-2024-08-06"

	// BaseURL is the address of the server; "" means defaultBaseURL. It may end with or
	// without a slash, without /v1 if it has no path at all, or with the full
	// /chat/completions. A query, such as Azure's api-version, is kept.
	BaseURL string `json:"-"` // may contain a password

	// Vendor is the operator of the server; "" means "openai". It is the first part of the
	// model's name, as in groq:llama-3.3-70b-versatile.
	Vendor string

	Key          string `json:"-"` // "" sends none, for local servers
	KeyHeader    string // the header that carries the bare key; "" means Authorization, as a bearer token
	KeyVariable  string // the environment variable that hints mention; "" means OPENAI_API_KEY
	Organization string
	Project      string
	Headers      map[string]string `json:"-"` // sent with each call; secret, because they may contain keys

	// Authorize adds a cloud's credentials instead of a key; nil adds nothing.
	Authorize Authorize `json:"-"`

	// Thinks says that the model thinks before it answers although it accepts all
	// parameters. It gets room for thinking, like a reasoning model.
	Thinks bool

	// Rejects lists parameters that the server does not accept: "temperature", "top_p",
	// "seed", "stop", "top_logprobs", or "schema", for which JSON mode is used instead.
	// They are not sent, and the reply reports them as dropped.
	Rejects []string

	// Rename maps parameters to the server's names, for example "seed" to "random_seed".
	Rename map[string]string

	// ServiceTier is the requested service tier, such as "flex" or "priority"; "" means the
	// server's default. Tiers have their own prices.
	ServiceTier string

	// HTTPClient makes the calls; nil means a client tuned for many concurrent calls.
	// Redirects are not followed unless the client has a policy for them. A client has its
	// own proxy and certificate authorities, so it excludes the next two.
	HTTPClient *http.Client `json:"-"`
	Proxy      string       `json:"-"` // the URL of a proxy; "" means the environment's
	CAFile     string       // a PEM file of certificate authorities, trusted in addition to the system's

	// Timeout limits one call; 0 means 120 s, and ten minutes for a reasoning model.
	Timeout time.Duration

	// MaxReply limits the bytes of a reply; 0 means enough for the requested tokens, and at
	// least 1 MiB.
	MaxReply int

	// Reasoning says whether the model reasons before it answers, as o1, o3, o4 and gpt-5
	// do; nil means to decide by its name. Such a model gets max_completion_tokens instead
	// of max_tokens, and neither temperature, top_p nor logprobs, all of which it rejects.
	Reasoning *bool

	// Thinking is how much a reasoning model thinks: "low", "medium" or "high", which is
	// sent as reasoning_effort, or a number of tokens. Thinking counts against the token
	// limit, so this also adds room to it: 2,048, 8,192 or 24,576 tokens, or the number.
	// "off" disables thinking if the model allows it. "" means the server's default, with
	// room of 8,192 tokens for a reasoning model.
	Thinking string
}

// Authorize adds a cloud's credentials to a call, such as a signature or a token that
// expires, and returns their secret part.
type Authorize = func(r *http.Request, body []byte) (secret string, err error)

type hidden = words.Hidden

type client struct {
	*wire.Client

	name        string // the server's name
	chat, embed wire.Target
	reasoning   bool
	room        int    // thinking tokens added to the limit of a request
	effort      string // "" means the server's default
	known       bool   // the name shows whether the model reasons
	serviceTier string
	vendor      string
	rejects     []string
	rename      map[string]string
}

var (
	_ deem.Tuned = (*client)(nil)
	_ deem.Wired = (*client)(nil)
)

// New returns a model that is safe for concurrent use. It makes no call and does not check
// the key. The model is also an [io.Closer], which closes its idle connections.
func New(o Options) (deem.Model, error) {
	o.Vendor = cmp.Or(o.Vendor, "openai")
	if o.Model == "" {
		return nil, deem.WithHint(fmt.Errorf("%s: no model named", o.Vendor), "name one, as in openai:gpt-4o-2024-08-06")
	}
	base, err := parseAddress(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Vendor, err)
	}
	m := &client{
		vendor:      o.Vendor,
		rejects:     slices.Sorted(slices.Values(o.Rejects)),
		rename:      o.Rename,
		name:        o.Model,
		chat:        base.To(chatPath),
		embed:       base.To(embedPath),
		reasoning:   reasons(o.Model),
		serviceTier: o.ServiceTier,
	}
	if o.Reasoning != nil {
		m.reasoning = *o.Reasoning
	}
	if err := m.think(o); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Vendor, err)
	}
	m.known = m.reasoning || o.Thinks || plain(o.Model)
	w := wire.Options{
		Vendor:      o.Vendor,
		Model:       o.Model,
		Base:        base,
		Key:         o.Key,
		KeyHeader:   "Authorization",
		KeyPrefix:   "Bearer ",
		KeyVariable: cmp.Or(o.KeyVariable, "OPENAI_API_KEY"),
		Keyed:       "api.openai.com",
		KeyHint:     "set OPENAI_API_KEY, or OPENAI_BASE_URL to call another server",
		Authorize:   o.Authorize,
		Fixed:       map[string]string{"OpenAI-Organization": o.Organization, "OpenAI-Project": o.Project},
		Headers:     o.Headers,
		Cause:       cause,
		Timeout:     o.Timeout,
		MaxReply:    o.MaxReply,
		HTTPClient:  o.HTTPClient,
		Proxy:       o.Proxy,
		CAFile:      o.CAFile,
	}
	if azure(base) {
		o.KeyHeader = cmp.Or(o.KeyHeader, "Api-Key")
	}
	if o.KeyHeader != "" {
		w.KeyHeader, w.KeyPrefix = o.KeyHeader, ""
	}
	if w.Timeout <= 0 && (m.reasoning || m.room > 0) {
		w.Timeout = 10 * time.Minute // They may think for minutes before the first byte.
	}
	if m.Client, err = wire.New(w); err != nil {
		return nil, err
	}
	return m, nil
}

// parseAddress parses a base URL in the common forms: with the full path of a call, or
// without any path.
func parseAddress(base string) (wire.Base, error) {
	b, err := wire.ParseBase(base, defaultBaseURL)
	if err != nil {
		return wire.Base{}, err
	}
	switch {
	case b.Path() == "" && azure(b):
		return b.WithPath("/openai/v1"), nil
	case b.Path() == "":
		return b.WithPath("/v1"), nil
	}
	for _, call := range []string{chatPath, embedPath} {
		if path, whole := strings.CutSuffix(b.Path(), call); whole {
			return b.WithPath(path), nil
		}
	}
	return b, nil
}

// azure reports whether the server is Azure's, which expects its key in a separate header.
func azure(b wire.Base) bool {
	for _, suffix := range []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"} {
		if strings.HasSuffix(b.Host(), suffix) {
			return true
		}
	}
	return false
}

// ServiceTier returns the requested service tier, or "" for the server's default.
func (m *client) ServiceTier() string { return m.serviceTier }

// Room returns how many tokens are added to the limit of a request for thinking, and
// whether this is known to be enough.
func (m *client) Room() (tokens int, known bool) { return m.room, m.known }

// Settings returns the rejected parameters, the amount of thinking, and its room.
func (m *client) Settings() string {
	v := url.Values{}
	rejects := m.rejects
	if m.reasoning {
		rejects = slices.Compact(slices.Sorted(slices.Values(append([]string{"temperature", "top_logprobs", "top_p"}, rejects...))))
	}
	if len(rejects) > 0 {
		v.Set("rejects", strings.Join(rejects, ","))
	}
	if m.room > 0 {
		v.Set("room", strconv.Itoa(m.room))
	}
	if m.effort != "" {
		v.Set("reasoning_effort", m.effort)
	}
	return v.Encode()
}

// Complete makes one call. The error is a [*deem.ModelError], or wraps that of ctx if ctx
// is done.
func (m *client) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	w := m.encode(req)
	a, err := m.Client.Complete(ctx, m.chat, req, w.body())
	reply, err := m.decode(a, err)
	if err != nil {
		return deem.Reply{}, err
	}
	reply.Sent, reply.Dropped = w.sent(), m.dropped(req)
	reply.RequestID = a.Header.Get("X-Request-Id")
	reply.Attempts = 1
	return reply, nil
}
