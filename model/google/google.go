// Package google speaks the wire format of Google's Gemini API: generateContent of
// its version v1beta.
//
// The package makes one HTTP call for a request, and says of each error whether
// it may pass, ends this item, or ends the run. Retries, limits and prices are the
// business of package model.
//
// The key goes into a header, never into the URL, and is kept out of every text that
// the package makes: errors, String and panics. Where a server repeats the key in an
// error, it is blacked out.
//
// # Models that think
//
// Most Gemini models think before they answer, and what they think counts against
// maxOutputTokens. Therefore such a model gets room for its thoughts besides the MaxTokens
// of a request. Thoughts are never part of the text; their tokens are counted as reasoning
// and as output.
//
// # Filters
//
// A prompt that Google blocks is a [*deem.ModelError] of kind refused: there is no
// reply. A reply that a filter cuts off has [deem.StopFilter] and what there was of
// the text. Neither is a verdict.
package google

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"deem"
	"deem/internal/words"
	"deem/model/internal/wire"
)

// defaultBaseURL is where Google itself answers.
const defaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// Options say which model is called and where.
type Options struct {
	hidden
	Model string // "gemini-2.5-flash", with or without "models/" before it

	// BaseURL is the address of the server; "" means defaultBaseURL. It may end
	// with or without a slash, and without /v1beta if it has no path at all. What
	// follows it is /models/NAME:generateContent, so that
	// https://aiplatform.googleapis.com/v1/publishers/google calls Vertex AI.
	BaseURL string

	Key     string            `json:"-"` // "" sends none, as gateways may like it
	Headers map[string]string `json:"-"` // sent with each call, and kept secret as keys may be among them

	// HTTPClient makes the calls; nil means one made for many calls at once. A
	// redirect is not followed unless the client has a rule for it.
	HTTPClient *http.Client `json:"-"`

	Proxy  string `json:"-"` // a URL; "" means what the environment says
	CAFile string // a PEM file of authorities to trust besides the system's; "" means none

	// Timeout bounds one call; 0 means five minutes, as most models think before
	// they answer.
	Timeout time.Duration

	// MaxReply bounds the bytes of a reply; 0 means as many as the tokens that are
	// asked for may need, with a floor of 1 MiB.
	MaxReply int

	// ThinkingBudget is how many tokens the model may think, as the 2.5 models
	// take it: 0 turns it off where that can be, -1 leaves it to the model. nil
	// sends none. ThinkingLevel is how much it thinks, as the later models take
	// it: "low", "high"; "" sends none.
	ThinkingBudget *int
	ThinkingLevel  string

	// Thinking is how much the model thinks: "low", "medium", "high", or a number of
	// tokens. It is sent as a budget to the 2.5 models and as a level to later ones, which
	// take no number. Thoughts count against the limit of tokens, so that room is added to
	// it: 2,048, 8,192 or 24,576 tokens, or the number. "off" is a budget of 0. ""
	// leaves it to the model, with room of 8,192 tokens for one that thinks.
	Thinking string
}

type hidden = words.Hidden

type client struct {
	*wire.Client

	name     string // without "models/"
	target   wire.Target
	thinking *thinkingConfig
	room     int // tokens for thoughts, which are added to the limit of a request
}

var (
	_ deem.Tuned = (*client)(nil)
	_ deem.Wired = (*client)(nil)
)

// New returns a model that is safe for concurrent use. It calls nobody yet, and does not
// check the key. The model is an [io.Closer] too, which closes its idle connections.
func New(o Options) (deem.Model, error) {
	name := strings.TrimPrefix(strings.TrimSpace(o.Model), "models/")
	if name == "" {
		return nil, deem.WithHint(errors.New("google: no model named"), "name one, as in google:gemini-2.5-flash")
	}
	base, err := parseBase(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("google: %w", err)
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
	m := &client{name: name, Client: c, target: base.To(resource(name) + ":generateContent")}
	if err := m.think(o); err != nil {
		return nil, fmt.Errorf("google: %w", err)
	}
	return m, nil
}

// keyVariable is where people keep the key.
const keyVariable = "GEMINI_API_KEY"

// parseBase reads a base URL. A key in its query, as the API's own examples have it,
// would be in the logs of every proxy on the way, so it is refused.
func parseBase(text string) (wire.Base, error) {
	base, err := wire.ParseBase(text, defaultBaseURL)
	if err != nil {
		return wire.Base{}, err
	}
	if base.Query().Has("key") {
		return wire.Base{}, deem.WithHint(errors.New("the base URL holds a key"), "set %s instead", keyVariable)
	}
	if base.Path() == "" {
		base = base.WithPath("/v1beta")
	}
	return base.WithPath(strings.TrimSuffix(base.Path(), "/models")), nil
}

// resource returns the path of a model. A tuned one has a folder of its own in its
// name.
func resource(name string) string {
	if strings.HasPrefix(name, "tunedModels/") {
		return "/" + name
	}
	return "/models/" + name
}

// Room returns how many tokens are added to the limit of a request for thoughts, and
// whether it is known that the model needs no more.
func (m *client) Room() (tokens int, known bool) {
	return m.room, m.room > 0 || m.thinking != nil || strings.HasPrefix(m.name, "gemini-1") || strings.HasPrefix(m.name, "gemini-2")
}

// Settings returns how the model thinks and the room for that: the verdicts of a model
// that thinks are not those of one that does not.
func (m *client) Settings() string { return m.thinking.settings(m.room) }

// Complete makes one call. Its error is a [*deem.ModelError], or wraps that of
// ctx once ctx is done.
func (m *client) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	w := m.encode(req)
	a, err := m.Client.Complete(ctx, m.target, req, w)
	if err != nil {
		return deem.Reply{}, err
	}
	if !a.OK() {
		return deem.Reply{}, m.statusError(a)
	}
	reply, err := decode(a.Text)
	if err != nil {
		return deem.Reply{}, m.replyError(a, err)
	}
	reply.Sent = w.GenerationConfig.sent()
	reply.Attempts = 1
	return m.Client.Clean(reply), nil
}

// replyError makes an error of a successful answer that is not a reply.
func (m *client) replyError(a wire.Answer, err error) error {
	if errors.Is(err, errWithin) {
		return m.statusError(a)
	}
	if blocked, ok := errors.AsType[*errBlocked](err); ok {
		line := func(text string) string { return wire.OneLine([]byte(m.Client.Redact(text))) }
		return &deem.ModelError{Kind: deem.Refused, Code: line(blocked.reason), Err: errors.New(line(blocked.Error()))}
	}
	return m.Client.Garbled(a, err)
}
