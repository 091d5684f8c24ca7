package text

import (
	"strings"
	"unicode"
)

// IsSpace reports whether Python's str.isspace is true for r. Unlike [unicode.IsSpace] it
// includes the four separators U+001C to U+001F. Neither includes the zero-width characters
// U+200B and U+FEFF, or U+180E.
func IsSpace(r rune) bool {
	return r >= 0x1c && r <= 0x1f || unicode.IsSpace(r)
}

// IsWord reports whether Python's \w matches r: letters, numbers of every kind, and the
// underscore. Combining marks are not word characters, so a Thai vowel sign ends a word.
func IsWord(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// IsPunct reports whether r is in Python's string.punctuation, which is the ASCII
// punctuation and symbols.
func IsPunct(r rune) bool {
	return r > ' ' && r < 0x7f && (r == '_' || !IsWord(r))
}

// Strip returns s without leading and trailing white space, like str.strip().
func Strip(s string) string {
	return strings.TrimFunc(s, IsSpace)
}

// Split returns the words of s between runs of white space, like str.split().
func Split(s string) []string { return strings.FieldsFunc(s, IsSpace) }

// Unspaced reports whether a character belongs to a script without spaces between words.
func Unspaced(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
