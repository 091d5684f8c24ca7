package modeltest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"deem"
)

// Google returns the wire format of the Gemini API's generateContent, with its errors. It
// is written from the public API documentation and from errors that users have reported,
// independently of the client that it checks.
func Google() Wire {
	return Wire{
		Read:       readGoogle,
		Reply:      replyGoogle,
		Errors:     googleErrors,
		RateLimits: googleRateLimits(),
		Lacks:      []string{"Refusal", "Fingerprint"},
	}
}

type googleTurn struct {
	Role  string `json:"role"`
	Parts []struct {
		Text *string `json:"text"`
	} `json:"parts"`
}

// text returns the parts of a turn as one text.
func (t googleTurn) text() (string, error) {
	var b strings.Builder
	for _, p := range t.Parts {
		if p.Text == nil {
			return "", errors.New("a part has no data")
		}
		b.WriteString(*p.Text)
	}
	return b.String(), nil
}

type googleRequest struct {
	SystemInstruction *googleTurn  `json:"systemInstruction"`
	Contents          []googleTurn `json:"contents"`
	GenerationConfig  struct {
		Temperature        *float64        `json:"temperature"`
		TopP               *float64        `json:"topP"`
		Seed               *int32          `json:"seed"`
		StopSequences      []string        `json:"stopSequences"`
		MaxOutputTokens    int             `json:"maxOutputTokens"`
		CandidateCount     *int            `json:"candidateCount"`
		ResponseMIMEType   string          `json:"responseMimeType"`
		ResponseJSONSchema json.RawMessage `json:"responseJsonSchema"`
		ResponseLogprobs   bool            `json:"responseLogprobs"`
		Logprobs           int             `json:"logprobs"`
	} `json:"generationConfig"`
}

// readGoogle decodes a request as strictly as the real server.
func readGoogle(r *http.Request, body []byte) (string, deem.Request, error) {
	var w googleRequest
	c := &w.GenerationConfig
	_, resource, _ := strings.Cut(r.URL.Path, "/models/")
	model, isCall := strings.CutSuffix(resource, ":generateContent")
	switch err := json.Unmarshal(body, &w); {
	case err != nil:
		return "", deem.Request{}, fmt.Errorf("body is not the JSON of a request: %w", err)
	case r.Method != http.MethodPost || !isCall:
		return "", deem.Request{}, fmt.Errorf("no such call: %s %s", r.Method, r.URL.Path)
	case r.URL.Query().Has("key"):
		return "", deem.Request{}, errors.New("the key is in the URL")
	case len(w.Contents) == 0:
		return "", deem.Request{}, errors.New("contents is not specified")
	case c.CandidateCount != nil && *c.CandidateCount != 1:
		return "", deem.Request{}, errors.New("only one candidate is served")
	case len(c.ResponseJSONSchema) > 0 && c.ResponseMIMEType != "application/json":
		return "", deem.Request{}, errors.New("a schema needs a response mime type of application/json")
	case c.Logprobs > 0 && !c.ResponseLogprobs:
		return "", deem.Request{}, errors.New("logprobs needs response_logprobs")
	}
	messages, err := w.messages()
	if err != nil {
		return "", deem.Request{}, err
	}
	req := deem.Request{
		Messages:    messages,
		MaxTokens:   c.MaxOutputTokens,
		Temperature: c.Temperature,
		TopP:        c.TopP,
		Stop:        c.StopSequences,
		TopLogprobs: c.Logprobs,
		Schema:      c.ResponseJSONSchema,
		JSON:        c.ResponseMIMEType == "application/json" && len(c.ResponseJSONSchema) == 0,
	}
	if c.Seed != nil {
		seed := int64(*c.Seed)
		req.Seed = &seed
	}
	return model, req, nil
}

// messages returns the turns as messages, the system's first.
func (w googleRequest) messages() ([]deem.Message, error) {
	var messages []deem.Message
	if w.SystemInstruction != nil {
		text, err := w.SystemInstruction.text()
		if err != nil {
			return nil, err
		}
		messages = append(messages, deem.Message{Role: "system", Content: text})
	}
	roles := map[string]string{"user": "user", "model": "assistant"}
	for _, t := range w.Contents {
		text, err := t.text()
		role, ok := roles[t.Role]
		if err != nil || !ok {
			return nil, fmt.Errorf("please use a valid role: user, model; not %q: %w", t.Role, err)
		}
		messages = append(messages, deem.Message{Role: role, Content: text})
	}
	return messages, nil
}

