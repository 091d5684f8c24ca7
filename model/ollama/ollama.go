// Package ollama speaks the wire format of Ollama: its own /api/chat, which unlike the
// OpenAI-compatible one says how large the window is, and /api/embed.
//
// The package says of each error whether it may pass, ends this item, or ends the
// run. Retries, limits and prices are the business of package model.
//
// # Long prompts
//
// Ollama runs a model with a window of so many tokens, on small machines 4096. Of a
// prompt that is longer it drops the beginning, instructions first, and answers as if
// nothing were missing. A verdict on half an item is wrong and looks right, so that
// three things guard against it:
//
//   - the window is made large enough: the first call asks once, through /api/show,
//     what the model was made for, and each call has a window with room for its prompt
//     and its reply. It is a power of two and never shrinks, as Ollama loads the model
//     anew for each change, which takes seconds;
//   - Ollama is told to refuse a prompt that does not fit. If our estimate was too low,
//     the call is made once more with a window for the number of tokens that Ollama
//     counted. A prompt that the model cannot take is an error of its item;
//   - versions before 0.12.6 do not know that wish. What they count gives them away,
//     and the reply is not used.
//
// Options.ContextLength fixes the window instead.
//
// # Usage
//
// Ollama does not count the tokens of a prompt that it still remembers: the input of
// such a reply is 0, or that of its last part. It does not tell thoughts from text
// when it counts, so that reasoning is 0 and part of the output. What a model thinks
// is not part of the text of its reply.
package ollama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"deem"
	"deem/internal/words"
	"deem/model/internal/wire"
)

// Options say which model is called and where.
type Options struct {
	hidden
	Model string // as Ollama lists it, "llama3.2" or "qwen3:14b"

	// BaseURL is the address of the server in any of the forms that [BaseURL]
	// reads; "" means defaultBaseURL.
	BaseURL string

	Key     string            `json:"-"` // for a hosted server; "" sends none
	Headers map[string]string `json:"-"` // sent with each call, and kept secret as keys may be among them

	// HTTPClient makes the calls; nil means one made for many calls at once. A
	// redirect is not followed unless the client has a rule for it.
	HTTPClient *http.Client `json:"-"`

	Proxy  string `json:"-"` // a URL; "" means what the environment says
	CAFile string // a PEM file of authorities to trust besides the system's; "" means none

	// Timeout bounds one call; 0 means ten minutes, as the first one waits for
	// the model to be loaded.
	Timeout time.Duration

	// MaxReply bounds the bytes of a reply; 0 means as many as the tokens that are
	// asked for may need, with a floor of 1 MiB.
	MaxReply int

	// ContextLength is the size of the window in tokens, prompt and reply
	// together; 0 has it fit each prompt. A prompt that does not fit is an error
	// of its item.
	ContextLength int

	// Think says whether a model that can think does so before it answers: "on",
	// "off", or how much where it takes that: "low", "medium", "high". "" leaves
	// it to the server. A model that cannot think rejects all but "" and "off".
	Think string

	// Thinking is how much the model thinks: "low", "medium", "high", "off", or a number
	// of tokens. It is sent as "think": the level to models that take one, as gpt-oss, and
	// true to others. Thoughts count against the limit of tokens, so that room is added to
	// it: 2,048, 8,192 or 24,576 tokens, or the number. "" leaves it to the server, with
	// room of 8,192 tokens for a model that is known to think.
	Thinking string
}

type hidden = words.Hidden

type client struct {
	*wire.Client

	name          string
	chatTarget    wire.Target
	showTarget    wire.Target
	embedTarget   wire.Target
	contextLength int
	think         any // a bool, a word, or nil
	room          int // tokens for thoughts, which are added to the limit of a request

	learning chan struct{} // held by the call that asks about the model
	facts    atomic.Pointer[facts]
	grown    atomic.Int64 // the largest window that has worked
}

var (
	_ deem.Tuned = (*client)(nil)
	_ deem.Wired = (*client)(nil)
)

// keyVariable is where people keep the key for a hosted server.
const keyVariable = "OLLAMA_API_KEY"

// New returns a model that is safe for concurrent use. It calls nobody yet. The model is an
// [io.Closer] too, which closes its idle connections.
func New(o Options) (deem.Model, error) {
	name := strings.TrimSpace(o.Model)
	if name == "" {
		return nil, deem.WithHint(errors.New("ollama: no model named"), "name one, as in ollama:llama3.2")
	}
	if o.ContextLength < 0 {
		return nil, fmt.Errorf("ollama: a context length of %d", o.ContextLength)
	}
	think, room, err := thinking(name, o)
	if err != nil {
		return nil, fmt.Errorf("ollama: %w", err)
	}
	base, err := parseBase(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("ollama: %w", err)
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Minute
	}
	c, err := wire.New(wire.Options{
		Vendor: "ollama", Model: name, Base: base,
		Key: o.Key, KeyHeader: "Authorization", KeyPrefix: "Bearer ", KeyVariable: keyVariable,
		Headers: o.Headers, HTTPClient: o.HTTPClient, Proxy: o.Proxy, CAFile: o.CAFile, Timeout: o.Timeout, MaxReply: o.MaxReply,
	})
	if err != nil {
		return nil, err
	}
	return &client{
		name: name, Client: c, contextLength: o.ContextLength, think: think, room: room,
		chatTarget: base.To("/api/chat"), showTarget: base.To("/api/show"), embedTarget: base.To("/api/embed"),
		learning: make(chan struct{}, 1),
	}, nil
}

