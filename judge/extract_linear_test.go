package judge

import (
	"strings"
	"testing"
	"time"
)

// slowdown divides the sizes of long texts in builds whose timing means little.
var slowdown = 1

// A reader is a function of the package whose time is measured.
type reader func(text string)

var readers = map[string]reader{
	"Body":     func(text string) { withoutThinking(text) },
	"Mask":     func(text string) { masked(text, text[:len(text)/16]) },
	"Label":    func(text string) { _, _ = FindLabel(text, "", menus[0]) },
	"LabelIn":  func(text string) { _, _ = FindLabel(text, "label", menus[0]) },
	"Labelled": func(text string) { _, _ = labelledNumbers(text, map[string]Aspect{"correctness": {Max: 10}}) },
	"Rating":   func(text string) { _, _ = findRating(text, Aspect{Max: 10}) },
	"Number":   func(text string) { _, _ = (Aspect{Max: 10}).Number(text) },
}

// timed fails if read takes too long over size bytes of unit.
func timed(t *testing.T, name, unit string, size int, most time.Duration) {
	t.Helper()
	text := strings.Repeat(unit, size/len(unit))
	start := time.Now()
	readers[name](text)
	if d := time.Since(start); d > most {
		t.Errorf("%s took %v for %d bytes of %q, want less than %v", name, d, size, unit, most)
	}
}

// TestLongReplies reads long repetitions of texts that could make a reader start over.
func TestLongReplies(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	for _, unit := range []string{
		"{", `"`, "'", "`", "“", "«", `{"`, `{"a":`, `{"a":[`, `{"a":"`, `{"a":"b",`, `{a:`, `","`, `" "`, `\"`, "{'a': '", "[[", "```\n{",
		"<think>", "</think>", "<|channel|>", "[[1", "\\boxed{", "CORRECT ", "CORRECT or ", "Verdict: ", "Verdict: CORRECT\n", "> a\n", "correctness: ",
		"correctness (", "not ", "a ", "正确", "\n", "- ", "*", "#", "/*", "//", "{}", `{"label": "x"} `, "I cannot ", ".", "“a", `"a`, "Rating: 1",
	} {
		for name := range readers {
			timed(t, name, unit, 1<<14/slowdown, 3*time.Second)
		}
	}
}

// TestMegabyte reads a megabyte of the worst cases. Quadratic time would be many minutes;
// linear time is about a second.
func TestMegabyte(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	for _, c := range []struct{ name, unit string }{
		{"LabelIn", "{"}, {"LabelIn", `{"a":`}, {"Mask", `"`}, {"Mask", "“a"}, {"Label", "Verdict: CORRECT or "}, {"Body", "<think>"},
	} {
		timed(t, c.name, c.unit, 1<<20/slowdown, 20*time.Second)
	}
}
