package dataset

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is the maximum nesting depth of lists and objects.
const maxDepth = 10_000

// A scanner validates one JSON text and finds the members of its outermost object in a
// single pass. encoding/json would read each row twice, allocate every value, and lose the
// position in the row.
type scanner struct {
	text []byte
	pos  int
	lone bool // a \u escape is half of a surrogate pair

	// python allows NaN, Infinity and -Infinity, which Python's json writes and reads but
	// JSON does not have; constants are their positions.
	python    bool
	constants []constant

	// unique rejects a duplicate key in an object, and an object with more than maxKeys
	// keys. keys are those of the open objects, outermost first.
	unique bool
	keys   []span
}

// maxKeys is the maximum number of keys in an object, and of columns in a header.
const maxKeys = 100_000

// A span is a part of a text.
type span struct{ begin, end int }

// A constant is a value that Python has and JSON does not.
type constant struct {
	begin, end int
	json       string // the replacement
}

// The constants of Python and their replacements, the same as for Parquet. NaN is how
// pandas writes missing values.
var pythonConstants = []struct{ word, json string }{
	{"NaN", "null"}, {"Infinity", `"inf"`}, {"-Infinity", `"-inf"`},
}

// constant skips one of Python's constants, and reports whether there is one.
func (s *scanner) constant() bool {
	for _, c := range pythonConstants {
		if s.python && bytes.HasPrefix(s.text[s.pos:], []byte(c.word)) {
			s.constants = append(s.constants, constant{s.pos, s.pos + len(c.word), c.json})
			s.pos += len(c.word)
			return true
		}
	}
	return false
}

// A syntaxError gives the position at which a text is not valid JSON.
type syntaxError struct {
	pos     int
	message string
}

func (e *syntaxError) Error() string { return e.message }

func (s *scanner) fail(format string, args ...any) error {
	return &syntaxError{s.pos, fmt.Sprintf(format, args...)}
}

// unexpected describes the text found instead of what was expected.
func (s *scanner) unexpected(want string) error {
	if s.pos >= len(s.text) {
		return s.fail("the text ends where %s should be", want)
	}
	return s.fail("found %s where %s should be", excerpt(s.text[s.pos:]), want)
}

// excerpt quotes the beginning of p for a message.
func excerpt(p []byte) string {
	const most = 24
	p = bytes.TrimRight(p, " \t\r\n")
	if len(p) <= most {
		return fmt.Sprintf("%q", p)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(p[cut]) {
		cut--
	}
	return fmt.Sprintf("%q...", p[:cut])
}

// space skips white space.
func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// value skips one value.
func (s *scanner) value(depth int) error {
	if depth > maxDepth {
		return s.fail("lists and objects lie more than %d deep", maxDepth)
	}
	switch c := s.peek(); {
	case c == '"':
		return s.str()
	case c == '{':
		return s.object(depth, nil)
	case c == '[':
		return s.list(depth, nil)
	case (c == '-' || c == 'N' || c == 'I') && s.constant():
		return nil
	case c == '-' || '0' <= c && c <= '9':
		if s.peek() == '-' {
			s.pos++
		}
		switch {
		case s.peek() == '0':
			s.pos++
		case !s.digits():
			return s.unexpected("a digit")
		}
		if s.peek() == '.' {
			s.pos++
			if !s.digits() {
				return s.unexpected("a digit")
			}
		}
		if c := s.peek(); c == 'e' || c == 'E' {
			s.pos++
			if c := s.peek(); c == '+' || c == '-' {
				s.pos++
			}
			if !s.digits() {
				return s.unexpected("a digit")
			}
		}
		return nil
	default:
		rest := s.text[s.pos:]
		for _, word := range []string{"true", "false", "null"} {
			if bytes.HasPrefix(rest, []byte(word)) {
				s.pos += len(word)
				return nil
			}
		}
		return s.unexpected("a value")
	}
}

// object skips an object and calls visit, unless it is nil, with each member: its quoted
// key and its value.
func (s *scanner) object(depth int, visit func(key, value []byte)) error {
	s.pos++
	if s.space(); s.peek() == '}' {
		s.pos++
		return nil
	}
	for outer := len(s.keys); ; {
		s.space()
		if s.peek() != '"' {
			return s.unexpected("a key in double quotes")
		}
		begin := s.pos
		if err := s.str(); err != nil {
			return err
		}
		key := s.text[begin:s.pos]
		if s.unique {
			if len(s.keys)-outer == maxKeys {
				return &keyError{begin, fmt.Sprintf("an object has more than %d keys", maxKeys), "write one row per item"}
			}
			s.keys = append(s.keys, span{begin, s.pos})
		}
		if s.space(); s.peek() != ':' {
			return s.unexpected("a colon")
		}
		s.pos++
		s.space()
		begin = s.pos
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if visit != nil {
			visit(key, s.text[begin:s.pos])
		}
		done, err := s.next('}', "a comma or the end of the object")
		if done && s.unique {
			err = s.twice(s.keys[outer:])
			s.keys = s.keys[:outer]
		}
		if done || err != nil {
			return err
		}
	}
}

// A keyError is returned if the keys of an object are valid JSON but not acceptable.
type keyError struct {
	pos           int
	message, hint string
}

func (e *keyError) Error() string { return e.message }

// twice returns an error if an object has a duplicate key. Few keys are compared pairwise,
// which needs no memory; for many, that would be too slow.
func (s *scanner) twice(keys []span) error {
	const few = 12
	name := func(k span) []byte {
		key := s.text[k.begin:k.end]
		if bytes.IndexByte(key, '\\') < 0 {
			return key
		}
		return []byte(`"` + unquote(key) + `"`)
	}
	failed := func(k span) error {
		return &keyError{
			k.begin, fmt.Sprintf("the key %s stands twice in one object", excerpt([]byte(unquote(s.text[k.begin:k.end])))),
			"programs disagree about which of the two counts: keep one",
		}
	}
	if len(keys) <= few {
		for i, k := range keys {
			for _, before := range keys[:i] {
				if bytes.Equal(name(k), name(before)) {
					return failed(k)
				}
			}
		}
		return nil
	}
	seen := make(map[string]struct{}, len(keys))
	for i, k := range keys {
		if seen[string(name(k))] = struct{}{}; len(seen) == i {
			return failed(k)
		}
	}
	return nil
}

// list skips a list and calls visit, unless it is nil, with each value.
func (s *scanner) list(depth int, visit func(value []byte)) error {
	s.pos++
	if s.space(); s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		s.space()
		begin := s.pos
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if visit != nil {
			visit(s.text[begin:s.pos])
		}
		if done, err := s.next(']', "a comma or the end of the list"); done || err != nil {
			return err
		}
	}
}

