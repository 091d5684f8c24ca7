package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"deem"
	"deem/internal/wire"
)

// A wireReply is the body of an answer, with the fields we use.
type wireReply struct {
	Type        string          `json:"type"`
	Model       string          `json:"model"`
	Content     []block         `json:"content"`
	StopReason  string          `json:"stop_reason"`
	StopDetails stopDetails     `json:"stop_details"`
	Usage       usage           `json:"usage"`
	Error       json.RawMessage `json:"error"` // some routers send errors with status 200
}

// A block is a part of the reply: text, thinking, or a tool call.
type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// stopDetails has more information about a refusal.
type stopDetails struct {
	Category    string `json:"category"`
	Explanation string `json:"explanation"`
}

type usage struct {
	InputTokens         int `json:"input_tokens"`
	CacheCreationTokens int `json:"cache_creation_input_tokens"`
	CacheReadTokens     int `json:"cache_read_input_tokens"`
	OutputTokens        int `json:"output_tokens"`
	OutputDetails       struct {
		ThinkingTokens int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// decode parses a successful answer.
func (m *client) decode(a wire.Answer) (deem.Reply, error) {
	var w wireReply
	if err := json.Unmarshal(a.Text, &w); err != nil {
		return deem.Reply{}, m.Client.Garbled(a, err)
	}
	if wire.Present(w.Error) {
		return deem.Reply{}, m.Client.StatusError(a)
	}
	if w.Type != "message" && w.Content == nil {
		return deem.Reply{}, m.Client.Garbled(a, errors.New("the answer is not a message"))
	}
	text, called, err := w.text()
	if err != nil {
		return deem.Reply{}, m.Client.Garbled(a, err)
	}
	return m.Client.Clean(deem.Reply{
		Text:    text,
		Refusal: w.refusal(text),
		Stop:    stop(w.StopReason, called),
		Usage:   w.Usage.tokens(),
		Model:   w.Model,
	}), nil
}

// text returns the text of the reply: the input of our tool, if it was called, or else all
// texts. Thinking is not included.
func (w *wireReply) text() (text string, called bool, err error) {
	var b strings.Builder
	for _, part := range w.Content {
		switch part.Type {
		case "text":
			b.WriteString(part.Text)
		case "tool_use":
			if part.Name != toolName {
				return "", false, fmt.Errorf("the model calls the tool %q, which it was not given", part.Name)
			}
			return string(part.Input), true, nil
		}
	}
	return b.String(), false, nil
}

// refusal returns why the model refused, or "".
func (w *wireReply) refusal(text string) string {
	if w.StopReason != "refusal" {
		return ""
	}
	for _, why := range []string{w.StopDetails.Explanation, w.StopDetails.Category, text} {
		if why != "" {
			return why
		}
	}
	return "the model refused"
}

// stop converts a stop reason. A model that called our tool has finished its reply.
func stop(reason string, called bool) deem.Stop {
	switch {
	case reason == "end_turn", reason == "stop_sequence", reason == "tool_use" && called:
		return deem.StopEnd
	case reason == "max_tokens", reason == "model_context_window_exceeded":
		return deem.StopLength
	case reason == "refusal":
		return deem.StopFilter
	default:
		return deem.StopOther
	}
}

// tokens converts a usage. The API counts tokens read from and written to its cache
// separately from the rest of the input.
func (u usage) tokens() deem.Usage {
	return deem.Usage{
		Input:       wire.Count(u.InputTokens, u.CacheReadTokens, u.CacheCreationTokens),
		Output:      wire.Count(u.OutputTokens),
		CachedInput: wire.Count(u.CacheReadTokens),
		Reasoning:   wire.Count(u.OutputDetails.ThinkingTokens),
	}
}
