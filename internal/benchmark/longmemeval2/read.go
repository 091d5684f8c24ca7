package longmemeval2

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/benchmark/itemset"
	"deem/internal/text"
)

// Options say what to read.
type Options struct {
	// Data are files with the questions, as questions.jsonl of the published data or
	// runtime_inputs/questions.json of the harness.
	Data []string

	// Responses are files with what a system answered: rows with question_id and
	// response_raw, as per_question.jsonl of the harness, or with response. That file
	// holds the questions too, and then stands alone.
	Responses []string

	Stdin      io.Reader
	RequireAll bool
	Limit      int
}

// The columns of the questions and of the harness's own file.
var (
	questionColumns  = []string{"question", "question_text"}
	referenceColumns = []string{"answer", "answer_gold"}
	latencyColumn    = "memory_query_duration_seconds"
)

// A Set is the items of the benchmark, in the order of the responses.
type Set struct{ itemset.Held }

// Open joins questions and responses into items; see [itemset.Join].
func Open(ctx context.Context, o Options) (*Set, error) {
	held, err := itemset.Join{
		Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit,
		ID:       []string{"id", "question_id"},
		Response: []string{"response_raw", "response", "hypothesis", "prediction"},
		Further:  slices.Concat([]string{"question_type", fieldEvaluation, latencyColumn}, questionColumns, referenceColumns),
		Question: readQuestion, Answer: readAnswer,
	}.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &Set{held}, nil
}

// readQuestion takes a row with a question.
func readQuestion(it *deem.Item, row *itemset.Row) error {
	it.Category = row.Get("question_type").Str()
	if _, ok := categoryOf[it.Category]; !ok {
		return itemset.At(row, "question %q has the unknown question_type %q; known are %s", it.ID, it.Category,
			strings.Join(slices.Sorted(maps.Keys(categoryOf)), ", "))
	}
	v := row.Get(fieldEvaluation)
	e, err := parseEvaluation(v.Str())
	if v.Missing() || err != nil {
		return itemset.At(row, "question %q names no evaluation that can be done: %v", it.ID, err)
	}
	if e.name == abstention && !isAbstention(it.Category) {
		return itemset.At(row, "question %q is judged by %s, and its question_type %q is not one with a wrong premise", it.ID, e.name, it.Category)
	}
	itemset.SetField(it, fieldEvaluation, v.Str())
	if v, ok := itemset.First(row, questionColumns...); ok {
		it.Question = v.Str()
		if inner := v.Get("text"); !inner.Missing() {
			it.Question = inner.Str() // which comes with a picture
		}
	}
	v, ok := itemset.First(row, referenceColumns...)
	if !ok {
		return itemset.At(row, "question %q has no answer to judge by: the column %q is missing", it.ID, referenceColumns[0])
	}
	it.References = []string{v.Str()}
	return nil
}

// readAnswer takes what upstream measures: how long the query of the memory took, without
// the model that then reads.
func readAnswer(it *deem.Item, row *itemset.Row) error {
	if v := row.Get(latencyColumn); !v.Blank() {
		x, err := strconv.ParseFloat(v.Str(), 64)
		if err != nil || x < 0 {
			return itemset.At(row, "%s is not a number of seconds, but %q", latencyColumn, v.Str())
		}
		itemset.SetField(it, deem.FieldLatency, text.Float(x*1000))
	}
	return nil
}
