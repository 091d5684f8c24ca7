package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A class says which kinds a character is of, as the patterns tell them apart by which
// OpenAI's tokenizers cut text into pieces.
type class uint8

const (
	upper   class = 1 << iota // capitals and titles: Lu, Lt
	lower                     // Ll
	letter                    // letters without case: Lm, Lo
	mark                      // accents that stand by themselves: M
	number                    // N
	space                     // white space, line breaks included
	newline                   // \r and \n

	letters = upper | lower | letter
	// A word of o200k is a run of the first of these, and then one of the second.
	headRun = upper | letter | mark
	tailRun = lower | letter | mark
)

// ascii holds the classes of the characters that most texts are made of.
var ascii = func() (table [utf8.RuneSelf]class) {
	for r := range table {
		table[r] = classOf(rune(r))
	}
	return table
}()

func classOf(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return space | newline
	case unicode.IsSpace(r):
		return space
	case unicode.In(r, unicode.Lo, unicode.Lm):
		return letter
	case unicode.Is(unicode.Ll, r):
		return lower
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper
	case unicode.Is(unicode.M, r):
		return mark
	case unicode.Is(unicode.N, r):
		return number
	}
	return 0
}

// first returns the class of the first character of s and its length, 0 and 0 at the end.
func first(s string) (class, int) {
	if s == "" {
		return 0, 0
	}
	if s[0] < utf8.RuneSelf {
		return ascii[s[0]], 1
	}
	r, n := utf8.DecodeRuneInString(s)
	return classOf(r), n
}

// run returns the length of the longest beginning of s whose characters are of these kinds.
func run(s string, kinds class) int {
	i := 0
	for {
		c, n := first(s[i:])
		if c&kinds == 0 {
			return i
		}
		i += n
	}
}

// o200kPiece returns the length of the first piece of s, which is not empty, as this pattern
// cuts it (spread over lines here):
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|\p{N}{1,3}
//	| ?[^\s\p{L}\p{N}]+[\r\n/]*
//	|\s*[\r\n]+
//	|\s+(?!\S)
//	|\s+
func o200kPiece(s string) int {
	lead := lead(s)
	for _, word := range []func(string) int{withTail, onlyHead} {
		for _, from := range []int{lead, 0} {
			if n := word(s[from:]); n > 0 {
				return from + n + contraction(s[from+n:])
			}
		}
	}
	return otherPiece(s, "\r\n/")
}

// cl100kPiece is the same for this pattern:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	|[^\r\n\p{L}\p{N}]?\p{L}+
//	|\p{N}{1,3}
//	| ?[^\s\p{L}\p{N}]+[\r\n]*
//	|\s*[\r\n]+
//	|\s+(?!\S)
//	|\s+
func cl100kPiece(s string) int {
	if n := contraction(s); n > 0 {
		return n
	}
	lead := lead(s)
	if n := run(s[lead:], letters); n > 0 {
		return lead + n
	}
	return otherPiece(s, "\r\n")
}

// lead returns the length of the character that may stand before a word and belong to
// it, 0 if s begins with none.
func lead(s string) int {
	c, n := first(s)
	if c&(letters|number|newline) != 0 {
		return 0
	}
	return n
}

// withTail returns the length of a run of head that is followed by a run of tail, 0 if s
// does not begin so. The head takes what it can and gives back only what the tail needs:
// its last character that fits both.
func withTail(s string) int {
	both := 0 // the end of the last character that fits both
	for i := 0; ; {
		c, n := first(s[i:])
		if c&headRun == 0 {
			if c&tailRun != 0 {
				return i + run(s[i:], tailRun)
			}
			return both
		}
		i += n
		if c&tailRun != 0 {
			both = i
		}
	}
}

// onlyHead returns the length of a run of head where withTail found nothing, so that no
// tail follows.
func onlyHead(s string) int { return run(s, headRun) }

// contraction returns the length of an English ending behind an apostrophe, as in "it's",
// 0 if s does not begin with one. A long s is one when case does not matter.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	for _, end := range []string{"re", "ve", "ll", "\u017f"} {
		if rest := s[1:]; len(rest) >= len(end) && strings.EqualFold(rest[:len(end)], end) {
			return 1 + len(end)
		}
	}
	return 0
}

// otherPiece returns the length of the first piece of s when it is no word: up to three
// digits, signs with what may trail them, or white space.
func otherPiece(s, trailing string) int {
	c, n := first(s)
	switch {
	case c == number:
		return digits(s)
	case c&space == 0:
		return signs(s, trailing)
	}
	if s[0] == ' ' {
		if c, after := first(s[n:]); after > 0 && c&(space|letters|number) == 0 {
			return n + signs(s[n:], trailing)
		}
	}
	return blanks(s)
}

func digits(s string) int {
	i := 0
	for range 3 {
		c, n := first(s[i:])
		if c != number {
			break
		}
		i += n
	}
	return i
}

// signs returns the length of a run of what is no letter, digit or white space, with the
// trailing characters behind it.
func signs(s, trailing string) int {
	i := 0
	for {
		c, n := first(s[i:])
		if n == 0 || c&(space|letters|number) != 0 {
			break
		}
		i += n
	}
	return i + len(s[i:]) - len(strings.TrimLeft(s[i:], trailing))
}

// blanks cuts white space: up to its last line break if it has one; otherwise all of it
// at the end of the text, and all but the last character before something else, since
// that belongs to what follows.
func blanks(s string) int {
	end, last, broken := 0, 0, 0 // ends of the run, of all but its last character, and of its last break
	for {
		c, n := first(s[end:])
		if c&space == 0 {
			break
		}
		last, end = end, end+n
		if c&newline != 0 {
			broken = end
		}
	}
	switch {
	case broken > 0:
		return broken
	case end == len(s) || last == 0:
		return end
	}
	return last
}
