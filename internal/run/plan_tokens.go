package run

import (
	"unicode/utf8"

	"deem"
)

// What a chat format adds: the delimiters and the role of each message, and the tokens with
// which the reply begins.
const (
	messageTokens = 4
	replyTokens   = 3
)

// Tokens estimates the input tokens of req by its bytes. A schema counts as its text.
//
// Vendors count differently, and only on their servers, so a plan corrects the estimate by
// what they counted in earlier replies: see [PlanOptions.Input].
func Tokens(req deem.Request) int {
	n := replyTokens + textTokens(string(req.Schema))
	for _, m := range req.Messages {
		n += messageTokens + textTokens(m.Content)
	}
	return n
}

// textTokens estimates the tokens of a text, rounded up: four bytes of ASCII to a token, and
// three of other scripts, which is one Chinese character.
func textTokens(s string) int {
	other := 0
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			other++
		}
	}
	return (3*(len(s)-other) + 4*other + 11) / 12
}
