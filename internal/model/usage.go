package model

import (
	"strings"

	"deem"
)

// Tokens in addition to the bytes of a request: the markers around each message, and the
// instructions with which vendors ask for JSON.
const (
	perMessage = 16
	perRequest = 64
	perSchema  = 1024
)

// MostUsage returns the maximum number of tokens of a request to the named model: one for
// each byte of its input, which no vendor's tokenizer exceeds, and the longest reply. If the
// request sets no limit, that is 131,072 for OpenAI's reasoning models, 65,536 for google,
// 4,096 for anthropic, whose requests always have a limit, and 32,768 for all others. These
// are the vendors' own limits, rounded up.
func MostUsage(name string, req deem.Request) deem.Usage {
	u := deem.Usage{Input: perRequest, Output: req.MaxTokens}
	marks := perMessage
	if len(req.Messages) > 0 && req.Messages[0].Role == "" { // These are texts to embed.
		u.Input, marks = 0, 0
	}
	for _, m := range req.Messages {
		u.Input += marks + len(m.Role) + len(m.Content)
	}
	if req.JSON || len(req.Schema) > 0 {
		u.Input += perSchema + len(req.Schema)
	}
	if u.Output <= 0 {
		u.Output = familyOf(name).tokens
	}
	return u
}

// A family is the set of models whose names share a prefix. Models that think before they
// answer have longer replies than they show.
type family struct {
	prefix string
	tokens int // of the longest reply
	thinks bool
}

// families are the models that differ from the default of familyOf.
var families = []family{
	{"openai:o1", 131_072, true},
	{"openai:o3", 131_072, true},
	{"openai:o4", 131_072, true},
	{"openai:gpt-5", 131_072, true},
	{"anthropic:", 4_096, false}, // model/anthropic sets this limit if a request has none
	{"google:", 65_536, true},
}

func familyOf(name string) family {
	for _, f := range families {
		if strings.HasPrefix(name, f.prefix) {
			return f
		}
	}
	return family{tokens: 32_768}
}

// bytesPerToken is the highest plausible average of bytes per token. Prose has three to
// five, and the longest runs of spaces that are one token have 128.
const bytesPerToken = 64

// longestWindow is above the number of tokens that any model takes and gives in a call. A
// count above the bytes that were sent and received is believed up to here, because models
// think and proxies add prompts; a higher one is nonsense.
const longestWindow = 1 << 24

// believable reports whether a token count is plausible: no count is negative, there was
// some input, neither input nor output has far fewer tokens than its text, and neither has
// more than its bytes and the longest window can hold.
func believable(u deem.Usage, req deem.Request, reply deem.Reply) bool {
	sent, received := 0, len(reply.Text)+len(reply.Refusal)
	for _, m := range req.Messages {
		sent += len(m.Content)
	}
	enough := func(tokens, size int) bool { return tokens >= (size+bytesPerToken-1)/bytesPerToken }
	held := func(tokens, size int) bool { return tokens <= max(size, longestWindow) }
	return held(u.Input, sent) && held(u.Output, received) && u.Input > 0 && u.Output >= 0 && u.CachedInput >= 0 && u.Reasoning >= 0 &&
		enough(u.Input, sent) && enough(u.Output, received)
}

// estimateUsage bounds the tokens of a call without a plausible token count: one for each
// byte sent and received, or the longest reply for a model that thinks, since the length of
// its thoughts is not visible.
func estimateUsage(name string, req deem.Request, reply deem.Reply) deem.Usage {
	u := MostUsage(name, req)
	u.Estimated = true
	received := len(reply.Text) + len(reply.Refusal)
	switch {
	case received > bytesPerToken*u.Output:
		u.Output = received // The limit of the request was ignored.
	case !familyOf(name).thinks:
		u.Output = min(u.Output, received)
	}
	return u
}
