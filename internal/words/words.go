// Package words formats numbers, money and untrusted text for people to read.
package words

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Comma formats a number with commas as thousands separators.
func Comma[I ~int | ~int64](n I) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count formats a number with its noun: "1 item", "1,000 items".
func Count(n int, noun string) string { return Plural(n, noun, noun+"s") }

// Plural formats a number with the singular or plural noun: "1 retry", "2 retries".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Comma(n) + " " + many
}

// IsAre returns "is" or "are" for n.
func IsAre(n int) string { return Form(n, "is", "are") }

// Form returns the form of a word for n.
func Form(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// And joins names: "verdict, category and position".
func And(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// UpperFirst returns a sentence with a capital letter.
func UpperFirst(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// ParseDollars parses a sum of money, such as "1.50" or "$1.50", as millionths of a dollar.
func ParseDollars(text string) (micros int64, err error) {
	whole, decimals, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "$"), ".")
	ok := whole != "" && len(whole) <= 7 && len(decimals) <= 6
	for _, c := range whole + decimals + strings.Repeat("0", max(0, 6-len(decimals))) {
		ok = ok && '0' <= c && c <= '9'
		micros = micros*10 + int64(c-'0')
	}
	if !ok || micros > 1_000_000*1_000_000 {
		return 0, fmt.Errorf("%q is not an amount in dollars such as 1.50 (at most a million, with at most six decimals)", text)
	}
	return micros, nil
}

// Dollars formats millionths of a dollar with four decimals, for money that was spent.
func Dollars(micros int64) string {
	if micros > 0 && micros < 50 {
		return "less than $0.0001"
	}
	tenths := (micros + 50) / 100
	return fmt.Sprintf("$%s.%04d", Comma(tenths/10_000), tenths%10_000)
}

// ExactDollars formats millionths of a dollar to the last digit, for limits and prices:
// "$1.50", "$0.002682".
func ExactDollars(micros int64) string {
	cents := strings.TrimRight(fmt.Sprintf("%06d", micros%1_000_000), "0")
	return "$" + Comma(micros/1_000_000) + "." + cents + strings.Repeat("0", max(0, 2-len(cents)))
}

// AboutDollars formats an estimate in millionths of a dollar: whole dollars from 1,000 on,
// cents down to one, and four decimals below that.
func AboutDollars(micros int64) string {
	switch {
	case micros >= 1_000_000_000:
		return "$" + Comma((micros+500_000)/1_000_000)
	case micros >= 10_000:
		cents := (micros + 5_000) / 10_000
		return fmt.Sprintf("$%s.%02d", Comma(cents/100), cents%100)
	case micros >= 100:
		micros = (micros + 50) / 100 * 100
	case micros == 0:
		return "$0"
	}
	return "$" + strings.TrimRight(fmt.Sprintf("0.%06d", micros), "0")
}

// Round rounds a count or a duration to the given number of digits.
func Round[I ~int64](n I, digits int) I {
	most, unit := I(1), I(1)
	for range digits {
		most *= 10
	}
	for n/unit >= most {
		unit *= 10
	}
	rest := n % unit
	if rest >= unit-rest {
		rest -= unit
	}
	return n - rest
}

// Took formats a duration with three digits, or in whole seconds from ten seconds on.
func Took(d time.Duration) string {
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return Round(d, 3).String()
}

// Clip returns the first characters of a text, limited to most, followed by "..." if there
// are more.
func Clip(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "..."
		}
		n++
	}
	return s
}

// Cut returns the beginning of a text, limited to most bytes, without splitting a
// character.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// Printable replaces characters that would move a terminal's cursor or change its colours.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) && !reorders(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}

// reorders reports whether a character changes the direction of the text around it.
func reorders(r rune) bool {
	return r == 0x61c || r == 0x200e || r == 0x200f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// Clean escapes everything that could move the cursor, colour the terminal, break a line or
// be invisible: names come from data, and data is untrusted.
func Clean(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0]), 16))
		case r == '\\' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		s = s[size:]
	}
	return b.String()
}

// Fold returns a text cleaned and on one line.
func Fold(text string) string { return Clean(strings.Join(strings.Fields(text), " ")) }

// Hidden is embedded in a struct that contains secrets, so that it is not printed or
// logged.
type Hidden struct{}

// Format writes dots in place of the struct, for any verb.
func (Hidden) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "{...}") }
