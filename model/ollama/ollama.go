// Package ollama implements the wire format of Ollama: its own /api/chat, which unlike the
// OpenAI-compatible API can set the size of the window, and /api/embed.
//
// The package classifies each error as transient, as an error of this item, or as fatal to
// the run. Retries, limits and prices are handled by package model.
//
// # Long prompts
//
// Ollama runs a model with a window of a fixed number of tokens, 4096 on small machines. It
// drops the beginning of a longer prompt, instructions first, and answers as if nothing
// were missing. A verdict on half an item is wrong and looks right, so three things guard
// against it:
//
//   - the window is made large enough: before the first call, /api/show is asked once
//     for the model's maximum, and each call has a window with room for its prompt
//     and its reply. It is a power of two and never shrinks, because Ollama reloads the
//     model for each change, which takes seconds;
//   - Ollama is told to refuse a prompt that does not fit. If our estimate was too low,
//     the call is repeated with a window for the number of tokens that Ollama counted.
//     A prompt that is too long for the model is an error of its item;
//   - versions before 0.12.6 ignore that option. Truncation is detected from their token
//     counts, and the reply is not used.
//
// Options.ContextLength fixes the window instead.
//
// # Usage
//
// Ollama does not count the tokens of a prompt that it has cached: the input of such a
// reply is 0, or that of its last part. It does not count thoughts separately, so reasoning
// is 0 and included in the output. Thoughts are not part of the text of a reply.
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
	"deem/internal/wire"
	"deem/internal/words"
)

// Options configure which model is called and how.
type Options struct {
	hidden
	Model string // Ollama's name for it, "llama3.2" or "qwen3:14b"

	// BaseURL is the address of the server in any format that [BaseURL] accepts; "" means
	// defaultBaseURL.
	BaseURL string

	Key     string            `json:"-"` // for a hosted server; "" sends none
	Headers map[string]string `json:"-"` // sent with each call; secret, because they may contain keys

	// HTTPClient makes the calls; nil means a client tuned for many concurrent calls.
	// Redirects are not followed unless the client has a policy for them.
	HTTPClient *http.Client `json:"-"`

	Proxy  string `json:"-"` // a URL; "" means the environment's
	CAFile string // a PEM file of certificate authorities, trusted in addition to the system's; "" means none

	// Timeout limits one call; 0 means ten minutes, because the first call waits until the
	// model is loaded.
	Timeout time.Duration

	// MaxReply limits the bytes of a reply; 0 means enough for the requested tokens, and at
	// least 1 MiB.
	MaxReply int

	// ContextLength is the size of the window in tokens, prompt and reply together; 0 means
	// to adapt it to each prompt. A prompt that does not fit is an error of its item.
	ContextLength int

	// Think says whether a model that can think does so before it answers: "on", "off", or
	// a level if it accepts one: "low", "medium", "high". "" means the server's default. A
	// model that cannot think rejects all but "" and "off".
	Think string

	// Thinking is how much the model thinks: "low", "medium", "high", "off", or a number of
	// tokens. It is sent as "think": the level to models that accept one, such as gpt-oss,
	// and true to others. Thinking counts against the token limit, so room is added to it:
	// 2,048, 8,192 or 24,576 tokens, or the number. "" means the server's default, with
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
	room          int // thinking tokens added to the limit of a request

	learning chan struct{} // held by the call that asks about the model
	facts    atomic.Pointer[facts]
	grown    atomic.Int64 // the largest window that has worked
}

var (
	_ deem.Tuned = (*client)(nil)
	_ deem.Wired = (*client)(nil)
)

// keyVariable is the environment variable of the key for a hosted server.
const keyVariable = "OLLAMA_API_KEY"

// New returns a model that is safe for concurrent use. It makes no call. The model is also
// an [io.Closer], which closes its idle connections.
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
	address, err := BaseURL(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("ollama: %w", err)
	}
	base, err := wire.ParseBase(address, defaultBaseURL)
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

// thinking returns the value of "think" and the room for thinking.
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
		return nil, t.Tokens, nil // It always thinks, and accepts no number.
	default:
		return t.Level, t.Tokens, nil
	}
}

// thinkers are the model families that think by default. For others the server tells.
var thinkers = []string{"gpt-oss", "deepseek-r1", "qwen3", "qwq", "magistral", "phi4-reasoning", "phi4-mini-reasoning", "smollm3", "glm-4.7", "kimi-k2-thinking", "minimax-m2"}

// thinks reports whether the named model is known to think.
func thinks(name string) bool {
	if strings.Contains(name, "instruct") || strings.Contains(name, "coder") || strings.Contains(name, "embedding") {
		return false // They share a prefix with models that think.
	}
	return slices.ContainsFunc(thinkers, func(t string) bool { return strings.HasPrefix(family(name), t) })
}

// family returns the name of a model without its namespace.
func family(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// readThink returns the value of "think" for a word.
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

// Room returns how many tokens are added to the limit of a request for thinking, and
// whether this is known to be enough. If the name does not tell, the server is asked,
// unless ContextLength makes that unnecessary.
func (m *client) Room() (tokens int, known bool) {
	return m.room, m.room > 0 || m.think == false || m.contextLength == 0
}

// Settings returns how the model thinks and the room for that, because thinking changes its
// verdicts.
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

// Complete makes one call. The first time, it asks about the model before. It makes a
// second call if the server found the window too small and a larger one is possible. The
// error is a [*deem.ModelError], or wraps that of ctx if ctx is done.
func (m *client) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if err := ctx.Err(); err != nil {
		return deem.Reply{}, err
	}
	f, err := m.learn(ctx)
	if err != nil {
		return deem.Reply{}, err
	}
	if f.thinks && m.think != false && m.room <= 0 && req.MaxTokens > 0 {
		err := fmt.Errorf("the server says that %s is a reasoning model, but the judge allows %d tokens for the answer and none for reasoning", m.name, req.MaxTokens)
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: deem.WithHint(err, "add --thinking medium, low, high, a number of tokens, or off")}
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
	reply, err := m.decode(a, window, f)
	if err == nil {
		reply.Sent, _ = m.Wire(req)
	}
	return reply, err
}

// chat makes the call for req with a window.
func (m *client) chat(ctx context.Context, req deem.Request, window int) (wire.Answer, error) {
	return m.Client.Complete(ctx, m.chatTarget, req, m.encode(req, window))
}
