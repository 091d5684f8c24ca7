package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"deem"
	"deem/internal/wire"
)

// A wireReply is the body of an answer, with the fields we use.
type wireReply struct {
	Type        string   `json:"type"`
	Model       string   `json:"model"`
	Content     []block  `json:"content"`
	StopReason  string   `json:"stop_reason"`
	StopDetails struct { // more about a refusal
		Category    string `json:"category"`
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
	Usage struct {
		InputTokens         int `json:"input_tokens"`
		CacheCreationTokens int `json:"cache_creation_input_tokens"`
		CacheReadTokens     int `json:"cache_read_input_tokens"`
		OutputTokens        int `json:"output_tokens"`
		OutputDetails       struct {
			ThinkingTokens int `json:"thinking_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"` // some routers send errors with status 200
}

// A block is a part of the reply: text, thinking, or a tool call.
type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// decode converts an answer to a reply. It returns err if it is not nil, or an error for an
// unsuccessful status.
func (m *client) decode(a wire.Answer, err error) (deem.Reply, error) {
	var w wireReply
	if err := m.Client.Read(a, err, &w); err != nil {
		return deem.Reply{}, err
	}
	if wire.Present(w.Error) {
		return deem.Reply{}, m.Client.StatusError(a)
	}
	if w.Type != "message" && w.Content == nil {
		return deem.Reply{}, m.Client.Garbled(a, errors.New("the answer is not a message"))
	}
	reply := deem.Reply{
		Stop:  stop(w.StopReason),
		Model: w.Model,
		// The API counts tokens read from and written to its cache separately from the rest
		// of the input.
		Usage: deem.Usage{
			Input:       wire.Count(w.Usage.InputTokens, w.Usage.CacheReadTokens, w.Usage.CacheCreationTokens),
			Output:      wire.Count(w.Usage.OutputTokens),
			CachedInput: wire.Count(w.Usage.CacheReadTokens),
			Reasoning:   wire.Count(w.Usage.OutputDetails.ThinkingTokens),
		},
	}
	// The text is the input of our tool, if it was called, or else all texts. Thinking is
	// not included.
	called := slices.IndexFunc(w.Content, func(b block) bool { return b.Type == "tool_use" })
	switch {
	case called < 0:
		for _, part := range w.Content {
			if part.Type == "text" {
				reply.Text += part.Text
			}
		}
	case w.Content[called].Name != toolName:
		return deem.Reply{}, m.Client.Garbled(a, fmt.Errorf("the model calls the tool %q, which it was not given", w.Content[called].Name))
	default:
		reply.Text = string(w.Content[called].Input)
		if w.StopReason == "tool_use" {
			reply.Stop = deem.StopEnd // A model that called our tool has finished its reply.
		}
	}
	if w.StopReason == "refusal" {
		reply.Refusal = cmp.Or(w.StopDetails.Explanation, w.StopDetails.Category, reply.Text, "the model refused")
	}
	return m.Client.Clean(reply), nil
}

// stop converts a stop reason.
func stop(reason string) deem.Stop {
	switch reason {
	case "end_turn", "stop_sequence":
		return deem.StopEnd
	case "max_tokens", "model_context_window_exceeded":
		return deem.StopLength
	case "refusal":
		return deem.StopFilter
	default:
		return deem.StopOther
	}
}
