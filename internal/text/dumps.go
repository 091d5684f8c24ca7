package text

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Dumps returns json.dumps(json.loads(raw)): the same JSON value as Python writes it by
// default, with a space after each comma and colon, and with everything outside ASCII
// escaped. Keys keep their order; a duplicate key has its last value, at the position of
// the first. Integers keep all their digits, and other numbers are written like repr of a
// float. NaN, Infinity and -Infinity are values, as in Python. Unpaired surrogates are
// kept.
func Dumps(raw []byte) (string, error) {
	d := dumper{in: string(raw)}
	if !utf8.Valid(raw) {
		return "", fmt.Errorf("dumps: the text is not UTF-8")
	}
	out, err := d.value(0)
	if err == nil {
		d.space()
		if d.pos < len(d.in) {
			err = d.unexpected("the end")
		}
	}
	if err != nil {
		return "", fmt.Errorf("dumps: %w", err)
	}
	return out, nil
}

// maxNesting is the maximum nesting of lists and objects, so that no text can exhaust the
// stack. Python gives up earlier.
const maxNesting = 10_000

// A dumper reads JSON and writes it again as it goes. Strings are not decoded into Go
// strings, which cannot hold unpaired surrogates; two strings are equal if and only if
// their output is.
type dumper struct {
	in  string
	pos int
}

func (d *dumper) value(depth int) (string, error) {
	d.space()
	if depth > maxNesting {
		return "", fmt.Errorf("more than %d lists or objects in one another", maxNesting)
	}
	switch d.peek() {
	case '"':
		return d.str()
	case '[':
		return d.list(depth)
	case '{':
		return d.object(depth)
	}
	for _, word := range []string{"null", "true", "false", "NaN", "Infinity", "-Infinity"} {
		if strings.HasPrefix(d.in[d.pos:], word) {
			d.pos += len(word)
			return word, nil
		}
	}
	return d.number()
}

// space skips white space.
func (d *dumper) space() {
	for d.pos < len(d.in) && strings.IndexByte(" \t\n\r", d.in[d.pos]) >= 0 {
		d.pos++
	}
}

// peek returns the next byte, or 0 at the end.
func (d *dumper) peek() byte {
	if d.pos < len(d.in) {
		return d.in[d.pos]
	}
	return 0
}

// next skips white space and then c, and reports whether c was there.
func (d *dumper) next(c byte) bool {
	d.space()
	if d.peek() != c {
		return false
	}
	d.pos++
	return true
}

func (d *dumper) unexpected(want string) error {
	if d.pos >= len(d.in) {
		return fmt.Errorf("byte %d: the text ends where %s should be", d.pos, want)
	}
	r, _ := utf8.DecodeRuneInString(d.in[d.pos:])
	return fmt.Errorf("byte %d: %q where %s should be", d.pos, r, want)
}

func (d *dumper) list(depth int) (string, error) {
	d.pos++
	if d.next(']') {
		return "[]", nil
	}
	var values []string
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return "", err
		}
		values = append(values, v)
		switch {
		case d.next(','):
		case d.next(']'):
			return "[" + strings.Join(values, ", ") + "]", nil
		default:
			return "", d.unexpected("a comma or ]")
		}
	}
}

func (d *dumper) object(depth int) (string, error) {
	d.pos++
	if d.next('}') {
		return "{}", nil
	}
	var members []string
	places := map[string]int{}
	for {
		if d.space(); d.peek() != '"' {
			return "", d.unexpected("a key in double quotes")
		}
		key, err := d.str()
		if err != nil {
			return "", err
		}
		if !d.next(':') {
			return "", d.unexpected("a colon")
		}
		value, err := d.value(depth + 1)
		if err != nil {
			return "", err
		}
		if at, again := places[key]; again {
			members[at] = key + ": " + value
		} else {
			places[key] = len(members)
			members = append(members, key+": "+value)
		}
		switch {
		case d.next(','):
		case d.next('}'):
			return "{" + strings.Join(members, ", ") + "}", nil
		default:
			return "", d.unexpected("a comma or }")
		}
	}
}

func (d *dumper) str() (string, error) {
	var b strings.Builder
	b.WriteByte('"')
	d.pos++
	for d.pos < len(d.in) {
		r, size := utf8.DecodeRuneInString(d.in[d.pos:])
		switch {
		case r == '"':
			d.pos++
			b.WriteByte('"')
			return b.String(), nil
		case r < 0x20:
			return "", fmt.Errorf("byte %d: a control character in a string", d.pos)
		case r == '\\':
			var err error
			if r, err = d.escape(); err != nil {
				return "", err
			}
		default:
			d.pos += size
		}
		writeASCII(&b, r)
	}
	return "", d.unexpected("the end of a string")
}

// escapes maps one-letter escapes to characters.
var escapes = map[byte]rune{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape reads an escape sequence. The result may be one half of a surrogate pair; the
// output of both halves in sequence is again the pair.
func (d *dumper) escape() (rune, error) {
	d.pos++
	c := d.peek()
	if r, ok := escapes[c]; ok {
		d.pos++
		return r, nil
	}
	if c != 'u' || d.pos+5 > len(d.in) {
		return 0, d.unexpected("an escape")
	}
	code := d.in[d.pos+1 : d.pos+5]
	n, err := strconv.ParseUint(code, 16, 16)
	if err != nil {
		return 0, fmt.Errorf("byte %d: %q where four hexadecimal digits should be", d.pos+1, code)
	}
	d.pos += 5
	return rune(n), nil
}

// shortEscapes are the one-letter escapes of Python.
var shortEscapes = map[rune]string{
	'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`,
}

// writeASCII writes a character of a string with ensure_ascii, which also escapes the
// control character DEL (0x7f).
func writeASCII(b *strings.Builder, r rune) {
	if short, ok := shortEscapes[r]; ok {
		b.WriteString(short)
		return
	}
	switch {
	case r >= ' ' && r <= '~':
		b.WriteByte(byte(r))
	case r >= 0x10000:
		hi, lo := utf16.EncodeRune(r)
		fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// jsonNumber matches a number. A fraction or exponent that is not complete does not belong
// to it.
var jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`)

func (d *dumper) number() (string, error) {
	s := jsonNumber.FindString(d.in[d.pos:])
	if s == "" {
		return "", d.unexpected("a value")
	}
	d.pos += len(s)
	if strings.ContainsAny(s, ".eE") {
		// Out of range gives an infinity, as in Python.
		f, _ := strconv.ParseFloat(s, 64) //nolint:errcheck // the syntax was checked above
		if math.IsInf(f, 0) {
			return map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0], nil
		}
	}
	return number(s), nil
}
