package google

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/model/internal/wire"
)

// A wireReply is the body of an answer, as far as we read it.
type wireReply struct {
	Candidates     []candidate `json:"candidates"`
	PromptFeedback struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	UsageMetadata usage           `json:"usageMetadata"`
	ModelVersion  string          `json:"modelVersion"`
	ResponseID    string          `json:"responseId"`
	Error         json.RawMessage `json:"error"` // some gateways send errors with status 200
}

type candidate struct {
	Content struct {
		Parts []struct {
			Text    string `json:"text"`
			Thought bool   `json:"thought"`
		} `json:"parts"`
	} `json:"content"`
	FinishReason   string         `json:"finishReason"`
	LogprobsResult logprobsResult `json:"logprobsResult"`
}

type usage struct {
	PromptTokenCount        int `json:"promptTokenCount"`
	CachedContentTokenCount int `json:"cachedContentTokenCount"`
	CandidatesTokenCount    int `json:"candidatesTokenCount"`
	ThoughtsTokenCount      int `json:"thoughtsTokenCount"`
}

// A logprobsResult has a chosen token and its rivals for each step.
type logprobsResult struct {
	ChosenCandidates []tokenLogprob `json:"chosenCandidates"`
	TopCandidates    []struct {
		Candidates []tokenLogprob `json:"candidates"`
	} `json:"topCandidates"`
}

type tokenLogprob struct {
	Token          string  `json:"token"`
	LogProbability logprob `json:"logProbability"`
}

// A logprob is a number, or one of the words for numbers that JSON does not have.
type logprob float64

// impossible stands for the logarithm of 0, which no record can hold.
const impossible = -9999

// UnmarshalJSON reads a number or "-Infinity".
func (l *logprob) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*float64)(l))
	}
	*l = impossible
	return nil
}

// An errBlocked says that the prompt was blocked, so that there is no reply.
type errBlocked struct {
	reason, message string
}

// Error returns the reason, and the message where there is one.
func (e *errBlocked) Error() string {
	if e.message == "" {
		return "the prompt was blocked: " + e.reason
	}
	return fmt.Sprintf("the prompt was blocked: %s: %s", e.reason, e.message)
}

// errWithin says that an answer holds an error despite its status.
var errWithin = errors.New("the answer is an error")

// decode makes a reply of the text of a successful answer. Its error is an
// errBlocked, errWithin, or that of a text that makes no sense.
func decode(text []byte) (deem.Reply, error) {
	var w wireReply
	if err := json.Unmarshal(text, &w); err != nil {
		return deem.Reply{}, err
	}
	if len(w.Error) > 0 && string(w.Error) != "null" {
		return deem.Reply{}, errWithin
	}
	if len(w.Candidates) == 0 {
		if f := w.PromptFeedback; f.BlockReason != "" {
			return deem.Reply{}, &errBlocked{reason: f.BlockReason, message: f.BlockReasonMessage}
		}
		return deem.Reply{}, errors.New("the answer has no candidates")
	}
	c := w.Candidates[0]
	said, thought := c.text()
	return deem.Reply{
		Text:      said,
		Stop:      stop(c.FinishReason),
		Usage:     w.UsageMetadata.tokens(),
		Model:     w.ModelVersion,
		RequestID: w.ResponseID,
		Logprobs:  c.LogprobsResult.tokens(said, thought),
	}, nil
}

// text returns what the model said, without what it thought, and whether it thought
// aloud.
func (c candidate) text() (said string, thought bool) {
	var b strings.Builder
	for _, p := range c.Content.Parts {
		if p.Thought {
			thought = true
			continue
		}
		b.WriteString(p.Text)
	}
	return b.String(), thought
}

// filtered are the reasons to stop that are a filter's.
var filtered = []string{"SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"}

// stop translates a finish reason.
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

// tokens translates a usage. The API counts thoughts beside the candidates, we among
// them: both are paid for as output.
func (u usage) tokens() deem.Usage {
	return deem.Usage{
		Input:       wire.Count(u.PromptTokenCount),
		Output:      wire.Count(u.CandidatesTokenCount, u.ThoughtsTokenCount),
		CachedInput: wire.Count(u.CachedContentTokenCount),
		Reasoning:   wire.Count(u.ThoughtsTokenCount),
	}
}

// tokens translates log-probabilities. The tokens of thoughts come before those of
// the text and are not part of it, so they are left out.
func (l logprobsResult) tokens(text string, thought bool) []deem.TokenLogprob {
	var list []deem.TokenLogprob
	for i, c := range l.ChosenCandidates {
		t := c.translate()
		if i < len(l.TopCandidates) {
			for _, rival := range l.TopCandidates[i].Candidates {
				t.Top = append(t.Top, rival.translate())
			}
		}
		list = append(list, t)
	}
	if !thought {
		return list
	}
	return wire.Tail(list, text)
}

// translate returns the token as ours.
func (t tokenLogprob) translate() deem.TokenLogprob {
	return deem.TokenLogprob{Token: t.Token, Logprob: float64(t.LogProbability)}
}
