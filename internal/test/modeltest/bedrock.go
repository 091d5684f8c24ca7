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

// Bedrock returns the wire format of the Converse API with its errors. It is written from
// the public API documentation, independently of the client that it checks.
func Bedrock() Wire {
	return Wire{
		Read:   readBedrock,
		Reply:  replyBedrock,
		Errors: bedrockErrors(),
		RateLimits: []RateLimit{
			{Wait: "0s", Raw: bedrockError(429, "ThrottlingException", "Too many requests, please wait before trying again.")},
		},
		Lacks: []string{"Seed", "TopLogprobs", "Logprobs", "JSON", "Fingerprint", "Refusal", "Model", "Reasoning"},
	}
}

type bedrockText struct {
	Text string `json:"text"`
}

type bedrockRequest struct {
	Messages []struct {
		Role    string        `json:"role"`
		Content []bedrockText `json:"content"`
	} `json:"messages"`
	System    []bedrockText `json:"system"`
	Inference struct {
		MaxTokens     int      `json:"maxTokens"`
		Temperature   *float64 `json:"temperature"`
		TopP          *float64 `json:"topP"`
		StopSequences []string `json:"stopSequences"`
	} `json:"inferenceConfig"`
	ToolConfig struct {
		Tools []struct {
			Spec struct {
				Name        string `json:"name"`
				InputSchema struct {
					JSON json.RawMessage `json:"json"`
				} `json:"inputSchema"`
			} `json:"toolSpec"`
		} `json:"tools"`
		Choice struct {
			Tool struct {
				Name string `json:"name"`
			} `json:"tool"`
		} `json:"toolChoice"`
	} `json:"toolConfig"`
}

// readBedrock decodes a request as strictly as the real server.
func readBedrock(r *http.Request, body []byte) (string, deem.Request, error) {
	name, ok := strings.CutPrefix(r.URL.Path, "/model/")
	name, call := strings.CutSuffix(name, "/converse")
	switch {
	case r.Method != http.MethodPost || !ok || !call:
		return "", deem.Request{}, fmt.Errorf("no such call: %s %s", r.Method, r.URL.Path)
	case r.Header.Get("Authorization") == "":
		return "", deem.Request{}, errors.New("missing authentication token")
	}
	var w bedrockRequest
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return "", deem.Request{}, fmt.Errorf("the body is not the JSON of a request: %w", err)
	}
	req := deem.Request{MaxTokens: w.Inference.MaxTokens, Temperature: w.Inference.Temperature, TopP: w.Inference.TopP, Stop: w.Inference.StopSequences}
	for _, b := range w.System {
		req.Messages = append(req.Messages, deem.Message{Role: "system", Content: b.Text})
	}
	for _, m := range w.Messages {
		if len(m.Content) != 1 || m.Content[0].Text == "" || m.Role != "user" && m.Role != "assistant" {
			return "", deem.Request{}, fmt.Errorf("a message with the role %q and %d contents is not served", m.Role, len(m.Content))
		}
		req.Messages = append(req.Messages, deem.Message{Role: m.Role, Content: m.Content[0].Text})
	}
	if tools := w.ToolConfig.Tools; len(tools) == 1 {
		if w.ToolConfig.Choice.Tool.Name != tools[0].Spec.Name {
			return "", deem.Request{}, errors.New("only one tool, which must be called, is served")
		}
		req.Schema = tools[0].Spec.InputSchema.JSON
	}
	return name, req, nil
}

