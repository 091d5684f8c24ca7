package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"deem"
)

// maxTrouble is how much of the body of an error is read.
const maxTrouble = 1 << 20

// errTooLong says that an answer exceeds maxBody.
var errTooLong = fmt.Errorf("the answer is longer than %d MB", maxBody>>20)

// noKey says that OpenAI was to be called without a key. It saves the call.
func (m *Model) noKey() error {
	err := deem.WithHint(errors.New("no API key for api.openai.com"),
		"set OPENAI_API_KEY, or OPENAI_BASE_URL to call another server")
	return &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: err}
}

// transportError says why there was no answer. The end of the caller's context is
// an interruption; the end of the call's own is a timeout, which may pass.
func (m *Model) transportError(ctx, callCtx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("call %s: %w", m.Endpoint(), ctx.Err())
	}
	if errors.Is(err, errTooLong) {
		return &deem.ModelError{Kind: deem.Provider, Err: errTooLong}
	}
	if callCtx.Err() != nil {
		err := deem.WithHint(fmt.Errorf("no answer within %v", m.timeout), "allow more time for a call, or fewer calls at once")
		return &deem.ModelError{Kind: deem.Timeout, Passing: true, Err: err}
	}
	me := &deem.ModelError{Kind: deem.Provider, Passing: true}
	if ne, ok := errors.AsType[net.Error](unwrapURL(err)); ok && ne.Timeout() {
		me.Kind = deem.Timeout
	}
	if m.wrongScheme(err) || isTLS(err) {
		me.Passing, me.Fatal = false, true
	}
	// The text is kept and the chain is cut: errors of the network may hold the
	// URL, and with it secrets.
	me.Err = m.advise(err, errors.New(m.secrets.redact(unwrapURL(err).Error())))
	return me
}

// advise attaches what a person can do about an error of the network.
func (m *Model) advise(cause, err error) error {
	dns, isDNS := errors.AsType[*net.DNSError](cause)
	switch {
	case errors.Is(cause, syscall.ECONNREFUSED) && m.address.port == "11434":
		return deem.WithHint(err, "is `ollama serve` running?")
	case errors.Is(cause, syscall.ECONNREFUSED) && loopback(m.address.host):
		return deem.WithHint(err, "is the server running at %s?", m.Endpoint())
	case errors.Is(cause, syscall.ECONNREFUSED):
		return deem.WithHint(err, "nothing listens at %s; check the base URL", m.Endpoint())
	case isDNS && dns.IsNotFound:
		return deem.WithHint(err, "check the network and the base URL %s", m.Endpoint())
	case m.wrongScheme(cause):
		return deem.WithHint(err, "write the base URL with http:// instead of https://")
	case isTLS(cause):
		return deem.WithHint(err, "the certificate of %s is not accepted; check the base URL, or add its authority to this machine", m.address.host)
	}
	return err
}

// wrongScheme reports whether https was spoken to an http server.
func (m *Model) wrongScheme(err error) bool {
	rh, ok := errors.AsType[tls.RecordHeaderError](err)
	if ok && string(rh.RecordHeader[:]) == "HTTP/" {
		return true
	}
	return errors.Is(err, http.ErrSchemeMismatch)
}

// isTLS reports whether the server's certificate was not accepted.
func isTLS(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}

// statusError makes an error of an answer that is not a reply.
func (m *Model) statusError(a answer) error {
	// Secrets go first: a text that is shortened could end in half a key.
	said := readTrouble(m.secrets.redact(string(a.text[:min(len(a.text), maxTrouble)])))
	status := a.status
	if status < 300 {
		// A router passes on the error of a server behind it.
		status = said.status(http.StatusBadGateway)
	}
	me := classify(status, said)
	me.Status = status
	me.Code = said.code
	if me.Passing {
		me.RetryAfter = retryAfter(a.header)
	}
	me.Err = m.hint(me, said, errors.New(m.secrets.redact(said.text(status))))
	return me
}

