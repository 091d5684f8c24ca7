package modeltest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"deem"
)

// Anthropic returns the wire format of the Messages API with its errors. It is written from
// the public API documentation, independently of the client that it checks.
func Anthropic() Wire {
	return Wire{
		Read:       readAnthropic,
		Reply:      replyAnthropic,
		Errors:     anthropicErrors(),
		RateLimits: anthropicRateLimits(),
		Lacks:      []string{"Seed", "TopLogprobs", "Logprobs", "JSON", "Fingerprint", "Refusal"},
	}
}

type anthropicRequest struct {
	Model         string         `json:"model"`
	MaxTokens     int            `json:"max_tokens"`
	System        string         `json:"system"`
	Messages      []deem.Message `json:"messages"`
	Temperature   *float64       `json:"temperature"`
	TopP          *float64       `json:"top_p"`
	StopSequences []string       `json:"stop_sequences"`
	Stream        bool           `json:"stream"`
	OutputConfig  struct {
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
	Tools []struct {
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
}

// readAnthropic decodes a request as strictly as the real server.
func readAnthropic(r *http.Request, body []byte) (string, deem.Request, error) {
	var w anthropicRequest
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields() // the real server rejects unknown fields, for example a seed
	if err := dec.Decode(&w); err != nil {
		return "", deem.Request{}, fmt.Errorf("body is not the JSON of a request: %w", err)
	}
	switch {
	case r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages"):
		return "", deem.Request{}, fmt.Errorf("no such call: %s %s", r.Method, r.URL.Path)
	case r.Header.Get("Content-Type") != "application/json":
		return "", deem.Request{}, fmt.Errorf("content type %q is not JSON", r.Header.Get("Content-Type"))
	case r.Header.Get("Anthropic-Version") == "":
		return "", deem.Request{}, errors.New("anthropic-version: header is required")
	case r.Header.Get("Authorization") != "":
		return "", deem.Request{}, errors.New("the key belongs into x-api-key")
	case w.MaxTokens < 1:
		return "", deem.Request{}, errors.New("max_tokens: Field required")
	case w.Stream, len(w.Messages) == 0:
		return "", deem.Request{}, errors.New("only one whole reply to some messages is served")
	case len(w.Tools) > 1, len(w.Tools) == 1 && w.ToolChoice.Name != w.Tools[0].Name:
		return "", deem.Request{}, errors.New("only one tool, which must be called, is served")
	}
	for _, m := range w.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return "", deem.Request{}, fmt.Errorf("messages: Unexpected role %q", m.Role)
		}
	}
	req := deem.Request{
		Messages:    w.Messages,
		MaxTokens:   w.MaxTokens,
		Temperature: w.Temperature,
		TopP:        w.TopP,
		Stop:        w.StopSequences,
		Schema:      w.OutputConfig.Format.Schema,
	}
	if w.System != "" {
		req.Messages = append([]deem.Message{{Role: "system", Content: w.System}}, w.Messages...)
	}
	if len(w.Tools) == 1 {
		req.Schema = w.Tools[0].InputSchema
	}
	return w.Model, req, nil
}

