package text

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Int returns int(v) for v as json.loads would have given it, and whether Python
// would have given one that fits. A string may have white space around it, a
// sign, single underscores between its digits, and digits of any script; it may
// not have a fraction. A number is cut off towards zero.
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
		return intOfNumber(v.String())
	case string:
		return intOfString(v)
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
	// 2^63 is a float64, 2^63-1 is not, so the upper end is open. NaN fails both.
	if f >= math.MinInt64 && f < -math.MinInt64 {
		return int64(f), true
	}
	return 0, false
}

func intOfNumber(s string) (int64, bool) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return 0, false
		}
		return intOfFloat(f)
	}
	return parseInt(s)
}

func intOfString(s string) (int64, bool) {
	// int() forgives what Go calls white space, without the four separators
	// U+001C to U+001F that str.strip() would drop as well.
	s = strings.TrimSpace(s)
	sign := ""
	if s != "" && (s[0] == '+' || s[0] == '-') {
		sign, s = s[:1], s[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	digit := false // whether the last character was a digit
	for _, r := range s {
		d, ok := decimal(r)
		switch {
		case ok:
			b.WriteByte(byte('0' + d))
		case r != '_' || !digit:
			return 0, false
		}
		digit = ok
	}
	if !digit { // nothing at all, or an underscore at the end
		return 0, false
	}
	return parseInt(b.String())
}

func parseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, false // strconv gives the nearest number, which is not wanted
	}
	return n, true
}

// decimal returns the value of a decimal digit of any script. Unicode assigns
// them in runs of ten, and every range of Nd begins with a zero.
func decimal(r rune) (int, bool) {
	if r >= '0' && r <= '9' {
		return int(r - '0'), true
	}
	if r < 0x80 || !unicode.Is(unicode.Nd, r) {
		return 0, false
	}
	for _, rng := range unicode.Nd.R16 {
		if r >= rune(rng.Lo) && r <= rune(rng.Hi) {
			return int(r-rune(rng.Lo)) / int(rng.Stride) % 10, true
		}
	}
	for _, rng := range unicode.Nd.R32 {
		if r >= rune(rng.Lo) && r <= rune(rng.Hi) {
			return int(r-rune(rng.Lo)) / int(rng.Stride) % 10, true
		}
	}
	return 0, false
}
