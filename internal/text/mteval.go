package text

import (
	"strings"
	"unicode/utf8"
)

// BLEU13aWords splits a text into tokens like the tokenizer "13a" of sacreBLEU, which follows
// mteval-v13a.
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

// A cutter splits a text into tokens like mteval: words and the punctuation of Western
// languages.
//
// The original inserts spaces into the whole text with four regular expressions, one after
// the other, and then splits it. All tokens are substrings of the text, so here they are
// cut out of it directly.
type cutter struct {
	s     string
	words []string
	from  int // start of the current token
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
				c.single(i)
			case !c.digit(i - 1):
				c.cut(i) // It follows a period that was split off, so there is a space.
			}
			continue
		case mark == '-':
			if i > from && c.digit(i-1) {
				c.single(i)
			}
		case IsPunct(rune(mark)) && mark != '\'':
			c.single(i)
		}
		afterPeriod = false
	}
	c.cut(to)
}

// digit reports whether there is a digit at i, which may be just before or after the text.
func (c *cutter) digit(i int) bool {
	return i >= 0 && i < len(c.s) && isDigit(rune(c.s[i]))
}

// cut ends the token before i.
func (c *cutter) cut(i int) {
	if c.from < i {
		c.words = append(c.words, c.s[c.from:i])
	}
	c.from = i
}

// single makes the character at i a token.
func (c *cutter) single(i int) {
	c.cut(i)
	c.cut(i + 1)
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
