package openai

import (
	"encoding/json"
	"errors"
	"fmt"

	"deem"
	"deem/internal/wire"
)

// A wireReply is the body of an answer, with the fields we use.
type wireReply struct {
	Model             string `json:"model"`
	SystemFingerprint string `json:"system_fingerprint"`
	Choices           []struct {
		Message      message `json:"message"`
		FinishReason string  `json:"finish_reason"`
		Logprobs     struct {
			Content []wire.TokenLogprob `json:"content"`
		} `json:"logprobs"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		PromptDetails    struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			ReasoningTokens int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"` // some routers send errors with status 200
}

type message struct {
	Content any    `json:"content"` // null, a string, or a list of parts
	Refusal string `json:"refusal"`
}

// read returns the text and the refusal of a message. The content is decoded as any and
// examined here: a type with its own UnmarshalJSON would scan its JSON three times, which
// dominates the time for long replies.
func (m message) read() (text, refusal string, err error) {
	switch content := m.Content.(type) {
	case nil:
		return "", m.Refusal, nil
	case string:
		return content, m.Refusal, nil
	case []any:
		refusal = m.Refusal
		for _, part := range content {
			p, ok := part.(map[string]any)
			if !ok {
				return "", "", fmt.Errorf("a part of the message is %T, not an object", part)
			}
			t, _ := p["text"].(string)
			r, _ := p["refusal"].(string)
			text, refusal = text+t, refusal+r
		}
		return text, refusal, nil
	default:
		return "", "", fmt.Errorf("the content of the message is %T, neither text nor parts", content)
	}
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
	if len(w.Choices) == 0 {
		return deem.Reply{}, m.Client.Garbled(a, errors.New("the answer has no choices"))
	}
	c := w.Choices[0]
	text, refusal, err := c.Message.read()
	if err != nil {
		return deem.Reply{}, m.Client.Garbled(a, err)
	}
	return m.Client.Clean(deem.Reply{
		Text:        text,
		Refusal:     refusal,
		Stop:        stop(c.FinishReason),
		Model:       w.Model,
		Fingerprint: w.SystemFingerprint,
		Logprobs:    wire.Logprobs(c.Logprobs.Content),
		Usage: deem.Usage{
			Input:       wire.Count(w.Usage.PromptTokens),
			Output:      wire.Count(w.Usage.CompletionTokens), // with the reasoning tokens
			CachedInput: wire.Count(w.Usage.PromptDetails.CachedTokens),
			Reasoning:   wire.Count(w.Usage.CompletionDetails.ReasoningTokens),
		},
	}), nil
}

// stop converts a finish reason.
func stop(reason string) deem.Stop {
	switch reason {
	case "stop":
		return deem.StopEnd
	case "length":
		return deem.StopLength
	case "content_filter":
		return deem.StopFilter
	default:
		return deem.StopOther
	}
}
