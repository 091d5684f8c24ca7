package ollama

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/wire"
)

// maxTrouble is how much of the body of an error is read.
const maxTrouble = 1 << 20

// A trouble is the content of an error's body.
type trouble struct {
	message string
	kind    string // of the engine's own error, for example "exceed_context_size_error"

	promptTokens int // tokens of the prompt; 0 if unknown
	structured   bool
}

// trouble parses the body of an error: an object whose error is a string, which may be the
// JSON of an error of the engine inside Ollama, or an object as a proxy may send it.
// Otherwise the text is the message.
func (m *client) trouble(a wire.Answer) trouble {
	// Redact before shortening: otherwise the text could end in half a key.
	text := m.Client.Redact(string(a.Text[:min(len(a.Text), maxTrouble)]))
	var outer, inner struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal([]byte(text), &outer) != nil || !wire.Present(outer.Error) {
		return trouble{message: text}
	}
	var message string
	if json.Unmarshal(outer.Error, &message) != nil {
		return readEngine(outer.Error)
	}
	if json.Unmarshal([]byte(message), &inner) == nil && wire.Present(inner.Error) {
		return readEngine(inner.Error)
	}
	return trouble{message: message, structured: true}
}

// readEngine parses the error of an engine.
func readEngine(raw json.RawMessage) trouble {
	var w struct {
		Message      string `json:"message"`
		Type         string `json:"type"`
		PromptTokens int    `json:"n_prompt_tokens"`
	}
	if json.Unmarshal(raw, &w) != nil || w.Message == "" {
		return trouble{message: string(raw), structured: true}
	}
	return trouble{message: w.Message, kind: w.Type, promptTokens: max(w.PromptTokens, 0), structured: true}
}

// says reports whether the message contains any of the words.
func (t trouble) says(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(t.message, w) })
}

// tooLong reports whether the prompt does not fit the window.
func (t trouble) tooLong() bool {
	return t.kind == "exceed_context_size_error" ||
		t.says("exceeds the context length", "exceeds maximum context length", "longer than the context length", "exceeds the available context size")
}

// A cause is what the user would have to fix, or "".
type cause string

// The causes that end a run.
const (
	noModel    cause = "model"    // it was not pulled
	noMemory   cause = "memory"   // the machine has too little memory for it
	oldOllama  cause = "version"  // the model needs a later version
	badKey     cause = "key"      // it is rejected
	notAllowed cause = "allowed"  // the server denies access
	badAddress cause = "address"  // the address does not serve this API
	redirected cause = "redirect" // the server has moved
	badProxy   cause = "proxy"    // it requires a password
	badSetting cause = "setting"  // the model does not support it
)

// cause returns what the user would have to fix.
func (t trouble) cause(status int) cause {
	switch {
	case t.tooLong():
		return ""
	case status == http.StatusNotFound && t.structured:
		return noModel
	case t.says("requires more system memory", "requires more memory", "out of memory", "unable to allocate"):
		return noMemory
	case status == http.StatusPreconditionFailed, t.says("unable to load model", "requires a newer version", "unknown model architecture"):
		return oldOllama
	case status == http.StatusUnauthorized:
		return badKey
	case status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return notAllowed
	case slices.Contains([]int{404, 405, 410, 415}, status):
		return badAddress
	case status == http.StatusProxyAuthRequired:
		return badProxy
	case status < 400:
		return redirected
	case status < 500 && t.says("does not support", "invalid option", "invalid format", "schema", "grammar", "think value", "logprobs"):
		return badSetting
	}
	return ""
}

// statusError returns the error for an unsuccessful answer. grown says whether the window
// had to grow for this prompt.
func (m *client) statusError(a wire.Answer, grown bool) error {
	t := m.trouble(a)
	status := a.Status
	if a.OK() {
		status = http.StatusInternalServerError // a proxy passes on an error without its status
	}
	me := &deem.ModelError{Kind: deem.Provider, Status: status, Code: wire.OneLine([]byte(t.kind))}
	if status == http.StatusRequestTimeout || status == http.StatusGatewayTimeout {
		me.Kind = deem.Timeout
	}
	why := t.cause(status)
	switch {
	case why == noMemory && grown: // A long prompt needed it.
	case why != "":
		me.Fatal = true
	case t.tooLong():
	case status >= 500, slices.Contains([]int{408, 409, 425, 429, 499}, status):
		me.Passing = true
		me.RetryAfter = wire.RetryAfter(a.Header, time.Now())
	}
	if why == badSetting {
		me.Param = wire.ParamOf("", t.message)
		me.Unsupported = me.Param != "" && wire.Unsupports(t.message)
	}
	me.Err = errors.New(wire.Explain(wire.OneLine([]byte(t.message)), status))
	if hint := m.hint(why, t); hint != "" {
		me.Err = deem.WithHint(me.Err, "%s", hint)
	}
	return me
}

// hint returns what the user can do about a cause, or "".
func (m *client) hint(why cause, t trouble) string {
	host := m.Client.Host()
	switch why {
	case noModel:
		return fmt.Sprintf("run `ollama pull %s`", m.name)
	case noMemory:
		return "choose a smaller model, or a smaller context length"
	case oldOllama:
		return "update Ollama, or pull the model again"
	case badKey:
		return fmt.Sprintf("%s does not accept the key; check %s", host, keyVariable)
	case notAllowed:
		return fmt.Sprintf("%s does not allow this; check the key, and OLLAMA_ORIGINS at the server", host)
	case badAddress:
		return fmt.Sprintf("nothing at %s answers such calls; check OLLAMA_HOST", m.Client.Endpoint())
	case redirected:
		return fmt.Sprintf("%s redirects elsewhere; give the address it redirects to", m.Client.Endpoint())
	case badProxy:
		return "the proxy wants a user and a password; check HTTPS_PROXY"
	case badSetting:
		return wire.SettingHint(m.name, wire.ParamOf("", t.message), wire.Unsupports(t.message))
	}
	if t.tooLong() && m.contextLength > 0 {
		return "give a larger context length, or none"
	}
	return ""
}
