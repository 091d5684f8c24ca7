package ollama

import (
	"encoding/json"

	"deem"
	"deem/internal/wire"
)

// A wireRequest is the body of a chat.
type wireRequest struct {
	Model    string          `json:"model"`
	Messages []deem.Message  `json:"messages"`
	Stream   bool            `json:"stream"`
	Format   json.RawMessage `json:"format,omitempty"`
	Think    any             `json:"think,omitempty"`

	// Truncate and Shift are sent as false: Ollama then refuses a prompt that does not fit
	// its window, and stops a reply at the end of the window. By default it would drop the
	// beginning of the prompt, instructions first, and answer as if nothing were missing.
	Truncate bool `json:"truncate"`
	Shift    bool `json:"shift"`

	Logprobs    bool        `json:"logprobs,omitempty"`
	TopLogprobs int         `json:"top_logprobs,omitempty"`
	Options     wireOptions `json:"options"`
}

// wireOptions are the settings of the model. Pointers distinguish 0 from unset: a
// temperature of 0 must be sent as 0.
type wireOptions struct {
	NumCtx      int      `json:"num_ctx,omitempty"`
	NumPredict  int      `json:"num_predict,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

// maxTopLogprobs is the API's maximum number of alternatives per token.
const maxTopLogprobs = 20

// encode returns the body of the chat for req with a window in tokens; 0 means the server's
// default.
func (m *client) encode(req deem.Request, window int) wireRequest {
	limit := req.MaxTokens
	if limit > 0 {
		limit += m.room // Thinking counts against the limit, and the judge's limit is for its answer.
	}
	format := req.Schema
	if len(format) == 0 && req.JSON {
		format = json.RawMessage(`"json"`)
	}
	if req.Messages == nil {
		req.Messages = []deem.Message{} // Ollama treats null as a request to load the model.
	}
	return wireRequest{
		Model:       m.name,
		Messages:    req.Messages,
		Format:      format,
		Think:       m.think,
		Logprobs:    req.TopLogprobs > 0,
		TopLogprobs: min(req.TopLogprobs, maxTopLogprobs),
		Options: wireOptions{
			NumCtx:      window,
			NumPredict:  limit,
			Temperature: req.Temperature,
			TopP:        req.TopP,
			Seed:        req.Seed,
			Stop:        req.Stop,
		},
	}
}

// Wire returns the parameters of the call for req. All parameters of a request can be sent.
// The window is not included: it depends on the length of the prompt.
func (m *client) Wire(req deem.Request) (sent, dropped string) {
	req.Messages = nil
	return wire.Sent(m.encode(req, 0), "model", "messages", "stream", "truncate", "shift"), ""
}
