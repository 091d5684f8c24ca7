package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsSpace reports whether Python's str.isspace holds for r. Unlike
// [unicode.IsSpace] it includes the four separators U+001C to U+001F. Neither
// includes the zero-width characters U+200B and U+FEFF, nor U+180E.
func IsSpace(r rune) bool {
	return r >= 0x1c && r <= 0x1f || unicode.IsSpace(r)
}

// IsWord reports whether Python's \w matches r: letters, numbers of every kind,
// and the underscore. Combining marks are not word characters, so a Thai vowel
// sign ends a word.
func IsWord(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// IsPunct reports whether r is in Python's string.punctuation, which holds the
// punctuation and the symbols of ASCII and nothing else.
func IsPunct(r rune) bool {
	return r > ' ' && r < 0x7f && (r == '_' || !IsWord(r))
}

// Strip returns s without leading and trailing white space, as str.strip().
func Strip(s string) string {
	return strings.TrimFunc(s, IsSpace)
}

// Split returns the words of s between runs of white space, as str.split().
func Split(s string) []string {
	words := make([]string, 0, countWords(s))
	for from, to := nextWord(s, 0); from < to; from, to = nextWord(s, to) {
		words = append(words, s[from:to])
	}
	return words
}

// nextWord returns where the first word of s[i:] begins and ends in s. Where there is
// none, both are the length of s.
func nextWord(s string, i int) (from, to int) {
	for from = i; from < len(s) && spaceStart[s[from]] != 0; {
		size := spaceAt(s, from)
		if size == 0 {
			break
		}
		from += size
	}
	// Inside of a character no white space begins, so single bytes will do.
	for to = from; to < len(s) && (spaceStart[s[to]] == 0 || spaceAt(s, to) == 0); {
		to++
	}
	return from, to
}

// countWords returns about how many words s has, so that a list of them need not grow
// often. White space that is not ASCII is passed over.
func countWords(s string) int {
	n, before := 0, uint8(isSpaceByte)
	for i := range len(s) {
		// Without a branch, since no processor guesses where words end.
		now := spaceStart[s[i]] & isSpaceByte
		n += int(before &^ now)
		before = now
	}
	return n
}

// spaceAt returns how many bytes the white space character takes that begins at s[i],
// or 0 if none does.
func spaceAt(s string, i int) int {
	if spaceStart[s[i]] == isSpaceByte {
		return 1
	}
	if r, size := utf8.DecodeRuneInString(s[i:]); IsSpace(r) {
		return size
	}
	return 0
}

// What a byte says of white space, if not that it begins none.
const (
	isSpaceByte   = 1 // It is white space.
	maySpaceStart = 2 // Some white space begins with it.
)

// spaceStart says which bytes are white space or may begin some. Few may, so that most
// characters need not be decoded to know.
var spaceStart = func() (table [256]uint8) {
	for c := range rune(utf8.RuneSelf) {
		if IsSpace(c) {
			table[c] = isSpaceByte
		}
	}
	// One of each first byte; all from U+2000 to U+205F have the same.
	for _, space := range []string{"\u0085", "\u1680", "\u2000", "\u3000"} {
		table[space[0]] = maySpaceStart
	}
	return table
}()
