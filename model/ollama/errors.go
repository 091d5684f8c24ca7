package ollama

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"deem/internal/wire"
)

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
	text := m.Client.ErrorText(a)
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

// noMemory reports whether the machine has too little memory for the model.
func (t trouble) noMemory() bool {
	return t.says("requires more system memory", "requires more memory", "out of memory", "unable to allocate")
}

// tooLong reports whether the prompt does not fit the window.
func (t trouble) tooLong() bool {
	return t.kind == "exceed_context_size_error" ||
		t.says("exceeds the context length", "exceeds maximum context length", "longer than the context length", "exceeds the available context size")
}

// cause classifies an error of the server, and returns advice if the usual does not fit.
func (m *client) cause(t trouble, status int) (cause wire.Cause, hint string) {
	host := m.Client.Host()
	switch {
	case t.tooLong() && m.contextLength > 0:
		return wire.TooLong, "give a larger context length, or none"
	case t.tooLong():
		return wire.TooLong, ""
	case status == http.StatusNotFound && t.structured:
		return wire.NoModel, fmt.Sprintf("run `ollama pull %s`", m.name)
	case t.noMemory():
		return wire.NoCall, "choose a smaller model, or a smaller context length"
	case status == http.StatusPreconditionFailed, t.says("unable to load model", "requires a newer version", "unknown model architecture"):
		return wire.NoCall, "update Ollama, or pull the model again"
	case status == http.StatusUnauthorized:
		return wire.BadKey, fmt.Sprintf("%s does not accept the key; check %s", host, keyVariable)
	case status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return wire.Denied, fmt.Sprintf("%s does not allow this; check the key, and OLLAMA_ORIGINS at the server", host)
	case slices.Contains([]int{404, 405, 410, 415}, status):
		return wire.NoCall, fmt.Sprintf("nothing at %s answers such calls; check OLLAMA_HOST", m.Client.Endpoint())
	case status == http.StatusProxyAuthRequired:
		return wire.ByStatus, ""
	case status < 400:
		return wire.ByStatus, fmt.Sprintf("%s redirects elsewhere; give the address it redirects to", m.Client.Endpoint())
	case status < 500 && t.says("does not support", "invalid option", "invalid format", "schema", "grammar", "think value", "logprobs"):
		return wire.Setting, ""
	case status == 499, status == http.StatusNotImplemented:
		return wire.Busy, ""
	}
	return wire.ByStatus, ""
}

// statusError returns the error for an unsuccessful answer. grown says whether the window
// had to grow for this prompt.
func (m *client) statusError(a wire.Answer, grown bool) error {
	t := m.trouble(a)
	status := a.Status
	if a.OK() {
		status = http.StatusInternalServerError // a proxy passes on an error without its status
	}
	cause, hint := m.cause(t, status)
	if cause == wire.NoCall && grown && t.noMemory() {
		cause = wire.Unfit // A long prompt needed it.
	}
	return m.Client.Failure(a, wire.Trouble{
		Status:  status,
		Message: t.message,
		Code:    wire.OneLine([]byte(t.kind)),
		Param:   t.message,
		Hint:    hint,
	}, cause)
}
