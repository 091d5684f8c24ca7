package metric

import (
	"strings"
	"unicode/utf8"

	"deem/internal/text"
)

// wordLen returns the length in bytes of the first word of s, as defined by Punkt: a run of
// dashes or periods, or the text up to white space or punctuation, or else one character.
// The text does not begin with white space.
func wordLen(s string) int {
	if n := multiLen(s); n > 0 {
		return n
	}
	_, n := utf8.DecodeRuneInString(s)
	if strings.IndexByte("(\"`{[:;&#*@)}]-,", s[0]) >= 0 {
		return n // No word begins with these.
	}
	for n < len(s) && !endsWord(s[n:]) {
		_, size := utf8.DecodeRuneInString(s[n:])
		n += size
	}
	return n
}

// endsWord reports whether the word before s ends there. A comma ends it only if the text
// after the comma would end it too, so that 1,000 is one word.
func endsWord(s string) bool {
	return endsWordAlone(s) || s[0] == ',' && (len(s) == 1 || endsWordAlone(s[1:]))
}

func endsWordAlone(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isNonWord(s[0]) || text.IsSpace(r) || multiLen(s) > 0
}

// multiLen returns the length in bytes of the multi-character punctuation at the beginning
// of s: "--", "...", or ". . .".
func multiLen(s string) int {
	for _, c := range []string{"-", "."} {
		if n := len(s) - len(strings.TrimLeft(s, c)); n > 1 {
			return n
		}
	}
	n, last := 0, 0
	for periods := 1; n < len(s) && s[n] == '.'; periods++ {
		n++
		if periods > 2 {
			last = n
		}
		r, size := utf8.DecodeRuneInString(s[n:])
		if !text.IsSpace(r) || n == len(s) {
			break
		}
		n += size
	}
	return last
}
