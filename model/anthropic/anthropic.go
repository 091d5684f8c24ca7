// Package anthropic speaks the wire format of Anthropic's Messages API, and with
// it that of the servers compatible with it.
//
// The package makes one HTTP call for a request, and says of each error whether
// it may pass, ends this item, or ends the run. Retries, limits and prices are the
// business of package model.
//
// What of a [deem.Request] the wire cannot carry is left out: there are no seeds
// and no log-probabilities, and Request.JSON without a schema is left to the
// prompt, to which nothing is added. A limit of tokens is mandatory there: a
// request without one gets [defaultMaxTokens].
//
// Keys are kept out of every text that the package makes: errors, String and
// panics. Where a server repeats the key in an error, it is blacked out.
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
	"deem/internal/words"
	"deem/model/internal/wire"
)

// defaultBaseURL is where Anthropic itself answers.
const defaultBaseURL = "https://api.anthropic.com/v1"

// defaultMaxTokens is the limit of tokens of a request that has none. All models
// allow as many, and no verdict needs more.
const defaultMaxTokens = 4096

// version is the version of the API that this package is written for.
const version = "2023-06-01"

// Options say which model is called, where and how.
type Options struct {
	hidden
	Model string // as the server knows it, "claude-sonnet-4-5-20250929"

	// BaseURL is the address of the server; "" means defaultBaseURL. It may end
	// with or without a slash, without /v1, or with the whole /v1/messages.
	BaseURL string `json:"-"` // it may hold a password

	Key     string            `json:"-"` // "" sends none, as local servers like it
	Headers map[string]string `json:"-"` // sent with each call, and kept secret as keys may be among them
	Beta    []string          // names of beta features to turn on

	// HTTPClient makes the calls; nil means one made for many calls at once. A
	// redirect is not followed unless the client has a rule for it. A client
	// brings its own proxy and authorities, so it excludes the next two.
	HTTPClient *http.Client `json:"-"`
	Proxy      string       `json:"-"` // the URL of a proxy; "" means what the environment says
	CAFile     string       // a PEM file of authorities to trust besides the system's

	// Timeout bounds one call; 0 means 120 s, and ten minutes for a model that
	// thinks.
	Timeout time.Duration

	// MaxReply bounds the bytes of a reply; 0 means as many as the tokens that are
	// asked for may need, with a floor of 1 MiB.
	MaxReply int

	// Thinking is how much a reasoning model thinks: "low", "medium", "high",
	// or a number of tokens. It is sent as a budget to models before 4.6, and as adaptive
	// thinking with an effort to later ones. Thoughts count against the limit of tokens,
	// so that room is added to it: 2,048, 8,192 or 24,576 tokens, or the number.
	// "adaptive" and "disabled" are sent as they are, and "off" means "disabled". ""
	// leaves it to the model, with room of 8,192 tokens for one that thinks unless it is
	// told not to.
	//
	// ThinkingTokens is a budget for thinking, whatever the model. Effort is how hard the
	// model tries: "low", "medium", "high"; "" leaves it to the server.
	Thinking       string
	ThinkingTokens int
	Effort         string

	// Sampling says whether the model takes temperature and top_p, which models
	// from 4.7 on reject; nil means to go by its name. One that does not take them
	// is not sent them, and neither is one that thinks.
	Sampling *bool

	// Structured says how a reply is held to the schema of a request: "format" has
	// the server enforce it (output_config), "tool" has the model call a tool whose
	// input it describes; "" takes the first where the model and the schema allow
	// it, else the second.
	Structured string
}

// check refuses what no server takes.
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

	name       string // as the server knows it
	messages   wire.Target
	thinking   *thinking
	thinks     bool
	room       int // tokens for thoughts, which are added to the limit of a request
	effort     string
	sampling   bool
	structured string
}

var (
	_ deem.Tuned = (*client)(nil)
	_ deem.Wired = (*client)(nil)
)

// New returns a model that is safe for concurrent use. It calls nobody yet, and does not
// check the key. The model is an [io.Closer] too, which closes its idle connections.
func New(o Options) (deem.Model, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	base, err := parseAddress(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
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
	if m.Client, err = wire.New(m.wireOptions(o, base)); err != nil {
		return nil, err
	}
	return m, nil
}

// wireOptions returns what the client needs to know.
func (m *client) wireOptions(o Options, base wire.Base) wire.Options {
	w := wire.Options{
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
	}
	if w.Timeout <= 0 && m.thinks {
		w.Timeout = 10 * time.Minute // They may think for minutes before the first byte comes.
	}
	return w
}

// parseAddress reads a base URL in any of the forms that people write. That of
// other clients ends before /v1.
func parseAddress(text string) (wire.Base, error) {
	b, err := wire.ParseBase(text, defaultBaseURL)
	if err != nil {
		return wire.Base{}, err
	}
	path := strings.TrimSuffix(b.Path(), "/messages")
	if !strings.HasSuffix(path, "/v1") {
		path += "/v1"
	}
	return b.WithPath(path), nil
}

// Room returns how many tokens are added to the limit of a request for thoughts. It is
// always known whether a model of this API thinks: it says so, or is asked to.
func (m *client) Room() (tokens int, known bool) { return m.room, true }

// Settings returns how the model thinks, the room for that, how hard it tries, and what it
// rejects, as far as that is not the default of the API.
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

// Complete makes one call. Its error is a [*deem.ModelError], or wraps that of
// ctx once ctx is done.
func (m *client) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	w := m.encode(req)
	a, err := m.Client.Complete(ctx, m.messages, req, w)
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
	reply.RequestID = a.Header.Get("Request-Id")
	reply.Attempts = 1
	return reply, nil
}
