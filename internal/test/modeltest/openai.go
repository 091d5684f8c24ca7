package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"deem"
)

// OpenAI returns the wire format of Chat Completions, with the errors of OpenAI and of
// compatible servers. It is written from the public API documentation, independently of the
// client that it checks.
func OpenAI() Wire {
	return Wire{
		Read:       readOpenAI,
		Reply:      replyOpenAI,
		Errors:     openAIErrors,
		RateLimits: openAIRateLimits(),
	}
}

type openAIRequest struct {
	Model               string         `json:"model"`
	Messages            []deem.Message `json:"messages"`
	MaxTokens           int            `json:"max_tokens"`
	MaxCompletionTokens int            `json:"max_completion_tokens"`
	Temperature         *float64       `json:"temperature"`
	TopP                *float64       `json:"top_p"`
	Seed                *int64         `json:"seed"`
	Stop                []string       `json:"stop"`
	Logprobs            bool           `json:"logprobs"`
	TopLogprobs         int            `json:"top_logprobs"`
	N                   *int           `json:"n"`
	Stream              bool           `json:"stream"`
	ResponseFormat      *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

// readOpenAI decodes a request as strictly as the real server.
func readOpenAI(r *http.Request, body []byte) (string, deem.Request, error) {
	var w openAIRequest
	switch err := json.Unmarshal(body, &w); {
	case err != nil:
		return "", deem.Request{}, fmt.Errorf("body is not the JSON of a request: %w", err)
	case r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions"):
		return "", deem.Request{}, fmt.Errorf("no such call: %s %s", r.Method, r.URL.Path)
	case r.Header.Get("Content-Type") != "application/json":
		return "", deem.Request{}, fmt.Errorf("content type %q is not JSON", r.Header.Get("Content-Type"))
	case w.Stream, w.N != nil && *w.N != 1, len(w.Messages) == 0:
		return "", deem.Request{}, fmt.Errorf("only one whole reply to some messages is served")
	case w.TopLogprobs > 0 && !w.Logprobs:
		return "", deem.Request{}, fmt.Errorf("top_logprobs needs logprobs")
	}
	req := deem.Request{
		Messages:    w.Messages,
		MaxTokens:   max(w.MaxTokens, w.MaxCompletionTokens),
		Temperature: w.Temperature,
		TopP:        w.TopP,
		Seed:        w.Seed,
		Stop:        w.Stop,
		TopLogprobs: w.TopLogprobs,
	}
	if f := w.ResponseFormat; f != nil {
		req.JSON = f.Type == "json_object"
		req.Schema = f.JSONSchema.Schema
	}
	return w.Model, req, nil
}

func replyOpenAI(reply deem.Reply) Raw {
	reasons := map[deem.Stop]string{
		deem.StopEnd: "stop", deem.StopLength: "length", deem.StopFilter: "content_filter", deem.StopOther: "tool_calls",
	}
	reason := cmp.Or(reasons[reply.Stop], "stop")
	choice := map[string]any{
		"index":         0,
		"message":       map[string]any{"role": "assistant", "content": orNull(reply.Text), "refusal": orNull(reply.Refusal)},
		"finish_reason": reason,
		"logprobs":      logprobsOpenAI(reply.Logprobs),
	}
	u := reply.Usage
	body := encode(map[string]any{
		"id":                 "chatcmpl-1",
		"object":             "chat.completion",
		"created":            1700000000,
		"model":              reply.Model,
		"system_fingerprint": orNull(reply.Fingerprint),
		"choices":            []any{choice},
		"usage": map[string]any{
			"prompt_tokens":             u.Input,
			"completion_tokens":         u.Output,
			"total_tokens":              u.Input + u.Output,
			"prompt_tokens_details":     map[string]any{"cached_tokens": u.CachedInput, "audio_tokens": 0},
			"completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
		},
	})
	return Raw{Body: body, Header: map[string]string{"X-Request-Id": reply.RequestID}}
}

// orNull returns s, or nil if it is empty, as in the API.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// logprobsOpenAI encodes log-probabilities, or null.
func logprobsOpenAI(tokens []deem.TokenLogprob) any {
	if len(tokens) == 0 {
		return nil
	}
	list := []any{}
	for _, t := range tokens {
		top := []any{}
		for _, rival := range t.Top {
			top = append(top, map[string]any{"token": rival.Token, "logprob": rival.Logprob, "bytes": nil})
		}
		list = append(list, map[string]any{"token": t.Token, "logprob": t.Logprob, "bytes": nil, "top_logprobs": top})
	}
	return map[string]any{"content": list, "refusal": nil}
}

// openAIErrors are the errors of OpenAI and of compatible servers.
var openAIErrors = map[Trouble][]Raw{
	// These are transient.
	ServerError: {
		{Status: 500, Body: `{"error":{"message":"The server had an error while processing your request.","type":"server_error","param":null,"code":null}}`},
		{Status: 502, Body: "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center></body></html>"},
		{Status: 520, Body: "error code: 520"},
		{Status: 500, Body: ""},
		{Status: 409, Body: `{"error":{"message":"Conflict","type":null}}`},
		{Status: 425, Body: `{"detail":"Too Early"}`},
		{Status: 200, Body: `{"error":{"message":"Upstream error","code":502}}`},
	},
	Overloaded: {
		{Status: 503, Body: `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`},
		{Status: 503, Body: `{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error"}}`},
		{Status: 529, Body: `{"error":"overloaded"}`},
	},
	RateLimited: {
		{Status: 429, Body: `{"error":{"message":"Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 29500, Requested 1200.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`},
		{Status: 429, Body: `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation have exceeded call rate limit."}}`},
		{Status: 429, Body: "Too Many Requests"},
	},
	GatewayTimeout: {
		{Status: 504, Body: "<html><head><title>504 Gateway Time-out</title></head></html>"},
		{Status: 408, Body: `{"statusCode":408,"message":"The operation was timeout."}`},
	},
	Garbled: {
		{Body: ""},
		{Body: `{"choices":[{"message":{"content":"yes`},
		{Body: "not JSON at all"},
		{Body: `{"choices":[]}`},
		{Body: "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Hello</body></html>"},
		{Body: `{"choices":[{"message":{"content":42}}]}`},
		{Body: "[1,2,3]"},
	},

	// After these, no further request can succeed.
	QuotaExhausted: {
		{Status: 429, Body: `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`},
		{Status: 429, Body: `{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","param":null,"code":"billing_hard_limit_reached"}}`},
		{Status: 402, Body: `{"error":{"message":"Insufficient credits","code":402}}`},
	},
	BadKey: {
		{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + Key + `. You can find your API key at your account page.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`},
		{Status: 401, Body: `{"statusCode":401,"message":"Access denied due to invalid subscription key ` + Key + `."}`},
		{Status: 401, Body: `{"error":"Unauthorized"}`},
		{Status: 400, Body: `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`},
	},
	Forbidden: {
		{Status: 403, Body: `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}`},
	},
	NoSuchModel: {
		{Status: 404, Body: "{\"error\":{\"message\":\"The model `gpt-9` does not exist or you do not have access to it.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}"},
		{Status: 404, Body: "{\"object\":\"error\",\"message\":\"The model `gpt-9` does not exist.\",\"type\":\"NotFoundError\",\"param\":\"model\",\"code\":404}"},
		{Status: 404, Body: `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`},
		{Status: 404, Body: `{"error":{"message":"model \"gpt-9\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`},
		{Status: 400, Body: `{"error":{"message":"gpt-9 is not a valid model ID","type":"invalid_request_error","param":"model","code":null}}`},
	},
	WrongAddress: {
		{Status: 404, Body: `{"detail":"Not Found"}`},
		{Status: 404, Body: "404 page not found"},
		{Status: 405, Body: "<html><head><title>405 Not Allowed</title></head></html>"},
		{Status: 301, Header: map[string]string{"Location": "https://example.com/"}, Body: ""},
	},
	BadSetting: {
		{Status: 400, Body: `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`},
		{Status: 400, Body: `{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`},
		{Status: 400, Body: `{"error":{"message":"Invalid schema for response_format 'reply'","type":"invalid_request_error","param":"response_format.json_schema","code":null}}`},
	},

	// These concern one request alone.
	TooLong: {
		{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		{Status: 400, Body: `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.","type":"BadRequestError","param":null,"code":400}`},
		{Status: 400, Body: `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`},
		{Status: 400, Body: `{"error":{"message":"Invalid 'messages[0].content': string too long.","type":"invalid_request_error","param":"messages[0].content","code":"string_above_max_length"}}`},
		{Status: 500, Body: `{"error":"the prompt exceeds the model's maximum context length"}`},
		{Status: 429, Body: `{"error":{"message":"Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 45000.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`},
		{Status: 413, Body: "<html><head><title>413 Request Entity Too Large</title></head></html>"},
	},
	Unprocessable: {
		{Status: 422, Body: `{"detail":[{"loc":["body","messages",0,"content"],"msg":"field required","type":"value_error.missing"}]}`},
		{Status: 400, Body: `{"error":{"message":"We could not parse the JSON body of your request.","type":"invalid_request_error","param":null,"code":null}}`},
	},
	Filtered: {
		{Status: 400, Body: `{"error":{"message":"The response was filtered due to the prompt triggering content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"violence":{"filtered":true,"severity":"high"}}}}}`},
	},
}

// openAIRateLimits are the ways to say how long to wait.
func openAIRateLimits() []RateLimit {
	limited := func(wait string, header map[string]string) RateLimit {
		return RateLimit{Wait: wait, Raw: Raw{Status: 429, Header: header, Body: `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`}}
	}
	return []RateLimit{
		limited("0s", nil),
		limited("7s", map[string]string{"Retry-After": "7"}),
		limited("1500ms", map[string]string{"Retry-After": "1.5"}),
		limited("250ms", map[string]string{"Retry-After": "1", "Retry-After-Ms": "250"}),
		limited("1h", map[string]string{"Retry-After": time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}),
		limited("0s", map[string]string{"Retry-After": "Mon, 01 Jan 2001 00:00:00 GMT"}),
		limited("0s", map[string]string{"Retry-After": "soon"}),
		limited("12ms", map[string]string{"X-Ratelimit-Reset-Requests": "12ms"}),
		limited("1s", map[string]string{"X-Ratelimit-Reset-Requests": "20s", "X-Ratelimit-Remaining-Requests": "99", "X-Ratelimit-Reset-Tokens": "1s", "X-Ratelimit-Remaining-Tokens": "0"}),
		limited("1m", map[string]string{"X-Ratelimit-Reset-Tokens": "6m0s"}),
		limited("3s", map[string]string{"Retry-After": "3", "X-Ratelimit-Reset-Tokens": "30s"}),
	}
}
