package modeltest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"deem"
)

// Ollama returns the wire format of Ollama's own /api/chat, with the errors of its
// versions. It is written from the public API documentation and from errors that users have
// reported, independently of the client that it checks. It does not describe models, like a
// server behind a strict proxy.
func Ollama() Wire {
	return Wire{
		Read:       readOllama,
		Reply:      replyOllama,
		Errors:     ollamaErrors(),
		RateLimits: ollamaRateLimits(),
		Lacks:      []string{"Refusal", "Fingerprint", "RequestID", "CachedInput", "Reasoning", "StopFilter"},
	}
}

type ollamaRequest struct {
	Model       string          `json:"model"`
	Messages    []deem.Message  `json:"messages"`
	Stream      *bool           `json:"stream"`
	Format      json.RawMessage `json:"format"`
	Truncate    *bool           `json:"truncate"`
	Shift       *bool           `json:"shift"`
	Logprobs    bool            `json:"logprobs"`
	TopLogprobs int             `json:"top_logprobs"`
	Options     struct {
		NumCtx      int      `json:"num_ctx"`
		NumPredict  int      `json:"num_predict"`
		Temperature *float64 `json:"temperature"`
		TopP        *float64 `json:"top_p"`
		Seed        *int64   `json:"seed"`
		Stop        []string `json:"stop"`
	} `json:"options"`
}

// readOllama decodes a request as strictly as the real server, and more strictly where that
// would silently truncate a prompt.
func readOllama(r *http.Request, body []byte) (string, deem.Request, error) {
	var w ollamaRequest
	switch err := json.Unmarshal(body, &w); {
	case err != nil:
		return "", deem.Request{}, fmt.Errorf("body is not the JSON of a request: %w", err)
	case r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/api/chat"):
		return "", deem.Request{}, fmt.Errorf("no such call: %s %s", r.Method, r.URL.Path)
	case w.Stream == nil || *w.Stream:
		return "", deem.Request{}, errors.New("the reply would come in pieces")
	case w.Truncate == nil || *w.Truncate, w.Shift == nil || *w.Shift:
		return "", deem.Request{}, errors.New("a long prompt would be cut")
	case w.Options.NumCtx == 0:
		return "", deem.Request{}, errors.New("the window is left to the server")
	case w.Messages == nil:
		return "", deem.Request{}, errors.New("this only loads the model")
	case w.TopLogprobs > 0 && !w.Logprobs:
		return "", deem.Request{}, errors.New("top_logprobs needs logprobs")
	}
	req := deem.Request{
		Messages:    w.Messages,
		MaxTokens:   w.Options.NumPredict,
		Temperature: w.Options.Temperature,
		TopP:        w.Options.TopP,
		Seed:        w.Options.Seed,
		Stop:        w.Options.Stop,
		TopLogprobs: w.TopLogprobs,
	}
	if string(w.Format) == `"json"` {
		req.JSON = true
	} else {
		req.Schema = w.Format
	}
	return w.Model, req, nil
}

// replyOllama encodes a reply. A reply with reasoning has its thoughts in a separate field.
func replyOllama(reply deem.Reply) Raw {
	reasons := map[deem.Stop]string{deem.StopEnd: "stop", deem.StopLength: "length", deem.StopOther: "load"}
	reason := cmp.Or(reasons[reply.Stop], "stop")
	message := map[string]any{"role": "assistant", "content": reply.Text}
	if reply.Usage.Reasoning > 0 && len(reply.Logprobs) == 0 {
		message["thinking"] = "It may be so, or no."
	}
	answer := map[string]any{
		"model":                reply.Model,
		"created_at":           "2026-11-15T09:10:11.123456789Z",
		"message":              message,
		"done":                 true,
		"done_reason":          reason,
		"total_duration":       4883583458,
		"load_duration":        1334875,
		"prompt_eval_count":    reply.Usage.Input,
		"prompt_eval_duration": 342546000,
		"eval_count":           reply.Usage.Output,
		"eval_duration":        4535599000,
	}
	if len(reply.Logprobs) > 0 {
		answer["logprobs"] = logprobsOllama(reply.Logprobs)
	}
	return Raw{Body: encode(answer), Header: map[string]string{"Content-Type": "application/json; charset=utf-8"}}
}

// logprobsOllama encodes log-probabilities.
func logprobsOllama(tokens []deem.TokenLogprob) []any {
	list := []any{}
	for _, t := range tokens {
		e := map[string]any{"token": t.Token, "logprob": t.Logprob, "bytes": []byte(nil)}
		if len(t.Top) > 0 {
			e["top_logprobs"] = logprobsOllama(t.Top)
		}
		list = append(list, e)
	}
	return list
}

