// Package mrcr implements the MRCR benchmark: a long conversation contains several similar
// pieces of writing, and the model repeats one of them word for word after a given prefix.
//
// The score is that of the function grade on the dataset's card: 0 without the prefix, else
// the ratio of Python's difflib. It asks no model.
package mrcr

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
	"deem/internal/text"
)

// Name is the name of the benchmark and of its judge.
const Name = "mrcr"

// The readings.
const (
	// Card scores as the function on the card does.
	Card = "card"

	// Lenient ignores what several programs ignore: a byte order mark, a block of
	// thoughts, and the space around the prefix and the text.
	Lenient = "lenient"
)

// The columns of the published rows, and n_tokens, which a user may add.
const (
	columnPrefix  = "random_string_to_prepend"
	columnNeedles = "n_needles"
	columnChars   = "n_chars"
	columnTokens  = "n_tokens"
)

// The groupings of the table.
const (
	byNeedles = "needles"
	byCell    = "needles and length"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.OneRule{
		Benchmark: benchmark.Benchmark{
			Name: Name, About: "repeat one of 2, 4 or 8 similar texts in a conversation of up to 1M tokens", Kind: benchmark.KindLongContext,
			Where: "huggingface.co/datasets/openai/mrcr", Licence: "MIT", Readings: []string{Card, Lenient},
		},
		Version: 1, Score: score,
		Join: benchmark.Join{
			ID: []string{"id", columnPrefix}, Response: rows.Names(rows.Response),
			Further: []string{"prompt", "answer", columnPrefix, columnNeedles, columnChars, columnTokens}, Question: readQuestion,
		},
		Table: benchmark.Table{Metric: "mean ratio", By: []string{byNeedles, byCell}, Group: group},
	}.Entry()
}

// readQuestion reads a row. Of the prompt, which is a list of messages in JSON, only the
// last message is kept.
func readQuestion(it *deem.Item, row *benchmark.Row) error {
	answer, prefix := row.Get("answer"), row.Get(columnPrefix)
	if answer.Missing() || prefix.Missing() {
		return benchmark.At(row, "question %q needs the columns answer and %s", it.ID, columnPrefix)
	}
	it.References, it.Category = []string{answer.Str()}, benchmark.Text(row, columnNeedles)
	for _, name := range []string{columnPrefix, columnNeedles, columnChars, columnTokens} {
		if v := row.Get(name); !v.Blank() {
			benchmark.SetField(it, name, v.Str())
		}
	}
	prompt := benchmark.Text(row, "prompt")
	var messages []struct{ Content string }
	if json.Unmarshal([]byte(prompt), &messages) == nil && len(messages) > 0 {
		prompt = messages[len(messages)-1].Content
	}
	it.Question = benchmark.End(prompt)
	return nil
}

// group returns the cell of an item in the published tables. Upstream's bins are over tokens
// of o200k_base; without their number, the cell is by characters and says so.
func group(it deem.Item, by string) string {
	needles := it.Fields[columnNeedles]
	if needles == "" {
		return ""
	}
	if by == byNeedles {
		return needles + " needles"
	}
	for _, unit := range []struct{ column, name string }{{columnTokens, "tokens"}, {columnChars, "characters"}} {
		if n, ok := text.Int(it.Fields[unit.column]); ok {
			return fmt.Sprintf("%s needles, %s", needles, bin(n, unit.name))
		}
	}
	return ""
}

// The ends of the published bins. The first bin includes its lower end; the others do not.
const (
	shortest = 4096
	longest  = 1048576
)

// bin returns the name of the bin of a length; names sort by length.
func bin(n int64, unit string) string {
	if n < shortest {
		return fmt.Sprintf("below %7d %s", shortest, unit)
	}
	for hi := int64(2 * shortest); hi <= longest; hi *= 2 {
		if n <= hi {
			return fmt.Sprintf("up to %7d %s", hi, unit)
		}
	}
	return fmt.Sprintf("with more than %d %s", longest, unit)
}

// thoughts is a block of thoughts before the answer.
var thoughts = regexp.MustCompile(`(?s)^\s*<think(?:ing)?>.*?</think(?:ing)?>`)

// score compares a response with the text that was asked for.
func score(it deem.Item, reading string) (deem.Verdict, error) {
	prefix, ok := it.Fields[columnPrefix]
	if !ok || len(it.References) == 0 {
		return deem.Verdict{}, deem.Failf(deem.Input, "the item has no answer or no prefix")
	}
	response, answer := it.Response, it.References[0]
	if reading == Lenient {
		response = text.Strip(thoughts.ReplaceAllString(strings.TrimPrefix(response, "\ufeff"), ""))
	}
	body, ok := strings.CutPrefix(response, prefix)
	if !ok {
		return deem.Verdict{Label: benchmark.Wrong, Reason: "the response does not begin with the prefix"}, nil
	}
	answer = strings.TrimPrefix(answer, prefix)
	if reading == Lenient {
		body, answer = text.Strip(body), text.Strip(answer)
	}
	return benchmark.Given(text.DifflibRatio(body, answer), "ratio", ""), nil
}
