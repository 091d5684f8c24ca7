package cli

import (
	"fmt"
	"strings"

	"deem"
	"deem/text"
)

// unknown returns the error for a name that is not among the known ones, with the
// likeliest of them as a hint.
func unknown(what, name string, known []string) error {
	err := fmt.Errorf("no %s %q", what, name)
	if near := text.Closest(name, known); near != "" {
		return deem.WithHint(err, "did you mean %q?", near)
	}
	return deem.WithHint(err, "there are: %s", strings.Join(known, ", "))
}

// count writes a number with its noun: "1 item", "1,000 items".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// dollars writes millionths of a dollar as money.
func dollars(micros int64) string {
	if micros%10_000 == 0 {
		return fmt.Sprintf("$%d.%02d", micros/1_000_000, micros%1_000_000/10_000)
	}
	return fmt.Sprintf("$%d.%06d", micros/1_000_000, micros%1_000_000)
}
