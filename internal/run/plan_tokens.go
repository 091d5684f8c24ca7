package run

import (
	"fmt"
	"strings"

	"deem"
)

// A Counter counts the tokens of requests to one model. It is safe for concurrent use.
//
// For OpenAI's models, whose vocabularies are public, the count is exact: it uses the
// model's own tokenizer and adds the overhead of the chat format as documented by OpenAI.
// For other models it is an estimate by the kinds of characters in the text, because
// vendors count tokens only on their servers, and a plan makes no calls. [Counter.Exact]
// reports which of the two applies, and [Counter.How] describes it.
type Counter struct {
	text  func(s string) int
	exact bool
	how   string

	perMessage, perRequest int
}

// CounterOf returns the counter for a model, for example "openai:gpt-4o-mini". The
// vocabulary is loaded when the first text is counted, which takes about 20 ms and 6 MB,
// and is shared by all counters.
func CounterOf(model string) Counter {
	if v, exact := vocabularyOf(model); v != nil {
		c := Counter{text: v.count, exact: exact, how: v.name, perMessage: chatMessage, perRequest: chatReply}
		if !exact {
			c.how = "estimate: " + v.name + " without what the server adds"
		}
		return c
	}
	return estimateOf(model)
}

// estimateOf returns a counter that estimates by the kinds of characters in a text, even
// for models with a known vocabulary. It never loads a vocabulary.
func estimateOf(model string) Counter {
	r := rateOf(model)
	how := fmt.Sprintf("estimate: about %.1f bytes a token in English, %.1f tokens a Chinese character", englishBytes/r.times, r.chinese)
	return Counter{text: r.count, how: how, perMessage: estimatedMessage, perRequest: estimatedReply}
}

// Overhead of OpenAI's chat format: the delimiters of each message, and the tokens with
// which the reply begins. The numbers are from OpenAI's cookbook for gpt-3.5 and all later
// models; the role is counted as text.
const (
	chatMessage = 3
	chatReply   = 3
)

// Approximate overhead of other formats: Claude has seven tokens around a single message.
const (
	estimatedMessage = 4
	estimatedReply   = 3
)

// Count returns the input tokens of req. A schema counts as its text: vendors add it to the
// prompt in an unpublished form, so a count with a schema is never exact.
func (c Counter) Count(req deem.Request) int {
	n := c.perRequest
	for _, m := range req.Messages {
		n += c.perMessage + c.text(m.Role) + c.text(m.Content)
	}
	if len(req.Schema) > 0 {
		n += c.text(string(req.Schema))
	}
	return n
}

// Exact reports whether the count of a request without a schema is the number that the
// vendor will bill.
func (c Counter) Exact() bool { return c.exact }

// How describes how tokens are counted: the name of a vocabulary, for example "o200k_base",
// or the rule of an estimate.
func (c Counter) How() string { return c.how }

// bare returns the model's own name in lower case, without the vendor, the organisation
// that a router puts before it, and the prefix of a fine-tuned model.
func bare(model string) string {
	name := strings.ToLower(model)
	if _, after, ok := strings.Cut(name, ":"); ok {
		name = after
	}
	name = strings.TrimPrefix(name, "ft:")
	return name[strings.LastIndexByte(name, '/')+1:]
}
