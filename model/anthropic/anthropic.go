// Package anthropic implements the wire format of Anthropic's Messages API and of
// compatible servers.
//
// The package makes one HTTP call for a request, and classifies each error as transient, as
// an error of this item, or as fatal to the run. Retries, limits and prices are handled by
// package model.
//
// Fields of a [deem.Request] that the API does not support are dropped: there are no seeds
// and no log-probabilities, and Request.JSON without a schema is left to the prompt, to
// which nothing is added. A token limit is mandatory in the API: a request without one gets
// [defaultMaxTokens].
//
// Keys never appear in text that the package produces: errors, String and panics. If a
// server repeats the key in an error, it is redacted.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/wire"
	"deem/internal/words"
)

// defaultBaseURL is the address of Anthropic itself.
const defaultBaseURL = "https://api.anthropic.com/v1"

// defaultMaxTokens is the token limit of a request that has none. All models allow it, and
// no verdict needs more.
const defaultMaxTokens = 4096

// version is the version of the API that this package is written for.
const version = "2023-06-01"

// Options configure which model is called and how.
type Options struct {
	hidden
	Model string // the server's name for it, for example "claude-sonnet-4-5-20250929"

	// BaseURL is the address of the server; "" means defaultBaseURL. It may end with or
	// without a slash, without /v1, or with the full /v1/messages.
	BaseURL string `json:"-"` // may contain a password

	Key     string            `json:"-"` // "" sends none, for local servers
	Headers map[string]string `json:"-"` // sent with each call; secret, because they may contain keys
	Beta    []string          // names of beta features to enable

	// HTTPClient makes the calls; nil means a client tuned for many concurrent calls.
	// Redirects are not followed unless the client has a policy for them. A client has its
	// own proxy and certificate authorities, so it excludes the next two.
	HTTPClient *http.Client `json:"-"`
	Proxy      string       `json:"-"` // the URL of a proxy; "" means the environment's
	CAFile     string       // a PEM file of certificate authorities, trusted in addition to the system's

	// Timeout limits one call; 0 means 120 s, and ten minutes for a model that thinks.
	Timeout time.Duration

	// MaxReply limits the bytes of a reply; 0 means enough for the requested tokens, and at
	// least 1 MiB.
	MaxReply int

	// Thinking is how much a reasoning model thinks: "low", "medium", "high", or a number
	// of tokens. It is sent as a budget to models before 4.6, and as adaptive thinking with
	// an effort to later ones. Thinking counts against the token limit, so room is added to
	// it: 2,048, 8,192 or 24,576 tokens, or the number. "adaptive" and "disabled" are sent
	// unchanged, and "off" means "disabled". "" means the model's default, with room of
	// 8,192 tokens for a model that thinks by default.
	//
	// ThinkingTokens is a budget for thinking, for any model. Effort is how hard the model
	// tries: "low", "medium", "high"; "" means the server's default.
	Thinking       string
	ThinkingTokens int
	Effort         string

	// Sampling says whether the model accepts temperature and top_p, which models from 4.7
	// on reject; nil means to decide by its name. They are not sent to a model that rejects
	// them or that thinks.
	Sampling *bool

	// Structured is how the schema of a request is enforced: "format" makes the server
	// enforce it (output_config), "tool" makes the model call a tool whose input has the
	// schema; "" means the first if the model and the schema allow it, otherwise the
	// second.
	Structured string
}

// check rejects options that no server accepts.
func (o Options) check() error {
	switch {
	case o.Model == "":
		return deem.WithHint(errors.New("no model named"), "name one, as in anthropic:claude-sonnet-4-5")
	case o.ThinkingTokens != 0 && o.Thinking != "":
		return errors.New("a budget for thinking excludes the other ways to think")
	case o.ThinkingTokens != 0 && o.ThinkingTokens < minBudget:
		return fmt.Errorf("a budget of %d tokens for thinking is below the %d that the API wants", o.ThinkingTokens, minBudget)
	case o.Structured != "" && o.Structured != "format" && o.Structured != "tool":
		return deem.WithHint(fmt.Errorf("structured %q is not known", o.Structured), `"format" and "tool" are`)
	}
	return nil
}

