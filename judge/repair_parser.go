package judge

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth is the maximum nesting of objects and lists. No protocol asks for more than
// three levels, and a reply of a million braces must not exhaust the stack.
const maxDepth = 24

// maxBare is the maximum length of an unquoted value. Anything longer is prose.
const maxBare = 120

// maxValues is the maximum number of values in one object, at all depths. A larger object
// is not a verdict, and would take thirty times the memory of its text.
const maxValues = 1 << 14

// jsonNumber matches a number as JSON spells it.
var jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`)

// A parser reads one object. Every method leaves pos after the text that it read, and
// returns false if the text cannot be an object.
type parser struct {
	s         string
	pos       int
	allowance int
	values    int // number of values read

	cut     bool // the text ended inside the object
	bareKey bool // a key had no quotes
}

func (p *parser) done() bool { return p.pos >= len(p.s) }

// take consumes ascii or its full-width form wide.
func (p *parser) take(ascii byte, wide string) bool {
	if p.done() {
		return false
	}
	if p.s[p.pos] == ascii {
		p.pos++
		return true
	}
	if strings.HasPrefix(p.s[p.pos:], wide) {
		p.pos += len(wide)
		return true
	}
	return false
}

func (p *parser) comma() bool      { return p.take(',', "，") }
func (p *parser) at(s string) bool { return strings.HasPrefix(p.s[p.pos:], s) }

// space skips white space and comments.
func (p *parser) space() {
	for !p.done() {
		start := p.pos
		switch c := p.s[p.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.pos++
		case c == '#' || p.at("//"):
			p.skipTo("\n")
		case p.at("/*"):
			p.skipTo("*/")
		default:
			r, n := utf8.DecodeRuneInString(p.s[p.pos:])
			if !isSpace(r) {
				return
			}
			p.pos += n
		}
		p.allowance -= p.pos - start
	}
}

// skipTo moves past the next end, or to the end of the text.
func (p *parser) skipTo(end string) {
	i := strings.Index(p.s[p.pos:], end)
	if i < 0 {
		p.pos = len(p.s)
		return
	}
	p.pos += i + len(end)
}

// object reads an object whose opening brace is next.
func (p *parser) object(depth int) (*object, bool) {
	o := &object{}
	if depth > maxDepth || !p.take('{', "｛") {
		return nil, false
	}
	for p.allowance > 0 {
		p.space()
		switch {
		case p.done():
			p.cut = true
			// A brace in prose followed by "key: text" up to the end of the reply looks
			// like this too; only quoted keys prove JSON.
			return o, !p.bareKey
		case p.take('}', "｝"):
			return o, true
		case p.at("```") && len(o.fields) > 0:
			return o, true
		case p.comma():
		case p.at("..."):
			p.pos += 3
		default:
			if !p.field(o, depth) {
				return nil, false
			}
			if p.cut {
				return o, !p.bareKey
			}
		}
	}
	return nil, false
}

// field reads a key, its value and the comma after it.
func (p *parser) field(o *object, depth int) bool {
	key, ok := p.key()
	if !ok || p.cut {
		return ok
	}
	p.space()
	if p.done() {
		p.cut = true
		return true
	}
	if !p.take(':', "：") {
		return false
	}
	p.space()
	if p.done() {
		p.cut = true
		return true
	}
	v, st := p.value(depth, false)
	switch st {
	case bad:
		return false
	case half:
		p.cut = true
		return true
	case whole:
		o.fields = append(o.fields, field{key, v})
	case none:
	}
	if p.cut {
		return true
	}
	// The comma may be missing only before a quoted key.
	p.space()
	if p.done() {
		p.cut = true
		return true
	}
	if p.comma() {
		return true
	}
	r, _ := utf8.DecodeRuneInString(p.s[p.pos:])
	return r == '}' || r == '｝' || p.at("```") || closerOf(r) != ""
}