// replyBedrock encodes a reply, with a thinking block before the text as in models that
// think.
func replyBedrock(reply deem.Reply) Raw {
	reasons := map[deem.Stop]string{deem.StopEnd: "end_turn", deem.StopLength: "max_tokens", deem.StopFilter: "content_filtered", deem.StopOther: "tool_use"}
	reason := cmp.Or(reasons[reply.Stop], "end_turn")
	content := []any{map[string]any{"reasoningContent": map[string]any{"reasoningText": map[string]any{"text": "Let me see."}}}}
	if reply.Text != "" {
		content = append(content, map[string]any{"text": reply.Text})
	}
	u := reply.Usage
	body := encode(map[string]any{
		"output":     map[string]any{"message": map[string]any{"role": "assistant", "content": content}},
		"stopReason": reason,
		"usage": map[string]any{
			"inputTokens": u.Input - u.CachedInput, "outputTokens": u.Output, "totalTokens": u.Input + u.Output,
			"cacheReadInputTokens": u.CachedInput, "cacheWriteInputTokens": 0,
		},
		"metrics": map[string]any{"latencyMs": 551},
	})
	return Raw{Body: body, Header: map[string]string{"X-Amzn-Requestid": reply.RequestID}}
}

func bedrockError(status int, kind, message string) Raw {
	body := encode(map[string]string{"message": message})
	return Raw{Status: status, Body: body, Header: map[string]string{"X-Amzn-Errortype": kind + ":http://internal.amazon.com/coral/com.amazon.bedrock/"}}
}

// bedrockErrors are the errors of Bedrock and of proxies in front of it.
func bedrockErrors() map[Trouble][]Raw {
	invalid := func(message string) Raw { return bedrockError(400, "ValidationException", message) }
	return map[Trouble][]Raw{
		ServerError: {
			bedrockError(500, "InternalServerException", "The system encountered an unexpected error during processing. Try your request again."),
			bedrockError(424, "ModelErrorException", "The system encountered an unexpected error during processing. Try your request again."),
			{Status: 502, Body: "<html><body>502 Bad Gateway</body></html>"},
		},
		Overloaded: {
			bedrockError(503, "ServiceUnavailableException", "Bedrock is unable to process your request."),
			bedrockError(429, "ModelNotReadyException", "Model is not ready for inference."),
		},
		RateLimited: {
			bedrockError(429, "ThrottlingException", "Too many requests, please wait before trying again."),
			bedrockError(429, "ThrottlingException", "Too many tokens, please wait before trying again."),
		},
		QuotaExhausted: {bedrockError(400, "ServiceQuotaExceededException", "Your request exceeds the service quota for your account.")},
		BadKey: {
			bedrockError(403, "UnrecognizedClientException", "The security token included in the request is invalid."),
			bedrockError(403, "InvalidSignatureException", "The request signature we calculated does not match the signature you provided."),
			bedrockError(403, "ExpiredTokenException", "The security token included in the request is expired"),
		},
		NoSuchModel: {
			invalid("The provided model identifier is invalid."),
			bedrockError(404, "ResourceNotFoundException", "Could not resolve the foundation model from the provided model identifier."),
			bedrockError(403, "AccessDeniedException", "You don't have access to the model with the specified model ID."),
			invalid("Invocation of model ID anthropic.claude-sonnet-4 with on-demand throughput isn't supported. Retry your request with the ID or ARN of an inference profile that contains this model."),
		},
		WrongAddress: {
			bedrockError(404, "UnknownOperationException", "Unknown operation"),
			{Status: 301, Header: map[string]string{"Location": "https://example.com/"}},
		},
		BadSetting: {
			invalid("The value at inferenceConfig.maxTokens exceeds the limit of the model. Lower it."),
			invalid("This model doesn't support tool use."),
			invalid("Malformed input request: `temperature` and `top_p` cannot both be specified for this model."),
		},
		TooLong: {invalid("Input is too long for requested model."), invalid("Too many input tokens. Max input tokens: 200000, request input token count: 250010")},
		Unprocessable: {
			invalid("The text field in the ContentBlock object at messages.0.content.0 is blank."),
		},
		Garbled: {
			{Body: `{"output": {"message": {"role": "assistant", "content": [{"text": 42}]}}}`},
			{Body: `{"output": {"message": {"role": "assistant", "content": [{"toolUse": {"name": "other", "input": {}}}]}}}`},
			{Body: `{"output": {}}`},
			{Body: `{}`},
		},
	}
}
