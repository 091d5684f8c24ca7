package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lower returns s in lower case, like str.lower(). It differs from [strings.ToLower] in İ,
// which becomes i followed by a combining dot, and in Σ, which becomes ς at the end of a
// word.
func Lower(s string) string {
	if IsASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch r {
		case utf8.RuneError:
			b.WriteString(invalid(s, i))
		case 'İ':
			b.WriteString("i\u0307")
		case 'Σ':
			b.WriteRune(sigma(s, i))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// Upper returns s in upper case, like str.upper(). It differs from [strings.ToUpper] if one
// character becomes several, for example ß becomes SS.
func Upper(s string) string {
	if IsASCII(s) {
		return strings.ToUpper(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		full, special := upperFull[r]
		switch {
		case r == utf8.RuneError:
			b.WriteString(invalid(s, i))
		case special:
			b.WriteString(full)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// IsASCII reports whether s has ASCII characters only.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// invalid returns the bytes at s[i:] that were decoded as U+FFFD: three if the text
// contains that character, one for a byte that is not UTF-8.
func invalid(s string, i int) string {
	_, size := utf8.DecodeRuneInString(s[i:])
	return s[i : i+size]
}

// sigma returns the lower case of the Σ at s[i:]. It is ς if a cased letter precedes it and
// none follows, ignoring case-ignorable characters (The Unicode Standard, section 3.13,
// Final_Sigma).
func sigma(s string, i int) rune {
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(s[:i], isCaseIgnorable))
	after, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s[i+len("Σ"):], isCaseIgnorable))
	if isCased(before) && !isCased(after) {
		return 'ς'
	}
	return 'σ'
}

func isCased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable reports whether r has the property Case_Ignorable: a mark, a format
// character, a modifier, or punctuation that may occur inside a word.
func isCaseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '·', '\u0387', '\u055F', '\u05F4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\uFE13', '\uFE52', '\uFE55', '\uFF07', '\uFF0E', '\uFF1A':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
