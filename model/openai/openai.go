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
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"deem"
)

// DefaultBaseURL is where OpenAI itself answers.
const DefaultBaseURL = "https://api.openai.com/v1"

// maxBody is how many bytes of an answer are read. No reply is longer; what is
// longer is not a reply.
const maxBody = 64 << 20

// Options say which model is called and where.
type Options struct {
	Model string // as the server knows it, "gpt-4o-2024-08-06"

	// BaseURL is the address of the server; "" means DefaultBaseURL. It may end
	// with or without a slash, without /v1 if it has no path at all, or with the
	// whole /chat/completions. A query, as Azure's api-version, is kept.
	BaseURL string

	Key          string `json:"-"` // "" sends none, as local servers like it
	Organization string
	Project      string
	Headers      map[string]string `json:"-"` // sent with each call, and kept secret as keys may be among them

	// HTTPClient makes the calls; nil means one made for many calls at once. A
	// redirect is not followed unless the client has a rule for it.
	HTTPClient *http.Client `json:"-"`

	// Timeout bounds one call; 0 means 120 s, and ten minutes for a model that
	// reasons.
	Timeout time.Duration

	// Reasoning says whether the model reasons before it answers, as o1, o3, o4
	// and gpt-5 do; nil means to go by its name. Such a model gets
	// max_completion_tokens for max_tokens, and neither temperature, top_p nor
	// logprobs, all of which it rejects.
	Reasoning *bool
}

// String returns the options without their secrets.
func (o Options) String() string {
	return fmt.Sprintf("openai.Options{Model: %q}", o.Model)
}

// GoString returns the same as String, so that %#v is no leak either.
func (o Options) GoString() string { return o.String() }

// LogValue returns the same as String for structured logs.
func (o Options) LogValue() slog.Value { return slog.StringValue(o.String()) }

// A Model calls a server. It is safe for concurrent use.
type Model struct {
	name      string // as the server knows it
	address   *address
	header    http.Header
	client    *http.Client
	owned     bool // client is ours to close
	timeout   time.Duration
	reasoning bool
	keyed     bool
	secrets   redactor
}

var _ deem.Model = (*Model)(nil)

