package text

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Literal parses JSON, or the Python literal of the same value, like ast.literal_eval:
// strings in single quotes, True, False and None, a tuple as a list. Objects, lists and
// strings are returned as map[string]any, []any and string, and numbers as [json.Number].
func Literal(s string) (any, error) {
	l := &literal{rest: s}
	v, err := l.value(0)
	if err != nil {
		return nil, err
	}
	if l.space(); l.rest != "" {
		return nil, errLiteral
	}
	return v, nil
}

// ParseList parses a Python list of strings, and reports whether s is one.
func ParseList(s string) ([]string, bool) {
	value, err := Literal(Strip(s))
	values, ok := value.([]any)
	if err != nil || !ok {
		return nil, false
	}
	list := make([]string, len(values))
	for i, v := range values {
		if list[i], ok = v.(string); !ok {
			return nil, false
		}
	}
	return list, true
}

var errLiteral = errors.New("not a literal of JSON or Python")

type literal struct{ rest string }

func (l *literal) space() { l.rest = strings.TrimLeft(l.rest, " \t\r\n") }

// take consumes a prefix and reports whether it was there.
func (l *literal) take(prefix string) bool {
	l.space()
	rest, ok := strings.CutPrefix(l.rest, prefix)
	if ok {
		l.rest = rest
	}
	return ok
}

// literalWords maps named constants to values.
var literalWords = map[string]any{"True": true, "true": true, "False": false, "false": false, "None": nil, "null": nil}

func (l *literal) value(depth int) (any, error) {
	switch l.space(); {
	case depth > 100 || l.rest == "":
		return nil, errLiteral
	case l.take("{"):
		return l.object(depth)
	case l.take("["):
		return l.list("]", depth)
	case l.take("("):
		return l.list(")", depth)
	case l.rest[0] == '"' || l.rest[0] == '\'':
		return l.text()
	}
	end := strings.IndexAny(l.rest, " \t\r\n,:]})")
	if end < 0 {
		end = len(l.rest)
	}
	word := l.rest[:end]
	l.rest = l.rest[end:]
	if v, ok := literalWords[word]; ok {
		return v, nil
	}
	if _, err := strconv.ParseFloat(word, 64); err != nil {
		return nil, errLiteral
	}
	return json.Number(word), nil
}

func (l *literal) object(depth int) (any, error) {
	object := map[string]any{}
	for !l.take("}") {
		key, err := l.value(depth + 1)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if n, number := key.(json.Number); number {
			name, ok = n.String(), true
		}
		if !ok || !l.take(":") {
			return nil, errLiteral
		}
		if object[name], err = l.value(depth + 1); err != nil {
			return nil, err
		}
		if !l.take(",") && !strings.HasPrefix(l.rest, "}") {
			return nil, errLiteral
		}
	}
	return object, nil
}

func (l *literal) list(end string, depth int) (any, error) {
	list := []any{}
	for !l.take(end) {
		v, err := l.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if !l.take(",") && !strings.HasPrefix(l.rest, end) {
			return nil, errLiteral
		}
	}
	return list, nil
}

// literalEscapes maps one-letter escapes to characters.
var literalEscapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'v': "\v", 'a': "\a", '\\': "\\", '\'': "'", '"': "\"", '/': "/", '\n': ""}

func (l *literal) text() (any, error) {
	quote := l.rest[0]
	var b strings.Builder
	for i := 1; i < len(l.rest); i++ {
		switch c := l.rest[i]; {
		case c == quote:
			l.rest = l.rest[i+1:]
			return b.String(), nil
		case c != '\\' || i+1 == len(l.rest):
			b.WriteByte(c)
		default:
			i++
			if plain, ok := literalEscapes[l.rest[i]]; ok {
				b.WriteString(plain)
				continue
			}
			r, size, ok := coded(l.rest[i:])
			if !ok {
				b.WriteString(l.rest[i-1 : i+1]) // Python keeps unknown escapes.
				continue
			}
			b.WriteRune(r)
			i += size - 1
		}
	}
	return nil, errLiteral
}

// coded reads x41, u0041 or U00000041, and surrogate pairs as in JSON.
func coded(s string) (r rune, size int, ok bool) {
	n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if n == 0 || len(s) < 1+n {
		return 0, 0, false
	}
	code, err := strconv.ParseUint(s[1:1+n], 16, 32)
	if err != nil {
		return 0, 0, false
	}
	r = rune(code)
	if utf16.IsSurrogate(r) {
		if rest, found := strings.CutPrefix(s[1+n:], `\u`); found && len(rest) >= 4 {
			if low, err := strconv.ParseUint(rest[:4], 16, 32); err == nil {
				return utf16.DecodeRune(r, rune(low)), 1 + n + 6, true
			}
		}
		return utf8.RuneError, 1 + n, true
	}
	return r, 1 + n, true
}

// Loads parses a JSON object like Python's json.loads. A duplicate key has its last value.
// Python also accepts NaN and the infinities; they become null here, because they cannot be
// used as a label or score.
func Loads(s string) (map[string]any, error) {
	object, err := loads(s)
	if finite := FiniteJSON(s); err != nil && finite != s {
		return loads(finite)
	}
	return object, err
}

func loads(s string) (map[string]any, error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var object map[string]any
	if err := dec.Decode(&object); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text follows the object")
	}
	return object, nil
}

// notNumbers matches numbers that are valid in Python but not in JSON, and strings, which
// may contain them.
var notNumbers = regexp.MustCompile(`(?s)-?Infinity|NaN|"(?:\\.|[^"\\])*"?`)

// FiniteJSON converts JSON as written by Python's json.dumps to standard JSON: NaN and the
// infinities outside of strings become null. They cannot be used as a score, label or text.
func FiniteJSON(s string) string {
	if !strings.Contains(s, "NaN") && !strings.Contains(s, "Infinity") {
		return s
	}
	return notNumbers.ReplaceAllStringFunc(s, func(match string) string {
		if match[0] == '"' {
			return match
		}
		return "null"
	})
}
