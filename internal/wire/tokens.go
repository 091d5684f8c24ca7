package wire

import (
	"strings"

	"deem"
)

// A TokenLogprob is a token in the format of OpenAI and Ollama.
type TokenLogprob struct {
	Token       string         `json:"token"`
	Logprob     float64        `json:"logprob"`
	TopLogprobs []TokenLogprob `json:"top_logprobs"`
}

// Logprobs converts tokens; it returns nil if there are none.
func Logprobs(from []TokenLogprob) []deem.TokenLogprob {
	if len(from) == 0 {
		return nil
	}
	to := make([]deem.TokenLogprob, len(from))
	for i, t := range from {
		to[i] = deem.TokenLogprob{Token: t.Token, Logprob: t.Logprob, Top: Logprobs(t.TopLogprobs)}
	}
	return to
}

// Tail returns the suffix of the tokens that begins with the last occurrence of text, or
// nothing if they do not contain it. The tokens before it are those of thoughts.
func Tail(list []deem.TokenLogprob, text string) []deem.TokenLogprob {
	var all strings.Builder
	for _, t := range list {
		all.WriteString(t.Token)
	}
	start := strings.LastIndex(all.String(), text)
	if start < 0 || text == "" {
		return nil
	}
	for i, t := range list {
		if start < len(t.Token) {
			return list[i:]
		}
		start -= len(t.Token)
	}
	return nil
}

// maxCount is more tokens than any call has.
const maxCount = 1 << 40

// Count returns the sum of a server's token counts. Each is limited to the range from 0 to
// maxCount: a server's miscounts must neither reduce nor overflow the sums of a run.
func Count(parts ...int) int {
	sum := 0
	for _, n := range parts {
		sum += min(max(n, 0), maxCount)
	}
	return sum
}
