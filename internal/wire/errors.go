package wire

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"deem"
)

// A Cause is the meaning of a vendor's error, if its message and codes say more than the
// status.
type Cause int

// The causes. Each determines how the error is handled.
const (
	ByStatus Cause = iota // nothing more is known: the status decides
	Quota                 // no credit is left: the run stops
	BadKey                // the key is rejected: the run stops
	NoModel               // the model does not exist, or not for this key: the run stops
	NoCall                // the server cannot do such calls: the run stops
	Denied                // the key may not do this, or not from here: the run stops
	Setting               // a parameter that all requests share is not accepted: the run stops
	TooLong               // the request exceeds the maximum length: it ends this item
	Unfit                 // any other error of this request: it ends this item
	Filtered              // a filter refused the prompt: it ends this item as refused
	Busy                  // the server has no capacity at the moment: transient
)

// StatusError returns a [*deem.ModelError] for an unsuccessful answer. Its status may be
// 200, as routers pass on the errors of upstream servers.
func (c *Client) StatusError(a Answer) error {
	t := c.Trouble(a)
	return c.Failure(a, t, c.cause(t))
}

// Failure returns a [*deem.ModelError] for an unsuccessful answer whose content is known.
func (c *Client) Failure(a Answer, t Trouble, cause Cause) error {
	me := &deem.ModelError{Kind: deem.Provider, Status: t.Status, Code: t.Code}
	// The order matters: an exhausted quota comes as a 429, which is otherwise transient,
	// and a prompt that is too long as a 500.
	switch status := t.Status; {
	case cause == Quota, cause == BadKey, cause == NoModel, cause == NoCall, cause == Denied, cause == Setting:
		me.Fatal = true
	case cause == Filtered:
		me.Kind = deem.Refused
	case cause == TooLong, cause == Unfit: // concerns this item
	case cause == ByStatus && status == 501: // not implemented, which is not transient
		me.Fatal = true
	case cause == Busy, status >= 500, slices.Contains([]int{408, 409, 425, 429}, status):
		me.Passing = true
	case slices.Contains([]int{401, 402, 403, 404, 405, 407, 410, 415}, status), status < 400:
		me.Fatal = true
	}
	if t.Status == 408 || t.Status == 504 {
		me.Kind = deem.Timeout
	}
	if c.typeIsCode && t.Type != "" {
		me.Code = t.Type
	} else if t.State != "" && t.Code == fmt.Sprint(t.Status) {
		me.Code = t.State // Google repeats the status as the code.
	}
	if cause == Setting {
		me.Param = paramOf(t.Param, t.Message)
		me.Unsupported = me.Param != "" && t.unsupported()
	}
	if me.Passing {
		me.RetryAfter = cmp.Or(RetryAfter(a.Header, time.Now()), t.RetryAfter)
	}
	message := cmp.Or(OneLine([]byte(t.Message)), strings.ToLower(http.StatusText(t.Status)), "no explanation")
	me.Err = errors.New(c.secrets.redact(message))
	if t.Hint == "" && me.Fatal {
		t.Hint = c.hint(t, cause)
	}
	if t.Hint != "" {
		me.Err = deem.WithHint(me.Err, "%s", t.Hint)
	}
	return me
}

// hint returns advice about an error that the user has to fix.
func (c *Client) hint(t Trouble, cause Cause) string {
	host, status := c.base.Host(), t.Status
	nowhere := fmt.Sprintf("nothing at %s answers such calls; check the base URL", c.Endpoint())
	if c.base.usual != "" {
		nowhere += ", which usually ends with " + c.base.usual
	}
	switch {
	case cause == Quota || status == 402:
		return fmt.Sprintf("the account at %s has no credit left; add some, or use another key", host)
	case cause == NoModel, cause == ByStatus && status == 404 && t.Structured:
		return fmt.Sprintf("%s does not know the model %q, or the key may not use it; check the name", host, c.model)
	case status == 401 && !c.keyed:
		return fmt.Sprintf("%s wants a key; set %s", host, c.keyVariable)
	case cause == BadKey || status == 401:
		return fmt.Sprintf("%s is not accepted by %s", c.keyVariable, host)
	case cause == NoCall || status == 501:
		return nowhere
	case cause == Setting:
		return settingHint(c.model, paramOf(t.Param, t.Message), t.unsupported())
	case cause == Denied || status == 403:
		return host + " does not allow this; check what the key may do, and whether the service is offered where you are"
	case status == 404 || status == 405:
		return nowhere
	case status < 400:
		return c.Endpoint() + " redirects elsewhere; give the base URL it redirects to"
	case status == 407:
		return "the proxy wants a user and a password; check HTTPS_PROXY"
	case status == 410:
		return fmt.Sprintf("%s no longer offers the model %q", host, c.model)
	default:
		return settingHint(c.model, "", false)
	}
}