// replyGoogle encodes a reply. A reply with reasoning has its thoughts in a part before it,
// like models that were asked to include their thoughts; but not a reply with
// log-probabilities, which are those of the text alone.
func replyGoogle(reply deem.Reply) Raw {
	reasons := map[deem.Stop]string{
		deem.StopEnd: "STOP", deem.StopLength: "MAX_TOKENS", deem.StopFilter: "SAFETY", deem.StopOther: "OTHER",
	}
	reason := cmp.Or(reasons[reply.Stop], "STOP")
	var parts []any
	if reply.Usage.Reasoning > 0 && len(reply.Logprobs) == 0 {
		parts = append(parts, map[string]any{"text": "**Weighing**\n\nIt may be so, or no.", "thought": true})
	}
	candidate := map[string]any{"index": 0, "finishReason": reason}
	if reply.Text != "" {
		// A text may come in several parts, the last with a signature.
		_, last := utf8.DecodeLastRuneInString(reply.Text)
		end := len(reply.Text) - last
		parts = append(parts, map[string]any{"text": reply.Text[:end]}, map[string]any{"text": reply.Text[end:], "thoughtSignature": "c2lnbmVk"})
	}
	if len(parts) > 0 {
		candidate["content"] = map[string]any{"role": "model", "parts": parts}
	}
	if len(reply.Logprobs) > 0 {
		candidate["avgLogprobs"] = -0.1
		candidate["logprobsResult"] = logprobsGoogle(reply.Logprobs)
	}
	u := reply.Usage
	body, err := json.MarshalIndent(map[string]any{
		"candidates":   []any{candidate},
		"modelVersion": reply.Model,
		"responseId":   reply.RequestID,
		"usageMetadata": map[string]any{
			"promptTokenCount":        u.Input,
			"cachedContentTokenCount": u.CachedInput,
			"candidatesTokenCount":    u.Output - u.Reasoning,
			"thoughtsTokenCount":      u.Reasoning,
			"totalTokenCount":         u.Input + u.Output,
		},
	}, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("modeltest: encode reply: %v", err)) // log-probabilities that are not numbers
	}
	return Raw{Body: string(body), Header: map[string]string{"Content-Type": "application/json; charset=UTF-8"}}
}

// logprobsGoogle encodes log-probabilities.
func logprobsGoogle(tokens []deem.TokenLogprob) any {
	one := func(t deem.TokenLogprob) any {
		return map[string]any{"token": t.Token, "tokenId": 17, "logProbability": t.Logprob}
	}
	chosen, top := []any{}, []any{}
	for _, t := range tokens {
		chosen = append(chosen, one(t))
		rivals := []any{}
		for _, r := range t.Top {
			rivals = append(rivals, one(r))
		}
		top = append(top, map[string]any{"candidates": rivals})
	}
	return map[string]any{"chosenCandidates": chosen, "topCandidates": top}
}

// googleError returns the body of an error: a google.rpc.Status, with details that are
// already JSON.
func googleError(code int, status, message string, details ...string) Raw {
	list := ""
	if len(details) > 0 {
		list = `,"details":[` + strings.Join(details, ",") + `]`
	}
	return Raw{Status: code, Body: fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":%q%s}}`, code, encode(message), status, list)}
}

// The details of errors.
const (
	googleHelp     = `{"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"Learn more about Gemini API quotas","url":"https://ai.google.dev/gemini-api/docs/rate-limits"}]}`
	googleRetry    = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38s"}`
	googleBadKey   = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}}`
	googleDayQuota = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaDimensions":{"location":"global","model":"gemini-2.5-flash"},"quotaValue":"20"}]}`
	googleMinQuota = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count","quotaId":"GenerateContentPaidTierInputTokensPerModelPerMinute","quotaDimensions":{"location":"global","model":"gemini-2.5-flash"},"quotaValue":"1000000"}]}`

	googleExceeded = "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. "
)

