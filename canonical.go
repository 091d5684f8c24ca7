package deem

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Every item and every request of a run is hashed, some of them more than once, and
// what encoding/json does for that by reflection takes longer than all else that a
// run does between two calls. So their canonical JSON is written here by hand. It is
// the same to the byte as what [Canonical] makes, which a test holds.

// An object writes the members of a JSON object in the order in which they are given,
// which has to be that of their keys. It begins where the text ended at first.
type object struct {
	text  []byte
	start int
}

// begin returns an object that is written behind a text.
func begin(to []byte) object { return object{text: to, start: len(to)} }

// key begins a member. Keys are ours and need no escape.
func (o *object) key(name string) {
	o.text = append(o.text, ",{"[b2i(len(o.text) == o.start)], '"')
	o.text = append(o.text, name...)
	o.text = append(o.text, '"', ':')
}

// str writes a member that is left out when it is empty.
func (o *object) str(name, value string) {
	if value != "" {
		o.key(name)
		o.text = appendText(o.text, value)
	}
}

// num writes a member that is left out when it is zero.
func (o *object) num(name string, value int) {
	if value != 0 {
		o.key(name)
		o.text = strconv.AppendInt(o.text, int64(value), 10)
	}
}

// float writes a number as encoding/json does. One that is none is a bug.
func (o *object) float(name string, value float64) {
	number, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("deem: canonical JSON: %v", err))
	}
	o.key(name)
	o.text = append(o.text, number...)
}

// list writes a list of texts that is left out when it is empty.
func (o *object) list(name string, values []string) {
	if len(values) == 0 {
		return
	}
	o.key(name)
	for i, v := range values {
		o.text = append(o.text, ",["[b2i(i == 0)])
		o.text = appendText(o.text, v)
	}
	o.text = append(o.text, ']')
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// texts writes an object of texts that is left out when it is empty.
func (o *object) texts(name string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	o.key(name)
	for i, k := range slices.Sorted(maps.Keys(values)) {
		o.text = append(o.text, ",{"[b2i(i == 0)])
		o.text = append(appendText(o.text, k), ':')
		o.text = appendText(o.text, values[k])
	}
	o.text = append(o.text, '}')
}

// end returns the whole object.
func (o *object) end() []byte { return append(o.text, '}') }

const hexDigits = "0123456789abcdef"

// AppendText appends the JSON of a text, as [Canonical] writes it, which is several times
// as fast as encoding/json. A byte that is no UTF-8 becomes U+FFFD.
func AppendText(to []byte, text string) []byte { return appendText(to, text) }

func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) && plain(s[i:i+8]) {
			i += 8
			continue
		}
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			if r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
		}
		b = append(b, s[start:i]...)
		b = appendEscape(b, s[i:i+size])
		i += size
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// plain reports whether eight bytes are ASCII that stands for itself. It looks at all of
// them at once, which is most of the work on most texts: in each of the differences
// below the highest bit of a byte is set where the byte is below ' ', or equal to what
// the text was compared with, or where a byte before it was, which is then plain neither.
func plain(s string) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	control := v - ones*' '
	quote := (v ^ ones*'"') - ones
	backslash := (v ^ ones*'\\') - ones
	return (v|control|quote|backslash)&high == 0
}

// appendEscape appends a character that does not stand for itself.
func appendEscape(b []byte, char string) []byte {
	switch c := char[0]; {
	case c == '"' || c == '\\':
		return append(b, '\\', c)
	case c == '\b':
		return append(b, `\b`...)
	case c == '\f':
		return append(b, `\f`...)
	case c == '\n':
		return append(b, `\n`...)
	case c == '\r':
		return append(b, `\r`...)
	case c == '\t':
		return append(b, `\t`...)
	case c < ' ':
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
	case len(char) == 1: // No UTF-8.
		return append(b, "\uFFFD"...)
	default: // U+2028 and U+2029, which end lines in JavaScript.
		return append(b, '\\', 'u', '2', '0', '2', hexDigits[char[2]&0xf])
	}
}

// scratch holds texts that are hashed and forgotten.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// maxScratch bounds what is kept for the next text. A long context comes seldom.
const maxScratch = 256 << 10

// hashOf returns the hash of the text that write appends to what it is given.
func hashOf(write func(to []byte) []byte) string {
	buf := scratch.Get().(*[]byte)
	text := write((*buf)[:0])
	s := sha256.Sum256(text)
	if cap(text) <= maxScratch {
		*buf = text
		scratch.Put(buf)
	}
	return hex.EncodeToString(s[:])
}
