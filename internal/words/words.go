package words

import (
	"fmt"
)

// Count writes a number with its noun: "1 item", "1,000 items".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + noun + "s"
}

// Thousands writes a number with commas.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Dollars writes millionths of a dollar as money.
func Dollars(micros int64) string {
	if micros%10_000 == 0 {
		return fmt.Sprintf("$%d.%02d", micros/1_000_000, micros%1_000_000/10_000)
	}
	return fmt.Sprintf("$%d.%06d", micros/1_000_000, micros%1_000_000)
}
