// Package wire contains what all vendors' wires have in common: an HTTP client for hundreds
// of concurrent calls, with the user's proxy and certificate authority; the reading of
// answers; and the conversion of every error to a [deem.ModelError], with a hint and
// without secrets.
//
// A vendor's package parses its base URL with [ParseBase], creates a [Client] with [New],
// and for each call does this:
//
//	a, err := c.Complete(ctx, target, req, body) // err is already a *deem.ModelError, or wraps that of ctx
//	if !a.OK() {
//		return c.StatusError(a)
//	}
//	err = json.Unmarshal(a.Text, &reply)     // if that is an error: return c.Garbled(a, err)
//
// The vendor provides one function for its errors, Options.Cause, which returns the [Cause]
// of a [Trouble]. From that and the status, the client derives the rest: whether the error
// is transient, ends this item or ends the run, how long to wait, and what to tell the
// user. An error with status 200 is passed to StatusError too.
//
// The package makes one HTTP call for each Post. Retries, limits and prices are handled by
// package model.
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

// Options configure which server a client calls and what it sends with each call.
type Options struct {
	words.Hidden
	Vendor string // its name in errors, for example "openai"
	Model  string // its name in hints
	Base   Base   // the address of the server

	// Key is sent in the header KeyHeader after KeyPrefix; "" sends none. KeyVariable is
	// the environment variable that hints mention.
	Key         string
	KeyHeader   string // "Authorization", "x-api-key"
	KeyPrefix   string // "Bearer "
	KeyVariable string // "OPENAI_API_KEY"

	// Keyed is a host, or a suffix of host names, that is not called without a key. KeyHint
	// says what to do about that.
	Keyed, KeyHint string

	Fixed   map[string]string // headers that the vendor requires; "" omits one
	Headers map[string]string // the user's headers; secret, because they may contain keys

	// Authorize adds a cloud's credentials to each call, such as a signature or a token
	// that expires, and returns their secret part. nil adds nothing.
	Authorize func(r *http.Request, body []byte) (secret string, err error)

	// Cause classifies the vendor's errors; nil means by the status alone.
	Cause func(Trouble) Cause

	// TypeIsCode says that the vendor's errors are named by their type, not by their code.
	TypeIsCode bool

	Timeout  time.Duration // of one call; 0 means 120 s
	MaxReply int           // bytes of a reply; 0 means enough for the requested tokens

	// HTTPClient makes the calls; nil means a client tuned for many concurrent calls.
	// Redirects are not followed unless the client has a policy for them. A client has its
	// own proxy and certificate authorities, so it excludes the next two.
	HTTPClient *http.Client
	Proxy      string // a URL, http, https or socks5; "" means the environment's
	CAFile     string // a PEM file of certificate authorities, trusted in addition to the system's; "" means none
}

// A Client calls one server. It is safe for concurrent use.
type Client struct {
	vendor      string
	model       string
	base        Base
	proxy       string // the host of the configured proxy; "" for the environment's
	keyVariable string
	keyed       bool
	unkeyed     error // why no call is made without a key; nil if calls are made
	authorize   func(r *http.Request, body []byte) (secret string, err error)
	cause       func(Trouble) Cause
	typeIsCode  bool
	header      http.Header // shared by all calls and never changed
	secrets     redactor
	timeout     time.Duration
	maxReply    int
	send        sender
}

// New returns a client. It makes no call and does not check the key.
func New(o Options) (*Client, error) {
	o.Key = strings.TrimSpace(o.Key) // keys read from files end with a newline
	if err := checkHeaders(o); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Vendor, err)
	}
	send, proxy, err := newSender(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Vendor, err)
	}
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
	c := &Client{
		vendor:      o.Vendor,
		model:       o.Model,
		base:        o.Base,
		keyVariable: o.KeyVariable,
		keyed:       o.Key != "" || len(o.Headers) > 0 || o.Authorize != nil,
		authorize:   o.Authorize,
		cause:       o.Cause,
		typeIsCode:  o.TypeIsCode,
		header:      h,
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

// checkHeaders rejects headers that cannot be sent, once instead of for each item. The
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

// bad reports whether s is not a valid header value.
func bad(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}

// Name returns the vendor and the name of the model, for example "openai:gpt-4o".
func (c *Client) Name() string { return c.vendor + ":" + c.model }

// Format writes the name and the endpoint for any verb, so that no secret is printed or
// logged.
func (c *Client) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s at %s", c.Name(), c.Endpoint())
}

// Endpoint returns the base URL without user, password and query.
func (c *Client) Endpoint() string { return c.base.Endpoint() }

// Host returns the name of the server without its port.
func (c *Client) Host() string { return c.base.Host() }

// Keyed reports whether a key is sent, or a header that may contain one.
func (c *Client) Keyed() bool { return c.keyed }

// Redact returns s without secrets.
func (c *Client) Redact(s string) string { return c.secrets.redact(s) }

// Close closes idle connections, if they are the client's own. The client may be used
// afterwards.
func (c *Client) Close() error {
	if c.send.owned {
		c.send.client.CloseIdleConnections()
	}
	return nil
}
