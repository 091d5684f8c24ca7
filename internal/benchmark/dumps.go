package benchmark

import (
	"encoding/json"
	"strings"

	"deem/internal/text"
)

// Dumps returns a value as JSON like Python's json.dumps with ensure_ascii=False and this
// indentation. Objects are a [text.Dict], and lists a []any.
func Dumps(v any, indent string) string {
	var b strings.Builder
	writeJSON(&b, v, "\n", indent)
	return b.String()
}

// writeJSON writes a value whose entries begin after newline and indent.
func writeJSON(b *strings.Builder, v any, newline, indent string) {
	switch v := v.(type) {
	case text.Dict:
		writeBlock(b, "{", "}", newline, indent, len(v), func(i int) {
			b.WriteString(quote(v[i].Key) + ": ")
			writeJSON(b, v[i].Value, newline+indent, indent)
		})
	case []any:
		writeBlock(b, "[", "]", newline, indent, len(v), func(i int) { writeJSON(b, v[i], newline+indent, indent) })
	case string:
		b.WriteString(quote(v))
	case nil:
		b.WriteString("null")
	default: // Numbers are written in Python's repr format.
		b.WriteString(text.Repr(v))
	}
}

// writeBlock writes a list or an object of n entries.
func writeBlock(b *strings.Builder, begin, end, newline, indent string, n int, write func(i int)) {
	b.WriteString(begin)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(newline + indent)
		write(i)
	}
	if n > 0 {
		b.WriteString(newline)
	}
	b.WriteString(end)
}

// quote returns a JSON string with minimal escaping.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("benchmark: a string without a JSON: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