// ollamaErrors are the errors of Ollama, and of proxies in front of it.
func ollamaErrors() map[Trouble][]Raw {
	return map[Trouble][]Raw{
		ServerError: {
			{Status: 500, Body: `{"error":"llama runner process has terminated: exit status 2"}`},
			{Status: 500, Body: `{"error":"an error was encountered while running the model: unexpected EOF"}`},
			{Status: 500, Body: `{"error":"{\"error\":{\"code\":500,\"message\":\"Compute error.\",\"type\":\"server_error\"}}"}`},
			{Status: 502, Body: "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center></body></html>"},
			{Status: 500, Body: ""},
			{Status: 499, Body: `{"error":"request canceled"}`},
			{Status: 200, Body: `{"error":"an error was encountered while running the model"}`},
		},
		Overloaded: {
			{Status: 503, Body: `{"error":"server busy, please try again.  maximum pending requests exceeded"}`},
		},
		RateLimited: {
			{Status: 429, Body: `{"error":"you've reached your hourly usage limit, please wait or upgrade to continue"}`},
			{Status: 429, Body: "Too Many Requests"},
		},
		GatewayTimeout: {
			{Status: 504, Body: "<html><head><title>504 Gateway Time-out</title></head></html>"},
			{Status: 408, Body: ""},
		},
		QuotaExhausted: {
			{Status: 402, Body: `{"error":"this model requires a subscription"}`},
		},
		BadKey: {
			{Status: 401, Body: `{"error":"unauthorized","signin_url":"https://ollama.com/connect?name=host&key=` + Key + `"}`},
			{Status: 401, Body: "Bearer " + Key + " is not known here"},
		},
		Forbidden: {
			{Status: 403, Body: ""},
			{Status: 403, Body: `{"error":"this model is not available to you"}`},
		},
		NoSuchModel: {
			{Status: 404, Body: `{"error":"model 'llama9' not found"}`},
			{Status: 404, Body: `{"error":"model \"llama9\" not found, try pulling it first"}`},
		},
		WrongAddress: {
			{Status: 404, Body: "404 page not found"},
			{Status: 405, Body: "405 method not allowed"},
			{Status: 301, Header: map[string]string{"Location": "https://example.com/"}, Body: ""},
		},
		BadSetting: {
			{Status: 400, Body: `{"error":"registry.ollama.ai/library/llama3.2:latest does not support thinking"}`},
			{Status: 400, Body: `{"error":"\"nomic-embed-text\" does not support chat"}`},
			{Status: 400, Body: `{"error":"think value \"medium\" is not supported for this model"}`},
			{Status: 400, Body: `{"error":"invalid format: expected \"json\" or a JSON schema"}`},
			{Status: 412, Body: `{"error":"this model requires a newer version of Ollama"}`},
			{Status: 500, Body: `{"error":"model requires more system memory (64.2 GiB) than is available (15.1 GiB)"}`},
		},
		TooLong: {
			{Status: 400, Body: `{"error":"{\"error\":{\"code\":400,\"message\":\"request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_ctx\":4096}}"}`},
			{Status: 400, Body: `{"error":"the input length exceeds the context length"}`},
			{Status: 400, Body: `{"error":"the prompt is longer than the context length currently available to the model; start a new chat"}`},
			{Status: 413, Body: "<html><head><title>413 Request Entity Too Large</title></head></html>"},
		},
		Unprocessable: {
			{Status: 400, Body: `{"error":"invalid character 'x' looking for beginning of value"}`},
			{Status: 422, Body: ""},
		},
		Garbled: {
			{Body: ""},
			{Body: `{"model":"m","message":{"role":"assistant","content":"yes`},
			{Body: "not JSON at all"},
			{Body: `{}`},
			{Body: `{"model":"m","message":{"role":"assistant","content":"ye"},"done":false}`},
			{Body: "Ollama is running"},
			{Body: "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Hello</body></html>"},
			{Body: `{"message":{"content":42},"done":true}`},
			{Body: "[1,2,3]"},
		},
	}
}

// ollamaRateLimits are the ways in which hosted servers and proxies say how long to wait.
func ollamaRateLimits() []RateLimit {
	limited := func(wait string, header map[string]string) RateLimit {
		return RateLimit{Wait: wait, Raw: Raw{Status: 429, Header: header, Body: `{"error":"too many requests"}`}}
	}
	return []RateLimit{
		limited("0s", nil),
		limited("7s", map[string]string{"Retry-After": "7"}),
		limited("0s", map[string]string{"Retry-After": "soon"}),
	}
}
