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

// decode converts an answer to a reply or an error. Thoughts are not part of the text.
func (m *client) decode(a wire.Answer, window int, f facts) (deem.Reply, error) {
	grown := window > f.floor
	if !a.OK() {
		return deem.Reply{}, m.statusError(a, grown)
	}
	var w wireReply
	if err := json.Unmarshal(a.Text, &w); err != nil {
		return deem.Reply{}, m.Client.Garbled(a, err)
	}
	switch {
	case wire.Present(w.Error):
		return deem.Reply{}, m.statusError(a, grown)
	case w.Message == nil:
		return deem.Reply{}, m.Client.Garbled(a, errors.New("the answer has no message"))
	case !w.Done:
		return deem.Reply{}, m.Client.Garbled(a, errors.New("the answer is not done"))
	}
	m.grow(window)
	usage := deem.Usage{Input: wire.Count(w.PromptEvalCount), Output: wire.Count(w.EvalCount)}
	if err := cut(usage, window); err != nil {
		return deem.Reply{}, err
	}
	list := wire.Logprobs(w.Logprobs)
	if w.Message.Thinking != "" {
		// The tokens of thoughts come first.
		list = wire.Tail(list, w.Message.Content)
	}
	return m.Client.Clean(deem.Reply{
		Text:        w.Message.Content,
		Stop:        stop(w.DoneReason),
		Usage:       usage,
		Model:       w.Model,
		Fingerprint: f.prints,
		Logprobs:    list,
		Attempts:    1,
	}), nil
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
