package wire

import (
	"strings"

	"deem"
)

// Tail returns the tokens from which the last occurrence of text in them begins, none when
// they do not hold it. Before it are the tokens of thoughts.
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
