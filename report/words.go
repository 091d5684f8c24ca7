package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deem/stat"
)

// percent returns a share as a percentage with one decimal.
func percent(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }

// share returns an estimate as percentages, as "66.7% [48.8, 80.8]".
func share(est stat.Estimate) string {
	return fmt.Sprintf("%s [%.1f, %.1f]", percent(est.Value), 100*est.Lo, 100*est.Hi)
}

// nEquals returns how many items a number stands on.
func nEquals(n int) string { return fmt.Sprintf("n=%d", n) }

// unjudged returns the count that goes with every number.
func unjudged(n int) string { return "unjudged " + comma(n) }

// absent returns what stands in place of an estimate.
func absent(withheld bool) string {
	if withheld {
		return "withheld"
	}
	return "no estimate"
}

// treatment says how a number treats its failures, when there are any.
func treatment(failures int, how string) string {
	if failures == 0 {
		return "no failures"
	}
	return how
}

// retries returns how many attempts were made again, or nothing for none.
func retries(n int) string {
	if n == 0 {
		return ""
	}
	if n == 1 {
		return "1 retry"
	}
	return comma(n) + " retries"
}

// optional returns a count with its word, or nothing for 0.
func optional(n int, word string) string {
	if n == 0 {
		return ""
	}
	return comma(n) + " " + word
}

// prefix returns s after the word, or nothing when s is empty.
func prefix(word, s string) string {
	if s == "" {
		return ""
	}
	return word + s
}

// nonEmpty returns the parts that are not empty.
func nonEmpty(parts []string) []string {
	return slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" })
}

// fold returns text cleaned, on one line, whatever lines it was written in.
func fold(text string) string { return clean(strings.Join(strings.Fields(text), " ")) }

// dollars returns micro-dollars as dollars with four decimals. Integers all the
// way: money is never a float.
func dollars(micros int64) string {
	if micros > 0 && micros < 50 {
		return "less than $0.0001"
	}
	tenths := (micros + 50) / 100
	whole, rest := tenths/10_000, tenths%10_000
	return fmt.Sprintf("$%s.%04d", comma(whole), rest)
}

// rounded returns d with three significant digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// took returns how long a run took, in seconds unless it took less than ten.
func took(d time.Duration) string {
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return rounded(d).String()
}