// next skips a comma or the closing bracket, which ends the value.
func (s *scanner) next(closing byte, want string) (done bool, err error) {
	s.space()
	switch s.peek() {
	case ',':
		s.pos++
		return false, nil
	case closing:
		s.pos++
		return true, nil
	}
	return false, s.unexpected(want)
}

// plain marks the bytes that may appear unescaped in a string.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 256; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// str skips a string.
func (s *scanner) str() error {
	s.pos++
	for {
		p := s.pos
		for p < len(s.text) && plain[s.text[p]] {
			p++
		}
		s.pos = p
		switch {
		case p >= len(s.text):
			return s.fail("a string is not closed")
		case s.text[p] == '"':
			s.pos++
			return nil
		case s.text[p] != '\\':
			return s.fail("the control character %U stands in a string; JSON wants it escaped", s.text[p])
		}
		if s.pos+1 >= len(s.text) {
			return s.fail("a string is not closed")
		}
		switch s.text[s.pos+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			s.pos += 2
			continue
		case 'u':
			r, size := escapedRune(s.text[s.pos:])
			if size == 0 {
				return s.fail(`%s is not an escape: \u wants four hexadecimal digits`, excerpt(s.text[s.pos:min(s.pos+6, len(s.text))]))
			}
			unit, _ := hex4(s.text[s.pos+2:]) // U+FFFD may be meant
			s.lone = s.lone || r == utf8.RuneError && size == 6 && unit != utf8.RuneError
			s.pos += size
			continue
		}
		return s.fail("%s is not an escape in JSON", excerpt(s.text[s.pos:s.pos+2]))
	}
}

// escapedRune returns the character of the \u escape at the beginning of p and its length
// in bytes; 0 if it is malformed. A surrogate pair is one character, and an unpaired
// surrogate is U+FFFD.
func escapedRune(p []byte) (rune, int) {
	unit, ok := hex4(p[2:])
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(unit) {
		return unit, 6
	}
	if len(p) >= 12 && p[6] == '\\' && p[7] == 'u' {
		if low, ok := hex4(p[8:]); ok {
			if r := utf16.DecodeRune(unit, low); r != utf8.RuneError {
				return r, 12
			}
		}
	}
	return utf8.RuneError, 6
}

// hex4 parses the first four bytes of p as a hexadecimal number.
func hex4(p []byte) (rune, bool) {
	if len(p) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p[:4]), 16, 16)
	return rune(n), err == nil
}

// digits skips digits and reports whether there was one.
func (s *scanner) digits() bool {
	begin := s.pos
	for s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > begin
}

// unquote returns the text of a JSON string that a scanner has validated.
func unquote(quoted []byte) string {
	body := quoted[1 : len(quoted)-1]
	i := bytes.IndexByte(body, '\\')
	if i < 0 {
		return string(body)
	}
	var out strings.Builder
	out.Grow(len(body))
	for i >= 0 {
		out.Write(body[:i])
		body = body[i:]
		size := 2
		switch c := body[1]; c {
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 't':
			out.WriteByte('\t')
		case 'u':
			var r rune
			r, size = escapedRune(body)
			out.WriteRune(r)
		default:
			out.WriteByte(c)
		}
		body = body[size:]
		i = bytes.IndexByte(body, '\\')
	}
	out.Write(body)
	return out.String()
}
