package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// BLEU13aWords returns the tokens of [BLEU13a].
func BLEU13aWords(s string) []string {
	if strings.ContainsAny(s, "<\n&") {
		s = strings.ReplaceAll(s, "<skipped>", "")
		s = strings.ReplaceAll(s, "-\n", "")
		s = strings.ReplaceAll(s, "\n", " ")
		// One after the other, so that &amp;lt; becomes <.
		s = strings.ReplaceAll(s, "&quot;", `"`)
		s = strings.ReplaceAll(s, "&amp;", "&")
		s = strings.ReplaceAll(s, "&lt;", "<")
		s = strings.ReplaceAll(s, "&gt;", ">")
	}
	c := cutter{s: s}
	return c.cutAll()
}

// BLEUZhWords returns the tokens of [BLEUZh].
func BLEUZhWords(s string) []string {
	c := cutter{s: Strip(s), chinese: true}
	return c.cutAll()
}

// A cutter splits a text into tokens like mteval: words and the punctuation of Western
// languages.
//
// The original inserts spaces into the whole text with four regular expressions, one after
// the other, and then splits it. All tokens are substrings of the text, so here they are
// cut out of it directly.
type cutter struct {
	s       string
	chinese bool // Chinese characters are tokens too, and no spaces are put around the text
	words   []string
	from    int // start of the current token
}

func (c *cutter) cutAll() []string {
	c.words = []string{}
	for from := 0; from < len(c.s); {
		to := len(c.s)
		if n := strings.IndexFunc(c.s[from:], IsSpace); n >= 0 {
			to = from + n
		}
		c.word(from, to)
		_, size := utf8.DecodeRuneInString(c.s[to:])
		from = to + size
	}
	return c.words
}

// word splits the text between white space. None of the expressions looks beyond white
// space.
func (c *cutter) word(from, to int) {
	c.from = from
	afterPeriod := false // whether the previous character is a period that was split off
	for i := from; i < to; i++ {
		switch mark := c.s[i]; {
		case mark == '.' || mark == ',':
			// Matches of an expression do not overlap, so a period that was split from the
			// text before it does not split the next one.
			afterPeriod = !afterPeriod && !c.digit(i-1)
			// The first expression splits it from the text before, and the second from the
			// text after it, unless that is a digit.
			switch {
			case afterPeriod || !c.digit(i+1):
				c.single(i, 1)
			case !c.digit(i - 1):
				c.cut(i) // It follows a period that was split off, so there is a space.
			}
			continue
		case mark == '-':
			if i > from && c.digit(i-1) {
				c.single(i, 1)
			}
		case IsPunct(rune(mark)) && mark != '\'':
			c.single(i, 1)
		case c.chinese && mark >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(c.s[i:])
			if isBLEUChinese(r) {
				c.single(i, size)
			}
			i += size - 1
		}
		afterPeriod = false
	}
	c.cut(to)
}

// digit reports whether there is a digit at i. The ends of the text count as a space, which
// is not a digit, unless no spaces were put there; then no expression matches, as with a
// digit.
func (c *cutter) digit(i int) bool {
	if i < 0 || i == len(c.s) {
		return c.chinese
	}
	return isDigit(rune(c.s[i]))
}

// cut ends the token before i.
func (c *cutter) cut(i int) {
	if c.from < i {
		c.words = append(c.words, c.s[c.from:i])
	}
	c.from = i
}

// single makes the size bytes at i a token.
func (c *cutter) single(i, size int) {
	c.cut(i)
	c.cut(i + size)
}

// isBLEUChinese reports whether sacreBLEU treats r as a Chinese character. Two of its
// ranges are written with five digits after \u, of which Python reads four. So all
// punctuation, arrows and mathematics from U+2001 to U+2A6D are Chinese, and the characters
// from U+20000 on are not.
func isBLEUChinese(r rune) bool {
	switch {
	case r < 0x2001:
		return false
	case r <= 0x2A6D,
		r >= 0x2E80 && r <= 0x2FDF,
		r >= 0x2FF0 && r <= 0x303F,
		r >= 0x3100 && r <= 0x312F,
		r >= 0x31A0 && r <= 0x31EF,
		r >= 0x3200 && r <= 0x4DB5,
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
