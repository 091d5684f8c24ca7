package judge

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// closerOf returns the runes that close a string opened by r, or "".
func closerOf(r rune) string {
	switch r {
	case '"':
		return `"`
	case '\'':
		return `'`
	case '“', '”', '„':
		return `”“"`
	case '‘', '’':
		return `’‘'`
	case '＂':
		return `＂"`
	case '「':
		return `」`
	}
	return ""
}

// str reads the rest of a string value after its opening quote. Models forget to escape
// quotes, so a quote ends the string only if the text after it may follow a value. In valid
// JSON that is always true of the first quote.
func (p *parser) str(closers string, inList bool) (any, state) {
	u := unescaped{from: p.pos}
	for !p.done() && p.allowance > 0 {
		r, n := utf8.DecodeRuneInString(p.s[p.pos:])
		p.allowance -= n
		switch {
		case strings.ContainsRune(closers, r) && p.ends(p.pos+n, inList):
			s := u.text(p)
			p.pos += n
			return s, whole
		case r == '\\':
			if !p.escape(&u) {
				p.pos = len(p.s)
				return nil, half
			}
			continue
		}
		p.pos += n
	}
	if !p.done() {
		return nil, bad
	}
	return nil, half
}

// An unescaped is a JSON string being read. It is a substring of the text until the first
// escape.
type unescaped struct {
	from int // start of the part that is not in b yet
	b    strings.Builder
}

// text returns the string up to the position of p.
func (u *unescaped) text(p *parser) string {
	if u.b.Len() == 0 {
		return p.s[u.from:p.pos]
	}
	u.b.WriteString(p.s[u.from:p.pos])
	return u.b.String()
}

// ends reports whether a string value may end before pos.
func (p *parser) ends(pos int, inList bool) bool {
	rest := strings.TrimLeft(p.s[pos:], " \t\r\n")
	p.allowance -= len(p.s) - pos - len(rest)
	if rest == "" || strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") {
		return true
	}
	r, n := utf8.DecodeRuneInString(rest)
	switch r {
	case '}', '｝', ']', '］', '#':
		return true
	case ',', '，':
		return inList || p.keyFollows(rest[n:])
	}
	// A comma is missing, but a key follows.
	return closerOf(r) != "" && len(rest) < len(p.s)-pos && p.keyFollows(rest)
}

// keyFollows reports whether rest, which comes after a comma, may continue with a key or
// the end of the object.
func (p *parser) keyFollows(rest string) bool {
	const far = 200 // longer than any key, and short enough to examine repeatedly
	rest = strings.TrimLeft(rest, " \t\r\n")
	p.allowance -= 8
	if rest == "" {
		return true
	}
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case r == '}' || r == '｝' || r == ']' || r == '/' || r == '#' || r == '.':
		return true
	case closerOf(r) != "":
		// It must be the rest of a quoted key and a colon. If that cannot be decided within
		// far bytes it is true, because valid JSON may have long keys.
		s, closers, escaped := rest[n:], closerOf(r), false
		for i, r := range s {
			switch {
			case i > far:
				return true
			case escaped:
				escaped = false
			case r == '\\':
				escaped = true
			case strings.ContainsRune(closers, r):
				after := strings.TrimLeft(s[i+utf8.RuneLen(r):min(len(s), i+far)], " \t\r\n")
				return after == "" || after[0] == ':' || strings.HasPrefix(after, "：")
			}
		}
		return true
	}
	for i, r := range rest {
		switch {
		case r == ':' || r == '：':
			return i > 0
		case !isWord(r) && r != '_' && r != '-' || i > far:
			return false
		}
	}
	return true // Cut off inside a key.
}

// escape reads an escape sequence. It returns false if the text ends within it.
func (p *parser) escape(u *unescaped) bool {
	rest := p.s[p.pos+1:]
	if rest == "" {
		return false
	}
	b := &u.b
	b.WriteString(p.s[u.from:p.pos])
	u.from = p.pos
	defer func() { u.from = p.pos }()
	if rest[0] == 'u' {
		return p.unicodeEscape(b)
	}
	const names, values = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(names, rest[0]); i >= 0 {
		b.WriteByte(values[i])
		p.pos += 2
		return true
	}
	// \' and \( are not JSON. The former means the quote; the latter is LaTeX, where the
	// backslash is meant.
	if rest[0] != '\'' {
		b.WriteByte('\\')
		p.pos++
		return true
	}
	b.WriteByte('\'')
	p.pos += 2
	return true
}

// unicodeEscape reads \uXXXX, or a surrogate pair.
func (p *parser) unicodeEscape(b *strings.Builder) bool {
	r, ok := hex4(p.s[p.pos:])
	if !ok {
		if len(p.s)-p.pos < 6 {
			return false
		}
		b.WriteByte('\\')
		p.pos++
		return true
	}
	p.pos += 6
	if utf16.IsSurrogate(r) {
		if lo, ok := hex4(p.s[p.pos:]); ok {
			if pair := utf16.DecodeRune(r, lo); pair != utf8.RuneError {
				p.pos += 6
				b.WriteRune(pair)
				return true
			}
		}
		r = utf8.RuneError
	}
	b.WriteRune(r)
	return true
}

// hex4 reads \uXXXX at the beginning of s.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0, false
	}
	return rune(n), true
}