// Unencodable returns the error for a request that cannot be encoded as JSON.
func Unencodable(err error) error {
	return &deem.ModelError{Kind: deem.Provider, Err: fmt.Errorf("encode request: %w", err)}
}

// Garbled returns the error for an answer that could not be read. It is transient: the
// answer was cut off, or came from something between us and the server. A vendor that
// answered with success charges for the generated tokens.
func (c *Client) Garbled(a Answer, err error) error {
	err = fmt.Errorf("read answer: %s", c.secrets.redact(OneLine([]byte(err.Error()))))
	page := c.ErrorText(a)
	if strings.HasPrefix(strings.TrimSpace(page), "<") {
		err = fmt.Errorf("read answer: it is a web page: %s", OneLine([]byte(page)))
	}
	if foreign(page) {
		err = deem.WithHint(err, "is %s the base URL of an API?", c.Endpoint())
	}
	return &deem.ModelError{Kind: deem.Provider, Passing: true, Absent: foreign(page), Billed: a.OK(), Err: err}
}

// foreign reports whether an answer is not from an API at all, but a web page or plain
// text. An answer that begins like JSON may have been cut off.
func foreign(answer string) bool {
	answer = strings.TrimSpace(answer)
	return answer != "" && answer[0] != '{' && answer[0] != '['
}

// transportError returns why there was no answer. If the caller's context is done, it is an
// interruption; if the call's own is, it is a timeout, which is transient.
func (c *Client) transportError(ctx, callCtx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("call %s: %w", c.Endpoint(), ctx.Err())
	}
	if errors.Is(err, errTooLong) {
		return &deem.ModelError{Kind: deem.Provider, Billed: true, Err: err}
	}
	if callCtx.Err() != nil {
		err := deem.WithHint(fmt.Errorf("no answer within %v", c.timeout), "allow more time for a call, or fewer calls at once")
		return &deem.ModelError{Kind: deem.Timeout, Passing: true, Billed: true, Err: err}
	}
	me := &deem.ModelError{Kind: deem.Provider, Passing: true}
	if ne, ok := errors.AsType[net.Error](unwrapURL(err)); ok && ne.Timeout() {
		me.Kind = deem.Timeout
	}
	proxy, isProxy := errors.AsType[*proxyError](err)
	refusedByProxy := isProxy && proxy.status >= 400 && proxy.status < 500 && proxy.status != http.StatusTooManyRequests
	if wrongScheme(err) || isTLS(err) || refusedByProxy {
		me.Passing, me.Fatal = false, true
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	refused := errors.Is(err, syscall.ECONNREFUSED)
	me.Absent = refused || isDNS && dns.IsNotFound
	op, isOp := errors.AsType[*net.OpError](err)
	neverConnected := isDNS || isOp && op.Op == "dial" || viaProxy(err)
	me.Billed = !me.Fatal && !neverConnected
	// Keep the text and drop the chain: network errors may contain the URL, and with it
	// secrets.
	me.Err = errors.New(c.secrets.redact(OneLine([]byte(unwrapURL(err).Error()))))
	which := "HTTPS_PROXY"
	if c.proxy != "" {
		which = "the proxy " + c.proxy
	}
	switch {
	case isProxy && proxy.status == http.StatusProxyAuthRequired:
		me.Err = deem.WithHint(me.Err, "the proxy wants a user and a password; check %s", which)
	case viaProxy(err):
		me.Err = deem.WithHint(me.Err, "calls to %s go through a proxy; check %s, or name the host in NO_PROXY", c.base.Host(), which)
	case refused && c.base.Port() == "11434":
		me.Err = deem.WithHint(me.Err, "is `ollama serve` running?")
	case refused && c.base.Loopback():
		me.Err = deem.WithHint(me.Err, "is the server running at %s?", c.Endpoint())
	case refused:
		me.Err = deem.WithHint(me.Err, "nothing listens at %s; check the base URL", c.Endpoint())
	case me.Absent:
		me.Err = deem.WithHint(me.Err, "check the network and the base URL %s", c.Endpoint())
	case wrongScheme(err):
		me.Err = deem.WithHint(me.Err, "write the base URL with http:// instead of https://")
	case isTLS(err):
		me.Err = deem.WithHint(me.Err, "the certificate of %s is not accepted; check the base URL, or add its authority to this machine", c.base.Host())
	}
	return me
}

// viaProxy reports whether the proxy or the connection to it is the cause.
func viaProxy(err error) bool {
	if _, ok := errors.AsType[*proxyError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "proxyconnect" || op.Op == "socks connect")
}

// wrongScheme reports whether https was used with an http server.
func wrongScheme(err error) bool {
	rh, ok := errors.AsType[tls.RecordHeaderError](err)
	if ok && string(rh.RecordHeader[:]) == "HTTP/" {
		return true
	}
	return errors.Is(err, http.ErrSchemeMismatch)
}

// isTLS reports whether the server's certificate was rejected.
func isTLS(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}
