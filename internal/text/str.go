package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Dict is a JSON object that keeps the order of its members, like a Python dict.
type Dict []Member

// A Member is one key of a [Dict] with its value.
type Member struct {
	Key   string
	Value any
}

// Str returns str(v) for v as returned by json.loads. It accepts
//
//   - string, which is returned unchanged;
//   - [json.Number], an int unless it has a fraction or an exponent, float64 and the
//     integer types;
//   - bool and nil, which are True, False and None;
//   - []any and []string, which are lists;
//   - [Dict]; map[string]any, which has lost the order of its keys and is written with
//     sorted keys; and [json.RawMessage], which still has the order.
//
// Anything else is formatted with fmt.Sprint.
func Str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.RawMessage:
		if tree, ok := parse(v); ok {
			return Str(tree)
		}
		return string(v)
	}
	return Repr(v)
}

// Repr returns repr(v). It accepts the same values as [Str], and differs in that a string
// is quoted.
func Repr(v any) string {
	var b strings.Builder
	writeRepr(&b, v)
	return b.String()
}

func writeRepr(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case string:
		writeQuoted(b, v)
	case json.Number:
		b.WriteString(number(v.String()))
	case float64:
		b.WriteString(Float(v))
	case []any:
		writeList(b, v)
	case []string:
		writeList(b, v)
	case Dict:
		writeDict(b, v)
	case map[string]any:
		var d Dict
		for _, k := range slices.Sorted(maps.Keys(v)) {
			d = append(d, Member{k, v[k]})
		}
		writeDict(b, d)
	case json.RawMessage:
		if tree, ok := parse(v); ok {
			writeRepr(b, tree)
		} else {
			writeQuoted(b, string(v))
		}
	default:
		fmt.Fprint(b, v)
	}
}

func writeList[T any](b *strings.Builder, list []T) {
	b.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		writeRepr(b, v)
	}
	b.WriteByte(']')
}

func writeDict(b *strings.Builder, d Dict) {
	b.WriteByte('{')
	for i, m := range d {
		if i > 0 {
			b.WriteString(", ")
		}
		writeQuoted(b, m.Key)
		b.WriteString(": ")
		writeRepr(b, m.Value)
	}
	b.WriteByte('}')
}

// writeQuoted writes s as a Python string literal. It uses single quotes, or double quotes
// if that saves an escape.
func writeQuoted(b *strings.Builder, s string) {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteRune(quote)
	for i, r := range s {
		switch {
		case r == utf8.RuneError && len(invalid(s, i)) == 1:
			fmt.Fprintf(b, `\udc%02x`, s[i]) // as Python shows it after reading with surrogateescape
		case r == utf8.RuneError:
			b.WriteRune(r)
		case r == quote || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r): // the same set as str.isprintable
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
}

// number returns a JSON number as written by Python.
func number(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		if s == "-0" {
			return "0" // an int has no negative zero
		}
		return s
	}
	// Out of range gives ±Inf, like json.loads.
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return s
	}
	return Float(f)
}

// Float returns repr(f): the shortest digits that parse as f, with an exponent below 1e-4
// and from 1e16 on.
func Float(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	sci := strconv.FormatFloat(f, 'e', -1, 64)
	exp, err := strconv.Atoi(sci[strings.IndexByte(sci, 'e')+1:])
	if err != nil {
		panic("text: FormatFloat gave " + sci)
	}
	if exp < -4 || exp >= 16 {
		return sci
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// parse reads one JSON value and keeps the order of keys and the spelling of numbers. A
// duplicate key has its last value, at the position of the first.
func parse(raw json.RawMessage) (any, bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return parseValue(dec), true
}

func parseValue(dec *json.Decoder) any {
	switch t := token(dec); t {
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			list = append(list, parseValue(dec))
		}
		token(dec)
		return list
	case json.Delim('{'):
		d := Dict{}
		at := map[string]int{}
		for dec.More() {
			key, ok := token(dec).(string)
			if !ok {
				panic("text: the key of a JSON object is not a string")
			}
			value := parseValue(dec)
			if i, seen := at[key]; seen {
				d[i].Value = value
				continue
			}
			at[key] = len(d)
			d = append(d, Member{key, value})
		}
		token(dec)
		return d
	default:
		return t
	}
}

// token returns the next token of valid JSON.
func token(dec *json.Decoder) json.Token {
	t, err := dec.Token()
	if err != nil {
		panic("text: token of valid JSON: " + err.Error())
	}
	return t
}
