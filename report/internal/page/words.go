package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"deem/internal/words"
	"deem/stat"
)

// None is the name of what has no name.
const None = "(none)"

// OrNone returns the name, or what stands for none.
func OrNone(name string) string {
	if name == "" {
		return None
	}
	return name
}

// Short returns x with three significant digits at most.
func Short(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

// Percent returns a share as a percentage with one decimal.
func Percent(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }

// Share returns an estimate as percentages, as "66.7% [48.8, 80.8]", and "-" for one that
// stands on nothing.
func Share(est stat.Estimate) string {
	if est.Unknown() {
		return "-"
	}
	return Percent(est.Value) + " " + est.Ends("%.1f", 100)
}

// Points returns a difference of shares in percentage points, as "+1.5 pp [-0.5, +3.5]".
func Points(est stat.Estimate) string {
	if est.Unknown() {
		return "-"
	}
	return fmt.Sprintf("%+.1f pp ", 100*est.Value) + est.Ends("%+.1f", 100)
}

// Coefficient returns an estimate between -1 and 1 with so many decimals, "-" in place of
// an interval that the data do not allow, and "-" alone for one that stands on nothing.
func Coefficient(est stat.Estimate, digits int) string {
	if est.Unknown() {
		return "-"
	}
	if math.Abs(est.Value) < 0.5*math.Pow10(-digits) {
		est.Value = 0 // and not -0.00
	}
	format := fmt.Sprintf("%%.%df", digits)
	return fmt.Sprintf(format, est.Value) + " " + est.Ends(format, 1)
}

// NEquals returns how many items a number stands on.
func NEquals(n int) string { return fmt.Sprintf("n=%d", n) }

// Unjudged returns the count that goes with every number.
func Unjudged(n int) string { return "unjudged " + words.Comma(n) }

// Absent returns what stands in place of an estimate.
func Absent(withheld bool) string {
	if withheld {
		return "withheld"
	}
	return "no estimate"
}

// Treatment says how a number treats its failures, when there are any.
func Treatment(failures int, how string) string {
	if failures == 0 {
		return "no failures"
	}
	return how
}

// Optional returns a count with its word, or nothing for 0.
func Optional(n int, word string) string {
	if n == 0 {
		return ""
	}
	return words.Comma(n) + " " + word
}

// Prefix returns s after the word, or nothing when s is empty.
func Prefix(word, s string) string {
	if s == "" {
		return ""
	}
	return word + s
}

// nonEmpty returns the parts that are not empty.
func nonEmpty(parts []string) []string {
	return slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" })
}
