// Package google implements the wire format of Google's Gemini API: generateContent of
// version v1beta.
//
// The package makes one HTTP call for a request, and classifies each error as transient, as
// an error of this item, or as fatal to the run. Retries, limits and prices are handled by
// package model.
//
// The key is sent in a header, never in the URL, and never appears in text that the package
// produces: errors, String and panics. If a server repeats the key in an error, it is
// redacted.
//
// # Models that think
//
// Most Gemini models think before they answer, and thinking counts against maxOutputTokens.
// Therefore such a model gets room for thinking in addition to the MaxTokens of a request.
// Thoughts are never part of the text; their tokens are counted as reasoning and as output.
//
// # Filters
//
// A prompt that Google blocks is a [*deem.ModelError] of kind refused: there is no reply. A
// reply that a filter cuts off has [deem.StopFilter] and the text so far. Neither is a
// verdict.
package google

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

// defaultBaseURL is the address of Google itself.
const defaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// Options configure which model is called and how.
type Options struct {
	hidden
	Model string // "gemini-2.5-flash", with or without the prefix "models/"

	// BaseURL is the address of the server; "" means defaultBaseURL. It may end with or
	// without a slash, and without /v1beta if it has no path at all. It is followed by
	// /models/NAME:generateContent, so that
	// https://aiplatform.googleapis.com/v1/publishers/google calls Vertex AI.
	BaseURL string

	Key     string            `json:"-"` // "" sends none, for gateways
	Headers map[string]string `json:"-"` // sent with each call; secret, because they may contain keys

	// HTTPClient makes the calls; nil means a client tuned for many concurrent calls.
	// Redirects are not followed unless the client has a policy for them.
	HTTPClient *http.Client `json:"-"`

	Proxy  string `json:"-"` // a URL; "" means the environment's
	CAFile string // a PEM file of certificate authorities, trusted in addition to the system's; "" means none

	// Timeout limits one call; 0 means five minutes, since most models think before they
	// answer.
	Timeout time.Duration

	// MaxReply limits the bytes of a reply; 0 means enough for the requested tokens, and at
	// least 1 MiB.
	MaxReply int

	// ThinkingBudget is the thinking budget in tokens for the 2.5 models: 0 disables
	// thinking where possible, -1 leaves it to the model, and nil sends none. ThinkingLevel
	// is the thinking level for later models: "low", "high"; "" sends none.
	ThinkingBudget *int
	ThinkingLevel  string

	// Thinking is how much the model thinks: "low", "medium", "high", or a number of
	// tokens. It is sent as a budget to the 2.5 models and as a level to later ones, which
	// accept no number. Thinking counts against the token limit, so room is added to it:
	// 2,048, 8,192 or 24,576 tokens, or the number. "off" is a budget of 0. "" means the
	// model's default, with room of 8,192 tokens for a model that thinks.
	Thinking string
}

type hidden = words.Hidden

type client struct {
	*wire.Client

	name     string // without "models/"
	target   wire.Target
	thinking *thinkingConfig
	room     int // thinking tokens added to the limit of a request
}

var (
	_ deem.Tuned = (*client)(nil)
	_ deem.Wired = (*client)(nil)
)

// New returns a model that is safe for concurrent use. It makes no call and does not check
// the key. The model is also an [io.Closer], which closes its idle connections.
func New(o Options) (deem.Model, error) {
	name := strings.TrimPrefix(strings.TrimSpace(o.Model), "models/")
	if name == "" {
		return nil, deem.WithHint(errors.New("google: no model named"), "name one, as in google:gemini-2.5-flash")
	}
	base, err := wire.ParseBase(o.BaseURL, defaultBaseURL)
	if err != nil {
		return nil, fmt.Errorf("google: %w", err)
	}
	if base.Query().Has("key") {
		// The API's own examples have it there, and every proxy on the way would log it.
		return nil, deem.WithHint(errors.New("google: the base URL holds a key"), "set %s instead", keyVariable)
	}
	if base.Path() == "" {
		base = base.WithPath("/v1beta")
	}
	base = base.WithPath(strings.TrimSuffix(base.Path(), "/models"))
	path := "/models/" + name
	if strings.HasPrefix(name, "tunedModels/") {
		path = "/" + name
	}
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Minute
	}
	c, err := wire.New(wire.Options{
		Vendor: "google", Model: name, Base: base,
		Key: o.Key, KeyHeader: "X-Goog-Api-Key", KeyVariable: keyVariable,
		Keyed: ".googleapis.com", KeyHint: "set " + keyVariable + ", or give the base URL of another server",
		Headers: o.Headers, HTTPClient: o.HTTPClient, Proxy: o.Proxy, CAFile: o.CAFile, Timeout: o.Timeout, MaxReply: o.MaxReply,
	})
	if err != nil {
		return nil, err
	}
	m := &client{name: name, Client: c, target: base.To(path + ":generateContent")}
	if err := m.think(o); err != nil {
		return nil, fmt.Errorf("google: %w", err)
	}
	return m, nil
}

const keyVariable = "GEMINI_API_KEY"

// Room returns how many tokens are added to the limit of a request for thinking, and
// whether this is known to be enough.
func (m *client) Room() (tokens int, known bool) {
	return m.room, m.room > 0 || m.thinking != nil || strings.HasPrefix(m.name, "gemini-1") || strings.HasPrefix(m.name, "gemini-2")
}

// Settings returns how the model thinks and the room for that, because thinking changes its
// verdicts.
func (m *client) Settings() string {
	v := url.Values{}
	if m.room > 0 {
		v.Set("room", strconv.Itoa(m.room))
	}
	if m.thinking != nil && m.thinking.ThinkingBudget != nil {
		v.Set("thinkingBudget", strconv.Itoa(*m.thinking.ThinkingBudget))
	}
	if m.thinking != nil && m.thinking.ThinkingLevel != "" {
		v.Set("thinkingLevel", m.thinking.ThinkingLevel)
	}
	return v.Encode()
}

// Complete makes one call. The error is a [*deem.ModelError], or wraps that of ctx if ctx
// is done.
func (m *client) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	w := m.encode(req)
	a, err := m.Client.Complete(ctx, m.target, req, w)
	if err != nil {
		return deem.Reply{}, err
	}
	reply, err := m.decode(a)
	if err != nil {
		return deem.Reply{}, err
	}
	reply.Sent = wire.Sent(w.GenerationConfig)
	reply.Attempts = 1
	return reply, nil
}