// googleErrors are the errors of the Gemini API, and of proxies in front of it.
var googleErrors = map[Trouble][]Raw{
	// These are transient.
	ServerError: {
		googleError(500, "INTERNAL", "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting"),
		{Status: 502, Body: "<!DOCTYPE html>\n<html lang=en>\n<title>Error 502 (Server Error)!!1</title>\n<p><b>502.</b> <ins>That’s an error.</ins></html>"},
		{Status: 500, Body: ""},
		googleError(409, "ABORTED", "The operation was aborted."),
		googleError(499, "CANCELLED", "The operation was cancelled."),
		{Status: 200, Body: `{"error":{"code":500,"message":"Upstream error","status":"INTERNAL"}}`},
	},
	Overloaded: {
		googleError(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
		{Status: 503, Body: "[" + googleError(503, "UNAVAILABLE", "This model is currently experiencing high demand.").Body + "]"},
	},
	RateLimited: {
		googleError(429, "RESOURCE_EXHAUSTED", googleExceeded+"\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count, limit: 1000000, model: gemini-2.5-flash\nPlease retry in 38.4s.", googleHelp, googleMinQuota, googleRetry),
		googleError(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
		{Status: 429, Body: "Too Many Requests"},
	},
	GatewayTimeout: {
		googleError(504, "DEADLINE_EXCEEDED", "The request timed out. Please try again."),
		{Status: 504, Body: "upstream request timeout"},
	},
	Garbled: {
		{Body: ""},
		{Body: `{"candidates":[{"content":{"parts":[{"text":"yes`},
		{Body: "not JSON at all"},
		{Body: `{"candidates":[]}`},
		{Body: `{"usageMetadata":{"promptTokenCount":10}}`},
		{Body: "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Hello</body></html>"},
		{Body: `{"candidates":[{"content":{"parts":[{"text":42}]}}]}`},
		{Body: "[1,2,3]"},
	},

	// After these, no further request can succeed.
	QuotaExhausted: {
		googleError(429, "RESOURCE_EXHAUSTED", googleExceeded+"\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 20, model: gemini-2.5-flash\nPlease retry in 38.4s.", googleHelp, googleDayQuota, googleRetry),
		googleError(429, "RESOURCE_EXHAUSTED", googleExceeded+"\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_input_token_count, limit: 0, model: gemini-3-pro\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0", googleRetry),
		googleError(429, "RESOURCE_EXHAUSTED", "Your project has exceeded its monthly spending cap."),
		googleError(402, "FAILED_PRECONDITION", "Payment is required."),
	},
	BadKey: {
		googleError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", googleBadKey),
		googleError(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", googleBadKey),
		googleError(400, "INVALID_ARGUMENT", "API Key not found: "+Key),
		googleError(401, "UNAUTHENTICATED", "Request had invalid authentication credentials ("+Key+"). Expected OAuth 2 access token."),
		{Status: 400, Body: "[" + googleError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.").Body + "]"},
	},
	Forbidden: {
		googleError(403, "PERMISSION_DENIED", "Generative Language API has not been used in project 123 before or it is disabled.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED"}`),
		googleError(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
	},
	NoSuchModel: {
		googleError(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods."),
	},
	WrongAddress: {
		{Status: 404, Body: "<!DOCTYPE html>\n<html lang=en>\n<title>Error 404 (Not Found)!!1</title></html>"},
		{Status: 405, Body: ""},
		{Status: 301, Header: map[string]string{"Location": "https://example.com/"}, Body: ""},
	},
	BadSetting: {
		googleError(400, "INVALID_ARGUMENT", "Logprobs is not enabled for models/gemini-2.5-pro"),
		googleError(400, "INVALID_ARGUMENT", "Budget 0 is invalid. This model only works in thinking mode."),
		googleError(400, "INVALID_ARGUMENT", `Invalid JSON payload received. Unknown name "responseJsonSchema" at 'generation_config': Cannot find field.`, `{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"generation_config","description":"Cannot find field."}]}`),
		googleError(400, "INVALID_ARGUMENT", "JSON mode is not enabled for models/gemma-3-27b-it"),
		googleError(400, "INVALID_ARGUMENT", "Developer instruction is not enabled for models/gemma-3-27b-it"),
		googleError(400, "INVALID_ARGUMENT", "Unable to submit request because it has a maxOutputTokens value of 99999 but the supported range is from 1 (inclusive) to 65537 (exclusive)."),
		googleError(400, "INVALID_ARGUMENT", "Request contains an invalid argument.", `{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"generation_config.top_p","description":"out of range"}]}`),
	},

	// These concern one request alone.
	TooLong: {
		googleError(400, "INVALID_ARGUMENT", "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."),
		googleError(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
		{Status: 413, Body: "<html><title>Error 413 (Request Entity Too Large)!!1</title></html>"},
	},
	Unprocessable: {
		googleError(400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
		googleError(400, "INVALID_ARGUMENT", "Unable to submit request because it must have a text parameter."),
	},
	Filtered: {
		{Body: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":12559,"totalTokenCount":12559},"modelVersion":"gemini-2.5-flash"}`},
		{Body: `{"candidates":[],"promptFeedback":{"blockReason":"SAFETY","safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"HIGH","blocked":true}]}}`},
		{Body: `{"promptFeedback":{"blockReason":"OTHER","blockReasonMessage":"Not with the key ` + Key + `."}}`},
	},
}

// googleRateLimits are the ways to say how long to wait.
func googleRateLimits() []RateLimit {
	limited := func(wait string, header map[string]string, details ...string) RateLimit {
		raw := googleError(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", details...)
		raw.Header = header
		return RateLimit{Wait: wait, Raw: raw}
	}
	retry := func(delay string) string {
		return `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + delay + `"}`
	}
	return []RateLimit{
		limited("0s", nil),
		limited("38s", nil, googleHelp, googleMinQuota, googleRetry),
		limited("38.276s", nil, retry("38.276s")),
		limited("0s", nil, retry("soon")),
		limited("0s", nil, retry("-3s")),
		limited("7s", map[string]string{"Retry-After": "7"}),
		limited("3s", map[string]string{"Retry-After": "3"}, googleRetry),
		limited("12s", nil, `"not an object"`, `{"violations":"not a list"}`, retry("12s")),
	}
}