// New returns a model. It calls nobody yet, and does not check the key.
func New(o Options) (*Model, error) {
	if o.Model == "" {
		return nil, deem.WithHint(errors.New("openai: no model named"), "name one, as in openai:gpt-4o-2024-08-06")
	}
	addr, err := parseAddress(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	o.Key = strings.TrimSpace(o.Key) // keys read from files end with a newline
	if err := checkHeaders(o); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	m := &Model{
		name:      o.Model,
		address:   addr,
		header:    header(o, addr),
		timeout:   o.Timeout,
		reasoning: reasons(o.Model),
		keyed:     o.Key != "" || len(o.Headers) > 0,
		secrets:   newRedactor(o, addr),
	}
	if o.Reasoning != nil {
		m.reasoning = *o.Reasoning
	}
	if m.timeout <= 0 {
		m.timeout = defaultTimeout(m.reasoning)
	}
	m.client, m.owned = client(o.HTTPClient)
	return m, nil
}

// checkHeaders refuses what cannot be sent, now and not once for each item. The
// values may be secret, so the errors do not show them.
func checkHeaders(o Options) error {
	bad := func(s string) bool {
		return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
	}
	if bad(o.Key) {
		return deem.WithHint(errors.New("the key holds a control character"), "was it copied whole, and on one line?")
	}
	for name, value := range map[string]string{"OpenAI-Organization": o.Organization, "OpenAI-Project": o.Project} {
		if bad(value) {
			return fmt.Errorf("the value of header %s holds a control character", name)
		}
	}
	for name, value := range o.Headers {
		if name == "" || strings.ContainsAny(name, " :\t\r\n") {
			return fmt.Errorf("%q is not the name of a header", name)
		}
		if bad(value) {
			return fmt.Errorf("the value of header %s holds a control character", name)
		}
	}
	return nil
}

// defaultTimeout returns how long a call may take. Models that reason may do so
// for minutes before the first byte comes.
func defaultTimeout(reasoning bool) time.Duration {
	if reasoning {
		return 10 * time.Minute
	}
	return 120 * time.Second
}

// header returns what is sent with each call.
func header(o Options, addr *address) http.Header {
	h := make(http.Header)
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json")
	h.Set("User-Agent", "deem")
	if o.Key != "" {
		if addr.azure() {
			h.Set("Api-Key", o.Key)
		} else {
			h.Set("Authorization", "Bearer "+o.Key)
		}
	}
	if o.Organization != "" {
		h.Set("OpenAI-Organization", o.Organization)
	}
	if o.Project != "" {
		h.Set("OpenAI-Project", o.Project)
	}
	for name, value := range o.Headers {
		h.Set(name, value)
	}
	return h
}

// client returns given, or a client of our own, with redirects turned off: a
// redirected POST loses its body, and a key must not follow to another host.
func client(given *http.Client) (c *http.Client, owned bool) {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if given == nil {
		return &http.Client{Transport: transport(), CheckRedirect: stay}, true
	}
	own := *given
	if own.CheckRedirect == nil {
		own.CheckRedirect = stay
	}
	return &own, false
}

// transport returns a transport for hundreds of calls at once to one host. The
// default one keeps two idle connections to it and would dial for most calls.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          1024,
		MaxIdleConnsPerHost:   512,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// Name returns "openai:" and the name of the model.
func (m *Model) Name() string { return "openai:" + m.name }

// Endpoint returns the base URL without user, password and query.
func (m *Model) Endpoint() string { return m.address.endpoint }

// String returns the name and the endpoint.
func (m *Model) String() string { return m.Name() + " at " + m.Endpoint() }

// GoString returns the same as String, so that %#v shows no key.
func (m *Model) GoString() string { return m.String() }

// LogValue returns the same as String for structured logs.
func (m *Model) LogValue() slog.Value { return slog.StringValue(m.String()) }

// Close closes the connections that are idle, if they are the model's own. The
// model may be used after it.
func (m *Model) Close() error {
	if m.owned {
		m.client.CloseIdleConnections()
	}
	return nil
}

// Complete makes one call. Its error is a [*deem.ModelError], or wraps that of
// ctx once ctx is done.
func (m *Model) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if err := ctx.Err(); err != nil {
		return deem.Reply{}, err
	}
	if !m.keyed && m.address.host == "api.openai.com" {
		return deem.Reply{}, m.noKey()
	}
	body, err := m.encode(req)
	if err != nil {
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Err: fmt.Errorf("encode request: %w", err)}
	}
	callCtx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	a, err := m.post(callCtx, m.address.chat, body)
	if err != nil {
		return deem.Reply{}, m.transportError(ctx, callCtx, err)
	}
	return m.read(a)
}

// An answer is what a server sent, read to its end.
type answer struct {
	status int
	header http.Header
	text   []byte
}

// post sends body there and returns the answer. Reading that to the end is what
// lets the connection be used again.
func (m *Model) post(ctx context.Context, to string, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header = m.header.Clone()
	resp, err := m.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // what was read is checked
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return answer{}, fmt.Errorf("read answer: %w", err)
	}
	if len(text) > maxBody {
		return answer{}, errTooLong
	}
	return answer{status: resp.StatusCode, header: resp.Header, text: text}, nil
}

// read makes a reply or an error of an answer.
func (m *Model) read(a answer) (deem.Reply, error) {
	if a.status < 200 || a.status > 299 {
		return deem.Reply{}, m.statusError(a)
	}
	reply, err := m.decode(a)
	if err != nil {
		return deem.Reply{}, err
	}
	reply.RequestID = a.header.Get("X-Request-Id")
	reply.Attempts = 1
	return reply, nil
}

// unwrapURL returns the error inside that of an HTTP client, which would repeat
// the URL with its query.
func unwrapURL(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}
