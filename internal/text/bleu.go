package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// BLEUChar returns s with a space between any two characters, like the tokenizer "char" of
// sacreBLEU.
func BLEUChar(s string) string {
	list := make([]rune, 0, 2*len(s))
	for i, r := range chars(s) {
		if i > 0 {
			list = append(list, ' ')
		}
		list = append(list, r)
	}
	return join(list)
}

// BLEUIntl returns s with spaces between its tokens, like the tokenizer "intl" of
// sacreBLEU, which follows mteval-v14: punctuation of any script is a separate token except
// next to digits, and symbols always are.
func BLEUIntl(s string) string {
	isNumber := func(r rune) bool { return unicode.Is(unicode.N, r) }
	isPunct := func(r rune) bool { return unicode.Is(unicode.P, r) }
	list := pairs(chars(s), func(a, b rune) bool { return !isNumber(a) && isPunct(b) }, false, true)
	list = pairs(list, func(a, b rune) bool { return isPunct(a) && !isNumber(b) }, true, false)
	out := make([]rune, 0, 2*len(list))
	for _, r := range list {
		if unicode.Is(unicode.S, r) {
			out = append(out, ' ', r, ' ')
		} else {
			out = append(out, r)
		}
	}
	return strings.Join(Split(join(out)), " ")
}

// pairs puts a space between two neighbouring characters that match, and optionally before
// and after them. As with re.sub, matches do not overlap.
func pairs(list []rune, match func(a, b rune) bool, before, after bool) []rune {
	out := make([]rune, 0, len(list)+len(list)/4)
	for i := 0; i < len(list); i++ {
		if i+1 == len(list) || !match(list[i], list[i+1]) {
			out = append(out, list[i])
			continue
		}
		if before {
			out = append(out, ' ')
		}
		out = append(out, list[i], ' ', list[i+1])
		if after {
			out = append(out, ' ')
		}
		i++
	}
	return out
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// join is the inverse of [chars].
func join(list []rune) string {
	b := make([]byte, 0, len(list)+len(list)/4)
	for _, r := range list {
		if r < 0 {
			b = append(b, byte(-r))
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}