type hidden = words.Hidden

type client struct {
	*wire.Client

	name       string // the server's name
	messages   wire.Target
	thinking   *thinking
	thinks     bool
	room       int // thinking tokens added to the limit of a request
	effort     string
	sampling   bool
	structured string
}

var (
	_ deem.Tuned = (*client)(nil)
	_ deem.Wired = (*client)(nil)
)

// New returns a model that is safe for concurrent use. It makes no call and does not check
// the key. The model is also an [io.Closer], which closes its idle connections.
func New(o Options) (deem.Model, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	base, err := wire.ParseBase(o.BaseURL, defaultBaseURL)
	if err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	base = base.WithPath(strings.TrimSuffix(base.Path(), "/messages"))
	if !strings.HasSuffix(base.Path(), "/v1") {
		base = base.WithPath(base.Path() + "/v1") // Other clients omit it.
	}
	family := familyOf(o.Model)
	m := &client{
		name:       o.Model,
		messages:   base.To("/messages"),
		effort:     o.Effort,
		sampling:   family.takesSampling(),
		structured: o.Structured,
	}
	if err := m.think(o, family); err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	m.thinks = m.thinking.on() || m.thinking == nil && family.thinksUnasked()
	if o.Sampling != nil {
		m.sampling = *o.Sampling
	}
	if m.structured == "" && !family.takesFormat() {
		m.structured = "tool"
	}
	if o.Timeout <= 0 && m.thinks {
		o.Timeout = 10 * time.Minute // They may think for minutes before the first byte.
	}
	m.Client, err = wire.New(wire.Options{
		Vendor:      "anthropic",
		Model:       o.Model,
		Base:        base,
		Key:         o.Key,
		KeyHeader:   "X-Api-Key",
		KeyVariable: "ANTHROPIC_API_KEY",
		Keyed:       "api.anthropic.com",
		KeyHint:     "set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL to call another server",
		Fixed:       map[string]string{"Anthropic-Version": version, "Anthropic-Beta": strings.Join(o.Beta, ",")},
		Headers:     o.Headers,
		Cause:       cause,
		TypeIsCode:  true,
		Timeout:     o.Timeout,
		MaxReply:    o.MaxReply,
		HTTPClient:  o.HTTPClient,
		Proxy:       o.Proxy,
		CAFile:      o.CAFile,
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Room returns how many tokens are added to the limit of a request for thinking. It is
// always known whether a model of this API thinks: by its name, or because it is requested.
func (m *client) Room() (tokens int, known bool) { return m.room, true }

// Settings returns the non-default settings: how the model thinks, the room for that, how
// hard it tries, and what it rejects.
func (m *client) Settings() string {
	v := url.Values{}
	if !m.samples() {
		v.Set("rejects", "temperature,top_p")
	}
	if m.room > 0 {
		v.Set("room", strconv.Itoa(m.room))
	}
	if m.thinking != nil {
		v.Set("thinking", m.thinking.Type)
		if n := m.thinking.BudgetTokens; n > 0 {
			v.Set("thinking_tokens", strconv.Itoa(n))
		}
	}
	if m.effort != "" {
		v.Set("effort", m.effort)
	}
	return v.Encode()
}

// Complete makes one call. The error is a [*deem.ModelError], or wraps that of ctx if ctx
// is done.
func (m *client) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	w := m.encode(req)
	a, err := m.Client.Complete(ctx, m.messages, req, w)
	reply, err := m.decode(a, err)
	if err != nil {
		return deem.Reply{}, err
	}
	reply.Sent, reply.Dropped = w.sent(), m.dropped(req)
	reply.RequestID = a.Header.Get("Request-Id")
	reply.Attempts = 1
	return reply, nil
}
