package text

import (
	"strings"
	"unicode/utf8"
)

// nextWord returns where the first word of s[i:] begins and ends in s, and what kinds
// of bytes it has. Where there is none, it begins and ends with s.
func nextWord(s string, i int) (from, to int, seen kind) {
	for from = i; from < len(s) && kinds[s[from]]&(space|mayBeSpace) != 0; {
		size := spaceAt(s, from)
		if size == 0 {
			break
		}
		from += size
	}
	// Inside of a character no white space begins, so single bytes will do.
	for to = from; to < len(s); to++ {
		k := kinds[s[to]]
		if k&(space|mayBeSpace) != 0 && spaceAt(s, to) > 0 {
			break
		}
		seen |= k
	}
	return from, to, seen
}

// spaceAt returns how many bytes the white space character takes that begins at s[i],
// or 0 if none does.
func spaceAt(s string, i int) int {
	if s[i] < utf8.RuneSelf {
		return int(kinds[s[i]] & space)
	}
	if r, size := utf8.DecodeRuneInString(s[i:]); IsSpace(r) {
		return size
	}
	return 0
}

// countWords returns about how many words s has, so that a list of them need not grow
// often. White space that is not ASCII is passed over.
func countWords(s string) int {
	n, before := 0, space
	for i := range len(s) {
		// Without a branch, since no processor guesses where words end.
		now := kinds[s[i]] & space
		n += int(before &^ now)
		before = now
	}
	return n
}

// A kind says what a byte is. Those of the bytes of a word are put together, so that
// to know what is in it takes no second look. Small letters and digits have none.
type kind uint8

const (
	space      kind = 1 << iota // white space of ASCII; must be 1
	mayBeSpace                  // the first byte of some white space beyond ASCII
	capital                     // a capital letter of ASCII
	punct                       // punctuation of ASCII
	control                     // another character of ASCII
	long                        // a part of a character beyond ASCII
)

// kinds holds the kind of each byte.
var kinds = func() (table [256]kind) {
	for c := range table {
		table[c] = kindOf(rune(c))
	}
	// White space beyond ASCII begins with few bytes, so that most characters need not
	// be decoded. These have one each; all from U+2000 to U+205F have the same.
	for _, s := range []string{"\u0085", "\u1680", "\u2000", "\u3000"} {
		table[s[0]] |= mayBeSpace
	}
	return table
}()

func kindOf(c rune) kind {
	switch {
	case c >= utf8.RuneSelf:
		return long
	case IsSpace(c):
		return space
	case IsPunct(c):
		return punct
	case c >= 'A' && c <= 'Z':
		return capital
	case IsWord(c):
		return 0
	}
	return control
}

// lowerLetters returns a word of ASCII in lower case and without what is not a letter or
// digit. A word that changes is written to b, which gets room for that many bytes:
// those that may follow. What b holds is not changed later, so that the word may be a
// part of it.
func lowerLetters(b *strings.Builder, w string, seen kind, room int) string {
	if seen == 0 {
		return w
	}
	if b.Len() == 0 {
		b.Grow(room)
	}
	from := b.Len()
	for i := range len(w) {
		switch c := w[i]; kinds[c] {
		case 0:
			b.WriteByte(c)
		case capital:
			b.WriteByte(c + 'a' - 'A')
		}
	}
	return b.String()[from:]
}
