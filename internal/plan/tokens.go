package plan

import (
	"strings"

	"deem"
)

// A Counter counts the tokens of requests to one model. It is safe for concurrent use.
//
// For models whose vocabulary is public, those of OpenAI, the count is exact: the text is
// cut by the model's own tokenizer, and what the chat format adds is as OpenAI documents it.
// For others it is an estimate by the kinds of characters in the text, since vendors count
// only on their own servers, and a plan calls nobody. [Counter.Exact] tells which, and
// [Counter.How] says it in words.
type Counter struct {
	text  func(s string) int
	exact bool
	how   string

	perMessage, perRequest int
}

// CounterOf returns the counter for the named model, as "openai:gpt-4o-mini". It loads nothing:
// a vocabulary is loaded when the first text is counted, which takes some 20 ms and 6 MB,
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

// estimateOf returns the counter that estimates by the kinds of characters in a text,
// also for models whose vocabulary is known. It loads nothing, ever.
func estimateOf(model string) Counter {
	r := rateOf(model)
	return Counter{text: r.count, how: r.how(), perMessage: estimatedMessage, perRequest: estimatedReply}
}

// What the chat format of OpenAI adds: to each message its marks, and to each request the
// marks with which the reply begins. The numbers are those of OpenAI's cookbook for gpt-3.5
// and all later models; the role is counted as text.
const (
	chatMessage = 3
	chatReply   = 3
)

// What other formats add, about: Claude has seven tokens around a single message.
const (
	estimatedMessage = 4
	estimatedReply   = 3
)

// Count returns the input tokens of req. A schema counts as its text: vendors add it to the
// prompt in a form that they do not publish, so with a schema no count is exact.
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

// Exact reports whether the count of a request without a schema is the one that the vendor
// will bill.
func (c Counter) Exact() bool { return c.exact }

// How says how tokens are counted: the name of a vocabulary, as "o200k_base", or the rule of
// an estimate.
func (c Counter) How() string { return c.how }

// bare returns the model's own name in lower case: without vendor, without the organisation
// that a router puts before it, and without the mark of a fine-tuned model.
func bare(model string) string {
	name := strings.ToLower(model)
	if _, after, ok := strings.Cut(name, ":"); ok {
		name = after
	}
	name = strings.TrimPrefix(name, "ft:")
	return name[strings.LastIndexByte(name, '/')+1:]
}