// parseBase reads the address of a server.
func parseBase(text string) (wire.Base, error) {
	address, err := BaseURL(text)
	if err != nil {
		return wire.Base{}, err
	}
	return wire.ParseBase(address, defaultBaseURL)
}

// thinking returns how the wire says whether to think, and the room for thoughts.
func thinking(name string, o Options) (think any, room int, err error) {
	if o.Thinking == "" {
		think, err = readThink(o.Think)
		if think != false && (think != nil || thinks(name)) {
			room = wire.DefaultRoom
		}
		return think, room, err
	}
	if o.Think != "" {
		return nil, 0, errors.New("thinking excludes think")
	}
	t, err := wire.ParseThinking(o.Thinking)
	switch {
	case err != nil:
		return nil, 0, err
	case t.Off:
		return false, 0, nil
	case !strings.HasPrefix(family(name), "gpt-oss"):
		return true, t.Tokens, nil
	case t.Level == "":
		return nil, t.Tokens, nil // It always thinks, and takes no number.
	default:
		return t.Level, t.Tokens, nil
	}
}

// thinkers are the families of models that think unless they are told not to. Of others
// the server says it.
var thinkers = []string{"gpt-oss", "deepseek-r1", "qwen3", "qwq", "magistral", "phi4-reasoning", "phi4-mini-reasoning", "smollm3", "glm-4.7", "kimi-k2-thinking", "minimax-m2"}

// thinks reports whether a model of this name is known to think.
func thinks(name string) bool {
	if strings.Contains(name, "instruct") || strings.Contains(name, "coder") || strings.Contains(name, "embedding") {
		return false // They are relatives of those that do.
	}
	return slices.ContainsFunc(thinkers, func(t string) bool { return strings.HasPrefix(family(name), t) })
}

// family returns the name of a model without the library that it is from.
func family(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// readThink returns how the wire says whether to think.
func readThink(word string) (any, error) {
	switch word {
	case "":
		return nil, nil
	case "on":
		return true, nil
	case "off":
		return false, nil
	case "low", "medium", "high", "max":
		return word, nil
	default:
		return nil, deem.WithHint(fmt.Errorf("%q does not say how to think", word), "write on, off, low, medium or high")
	}
}

// Room returns how many tokens are added to the limit of a request for thoughts, and
// whether it is known that the model needs no more. Where its name does not tell, the
// server does, unless a given window saves asking it.
func (m *client) Room() (tokens int, known bool) {
	return m.room, m.room > 0 || m.think == false || m.contextLength == 0
}

// Settings returns how the model thinks and the room for that: the verdicts of a model
// that thinks are not those of one that does not.
func (m *client) Settings() string {
	v := url.Values{}
	if m.think != nil {
		v.Set("think", fmt.Sprint(m.think))
	}
	if m.room > 0 {
		v.Set("room", strconv.Itoa(m.room))
	}
	return v.Encode()
}

// Complete makes one call, the first time after asking about the model, and a second
// one if the server found the window too small and a larger one can be had. Its error
// is a [*deem.ModelError], or wraps that of ctx once ctx is done.
func (m *client) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if err := ctx.Err(); err != nil {
		return deem.Reply{}, err
	}
	f, err := m.known(ctx)
	if err != nil {
		return deem.Reply{}, err
	}
	if err := m.cramped(req, f); err != nil {
		return deem.Reply{}, err
	}
	window := m.window(req, f)
	a, err := m.chat(ctx, req, window)
	if err != nil {
		return deem.Reply{}, err
	}
	if !a.OK() {
		if wider, ok := m.wider(m.trouble(a), req, f, window); ok {
			window = wider
			if a, err = m.chat(ctx, req, window); err != nil {
				return deem.Reply{}, err
			}
		}
	}
	reply, err := m.read(a, window, f)
	if err == nil {
		reply.Sent, _ = m.Wire(req)
	}
	return reply, err
}

// cramped refuses a request whose limit of tokens the model would use up by thinking: the
// server says that it thinks, and nobody gave it room.
func (m *client) cramped(req deem.Request, f facts) error {
	if !f.thinks || m.think == false || m.room > 0 || req.MaxTokens <= 0 {
		return nil
	}
	err := fmt.Errorf("the server says that %s is a reasoning model, but the judge allows %d tokens for the answer and none for reasoning", m.name, req.MaxTokens)
	return &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: deem.WithHint(err, "add --thinking medium, low, high, a number of tokens, or off")}
}

// known returns what is known about the model. With a window that is given there is
// no need to ask.
func (m *client) known(ctx context.Context) (facts, error) {
	if m.contextLength > 0 {
		return facts{floor: m.contextLength}, nil
	}
	return m.learn(ctx)
}

// chat makes the call for req in a window.
func (m *client) chat(ctx context.Context, req deem.Request, window int) (wire.Answer, error) {
	return m.Client.Complete(ctx, m.chatTarget, req, m.encode(req, window))
}

// read makes a reply or an error of an answer.
func (m *client) read(a wire.Answer, window int, f facts) (deem.Reply, error) {
	grown := window > f.floor
	if !a.OK() {
		return deem.Reply{}, m.statusError(a, grown)
	}
	reply, err := decode(a.Text)
	if errors.Is(err, errWithin) {
		return deem.Reply{}, m.statusError(a, grown)
	}
	if err != nil {
		return deem.Reply{}, m.Client.Garbled(a, err)
	}
	m.grow(window)
	if err := cut(reply.Usage, window); err != nil {
		return deem.Reply{}, err
	}
	reply.Fingerprint = f.prints
	reply.Attempts = 1
	return m.Client.Clean(reply), nil
}
