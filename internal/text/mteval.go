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

// A cutter cuts a text into tokens as mteval does: words and the punctuation of Western
// languages.
//
// The original puts spaces into the whole text by four regular expressions, one after
// the other, and splits it then. All tokens are pieces of the text, so here they are
// cut out of it.
type cutter struct {
	s       string
	chinese bool // Chinese characters are tokens too, and no spaces are put around the text
	words   []string
	from    int // where the token begins that has not ended yet
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

// word cuts what stands between white space, which none of the expressions looks past.
func (c *cutter) word(from, to int) {
	c.from = from
	parted := false // whether the character before is a point that was parted
	for i := from; i < to; i++ {
		switch mark := c.s[i]; {
		case mark == '.' || mark == ',':
			// Matches of an expression do not overlap, so a point that was parted
			// from what goes before it does not part the next.
			parted = !parted && !c.digit(i-1)
			c.point(i, parted)
			continue
		case mark == '-':
			if i > from && c.digit(i-1) {
				c.single(i, 1)
			}
		case IsPunct(rune(mark)) && mark != '\'':
			c.single(i, 1)
		case c.chinese && mark >= utf8.RuneSelf:
			i += c.long(i) - 1
		}
		parted = false
	}
	c.cut(to)
}

// point cuts at the point or comma at i. The first expression parts it from what goes
// before, and the second from what follows, unless that is a digit.
func (c *cutter) point(i int, parted bool) {
	switch {
	case parted || !c.digit(i+1):
		c.single(i, 1)
	case !c.digit(i - 1):
		c.cut(i) // It follows a point that was parted, so a space is there.
	}
}

// digit reports whether there is a digit at i. Where the text ends there is something
// else, a space, unless none was put there; then no expression matches, as by a digit.
func (c *cutter) digit(i int) bool {
	if i < 0 || i == len(c.s) {
		return c.chinese
	}
	return isDigit(rune(c.s[i]))
}

// long makes the character at i, which is not of ASCII, a token if it should be one,
// and returns how many bytes were read.
func (c *cutter) long(i int) int {
	r, size := utf8.DecodeRuneInString(c.s[i:])
	if isBLEUChinese(r) {
		c.single(i, size)
	}
	return size
}

// cut ends the token before i.
func (c *cutter) cut(i int) {
	if c.from < i {
		c.words = append(c.words, c.s[c.from:i])
	}
	c.from = i
}

// single makes the bytes from i on a token.
func (c *cutter) single(i, size int) {
	c.cut(i)
	c.cut(i + size)
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
