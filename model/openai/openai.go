// Package openai speaks the wire format of OpenAI's Chat Completions, and with it
// that of every server compatible with it: vLLM, llama.cpp, LM Studio, Ollama,
// OpenRouter, Azure and others.
//
// The package makes one HTTP call for a request, and says of each error whether
// it may pass, ends this item, or ends the run. Retries, limits and prices are the
// business of package model.
//
// Keys are kept out of every text that the package makes: errors, String and
// panics. Where a server repeats the key in an error, it is blacked out.
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
	"deem/internal/words"
	"deem/model/internal/wire"
)

// defaultBaseURL is where OpenAI itself answers.
const defaultBaseURL = "https://api.openai.com/v1"

// Options say which model is called and where.
type Options struct {
	hidden
	Model string // as the server knows it, "gpt-4o-2024-08-06"

	// BaseURL is the address of the server; "" means defaultBaseURL. It may end
	// with or without a slash, without /v1 if it has no path at all, or with the
	// whole /chat/completions. A query, as Azure's api-version, is kept.
	BaseURL string `json:"-"` // it may hold a password

	// Vendor is who runs the server; "" means "openai". It is the first part of the name
	// of the model, as in groq:llama-3.3-70b-versatile.
	Vendor string

	Key          string `json:"-"` // "" sends none, as local servers like it
	KeyHeader    string // the header that carries the key as it is; "" means Authorization, as a bearer token
	KeyVariable  string // the environment variable that hints name; "" means OPENAI_API_KEY
	Organization string
	Project      string
	Headers      map[string]string `json:"-"` // sent with each call, and kept secret as keys may be among them

	// Authorize is what a cloud wants instead of a key; nil adds nothing.
	Authorize Authorize `json:"-"`

	// Thinks says that the model thinks before it answers although it takes all
	// parameters. It gets room for its thoughts, as one that reasons.
	Thinks bool

	// Rejects names the parameters that the server does not take: "temperature",
	// "top_p", "seed", "stop", "top_logprobs", or "schema", for which JSON mode is used.
	// They are not sent, and the reply says so.
	Rejects []string

	// Rename has other names for parameters, as "random_seed" for "seed".
	Rename map[string]string

	// ServiceTier is the class of service that is asked for, as "flex" or
	// "priority"; "" leaves it to the server. Such a class has prices of its own.
	ServiceTier string

	// HTTPClient makes the calls; nil means one made for many calls at once. A
	// redirect is not followed unless the client has a rule for it. A client
	// brings its own proxy and authorities, so it excludes the next two.
	HTTPClient *http.Client `json:"-"`
	Proxy      string       `json:"-"` // the URL of a proxy; "" means what the environment says
	CAFile     string       // a PEM file of authorities to trust besides the system's

	// Timeout bounds one call; 0 means 120 s, and ten minutes for a model that
	// reasons.
	Timeout time.Duration

	// MaxReply bounds the bytes of a reply; 0 means as many as the tokens that are
	// asked for may need, with a floor of 1 MiB.
	MaxReply int

	// Reasoning says whether the model reasons before it answers, as o1, o3, o4
	// and gpt-5 do; nil means to go by its name. Such a model gets
	// max_completion_tokens for max_tokens, and neither temperature, top_p nor
	// logprobs, all of which it rejects.
	Reasoning *bool

	// Thinking is how much a reasoning model thinks: "low", "medium" or
	// "high", which is sent as reasoning_effort, or a number of tokens. Thoughts count
	// against the limit of tokens, so this also adds room to it: 2,048, 8,192 or 24,576
	// tokens, or the number. "off" has a model not think that can do without. "" leaves it
	// to the server, with room of 8,192 tokens for a model that reasons.
	Thinking string
}

// Authorize adds to a call what a cloud wants, as a signature or a token that expires, and
// returns what of it is secret.
type Authorize = func(r *http.Request, body []byte) (secret string, err error)

type hidden = words.Hidden

type client struct {
	*wire.Client

	name        string // as the server knows it
	chat, embed wire.Target
	reasoning   bool
	room        int    // tokens for thoughts, which are added to the limit of a request
	effort      string // "" leaves it to the server
	known       bool   // the name tells whether the model reasons
	serviceTier string
	vendor      string
	rejects     []string
	rename      map[string]string
}

var (
	_ deem.Tuned = (*client)(nil)
	_ deem.Wired = (*client)(nil)
)

// New returns a model that is safe for concurrent use. It calls nobody yet, and does not
// check the key. The model is an [io.Closer] too, which closes its idle connections.
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
	if m.Client, err = wire.New(m.wireOptions(o, base)); err != nil {
		return nil, err
	}
	return m, nil
}

// wireOptions returns what the client needs to know.
func (m *client) wireOptions(o Options, base wire.Base) wire.Options {
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
		w.Timeout = 10 * time.Minute // They may think for minutes before the first byte comes.
	}
	return w
}

// ServiceTier returns the class of service that is asked for, "" when that is left to the
// server.
func (m *client) ServiceTier() string { return m.serviceTier }

// Room returns how many tokens are added to the limit of a request for thoughts, and
// whether it is known that the model needs no more.
func (m *client) Room() (tokens int, known bool) { return m.room, m.known }

// Settings returns what the model rejects, how much it thinks, and the room for that.
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

// Complete makes one call. Its error is a [*deem.ModelError], or wraps that of
// ctx once ctx is done.
func (m *client) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	w := m.encode(req)
	a, err := m.Client.Complete(ctx, m.chat, req, w.body())
	if err != nil {
		return deem.Reply{}, err
	}
	if !a.OK() {
		return deem.Reply{}, m.Client.StatusError(a)
	}
	reply, err := m.decode(a)
	if err != nil {
		return deem.Reply{}, err
	}
	reply.Sent, reply.Dropped = w.sent(), m.dropped(req)
	reply.RequestID = a.Header.Get("X-Request-Id")
	reply.Attempts = 1
	return reply, nil
}
