package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"deem"
)

// A wireReply is the body of an answer, as far as we read it.
type wireReply struct {
	Model             string          `json:"model"`
	SystemFingerprint string          `json:"system_fingerprint"`
	Choices           []choice        `json:"choices"`
	Usage             usage           `json:"usage"`
	Error             json.RawMessage `json:"error"` // some routers send errors with status 200
}

type choice struct {
	Message      message   `json:"message"`
	FinishReason string    `json:"finish_reason"`
	Logprobs     *logprobs `json:"logprobs"`
}

type message struct {
	Content content `json:"content"`
	Refusal string  `json:"refusal"`
}

// A content is null, a string, or a list of parts.
type content struct {
	text    string
	refusal string
}

// UnmarshalJSON reads any of the three forms.
func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, &c.text) // null leaves it empty
	}
	var parts []struct {
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var text, refusal strings.Builder
	for _, p := range parts {
		text.WriteString(p.Text)
		refusal.WriteString(p.Refusal)
	}
	c.text, c.refusal = text.String(), refusal.String()
	return nil
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	PromptDetails    struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type logprobs struct {
	Content []tokenLogprob `json:"content"`
}

type tokenLogprob struct {
	Token       string         `json:"token"`
	Logprob     float64        `json:"logprob"`
	TopLogprobs []tokenLogprob `json:"top_logprobs"`
}

// decode makes a reply of the text of a successful answer. A text that makes no
// sense may do so the next time: it was cut off, or came from something between
// us and the server.
func (m *Model) decode(a answer) (deem.Reply, error) {
	var w wireReply
	if err := json.Unmarshal(a.text, &w); err != nil {
		return deem.Reply{}, m.garbled(a.text, err)
	}
	if len(w.Error) > 0 && string(w.Error) != "null" {
		return deem.Reply{}, m.statusError(a)
	}
	if len(w.Choices) == 0 {
		return deem.Reply{}, m.garbled(a.text, errors.New("the answer has no choices"))
	}
	c := w.Choices[0]
	return deem.Reply{
		Text:        c.Message.Content.text,
		Refusal:     c.Message.Refusal + c.Message.Content.refusal,
		Stop:        stop(c.FinishReason),
		Usage:       w.Usage.tokens(),
		Model:       w.Model,
		Fingerprint: w.SystemFingerprint,
		Logprobs:    c.Logprobs.tokens(),
	}, nil
}

// garbled says that an answer could not be read.
func (m *Model) garbled(text []byte, err error) error {
	err = fmt.Errorf("read answer: %w", err)
	page := m.secrets.redact(string(text[:min(len(text), maxTrouble)]))
	if strings.HasPrefix(strings.TrimSpace(page), "<") {
		err = deem.WithHint(fmt.Errorf("read answer: it is a web page: %s", oneLine([]byte(page))),
			"is %s the base URL of an OpenAI-compatible server?", m.Endpoint())
	}
	return &deem.ModelError{Kind: deem.Provider, Passing: true, Err: err}
}

// stop translates a finish reason.
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

// tokens translates a usage. Reasoning tokens are part of the completion's.
func (u usage) tokens() deem.Usage {
	return deem.Usage{
		Input:       u.PromptTokens,
		Output:      u.CompletionTokens,
		CachedInput: u.PromptDetails.CachedTokens,
		Reasoning:   u.CompletionDetails.ReasoningTokens,
	}
}

// tokens translates log-probabilities; nil has none.
func (l *logprobs) tokens() []deem.TokenLogprob {
	if l == nil || len(l.Content) == 0 {
		return nil
	}
	return translate(l.Content)
}

func translate(from []tokenLogprob) []deem.TokenLogprob {
	if len(from) == 0 {
		return nil
	}
	to := make([]deem.TokenLogprob, len(from))
	for i, t := range from {
		to[i] = deem.TokenLogprob{Token: t.Token, Logprob: t.Logprob, Top: translate(t.TopLogprobs)}
	}
	return to
}
