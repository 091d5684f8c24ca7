package body

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"deem"
)

// The bodies of items and replies are read once per record of a report, and are JSON
// that this package wrote: no white space, no key twice. They are read here by hand, at a
// fifth of what encoding/json takes. Whatever is not as expected is left to
// encoding/json, which has the last word on what is wrong with it.

// DecodeItem reads the JSON of an item into it. Long texts are to be put back.
func DecodeItem(body string, it *deem.Item) error {
	var read deem.Item
	c := cursor{rest: body}
	c.object(func(key string) {
		switch key {
		case "category":
			read.Category = c.text()
		case "cluster":
			read.Cluster = c.text()
		case "fields":
			c.bad = read.Fields != nil
			read.Fields = map[string]string{}
			c.object(func(name string) { read.Fields[name] = c.text() })
		case "id":
			read.ID = c.text()
		case "question":
			read.Question = c.text()
		case "references":
			c.bad = read.References != nil
			read.References = []string{}
			c.list(func() { read.References = append(read.References, c.text()) })
		case "response":
			read.Response = c.text()
		case "weight":
			read.Weight = c.number()
		default:
			c.bad = true
		}
	})
	if c.bad || c.rest != "" {
		*it = deem.Item{}
		return Decode(body, it)
	}
	*it = read
	return nil
}

// DecodeReply reads what a reply says.
func DecodeReply(body string) (deem.Reply, error) {
	var r deem.Reply
	c := cursor{rest: body}
	c.object(func(key string) {
		switch key {
		case "text":
			r.Text = c.text()
		case "refusal":
			r.Refusal = c.text()
		case "stop":
			r.Stop = deem.Stop(c.text())
		case "usage":
			c.usage(&r.Usage)
		case "model":
			r.Model = c.text()
		case "fingerprint":
			r.Fingerprint = c.text()
		case "request_id":
			r.RequestID = c.text()
		case "batch":
			r.Batch = c.text()
		case "sent":
			r.Sent = c.text()
		case "dropped":
			r.Dropped = c.text()
		default: // Also log-probabilities, which few replies have.
			c.bad = true
		}
	})
	if !c.bad && c.rest == "" {
		return r, nil
	}
	var b replyBody
	err := Decode(body, &b)
	return deem.Reply{
		Text: b.Text, Refusal: b.Refusal, Stop: b.Stop, Usage: b.Usage, Model: b.Model,
		Fingerprint: b.Fingerprint, RequestID: b.RequestID, Batch: b.Batch, Sent: b.Sent, Dropped: b.Dropped, Logprobs: b.Logprobs,
	}, err
}

// A cursor reads JSON from its beginning. Once something is not as expected it is bad,
// and what it returns is worth nothing.
type cursor struct {
	rest string
	bad  bool
}

// take reads a byte that has to be there.
func (c *cursor) take(b byte) {
	if c.bad || c.rest == "" || c.rest[0] != b {
		c.bad = true
		return
	}
	c.rest = c.rest[1:]
}

// next reports whether a further member or element follows, and reads what comes before
// it or ends the whole.
func (c *cursor) next(first bool, end byte) bool {
	switch {
	case c.bad || c.rest == "":
		c.bad = true
		return false
	case c.rest[0] == end:
		c.rest = c.rest[1:]
		return false
	case !first:
		c.take(',')
	}
	return !c.bad
}

// object reads an object; value is called with each key to read what it stands for.
func (c *cursor) object(value func(key string)) {
	c.take('{')
	for first := true; c.next(first, '}'); first = false {
		key := c.text()
		c.take(':')
		if !c.bad {
			value(key)
		}
	}
}

// list reads a list; element is called to read each element.
func (c *cursor) list(element func()) {
	c.take('[')
	for first := true; c.next(first, ']'); first = false {
		element()
	}
}

// text reads a text. One without escapes is a part of what is read.
func (c *cursor) text() string {
	c.take('"')
	if c.bad {
		return ""
	}
	for i := 0; i < len(c.rest); i++ {
		switch b := c.rest[i]; {
		case b == '"':
			s := c.rest[:i]
			c.rest = c.rest[i+1:]
			c.bad = !utf8.ValidString(s)
			return s
		case b == '\\':
			return c.escaped()
		case b < ' ':
			c.bad = true
			return ""
		}
	}
	c.bad = true
	return ""
}

// escaped reads the rest of a text that has escapes.
func (c *cursor) escaped() string {
	for i := 0; i < len(c.rest); i++ {
		switch c.rest[i] {
		case '\\':
			i++
		case '"':
			var s string
			c.bad = Decode(`"`+c.rest[:i+1], &s) != nil
			c.rest = c.rest[i+1:]
			return s
		}
	}
	c.bad = true
	return ""
}

// numeral reads the digits, signs and letters of a number.
func (c *cursor) numeral() string {
	end := strings.IndexAny(c.rest, ",}]")
	if c.bad || end < 0 {
		c.bad = true
		return ""
	}
	s := c.rest[:end]
	c.rest = c.rest[end:]
	return s
}

// number reads a number. Few items have one.
func (c *cursor) number() float64 {
	var n float64
	err := Decode(c.numeral(), &n)
	c.bad = c.bad || err != nil
	return n
}

// integer reads a count. JSON knows no plus and no zero in front.
func (c *cursor) integer() int {
	s := c.numeral()
	n, err := strconv.Atoi(s)
	c.bad = c.bad || err != nil || len(s) > 1 && (s[0] == '+' || s[0] == '0' || s[0] == '-')
	return n
}

func (c *cursor) usage(u *deem.Usage) {
	c.object(func(key string) {
		switch key {
		case "input":
			u.Input = c.integer()
		case "output":
			u.Output = c.integer()
		case "cached_input":
			u.CachedInput = c.integer()
		case "reasoning":
			u.Reasoning = c.integer()
		default:
			c.bad = true
		}
	})
}
