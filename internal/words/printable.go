package words

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable replaces characters that would move a terminal's cursor or change its colours.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) && !reorders(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}

// reorders reports whether a character changes the direction of the text around it.
func reorders(r rune) bool {
	return r == 0x61c || r == 0x200e || r == 0x200f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// Clean escapes everything that could move the cursor, colour the terminal, break a line or
// be invisible: names come from data, and data is untrusted.
func Clean(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0]), 16))
		case r == '\\' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		s = s[size:]
	}
	return b.String()
}

// Fold returns a text cleaned and on one line.
func Fold(text string) string { return Clean(strings.Join(strings.Fields(text), " ")) }
