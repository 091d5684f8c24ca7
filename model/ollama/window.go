package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/wire"
)

// The sizes of a window, in tokens.
const (
	// minWindow is Ollama's default on a small machine. A smaller one saves next to
	// nothing.
	minWindow = 4096

	// replyRoom and thinkRoom are reserved for a reply without a limit, the second if the
	// model thinks first.
	replyRoom = 1024
	thinkRoom = 8192
)

// facts are the properties of a model, as the server reports them.
type facts struct {
	length int  // the model's maximum window; 0 if unknown
	floor  int  // the smallest window to request
	remote bool // it runs elsewhere, with a window that we cannot set
	thinks bool
	prints string // its size and quantization, for example "3.2B Q4_K_M"
}

// wireShow is the answer about a model, with the fields we use.
type wireShow struct {
	ModelInfo    map[string]json.RawMessage `json:"model_info"`
	Capabilities []string                   `json:"capabilities"`
	Parameters   string                     `json:"parameters"`
	RemoteModel  string                     `json:"remote_model"`
	RemoteHost   string                     `json:"remote_host"`
	Details      struct {
		ParameterSize     string `json:"parameter_size"`
		QuantizationLevel string `json:"quantization_level"`
	} `json:"details"`
}

// learn returns the facts about the model, which it requests once. Concurrent callers wait
// for one request. With a fixed window there is no need to ask. A failure is not an error:
// a gateway may allow only chats. If the server has a problem, the chat will show it too.
func (m *client) learn(ctx context.Context) (facts, error) {
	if m.contextLength > 0 {
		return facts{floor: m.contextLength}, nil
	}
	if f := m.facts.Load(); f != nil {
		return *f, nil
	}
	select {
	case m.learning <- struct{}{}:
		defer func() { <-m.learning }()
	case <-ctx.Done():
		return facts{}, ctx.Err()
	}
	if f := m.facts.Load(); f != nil {
		return *f, nil
	}
	a, err := m.Client.Post(ctx, m.showTarget, map[string]any{"model": m.name})
	if err != nil {
		return facts{}, err
	}
	if !a.OK() {
		err := m.statusError(a, false)
		cause, _ := m.cause(m.trouble(a), a.Status)
		if me, ok := errors.AsType[*deem.ModelError](err); ok && (me.Passing || cause == wire.NoModel) {
			return facts{}, err
		}
		a.Text = nil // Nothing is known about the model.
	}
	f := readFacts(a.Text)
	m.facts.Store(&f)
	return f, nil
}

// readFacts parses an answer about a model as far as it can.
func readFacts(text []byte) facts {
	var w wireShow
	if json.Unmarshal(text, &w) != nil {
		return facts{floor: minWindow}
	}
	return facts{
		length: w.contextLength(),
		floor:  max(minWindow, w.numCtx()),
		remote: w.RemoteModel != "" || w.RemoteHost != "",
		thinks: slices.Contains(w.Capabilities, "thinking"),
		prints: strings.TrimSpace(w.Details.ParameterSize + " " + w.Details.QuantizationLevel),
	}
}

// contextLength returns the model's maximum length, which is stored under the name of its
// architecture, for example "llama.context_length". A vision model has another such length,
// for images.
func (w wireShow) contextLength() int {
	var architecture string
	_ = json.Unmarshal(w.ModelInfo["general.architecture"], &architecture) // "" if there is none
	names := slices.Sorted(maps.Keys(w.ModelInfo))
	for _, name := range slices.Insert(names, 0, architecture+".context_length") {
		var n float64
		if strings.HasSuffix(name, ".context_length") && json.Unmarshal(w.ModelInfo[name], &n) == nil && n >= 1 && n < 1<<31 {
			return int(n)
		}
	}
	return 0
}

// numCtx returns the default window in the model's parameters, or 0. The parameters are
// lines of a name and a value.
func (w wireShow) numCtx() int {
	for line := range strings.Lines(w.Parameters) {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == "num_ctx" {
			if n, err := strconv.Atoi(fields[1]); err == nil && n > 0 && n < 1<<31 {
				return n
			}
		}
	}
	return 0
}

// window returns the size of the window for req in tokens: room for the prompt and the
// reply, as a power of two so that there are few sizes. It is never smaller than the
// largest that has worked, since Ollama reloads the model for each change. 0 means the
// server's default.
func (m *client) window(req deem.Request, f facts) int {
	switch {
	case f.remote:
		return 0
	case m.contextLength > 0:
		return m.contextLength
	}
	return f.cap(max(f.floor, int(m.grown.Load()), powerOfTwo(estimate(req)+m.reserve(req, f))))
}

// wider returns a larger window for a request that the server found too long, and whether
// there is one. The server may have reported the number of tokens.
func (m *client) wider(t trouble, req deem.Request, f facts, last int) (int, bool) {
	if m.contextLength > 0 || last == 0 || !t.tooLong() {
		return 0, false
	}
	next := f.length
	if t.promptTokens > 0 {
		next = f.cap(powerOfTwo(t.promptTokens + m.reserve(req, f)))
	}
	return next, next > last && t.promptTokens < next
}

// cap returns n, limited to the model's maximum window.
func (f facts) cap(n int) int {
	if f.length > 0 {
		return min(n, f.length)
	}
	return n
}

// reserve returns how many tokens are reserved for the reply.
func (m *client) reserve(req deem.Request, f facts) int {
	switch {
	case req.MaxTokens > 0:
		return req.MaxTokens + m.room
	case f.thinks && m.think != false:
		return thinkRoom
	default:
		return replyRoom
	}
}

// grow records a window that has worked.
func (m *client) grow(window int) {
	for {
		old := m.grown.Load()
		if int64(window) <= old || m.grown.CompareAndSwap(old, int64(window)) {
			return
		}
	}
}

// powerOfTwo returns the smallest power of two that is not less than n.
func powerOfTwo(n int) int {
	return 1 << bits.Len(uint(max(n, 1)-1)) //nolint:gosec // it is not negative
}

// The tokens that the model's template adds around messages.
const (
	promptExtra  = 64
	messageExtra = 16
)

// estimate returns the approximate number of tokens of a prompt, preferably too many: one
// token per three letters, although English has about four, and one for each digit or sign.
// If it is too low, the server reports it with the actual number.
func estimate(req deem.Request) int {
	n := promptExtra + len(req.Schema)/3
	for _, m := range req.Messages {
		n += messageExtra + estimateText(m.Content)
	}
	return n
}

// estimateText returns the approximate number of tokens of a text.
func estimateText(text string) int {
	letters, others := 0, 0
	for _, c := range text {
		switch {
		case c == ' ' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case c < 0x80:
			others++
		default:
			others += 2 // older vocabularies encode Chinese and emoji as bytes
		}
	}
	return (letters+2)/3 + others
}

// cut returns an error if the server has truncated the prompt although it was told not to,
// as versions before 0.12.6 do. They truncate a prompt to exactly the size of the window,
// or shift it out with the reply. A count of 0 means that the prompt was cached and not
// counted.
func cut(u deem.Usage, window int) error {
	if window == 0 || u.Input != window && (u.Input > window || u.Input+u.Output <= window+1) {
		return nil
	}
	err := fmt.Errorf("a part of the prompt was dropped: %d tokens of prompt and %d of reply in a window of %d", u.Input, u.Output, window)
	err = deem.WithHint(err, "update Ollama to 0.12.6 or later, or give a larger context length")
	return &deem.ModelError{Kind: deem.Provider, Err: err}
}
