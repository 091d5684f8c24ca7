package words

import (
	"strings"
)

// Printable escapes what would move a terminal's cursor or change its colours.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) {
			return r
		}
		return '\uFFFD'
	}, s)
}
