package text

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// Int returns int(v) for v as returned by json.loads, and whether Python returns a value
// and it fits. A string may have surrounding white space, a sign, single underscores
// between its digits, and digits of any script, but no fraction. A number is truncated
// towards zero.
func Int(v any) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		return intOfFloat(v)
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			return parseInt(v.String())
		}
		f, err := v.Float64()
		if err != nil {
			return 0, false
		}
		return intOfFloat(f)
	case string:
		digits, ok := intDigits(v)
		if !ok {
			return 0, false
		}
		return parseInt(digits)
	case json.RawMessage:
		tree, ok := parse(v)
		if !ok {
			return 0, false
		}
		return Int(tree)
	}
	return 0, false
}

func intOfFloat(f float64) (int64, bool) {
	// 2^63 is a float64, 2^63-1 is not, so the upper bound is exclusive. NaN fails both.
	if f >= math.MinInt64 && f < -math.MinInt64 {
		return int64(f), true
	}
	return 0, false
}

// maxDigits is the maximum number of digits that CPython 3.11 accepts.
const maxDigits = 4300

// BigInt returns int(s) for a number of any size, and whether Python accepts s. See [Int]
// for the accepted syntax.
func BigInt(s string) (*big.Int, bool) {
	digits, ok := intDigits(s)
	if !ok || len(strings.TrimLeft(digits, "+-")) > maxDigits {
		return nil, false
	}
	return new(big.Int).SetString(digits, 10)
}

// intDigits returns the number in s with an optional sign and ASCII digits.
func intDigits(s string) (string, bool) {
	// int() ignores what Go calls white space, without the four separators U+001C to U+001F
	// that str.strip() would also drop.
	s = strings.TrimSpace(s)
	sign := ""
	if s != "" && (s[0] == '+' || s[0] == '-') {
		sign, s = s[:1], s[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	digit := false // whether the last character was a digit
	for _, r := range s {
		d, ok := Decimal(r)
		switch {
		case ok:
			b.WriteByte(byte('0' + d))
		case r != '_' || !digit:
			return "", false
		}
		digit = ok
	}
	return b.String(), digit // false for an empty string or a trailing underscore
}

func parseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, false // not the nearest number that strconv returns
	}
	return n, true
}

// Digits returns the runs of decimal digits in s, of any script, like re.findall(r"\d+",
// s).
func Digits(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		_, ok := Decimal(r)
		return !ok
	})
}

// Decimal returns the value of a decimal digit of any script. Unicode assigns them in runs
// of ten, which begin with a zero and may follow each other.
func Decimal(r rune) (int, bool) {
	if r >= '0' && r <= '9' {
		return int(r - '0'), true
	}
	if r < 0x80 || !unicode.IsDigit(r) {
		return 0, false
	}
	n := 0 // how many digits stand before it
	for unicode.IsDigit(r - rune(n) - 1) {
		n++
	}
	return n % 10, true
}
