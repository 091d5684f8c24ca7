package run

import (
	"fmt"
	"math"
	"strings"
	"unicode"

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

// A rate estimates tokens by kinds of characters.
//
// The weights were fitted, by least squares on relative errors, to the counts of o200k_base
// and cl100k_base over 7,700 texts: judge prompts, conversations, answers, judges' replies
// and source code in English and Chinese. The estimates are within 10% of the real counts
// for each kind of text, whereas a fixed number of bytes per token is 50% off for code. For
// other vendors' tokenizers the estimate is multiplied by times, from the vendor's
// documentation or published measurements.
type rate struct {
	prefix  string
	times   float64 // tokens of English text per token of o200k_base
	chinese float64 // tokens per Chinese, Japanese or Korean character
}

// Tokens per character in o200k_base, by kind of character.
const (
	letterWeight  = 0.19 // ASCII letters and spaces
	digitWeight   = 0.80
	markWeight    = 0.65 // other ASCII characters
	foreignWeight = 0.45 // letters of other scripts
	symbolWeight  = 1.60 // other characters: quotation marks, dashes, emoji
)

// englishBytes is the number of bytes of English per token of o200k_base, in the same
// texts.
const englishBytes = 4.6

// rates are listed by prefix of the model's bare name. The first match counts; the last
// matches every model and is conservative.
var rates = []rate{
	// Claude from Opus 4.7 and from generation 5 on has a tokenizer that produces about 30%
	// more tokens for the same text, according to its announcement.
	{"claude-opus-4-7", 1.55, 1.3},
	{"claude-opus-4-8", 1.55, 1.3},
	{"claude-opus-5", 1.55, 1.3},
	{"claude-sonnet-5", 1.55, 1.3},
	{"claude-haiku-5", 1.55, 1.3},
	{"claude", 1.2, 1.2},
	{"gemini", 1.1, .7}, // Google says about four characters per token.
	{"gemma", 1.1, .7},
	{"llama", 1.05, 1},
	{"deepseek", 1.2, .6}, // DeepSeek says 0.3 tokens per English character and 0.6 per Chinese character.
	{"qwen", 1.1, .7},
	{"", 1.15, 1.2},
}

func rateOf(model string) rate {
	name := bare(model)
	for _, r := range rates {
		if strings.HasPrefix(name, r.prefix) {
			return r
		}
	}
	panic("tokens: the last rate fits every model")
}

// count returns the estimated tokens of s, rounded up.
func (r rate) count(s string) int {
	sum, chinese := 0.0, 0
	for _, c := range s {
		switch {
		case c == ' ' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			sum += letterWeight
		case c >= '0' && c <= '9':
			sum += digitWeight
		case c < 0x80:
			sum += markWeight
		case isChinese(c):
			chinese++
		case unicode.IsLetter(c) || unicode.IsMark(c):
			sum += foreignWeight
		default:
			sum += symbolWeight
		}
	}
	return int(math.Ceil(sum*r.times + float64(chinese)*r.chinese))
}

// isChinese reports whether c is a Chinese, Japanese or Korean character, or belongs to the
// punctuation and wide forms used with them.
func isChinese(c rune) bool {
	if c < 0x2e80 {
		return false
	}
	return c >= 0x3000 && c <= 0x303f || c >= 0xff00 && c <= 0xffef ||
		unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
