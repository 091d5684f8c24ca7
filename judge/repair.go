package judge

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Repair returns the last object in a text that has the key, read as the JSON-repairing
// libraries of published programs do: objects may stand amid prose, be broken in the ways
// that models break JSON, or be cut off at the end. Keys that differ only in case, or in
// how their words are joined, are the same. Only readings of published programs use it.
func Repair(text, key string) (map[string]any, bool) {
	var last *object
	for o := range scanObjects(text) {
		if in := o.having(key); in != nil {
			last = in
		}
	}
	if last == nil {
		return nil, false
	}
	return last.plain(), true
}

// repairedText returns the string under key in the last object that has the key, or "".
func repairedText(text, key string) string {
	fields, _ := Repair(text, key)
	if s, ok := fields[key].(string); ok {
		return s
	}
	for _, k := range sortedKeys(fields) { // Of two spellings of one key, the first counts.
		if keyOf(k) == keyOf(key) {
			s, _ := fields[k].(string)
			return s
		}
	}
	return ""
}

// keyOf returns the canonical spelling of a key.
func keyOf(k string) string {
	k = strings.ToLower(strings.Trim(strings.TrimSpace(k), "*_`"))
	return strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return '_'
		}
		return r
	}, k)
}

// An object is a parsed object. A cut-off value is not in it.
type object struct{ fields []field }

// A field is one key of an object with its value.
type field struct {
	key   string
	value any // string, json.Number, bool, nil, []any or *object
}

// having returns the last object within o, or o itself, that has the key.
func (o *object) having(key string) *object {
	if slices.ContainsFunc(o.fields, func(f field) bool { return keyOf(f.key) == keyOf(key) }) {
		return o
	}
	for _, f := range slices.Backward(o.fields) {
		for _, in := range slices.Backward(objectsIn(f.value)) {
			if found := in.having(key); found != nil {
				return found
			}
		}
	}
	return nil
}

// objectsIn returns the objects that a value is or lists.
func objectsIn(v any) []*object {
	switch v := v.(type) {
	case *object:
		return []*object{v}
	case []any:
		var out []*object
		for _, e := range v {
			out = append(out, objectsIn(e)...)
		}
		return out
	}
	return nil
}

// plain returns the fields as a map. A duplicate key has its last value.
func (o *object) plain() map[string]any {
	m := make(map[string]any, len(o.fields))
	for _, f := range o.fields {
		m[f.key] = export(f.value)
	}
	return m
}

// export converts a parsed value for callers.
func export(v any) any {
	switch v := v.(type) {
	case *object:
		return v.plain()
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = export(e)
		}
		return out
	}
	return v
}

// scanObjects yields the objects in text. A failed attempt to read an object may have read
// far before it failed, and the next brace may cause the same. The allowance keeps the
// total linear in the length of the text.
func scanObjects(text string) iter.Seq[*object] {
	return func(yield func(*object) bool) {
		p := parser{allowance: 8*len(text) + 4096}
		for pos := 0; p.allowance > 0; {
			i := strings.IndexAny(text[pos:], "{｛")
			if i < 0 {
				return
			}
			pos += i
			p = parser{s: text, pos: pos, allowance: p.allowance}
			o, ok := p.object(0)
			if !ok {
				_, n := utf8.DecodeRuneInString(text[pos:])
				pos += n
				continue
			}
			pos = p.pos
			if !yield(o) {
				return
			}
		}
	}
}

// isWord reports whether r is part of a word: a letter, a combining mark, or a digit.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// isSpace reports whether r is white space or invisible.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' || r == '\u200d' || r == '\ufe0f'
}
