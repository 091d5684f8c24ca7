package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// BLEU13a returns s with spaces between its tokens, as the tokenizer "13a" of
// sacreBLEU writes it, which follows mteval-v13a: punctuation stands apart, except
// apostrophes, hyphens after letters, and points and commas between digits.
func BLEU13a(s string) string {
	s = strings.ReplaceAll(s, "<skipped>", "")
	s = strings.ReplaceAll(s, "-\n", "")
	s = strings.ReplaceAll(s, "\n", " ")
	// One after the other, so that &amp;lt; becomes <.
	s = strings.ReplaceAll(s, "&quot;", `"`)
	s = strings.ReplaceAll(s, "&amp;", "&")
	s = strings.ReplaceAll(s, "&lt;", "<")
	s = strings.ReplaceAll(s, "&gt;", ">")
	return mteval(chars(" " + s + " "))
}

// BLEUZh returns s with spaces between its tokens, as the tokenizer "zh" of
// sacreBLEU writes it: each Chinese character is a token, and the rest is split as
// by [BLEU13a], without its entities.
func BLEUZh(s string) string {
	list := make([]rune, 0, 2*len(s))
	for _, r := range chars(Strip(s)) {
		list = spaced(list, r, isBLEUChinese(r))
	}
	return mteval(list)
}

// isBLEUChinese reports whether sacreBLEU takes r for a Chinese character. Two of
// its ranges are written with five digits after \u, of which Python reads four. So
// all punctuation, arrows and mathematics from U+2001 to U+2A6D are Chinese, and
// the characters from U+20000 on are not.
func isBLEUChinese(r rune) bool {
	switch {
	case r < 0x2001:
		return false
	case r <= 0x2A6D,
		r >= 0x2E80 && r <= 0x2EFF,
		r >= 0x2F00 && r <= 0x2FDF,
		r >= 0x2FF0 && r <= 0x303F,
		r >= 0x3100 && r <= 0x312F,
		r >= 0x31A0 && r <= 0x31BF,
		r >= 0x31C0 && r <= 0x31EF,
		r >= 0x3200 && r <= 0x33FF,
		r >= 0x3400 && r <= 0x4DB5,
		r >= 0x4E00 && r <= 0x9FBB,
		r >= 0xF900 && r <= 0xFA2D,
		r >= 0xFA30 && r <= 0xFA6A,
		r >= 0xFA70 && r <= 0xFAD9,
		r >= 0xFE10 && r <= 0xFE1F,
		r >= 0xFE30 && r <= 0xFE4F,
		r >= 0xFF00 && r <= 0xFFEF:
		return true
	}
	return false
}

// BLEUChar returns s with a space between any two characters, as the tokenizer
// "char" of sacreBLEU writes it.
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

// BLEUIntl returns s with spaces between its tokens, as the tokenizer "intl" of
// sacreBLEU writes it, which follows mteval-v14: punctuation of any script stands
// apart except beside digits, and symbols always do.
func BLEUIntl(s string) string {
	isNumber := func(r rune) bool { return unicode.Is(unicode.N, r) }
	isPunct := func(r rune) bool { return unicode.Is(unicode.P, r) }
	list := pairs(chars(s), func(a, b rune) bool { return !isNumber(a) && isPunct(b) }, false, true)
	list = pairs(list, func(a, b rune) bool { return isPunct(a) && !isNumber(b) }, true, false)
	out := make([]rune, 0, 2*len(list))
	for _, r := range list {
		out = spaced(out, r, unicode.Is(unicode.S, r))
	}
	return words(out)
}

// mteval separates the punctuation of Western languages.
func mteval(s []rune) string {
	list := make([]rune, 0, 2*len(s))
	for _, r := range s {
		list = spaced(list, r, isMtevalPunct(r))
	}
	list = pairs(list, func(a, b rune) bool { return !isDigit(a) && isPoint(b) }, false, true)
	list = pairs(list, func(a, b rune) bool { return isPoint(a) && !isDigit(b) }, true, false)
	list = pairs(list, func(a, b rune) bool { return isDigit(a) && b == '-' }, false, true)
	return words(list)
}

// spaced adds r to the list, between spaces if apart.
func spaced(list []rune, r rune, apart bool) []rune {
	if apart {
		return append(list, ' ', r, ' ')
	}
	return append(list, r)
}

// pairs puts a space between two neighbouring characters for which match holds, and
// if asked before and after them. As with re.sub, a character belongs to one match
// only.
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

// isMtevalPunct reports whether r is ASCII punctuation or a space, but none of
// apostrophe, comma, hyphen and point.
func isMtevalPunct(r rune) bool {
	switch r {
	case '\'', ',', '-', '.':
		return false
	}
	return r == ' ' || IsPunct(r)
}

func isPoint(r rune) bool { return r == '.' || r == ',' }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// words returns what stands between the white space of a list, with single spaces.
func words(list []rune) string { return strings.Join(Split(join(list)), " ") }

// join undoes [chars].
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
