package personamem

import (
	"context"
	"crypto/sha256"
	"fmt"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
)

// Options says what to read. Data are upstream's result file, or benchmark.csv. Responses
// contain the options as they were shown.
type Options = benchmark.Options

// The columns of rows.
var (
	optionColumns   = []string{"option_mapping", benchmark.OptionsField, "all_options"}
	questionColumns = []string{"user_query", "question"}
	answerColumns   = []string{"correct_answer", "answer"}
	fieldColumns    = []string{fieldPreference, fieldScenario, fieldUpdated, fieldWho, fieldType}
)

// Open joins questions and responses into items.
func Open(ctx context.Context, o Options) (benchmark.Set, error) {
	further := append(append(append([]string{"persona_id"}, optionColumns...), questionColumns...), append(answerColumns, fieldColumns...)...)
	return benchmark.Join{
		Options: o,
		ID:      []string{"id", "question_id"}, Response: rows.NamesAfter(rows.Response, "model_response"), Further: further,
		Key: key, Question: readQuestion, Answer: readAnswer,
	}.Open(ctx)
}

// key returns an id made of the persona, the question and the preference, because rows of
// upstream's files have no id.
func key(row *benchmark.Row) (string, bool) {
	persona, query := row.Get("persona_id"), questionOf(row)
	if persona.Blank() || query == "" {
		return "", false
	}
	sum := sha256.Sum256([]byte(query + "\n" + row.Get(fieldPreference).Str()))
	return fmt.Sprintf("%s/%x", persona.Str(), sum[:4]), true
}

// questionOf returns the text of the query, which upstream stores as a message encoded in
// Python or JSON.
func questionOf(row *benchmark.Row) string {
	v, ok := benchmark.First(row, questionColumns...)
	if !ok {
		return ""
	}
	return benchmark.Content(v)
}

func readQuestion(it *deem.Item, row *benchmark.Row) error {
	if it.Question = questionOf(row); it.Question == "" {
		return benchmark.At(row, "question %q has no text: the column %q is missing or empty", it.ID, questionColumns[0])
	}
	if v, ok := benchmark.First(row, answerColumns...); ok {
		it.References = []string{v.Str()}
	}
	it.Category, it.Cluster = row.Get(fieldType).Str(), row.Get("persona_id").Str()
	for _, name := range fieldColumns {
		if v := row.Get(name); !v.Missing() {
			benchmark.SetField(it, name, v.Str())
		}
	}
	return nil
}

// readAnswer reads the options as they were shown to the system. Upstream shuffles them
// with a hash that Python salts in each process, so only the row contains their order.
func readAnswer(it *deem.Item, row *benchmark.Row) error {
	v, ok := benchmark.First(row, optionColumns...)
	if !ok {
		return nil
	}
	if _, err := benchmark.ChoiceOptions(v.Str()); err != nil {
		return benchmark.At(row, "question %q: %v", it.ID, err)
	}
	benchmark.SetField(it, benchmark.OptionsField, v.Str())
	return nil
}
