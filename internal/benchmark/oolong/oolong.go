// Package oolong implements the OOLONG benchmark: questions that need many parts of a long
// text at once, such as counts over its lines. The split synth has lists of labelled texts,
// and the split real has transcripts of a role-playing game.
//
// [Strict] and [Upstream] compare the answer in a response with the right one; the source is
// github.com/abertsch72/oolong at commit adbf1cb, src/eval/eval_helpers.py.
package oolong

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
	"deem/internal/text"
)

// Name is the name of the benchmark and of its judge.
const Name = "oolong"

// The readings.
const (
	// Strict takes the answer from the line that gives it, reads numbers with separators
	// of thousands, and counts wrong items of a list.
	Strict = "strict"

	// Upstream takes what follows the last colon, or the first box.
	Upstream = "upstream"
)

// The columns by which the table groups.
const (
	columnDataset = "dataset"
	columnLength  = "context_len"
	columnType    = "answer_type" // only the rows of synth have it
)

// The types of answers that have a rule of their own.
const (
	numeric = "ANSWER_TYPE.NUMERIC"
	date    = "ANSWER_TYPE.DATE"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	columns := []string{columnDataset, columnLength, columnType}
	return benchmark.OneRule{
		Benchmark: benchmark.Benchmark{
			Name: Name, About: "counts, dates and comparisons over all lines of a long text", Kind: benchmark.KindLongContext,
			Where: "huggingface.co/oolongbench; code at github.com/abertsch72/oolong", Licence: "MIT", Readings: []string{Strict, Upstream},
		},
		Version: 1, Score: score,
		Join: benchmark.Join{
			ID: []string{"id"}, Response: rows.NamesAfter(rows.Response, "full_answer"), Further: append([]string{"question", "answer", "context_window_id"}, columns...),
			Question: func(it *deem.Item, row *benchmark.Row) error { return readQuestion(it, row, columns) },
		},
		Table: benchmark.Table{Metric: "score", By: columns, Group: func(it deem.Item, by string) string {
			if by == columnLength && it.Fields[by] != "" {
				return fmt.Sprintf("%7s tokens", it.Fields[by])
			}
			return it.Fields[by]
		}},
	}.Entry()
}

func readQuestion(it *deem.Item, row *benchmark.Row, columns []string) error {
	v := row.Get("answer")
	if v.Blank() {
		return benchmark.At(row, "question %q has no answer", it.ID)
	}
	it.References, it.Question, it.Cluster = []string{v.Str()}, benchmark.Text(row, "question"), benchmark.Text(row, "context_window_id")
	for _, name := range columns {
		if v := row.Get(name); !v.Blank() {
			benchmark.SetField(it, name, v.Str())
		}
	}
	it.Category = it.Fields[columnDataset]
	return nil
}

// score compares the answer in a response with the right one.
func score(it deem.Item, reading string) (deem.Verdict, error) {
	if len(it.References) == 0 {
		return deem.Verdict{}, deem.Failf(deem.Input, "the item has no answer")
	}
	given := func(score float64, answer any) (deem.Verdict, error) {
		return benchmark.Given(score, "partial", "the answer is read as "+text.Repr(answer)), nil
	}
	if it.Fields[columnType] == "" {
		return given(scoreReal(it.References[0], it.Response, reading))
	}
	gold, err := goldOf(it.References[0])
	if err != nil {
		return deem.Verdict{}, err
	}
	answer := afterColon(it.Response)
	if reading == Strict {
		answer = stated(it.Response)
	}
	var points float64
	switch phrase := phraseOf(answer, reading); {
	case answer == gold, reading == Strict && text.Lower(answer) == text.Lower(gold):
		points = 1
	case phrase != "":
		points = share(strings.Contains(gold, phrase))
	case it.Fields[columnType] == numeric:
		points = near(gold, answer, reading)
	case it.Fields[columnType] == date:
		if points, err = sameDay(gold, answer); err != nil {
			return deem.Verdict{}, err
		}
	}
	return given(points, answer)
}

