package wire

import (
	"strings"

	"deem"
)

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
