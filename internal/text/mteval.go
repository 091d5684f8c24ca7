package text

import (
	"strings"
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
