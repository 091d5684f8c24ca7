package published

import (
	"cmp"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
	"deem/internal/words"
)

// The labels that programs write, in lower case: for right, for wrong, and for no verdict.
// Any other label is not a verdict either.
var (
	rightWords = []string{
		"yes", "y", "true", "t", "correct", "right", "pass", "passed", "accept", "accepted", "ok", "success",
		"equivalent", "match", "是", "对", "正确",
	}
	wrongWords = []string{
		"no", "n", "false", "f", "incorrect", "wrong", "fail", "failed", "reject", "rejected", "failure",
		"different", "mismatch", "hallucination", "omission", "not_attempted", "否", "错", "错误", "不正确",
	}
	halfWords = []string{"partial", "partially correct", "partially_correct"}

	noWords = map[string]deem.Kind{
		"": deem.Empty, "null": deem.Empty, "none": deem.Empty, "nan": deem.Empty, "na": deem.Empty, "n/a": deem.Empty, "-": deem.Empty,
		"skip": deem.Unsure, "skipped": deem.Unsure, "unsure": deem.Unsure, "unknown": deem.Unsure, "unclear": deem.Unsure, "?": deem.Unsure,
		"error": deem.Provider, "err": deem.Provider, "judge_failed": deem.Provider, "judge_error": deem.Provider,
		"api_error": deem.Provider, "exception": deem.Provider, "timeout": deem.Timeout, "timed_out": deem.Timeout,
		"refused": deem.Refused, "refusal": deem.Refused,
		"invalid": deem.Unparseable, "invalid_judge": deem.Unparseable, "garbage": deem.Unparseable,
		"parse_error": deem.Unparseable, "unparseable": deem.Unparseable,
	}
)

// skippedWords are the values of a status column for rows that were not judged, whatever
// their score.
var skippedWords = []string{"skipped", "skip", "error", "timeout", "eval_failed", "not_evaluated"}

// A vocabulary is how the labels of one file count.
type vocabulary struct {
	yes, no  []string // additional words
	scale    float64  // the largest score
	inverted bool     // the column says what is wrong with a response, for example is_hallucination
}

// An outcome is a verdict or a failure.
type outcome struct {
	verdict *deem.Verdict
	failure *deem.Failure
}

func failed(k deem.Kind, format string, args ...any) outcome {
	return outcome{failure: deem.Failf(k, format, args...)}
}

func judged(label string, score float64) outcome {
	return outcome{verdict: &deem.Verdict{Label: label, Score: score}}
}

func (v vocabulary) read(n rows.Node) outcome {
	switch n.Kind {
	case rows.Missing:
		return failed(deem.Empty, "the file has no verdict here")
	case rows.Bool:
		return v.decide(n.Text, n.Text == "true")
	case rows.Number:
		switch {
		case slices.Contains(v.yes, n.Text):
			return v.decide(n.Text, true)
		case slices.Contains(v.no, n.Text):
			return v.decide(n.Text, false)
		}
		return v.grade(n)
	case rows.String:
		label := strings.TrimSpace(n.Text)
		word := strings.ToLower(strings.Trim(label, " \t\r\n.!,;:\"'`*"))
		is := func(words []string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, label) })
		}
		switch {
		case is(v.yes):
			return v.decide(label, true)
		case is(v.no):
			return v.decide(label, false)
		case slices.Contains(rightWords, word):
			return v.decide(label, true)
		case slices.Contains(wrongWords, word):
			return v.decide(label, false)
		}
		if slices.Contains(halfWords, word) && !v.inverted {
			return judged(label, 0.5)
		}
		if k, ok := noWords[strings.ToLower(label)]; ok {
			return failed(k, "the file says %s", clip(n.Text))
		}
		if _, ok := n.Float(); ok {
			return v.grade(n)
		}
		return failed(deem.Unparseable, "the file says %s, which is neither right nor wrong", clip(n.Text))
	}
	return failed(deem.Unparseable, "the file has %s where a verdict should be", clip(n.Str()))
}

// decide returns a verdict that is right or wrong.
func (v vocabulary) decide(label string, right bool) outcome {
	if right != v.inverted {
		return judged(label, 1)
	}
	return judged(label, 0)
}

// grade reads a number: 0 and 1 are decisions, other values are scores.
func (v vocabulary) grade(n rows.Node) outcome {
	x, ok := n.Float()
	if !ok {
		return failed(deem.Unparseable, "the file says %s, which is not a number", clip(n.Text))
	}
	scale := cmp.Or(v.scale, 1)
	if x < 0 || x > scale {
		return failed(deem.OutOfRange, "the file says %s, which lies outside 0 to %v", clip(n.Text), scale)
	}
	score := x / scale
	if v.inverted {
		score = 1 - score
	}
	return judged(strings.TrimSpace(n.Text), score)
}

// clip returns a text short enough for a message, in quotes.
func clip(s string) string {
	return `"` + words.Clip(words.Printable(s), 60) + `"`
}