// key reads a key with or without quotes.
func (p *parser) key() (string, bool) {
	r, n := utf8.DecodeRuneInString(p.s[p.pos:])
	closers := closerOf(r)
	if closers == "" && !unicode.IsLetter(r) && r != '_' && r != '$' {
		return "", false
	}
	if closers == "" {
		p.bareKey = true
		start := p.pos
		for !p.done() && p.pos-start <= maxBare {
			r, n := utf8.DecodeRuneInString(p.s[p.pos:])
			if !isWord(r) && r != '_' && r != '-' && r != ' ' && r != '$' {
				break
			}
			p.pos += n
			p.allowance -= n
		}
		return strings.TrimRight(p.s[start:p.pos], " "), true
	}
	p.pos += n
	u := unescaped{from: p.pos}
	for !p.done() {
		r, n := utf8.DecodeRuneInString(p.s[p.pos:])
		p.allowance -= n
		switch {
		case r == '\n':
			return "", false
		case strings.ContainsRune(closers, r):
			key := u.text(p)
			p.pos += n
			return key, true
		case r == '\\':
			if !p.escape(&u) {
				p.pos, p.cut = len(p.s), true
				return "", true
			}
		default:
			p.pos += n
		}
	}
	p.cut = true
	return "", true
}

// A state is the result of reading a value.
type state int

const (
	bad   state = iota // not JSON
	none               // the value is missing
	half               // the text ended inside the value
	whole              // the value is complete
)

// value reads any value. inList reports whether it is in a list.
func (p *parser) value(depth int, inList bool) (any, state) {
	if p.values++; p.values > maxValues {
		return nil, bad
	}
	r, n := utf8.DecodeRuneInString(p.s[p.pos:])
	switch closers := closerOf(r); {
	case r == '{' || r == '｛':
		o, ok := p.object(depth + 1)
		if !ok {
			return nil, bad
		}
		return o, whole
	case r == '[' || r == '［':
		return p.list(depth + 1)
	case closers != "":
		p.pos += n
		return p.str(closers, inList)
	}
	return p.bare()
}

// list reads a list. A cut-off element is omitted.
func (p *parser) list(depth int) (any, state) {
	out := []any{}
	if depth > maxDepth || !p.take('[', "［") {
		return nil, bad
	}
	for p.allowance > 0 {
		p.space()
		switch {
		case p.done():
			p.cut = true
			return out, whole
		case p.take(']', "］"):
			return out, whole
		case p.comma(), p.at("..."):
			if p.at("...") {
				p.pos += 3
			}
			continue
		case p.at("```") || p.s[p.pos] == '}':
			return out, whole
		}
		v, st := p.value(depth, true)
		switch st {
		case bad, none:
			return nil, bad
		case half:
			p.cut = true
		case whole:
			out = append(out, v)
		}
		if p.cut {
			return out, whole
		}
	}
	return nil, bad
}

// bare reads an unquoted value: a number, a constant, or a word such as the 8/10 in
// {"score": 8/10}, which is kept as a string.
func (p *parser) bare() (any, state) {
	start := p.pos
	end := p.bareEnd()
	if end < 0 {
		return nil, bad
	}
	p.allowance -= end - start
	word := strings.TrimSpace(p.s[start:end])
	p.pos = start + len(strings.TrimRight(p.s[start:end], " \t\r"))
	if end == len(p.s) {
		p.pos = end
		return nil, half // {"score": 1 may be the beginning of 10.
	}
	switch {
	case word == "":
		return nil, none
	case jsonNumber.MatchString(word):
		return json.Number(word), whole
	}
	switch lower := strings.ToLower(word); lower {
	case "true", "false":
		return lower == "true", whole
	case "null", "none":
		return nil, whole
	}
	return word, whole
}

// bareEnd finds the end of an unquoted value, or returns -1 if there cannot be one here.
func (p *parser) bareEnd() int {
	for i, r := range p.s[p.pos:] {
		if i > maxBare {
			return -1
		}
		switch r {
		case ',', '，', '}', '｝', ']', '］', '\n', '`':
			return p.pos + i
		case '{', '[', '"', '“', '”', '「':
			return -1
		case '#', '/':
			rest := p.s[p.pos+i:]
			if i > 0 && p.s[p.pos+i-1] == ' ' && (r == '#' || strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*")) {
				return p.pos + i
			}
		}
	}
	return len(p.s)
}