func share(right bool) float64 {
	if right {
		return 1
	}
	return 0
}

// goldDate matches a date in the answers of synth.
var goldDate = regexp.MustCompile(`datetime\.date\((\d+), (\d+), (\d+)\)`)

// goldOf returns the first element of a list in Python's notation; a date as 2006-01-02.
func goldOf(answer string) (string, error) {
	if m := goldDate.FindStringSubmatch(answer); m != nil {
		return fmt.Sprintf("%04s-%02s-%02s", m[1], m[2], m[3]), nil
	}
	value, err := text.Literal(answer)
	if list, ok := value.([]any); err == nil && ok && len(list) > 0 {
		return text.Str(list[0]), nil
	}
	return "", deem.Failf(deem.Input, "the answer %s is no list with an element, where upstream's program stops", answer)
}

// afterColon returns the answer as upstream finds it.
func afterColon(response string) string {
	i := strings.LastIndex(response, ":")
	if i < 0 {
		if words := text.Split(response); len(words) > 0 && utf8.RuneCountInString(response) >= 20 {
			return words[len(words)-1]
		}
		return response
	}
	return strings.NewReplacer("*", "", "[", "", "]", "").Replace(text.Strip(response[i+1:]))
}

// statement matches a line that gives the answer in one of the forms that prompts ask for.
var statement = regexp.MustCompile(`(?im)^[\s*_#>-]*(?:final )?(?:answer|label|user|date|month)[*_]*:[*_]*[ \t]*(.+)$`)

// stated returns the answer of the last line that gives one, or the last line with text.
func stated(response string) string {
	lines := strings.Split(strings.TrimSpace(response), "\n")
	answer := lines[len(lines)-1]
	if all := statement.FindAllStringSubmatch(response, -1); all != nil {
		answer = all[len(all)-1][1]
	}
	return strings.TrimRight(strings.Trim(text.Strip(answer), `*[]_"' `), ". ")
}

// phraseOf returns the comparison that an answer makes, or "". Upstream looks for it only in
// answers of 20 characters or more, and in those also after a "not".
func phraseOf(answer, reading string) string {
	var found []string
	for _, phrase := range []string{"more common", "less common", "same frequency"} {
		if strings.Contains(answer, phrase) {
			found = append(found, phrase)
		}
	}
	switch {
	case len(found) == 0, reading == Strict && (len(found) > 1 || benchmark.HasWords(text.Lower(answer), "not")):
		return ""
	case reading == Upstream && utf8.RuneCountInString(answer) < 20 && answer != found[0]:
		return ""
	}
	return found[0]
}

// thousands matches a number with separators of thousands, and wholeNumber one with a
// fraction of zero.
var (
	thousands   = regexp.MustCompile(`^[+-]?\d{1,3}(?:,\d{3})+$`)
	wholeNumber = regexp.MustCompile(`^([+-]?\d+)\.0+$`)
)

// number returns int(s); the strict reading also accepts 1,000 and 10.0.
func number(s, reading string) (int64, bool) {
	if reading == Strict {
		if s = text.Strip(s); thousands.MatchString(s) {
			s = strings.ReplaceAll(s, ",", "")
		}
		s = wholeNumber.ReplaceAllString(s, "$1")
	}
	return text.Int(s)
}

// near returns the score of a number: three quarters to the power of its distance.
func near(gold, answer, reading string) float64 {
	want, ok := number(gold, reading)
	if value, err := text.Literal(gold); err == nil && !ok {
		want, ok = text.Int(value)
	}
	got, is := number(answer, reading)
	if !ok || !is {
		return 0
	}
	return closeness(want, got)
}

