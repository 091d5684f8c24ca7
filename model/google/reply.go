package google

import (
	"encoding/json"
	"errors"
	"slices"

	"deem"
	"deem/internal/wire"
)

// A wireReply is the body of an answer, with the fields we use.
type wireReply struct {
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text    string `json:"text"`
				Thought bool   `json:"thought"`
			} `json:"parts"`
		} `json:"content"`
		FinishReason   string   `json:"finishReason"`
		LogprobsResult struct { // the chosen token and its alternatives for each step
			ChosenCandidates []tokenLogprob `json:"chosenCandidates"`
			TopCandidates    []struct {
				Candidates []tokenLogprob `json:"candidates"`
			} `json:"topCandidates"`
		} `json:"logprobsResult"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	UsageMetadata struct {
		PromptTokenCount        int `json:"promptTokenCount"`
		CachedContentTokenCount int `json:"cachedContentTokenCount"`
		CandidatesTokenCount    int `json:"candidatesTokenCount"`
		ThoughtsTokenCount      int `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
	ModelVersion string          `json:"modelVersion"`
	ResponseID   string          `json:"responseId"`
	Error        json.RawMessage `json:"error"` // some gateways send errors with status 200
}

type tokenLogprob struct {
	Token          string  `json:"token"`
	LogProbability logprob `json:"logProbability"`
}

// A logprob is a number, or a word for a number that JSON cannot represent.
type logprob float64

// impossible represents the logarithm of 0, which a record cannot store.
const impossible = -9999

// UnmarshalJSON parses a number or "-Infinity".
func (l *logprob) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*float64)(l))
	}
	*l = impossible
	return nil
}

// decode converts an answer to a reply or an error.
func (m *client) decode(a wire.Answer) (deem.Reply, error) {
	if !a.OK() {
		return deem.Reply{}, m.statusError(a)
	}
	var w wireReply
	if err := json.Unmarshal(a.Text, &w); err != nil {
		return deem.Reply{}, m.Client.Garbled(a, err)
	}
	if wire.Present(w.Error) {
		return deem.Reply{}, m.statusError(a)
	}
	if len(w.Candidates) == 0 && w.PromptFeedback.BlockReason != "" {
		line := func(text string) string { return wire.OneLine([]byte(m.Client.Redact(text))) }
		reason, message := w.PromptFeedback.BlockReason, w.PromptFeedback.BlockReasonMessage
		text := "the prompt was blocked: " + reason
		if message != "" {
			text += ": " + message
		}
		return deem.Reply{}, &deem.ModelError{Kind: deem.Refused, Code: line(reason), Err: errors.New(line(text))}
	}
	if len(w.Candidates) == 0 {
		return deem.Reply{}, m.Client.Garbled(a, errors.New("the answer has no candidates"))
	}
	c := w.Candidates[0]
	u := w.UsageMetadata
	reply := deem.Reply{
		Stop:      stop(c.FinishReason),
		Model:     w.ModelVersion,
		RequestID: w.ResponseID,
		// The API counts thoughts separately from the candidates. Both are billed as output.
		Usage: deem.Usage{
			Input:       wire.Count(u.PromptTokenCount),
			Output:      wire.Count(u.CandidatesTokenCount, u.ThoughtsTokenCount),
			CachedInput: wire.Count(u.CachedContentTokenCount),
			Reasoning:   wire.Count(u.ThoughtsTokenCount),
		},
	}
	thought := false
	for _, p := range c.Content.Parts {
		thought = thought || p.Thought
		if !p.Thought {
			reply.Text += p.Text
		}
	}
	for i, chosen := range c.LogprobsResult.ChosenCandidates {
		t := deem.TokenLogprob{Token: chosen.Token, Logprob: float64(chosen.LogProbability)}
		if i < len(c.LogprobsResult.TopCandidates) {
			for _, rival := range c.LogprobsResult.TopCandidates[i].Candidates {
				t.Top = append(t.Top, deem.TokenLogprob{Token: rival.Token, Logprob: float64(rival.LogProbability)})
			}
		}
		reply.Logprobs = append(reply.Logprobs, t)
	}
	if thought {
		// The tokens of thoughts come before those of the text and are not part of it.
		reply.Logprobs = wire.Tail(reply.Logprobs, reply.Text)
	}
	return m.Client.Clean(reply), nil
}

// filtered are the finish reasons of filters.
var filtered = []string{"SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"}

// stop converts a finish reason.
func stop(reason string) deem.Stop {
	switch {
	case reason == "STOP":
		return deem.StopEnd
	case reason == "MAX_TOKENS":
		return deem.StopLength
	case slices.Contains(filtered, reason):
		return deem.StopFilter
	default:
		return deem.StopOther
	}
}