// Codes that some servers use, whatever the status.
var (
	quotaCodes   = []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "access_terminated", "insufficient_user_quota"}
	keyCodes     = []string{"invalid_api_key", "account_deactivated", "invalid_organization", "mismatched_organization"}
	modelCodes   = []string{"model_not_found", "DeploymentNotFound", "invalid_model", "model_not_available"}
	settingCodes = []string{"unsupported_parameter", "unsupported_value", "unknown_parameter", "invalid_json_schema"}
	lengthCodes  = []string{"context_length_exceeded", "string_above_max_length", "exceed_context_size_error"}
	filterCodes  = []string{"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}

	// settingParams are the fields of a request that are the same for all items,
	// so that what is wrong with them is wrong for all. The limit of tokens is
	// not among them: whether it fits depends on the length of the prompt.
	settingParams = []string{"model", "temperature", "top_p", "seed", "stop", "n", "logprobs", "top_logprobs", "response_format", "stream"}
)

// classify decides whether an error may pass, ends the run, or belongs to this one
// request. The order matters: an exhausted quota comes as a 429, which else
// passes, and a prompt that is too long may name a parameter.
func classify(status int, said trouble) *deem.ModelError {
	me := &deem.ModelError{Kind: deem.Provider}
	switch {
	case said.is(quotaCodes), said.is(modelCodes), said.badKey():
		me.Fatal = true
	case said.is(filterCodes):
		me.Kind = deem.Refused
	case said.tooLong(): // the item's own, even as a 429 or a 500
	case status >= 500, slices.Contains([]int{408, 409, 425, 429}, status):
		me.Passing = true
	case slices.Contains([]int{401, 402, 403, 404, 405, 407, 410, 415}, status), status < 400:
		me.Fatal = true
	case status == 400:
		me.Fatal = said.is(settingCodes) || slices.Contains(settingParams, rootParam(said.param))
	}
	if status == 408 || status == 504 {
		me.Kind = deem.Timeout
	}
	return me
}

// rootParam returns the field that a parameter's path begins with:
// "response_format" for "response_format.json_schema".
func rootParam(param string) string {
	if i := strings.IndexAny(param, ".["); i >= 0 {
		return param[:i]
	}
	return param
}

// hint attaches advice to an error that a person has to mend.
func (m *Model) hint(me *deem.ModelError, said trouble, err error) error {
	if !me.Fatal {
		return err
	}
	host, status := m.address.host, me.Status
	switch {
	case said.is(quotaCodes) || status == 402:
		return deem.WithHint(err, "the account at %s has no credit left; add some, or use another key", host)
	case said.is(modelCodes), status == 404 && said.structured:
		return deem.WithHint(err, "%s does not know the model %q, or the key may not use it; check the name", host, m.name)
	case status == 401 && !m.keyed:
		return deem.WithHint(err, "%s wants a key; set OPENAI_API_KEY", host)
	case said.badKey() || status == 401:
		return deem.WithHint(err, "OPENAI_API_KEY is not accepted by %s", host)
	case status == 403:
		return deem.WithHint(err, "%s does not allow this; check what the key may do, and whether the service is offered where you are", host)
	case status == 404 || status == 405:
		return deem.WithHint(err, "nothing at %s answers such calls; check the base URL, which usually ends with /v1", m.Endpoint())
	case status < 400:
		return deem.WithHint(err, "%s redirects elsewhere; give the base URL it redirects to", m.Endpoint())
	case status == 407:
		return deem.WithHint(err, "the proxy wants a user and a password; check HTTPS_PROXY")
	case status == 410:
		return deem.WithHint(err, "%s no longer offers the model %q", host, m.name)
	default:
		return deem.WithHint(err, "the model %q does not take this setting%s; leave it out, or choose another model", m.name, quoted(said.param))
	}
}

// quoted returns a space and the name of a parameter, if there is one.
func quoted(param string) string {
	if param == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", param)
}