// replyAnthropic encodes a reply, with a thinking block before the text as in models that
// think.
func replyAnthropic(reply deem.Reply) Raw {
	reasons := map[deem.Stop]string{
		deem.StopEnd: "end_turn", deem.StopLength: "max_tokens", deem.StopFilter: "refusal", deem.StopOther: "pause_turn",
	}
	reason := cmp.Or(reasons[reply.Stop], "end_turn")
	content := []any{map[string]any{"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}}
	if reply.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": reply.Text, "citations": nil})
	}
	u := reply.Usage
	written := (u.Input - u.CachedInput) / 2 // the rest of the input comes in two counts
	body := encode(map[string]any{
		"id":            "msg_1",
		"type":          "message",
		"role":          "assistant",
		"model":         reply.Model,
		"content":       content,
		"stop_reason":   reason,
		"stop_sequence": nil,
		"stop_details":  nil,
		"usage": map[string]any{
			"input_tokens":                u.Input - u.CachedInput - written,
			"cache_creation_input_tokens": written,
			"cache_read_input_tokens":     u.CachedInput,
			"output_tokens":               u.Output,
			"output_tokens_details":       map[string]any{"thinking_tokens": u.Reasoning},
			"service_tier":                "standard",
		},
	})
	return Raw{Body: body, Header: map[string]string{"Request-Id": reply.RequestID}}
}

func anthropicError(kind, message string) string {
	return encode(map[string]any{
		"type":       "error",
		"error":      map[string]any{"type": kind, "message": message},
		"request_id": "req_1",
	})
}

// anthropicErrors are the errors of Anthropic and of proxies in front of it.
func anthropicErrors() map[Trouble][]Raw {
	raw := func(status int, kind, message string) Raw {
		return Raw{Status: status, Body: anthropicError(kind, message)}
	}
	invalid := func(message string) Raw { return raw(400, "invalid_request_error", message) }
	return map[Trouble][]Raw{
		ServerError: {
			raw(500, "api_error", "Internal server error"),
			{Status: 502, Body: "<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>"},
			{Status: 520, Body: "error code: 520"},
			{Status: 200, Body: anthropicError("api_error", "Internal server error")},
		},
		Overloaded: {
			raw(529, "overloaded_error", "Overloaded"),
			{Status: 503, Body: "upstream connect error or disconnect/reset before headers"},
		},
		RateLimited: {
			raw(429, "rate_limit_error", "This request would exceed your organization's rate limit of 50,000 input tokens per minute."),
			raw(429, "rate_limit_error", "Number of concurrent connections has exceeded your rate limit."),
		},
		GatewayTimeout: {raw(504, "timeout_error", "Request timed out")},
		QuotaExhausted: {
			invalid("Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."),
			invalid("You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."),
			raw(402, "billing_error", "There is an issue with your billing."),
		},
		BadKey: {
			raw(401, "authentication_error", "invalid x-api-key"),
			raw(401, "authentication_error", "invalid x-api-key: "+Key),
		},
		Forbidden:   {raw(403, "permission_error", "Your API key does not have permission to use the specified resource.")},
		NoSuchModel: {raw(404, "not_found_error", "model: claude-9")},
		WrongAddress: {
			raw(404, "not_found_error", "Not found"),
			{Status: 404, Body: "404 page not found"},
			{Status: 405, Body: anthropicError("invalid_request_error", "Method Not Allowed")},
			{Status: 301, Header: map[string]string{"Location": "https://example.com/"}},
		},
		BadSetting: {
			invalid("temperature: range: 0..1"),
			invalid("`temperature` is deprecated for this model."),
			invalid("`temperature` and `top_p` cannot both be specified for this model. Please use only one."),
			invalid("max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022"),
			invalid("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"),
			invalid("tools.0.custom.input_schema: JSON schema is invalid."),
			invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"),
			invalid("This model does not support assistant message prefill. The conversation must end with a user message."),
		},
		TooLong: {
			invalid("prompt is too long: 210000 tokens > 200000 maximum"),
			invalid("input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, decrease input length or `max_tokens` and try again"),
			raw(413, "request_too_large", "Request exceeds the maximum size"),
			{Status: 400, Body: `{"error":{"code":400,"message":"request (15018 tokens) exceeds the available context size (512 tokens), try increasing it","type":"exceed_context_size_error"}}`},
		},
		Unprocessable: {
			invalid("messages: text content blocks must be non-empty"),
			invalid("messages.0.content: Input should be a valid string"),
		},
		Filtered: {invalid("Output blocked by content filtering policy")},
		Garbled: {
			{Body: `{"type":"message","content":[{"type":"text","text":42}]}`},
			{Body: `{"type":"message","content":[{"type":"tool_use","name":"other","input":{}}]}`},
			{Body: `{"type":"ping"}`},
			{Body: `{}`},
		},
	}
}

// anthropicRateLimits are the ways to say how long to wait.
func anthropicRateLimits() []RateLimit {
	body := anthropicError("rate_limit_error", "This request would exceed your rate limit.")
	limited := func(wait string, header map[string]string) RateLimit {
		return RateLimit{Wait: wait, Raw: Raw{Status: 429, Header: header, Body: body}}
	}
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339Nano) }
	return []RateLimit{
		limited("0s", nil),
		limited("12s", map[string]string{"Retry-After": "12"}),
		limited("30s", map[string]string{"Anthropic-Ratelimit-Requests-Reset": in(30 * time.Second), "Anthropic-Ratelimit-Requests-Remaining": "0"}),
		limited("1m", map[string]string{"Anthropic-Ratelimit-Input-Tokens-Reset": in(time.Hour), "Anthropic-Ratelimit-Input-Tokens-Remaining": "0"}),
		limited("0s", map[string]string{"Anthropic-Ratelimit-Output-Tokens-Reset": in(time.Hour), "Anthropic-Ratelimit-Output-Tokens-Remaining": "100"}),
		limited("0s", map[string]string{"Anthropic-Ratelimit-Requests-Reset": "2001-01-01T00:00:00Z", "Anthropic-Ratelimit-Requests-Remaining": "0"}),
		limited("3s", map[string]string{"Retry-After": "3", "Anthropic-Ratelimit-Requests-Reset": in(time.Minute), "Anthropic-Ratelimit-Requests-Remaining": "0"}),
	}
}
