package words

import (
	"strings"
)

// Printable escapes what would move a terminal's cursor or change its colours.
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
