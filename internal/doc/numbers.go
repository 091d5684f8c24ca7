package doc

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"deem/internal/words"
	"deem/stat"
)

// None is shown in place of an empty name.
const None = "(none)"

// The names of metrics, which are also those of their JSON.
const (
	PassRate  = "pass rate"
	Score     = "score"
	MeanScore = "mean score"
)

// OrNone returns the name, or [None] for an empty one.
func OrNone(name string) string { return cmp.Or(name, None) }

// Short returns x with at most three significant digits.
func Short(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

// Percent formats a share as a percentage with one decimal.
func Percent(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }

// Share formats an estimate as percentages, for example "66.7% [48.8, 80.8]", and "-"
// without data.
func Share(est stat.Estimate) string {
	if Unknown(est) {
		return "-"
	}
	return Percent(est.Value) + " " + est.Ends("%.1f", 100)
}

// ClusterWarning returns the warning of an estimate about its clusters, "" if it has none.
func ClusterWarning(est stat.Estimate) string {
	if est.Clusters == 0 {
		return ""
	}
	for _, w := range est.Warnings {
		if w == stat.ClusterWarning(est.Clusters, false) || w == stat.ClusterWarning(math.MaxInt, true) {
			return w
		}
	}
	return ""
}

// Points formats a difference of shares in percentage points, for example "+1.5 pp [-0.5,
// +3.5]".
func Points(est stat.Estimate) string {
	if Unknown(est) {
		return "-"
	}
	return fmt.Sprintf("%+.1f pp ", 100*est.Value) + est.Ends("%+.1f", 100)
}

// Coefficient formats an estimate with the given number of decimals, and "-" without data.
func Coefficient(est stat.Estimate, digits int) string {
	if Unknown(est) {
		return "-"
	}
	if math.Abs(est.Value) < 0.5*math.Pow10(-digits) {
		est.Value = 0 // and not -0.00
	}
	format := fmt.Sprintf("%%.%df", digits)
	return fmt.Sprintf(format, est.Value) + " " + est.Ends(format, 1)
}

// Absent returns the text shown in place of an estimate.
func Absent(withheld bool) string {
	if withheld {
		return "withheld"
	}
	return "no estimate"
}

// NEquals formats the number of items that a number is based on.
func NEquals(n int) string { return "n=" + words.Comma(n) }

// Optional formats a count with its noun, "" for 0.
func Optional[I ~int | ~int64](n I, word string) string {
	if n == 0 {
		return ""
	}
	return words.Comma(n) + " " + word
}

// Prefix returns s after the word, "" if s is empty.
func Prefix(word, s string) string {
	if s == "" {
		return ""
	}
	return word + s
}

// Join joins the parts that are not empty.
func Join(by string, parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, by)
}

// IDs formats the ids of items for a sentence, with "..." if there are more.
func IDs(ids []string, all int) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = Clip(OrNone(id), idWidth)
	}
	text := strings.Join(list, ", ")
	if all > len(ids) {
		text += ", ..."
	}
	return text
}

// text returns the text of a cell, or its items.
func (c Cell) text() string {
	if len(c.IDs) == 0 {
		return c.Text
	}
	all := len(c.IDs)
	if c.More {
		all++
	}
	return IDs(c.IDs, all)
}

// AssumedDiscordance is the share of items on which two runs are assumed to differ.
// Systems that are worth comparing usually differ on a tenth to a third of the items.
const AssumedDiscordance = 0.2

// The sources of the confidence of a judge.
const (
	FromVerdicts = "verdicts" // the judge states its confidence
	FromTrials   = "trials"   // the share of an item's trials that agree with the majority
)

// Unknown reports whether an estimate has no data. Its numbers are then meaningless and
// shown as "-".
func Unknown(e stat.Estimate) bool { return e.N == 0 && e.Method == stat.MethodNone }
