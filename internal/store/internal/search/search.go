// Package search says what a word is, and what somebody who typed a text looks for, so
// that every store finds the same.
//
// Words are runs of letters, digits and marks. The characters of scripts that write
// without spaces are words of their own, in what is indexed and in what is looked for:
// else a whole Chinese sentence would be one word. A Chinese word is a phrase of its
// characters. Case and accents are left to the stores, whose indexes have their own ways
// with them.
package search

import (
	"unicode"
	"unicode/utf8"
)

// TextBytes and ItemBytes bound what is indexed of one text and of one item. What comes
// later in a text of that length is not found.
const (
	TextBytes = 64 << 10
	ItemBytes = 256 << 10
)

// Cut returns at most limit bytes of the beginning of s, and no half character.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// unspaced are the scripts that put no spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// IsUnspaced reports whether r is a character of a script without spaces. The sign that
// makes a Japanese vowel long belongs to several scripts, and so to none.
func IsUnspaced(r rune) bool {
	return r >= 0x0e00 && (r == 'ー' || r == 'ｰ' || unicode.In(r, unspaced...))
}

// isWord reports whether r is part of a word.
func isWord(r rune) bool {
	if r < utf8.RuneSelf { // Nearly all are, and the tables are slow.
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Co)
}

// Words returns the words of a text in order. They are parts of it.
func Words(text string) []string {
	var words []string
	start := -1 // of the word that is being read
	end := func(at int) {
		if start >= 0 {
			words = append(words, text[start:at])
		}
		start = -1
	}
	apart := false // the last character was one of a script without spaces
	for i, r := range text {
		switch {
		case !isWord(r):
			end(i)
			apart = false
			continue
		case r >= 0x300 && unicode.Is(unicode.M, r): // A vowel of Thai stays with its consonant.
		case IsUnspaced(r):
			end(i)
			apart = true
		case apart:
			end(i)
			apart = false
		}
		if start < 0 {
			start = i
		}
	}
	end(len(text))
	return words
}
