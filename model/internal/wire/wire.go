// Package wire is what the wires of all vendors have in common: an HTTP client
// for hundreds of calls at once, with a proxy and a certificate authority of the
// user's choice; the reading of an answer; and the making of a [deem.ModelError]
// of all that can go wrong, with a hint and without a secret.
//
// A vendor's package reads its base URL with [ParseBase], makes a [Client] with
// [New], and for each call does three things:
//
//	a, err := c.Complete(ctx, target, req, body) // err is already a *deem.ModelError, or wraps that of ctx
//	if !a.OK() {
//		return c.StatusError(a)
//	}
//	err = json.Unmarshal(a.Text, &reply)     // if that is an error: return c.Garbled(a, err)
//
// What the vendor's errors mean is the vendor's one function, Options.Cause: it
// names the [Cause] of a [Trouble], and from that and the status the client makes
// the rest: whether the error may pass, ends this item or ends the run, how long
// to wait, and what to tell the user. An error that comes with status 200 is
// given to StatusError too.
//
// The package makes one HTTP call for each Post. Retries, limits and prices are
// the business of package model.
package wire

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"deem"
	"deem/internal/words"
)

// Options say whom a client calls and what it sends with each call.
type Options struct {
	words.Hidden
	Vendor string // as errors name it, "openai"
	Model  string // as hints name it
	Base   Base   // where the server is

	// Key is sent in the header KeyHeader after KeyPrefix; "" sends none.
	// KeyVariable is the environment variable that hints tell the user to set.
	Key         string
	KeyHeader   string // "Authorization", "x-api-key"
	KeyPrefix   string // "Bearer "
	KeyVariable string // "OPENAI_API_KEY"

	// Keyed is a host, or the end of its name, that is not called without a key. KeyHint
	// says what to do about that.
	Keyed, KeyHint string

	Fixed   map[string]string // headers that the vendor's wire wants; "" leaves one out
	Headers map[string]string // headers that the user wants, kept secret as keys may be among them

	// Authorize adds what a cloud wants of each call, as a signature or a token that
	// expires, and returns what of it is secret. nil adds nothing.
	Authorize func(r *http.Request, body []byte) (secret string, err error)

	// Cause says what the vendor means by an error; nil goes by the status alone.
	Cause func(Trouble) Cause

	// TypeIsCode says that the vendor's errors are named by their type, and that
	// the code is none.
	TypeIsCode bool

	Timeout  time.Duration // of one call; 0 means 120 s
	MaxReply int           // bytes of a reply; 0 means as many as the tokens that are asked for may need

	// HTTPClient makes the calls; nil means one made for many calls at once. A
	// redirect is not followed unless the client has a rule for it. A client
	// brings its own proxy and authorities, so it excludes the next two.
	HTTPClient *http.Client
	Proxy      string // a URL, http, https or socks5; "" means what the environment says
	CAFile     string // a PEM file of authorities to trust besides the system's; "" means none
}

// A Client calls one server. It is safe for concurrent use.
type Client struct {
	vendor      string
	model       string
	base        Base
	proxy       string // the host of the proxy that was asked for, "" for the environment's
	keyVariable string
	keyed       bool
	unkeyed     error // why no call is made without a key; nil makes it
	authorize   func(r *http.Request, body []byte) (secret string, err error)
	cause       func(Trouble) Cause
	typeIsCode  bool
	header      http.Header // shared by all calls, so it is never changed
	secrets     redactor
	timeout     time.Duration
	maxReply    int
	send        sender
}

// New returns a client. It calls nobody yet, and does not check the key.
func New(o Options) (*Client, error) {
	o.Key = strings.TrimSpace(o.Key) // keys read from files end with a newline
	if err := checkHeaders(o); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Vendor, err)
	}
	send, proxy, err := newSender(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Vendor, err)
	}
	c := &Client{
		vendor:      o.Vendor,
		model:       o.Model,
		base:        o.Base,
		keyVariable: o.KeyVariable,
		keyed:       o.Key != "" || len(o.Headers) > 0 || o.Authorize != nil,
		authorize:   o.Authorize,
		cause:       o.Cause,
		typeIsCode:  o.TypeIsCode,
		header:      header(o),
		secrets:     newRedactor(o, proxy),
		timeout:     o.Timeout,
		maxReply:    o.MaxReply,
		send:        send,
	}
	if proxy != nil {
		c.proxy = proxy.Host
	}
	if host := o.Base.Host(); !c.keyed && o.Keyed != "" && strings.HasSuffix(host, o.Keyed) {
		err := deem.WithHint(fmt.Errorf("no API key for %s", host), "%s", o.KeyHint)
		c.unkeyed = &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: err}
	}
	if c.cause == nil {
		c.cause = func(Trouble) Cause { return ByStatus }
	}
	if c.timeout <= 0 {
		c.timeout = 120 * time.Second
	}
	return c, nil
}

// checkHeaders refuses what cannot be sent, now and not once for each item. The
// values may be secret, so the errors do not show them.
func checkHeaders(o Options) error {
	if bad(o.Key) {
		return deem.WithHint(errors.New("the key holds a control character"), "was it copied whole, and on one line?")
	}
	for _, headers := range []map[string]string{o.Fixed, o.Headers} {
		for name, value := range headers {
			if name == "" || strings.ContainsAny(name, " :\t\r\n") {
				return fmt.Errorf("%q is not the name of a header", name)
			}
			if bad(value) {
				return fmt.Errorf("the value of header %s holds a control character", name)
			}
		}
	}
	return nil
}

// bad reports whether a value cannot be that of a header.
func bad(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}

// header returns what is sent with each call.
func header(o Options) http.Header {
	h := http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"application/json"},
		"User-Agent":   {"deem"},
	}
	if auth := o.Base.basicAuth(); auth != "" {
		h.Set("Authorization", auth)
	}
	for name, value := range o.Fixed {
		if value != "" {
			h.Set(name, value)
		}
	}
	if o.Key != "" {
		h.Set(o.KeyHeader, o.KeyPrefix+o.Key)
	}
	for name, value := range o.Headers {
		h.Set(name, value)
	}
	return h
}

// Name returns the vendor and the name of the model, as "openai:gpt-4o".
func (c *Client) Name() string { return c.vendor + ":" + c.model }

// Format writes the name and the endpoint, whatever the verb, so that nothing secret is
// printed or logged.
func (c *Client) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s at %s", c.Name(), c.Endpoint())
}

// Endpoint returns the base URL without user, password and query.
func (c *Client) Endpoint() string { return c.base.Endpoint() }

// Host returns the name of the server without its port.
func (c *Client) Host() string { return c.base.Host() }

// Keyed reports whether a key is sent, or a header that may be one.
func (c *Client) Keyed() bool { return c.keyed }

// Redact returns s with all secrets blacked out.
func (c *Client) Redact(s string) string { return c.secrets.redact(s) }

// Close closes the connections that are idle, if they are the client's own. The
// client may be used after it.
func (c *Client) Close() error {
	if c.send.owned {
		c.send.client.CloseIdleConnections()
	}
	return nil
}