// closeness returns .75**distance, rounded as Python does; math.Pow is off in the last
// digit.
func closeness(want, got int64) float64 {
	distance := math.Abs(float64(want) - float64(got))
	if distance > 3000 {
		return 0 // as it is less than any float64
	}
	power, factor := big.NewFloat(1).SetPrec(128), big.NewFloat(.75)
	for range int(distance) {
		power.Mul(power, factor)
	}
	points, _ := power.Float64()
	return points
}

// layouts are the notations of dates that are read, in the order in which dateutil would
// read them: the month comes first if it can.
var layouts = []string{
	"2006-1-2", "2006/1/2", "January 2, 2006", "Jan 2, 2006", "January 2 2006", "Jan 2 2006", "2 January 2006", "2 Jan 2006", "2 January, 2006",
	"1/2/2006", "2/1/2006", "1-2-2006", "2-1-2006", "1.2.2006", "2.1.2006",
}

var (
	ordinal = regexp.MustCompile(`(\d)(?:st|nd|rd|th)\b`)
	year    = regexp.MustCompile(`\d{4}`)
)

// sameDay compares dates. A text without a year is wrong; one with a year in a notation that
// is not read is a failure, because dateutil might read it.
func sameDay(gold, answer string) (float64, error) {
	answer = ordinal.ReplaceAllString(text.Strip(answer), "$1")
	for _, layout := range layouts {
		if day, err := time.Parse(layout, answer); err == nil {
			return share(day.Format(time.DateOnly) == gold), nil
		}
	}
	if year.MatchString(answer) {
		return 0, deem.Failf(deem.Unparseable, "the date %s is in a notation that is not read", text.Repr(answer))
	}
	return 0, nil
}

// The answers of real are in boxes.
var (
	boxedText = regexp.MustCompile(`\\boxed\{\\text\{([^}]*)\}\}`)
	boxed     = regexp.MustCompile(`\\boxed\{+([^}]*)\}+`)
)

// boxOf returns the text in a box: the first under upstream's reading, which prefers one
// with \text, and the last under the strict one.
func boxOf(response, reading string) (string, bool) {
	all := boxedText.FindAllStringSubmatch(response, -1)
	if all == nil {
		all = boxed.FindAllStringSubmatch(response, -1)
	}
	switch {
	case all == nil:
		return response, false
	case reading == Strict:
		return all[len(all)-1][1], true
	}
	return all[0][1], true
}

// scoreReal scores a response of the split real, and returns the answer found in it. The right
// answer is a number, a list with commas, or a text, and the answer must be of that type.
func scoreReal(reference, response, reading string) (points float64, answer any) {
	found, inBox := boxOf(response, reading)
	if want, ok := number(reference, reading); ok {
		if got, ok := number(found, reading); ok && (inBox || reading == Strict) {
			return closeness(want, got), found
		}
		return 0, found
	}
	if want := items(reference, reading); strings.Contains(reference, ",") {
		got := items(found, reading)
		both := 0
		for item := range want {
			if got[item] {
				both++
			}
		}
		if reading == Strict {
			return 2 * float64(both) / float64(max(1, len(want)+len(got))), found
		}
		if _, isNumber := text.Int(found); isNumber || !inBox || !strings.Contains(found, ",") {
			return 0, found
		}
		return float64(both) / float64(max(1, count(reference))), found
	}
	_, isNumber := text.Int(found)
	other := reading == Upstream && inBox && (isNumber || strings.Contains(found, ","))
	return share(!other && text.Lower(text.Strip(reference)) == text.Lower(text.Strip(found))), found
}

// items returns the items of a list with commas; under the strict reading in lower case.
func items(list, reading string) map[string]bool {
	found := map[string]bool{}
	for item := range strings.SplitSeq(list, ",") {
		if item = text.Strip(item); reading == Strict {
			item = text.Lower(item)
		}
		if item != "" {
			found[item] = true
		}
	}
	return found
}

// count returns the number of items of a list, with repeated ones.
func count(list string) (n int) {
	for item := range strings.SplitSeq(list, ",") {
		if text.Strip(item) != "" {
			n++
		}
	}
	return n
}
