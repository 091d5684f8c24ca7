package ollama

import (
	"encoding/json"
	"errors"

	"deem"
	"deem/internal/wire"
)

// A wireReply is the body of an answer, with the fields we use.
type wireReply struct {
	Model   string `json:"model"`
	Message *struct {
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
	} `json:"message"`
	Done            bool                `json:"done"`
	DoneReason      string              `json:"done_reason"`
	PromptEvalCount int                 `json:"prompt_eval_count"`
	EvalCount       int                 `json:"eval_count"`
	Logprobs        []wire.TokenLogprob `json:"logprobs"`
	Error           json.RawMessage     `json:"error"` // proxies send errors with status 200
}

// errWithin is returned if an answer contains an error despite its status.
var errWithin = errors.New("the answer is an error")

// decode parses a successful answer. The error is errWithin, or that of a malformed answer.
// Thoughts are not part of the text.
func decode(text []byte) (deem.Reply, error) {
	var w wireReply
	if err := json.Unmarshal(text, &w); err != nil {
		return deem.Reply{}, err
	}
	switch {
	case wire.Present(w.Error):
		return deem.Reply{}, errWithin
	case w.Message == nil:
		return deem.Reply{}, errors.New("the answer has no message")
	case !w.Done:
		return deem.Reply{}, errors.New("the answer is not done")
	}
	list := wire.Logprobs(w.Logprobs)
	if w.Message.Thinking != "" {
		// The tokens of thoughts come first.
		list = wire.Tail(list, w.Message.Content)
	}
	return deem.Reply{
		Text:     w.Message.Content,
		Stop:     stop(w.DoneReason),
		Usage:    deem.Usage{Input: wire.Count(w.PromptEvalCount), Output: wire.Count(w.EvalCount)},
		Model:    w.Model,
		Logprobs: list,
	}, nil
}

// stop converts a done reason. "load" and "unload" come from a model that got no prompt.
func stop(reason string) deem.Stop {
	switch reason {
	case "stop":
		return deem.StopEnd
	case "length":
		return deem.StopLength
	default:
		return deem.StopOther
	}
}
