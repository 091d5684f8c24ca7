package longmemeval2

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
	"deem/internal/text"
)

// Options says what to read. Data are files with the questions, such as questions.jsonl of
// the published data or runtime_inputs/questions.json of the harness. Responses are rows
// with question_id and response_raw, as in per_question.jsonl of the harness, or with
// response. That file also contains the questions, and can be used alone.
type Options = benchmark.Options

// The columns of the questions and of the harness's own file.
var (
	questionColumns  = []string{"question", "question_text"}
	referenceColumns = []string{"answer", "answer_gold"}
	latencyColumn    = "memory_query_duration_seconds"
)

// Open joins questions and responses into items; see [benchmark.Join].
func Open(ctx context.Context, o Options) (benchmark.Set, error) {
	if _, err := NewMetrics(o.With["tier"]); err != nil {
		return nil, err
	}
	return benchmark.Join{
		Options:  o,
		ID:       rows.Names(rows.ID),
		Response: rows.NamesAfter(rows.Response, "response_raw"),
		Further:  slices.Concat([]string{"question_type", fieldEvaluation, latencyColumn}, questionColumns, referenceColumns),
		Question: readQuestion, Answer: readAnswer,
	}.Open(ctx)
}

func readQuestion(it *deem.Item, row *benchmark.Row) error {
	it.Category = row.Get("question_type").Str()
	if _, ok := categoryOf[it.Category]; !ok {
		return benchmark.At(row, "question %q has the unknown question_type %q; known are %s", it.ID, it.Category,
			strings.Join(slices.Sorted(maps.Keys(categoryOf)), ", "))
	}
	v := row.Get(fieldEvaluation)
	e, err := parseEvaluation(v.Str())
	if v.Missing() || err != nil {
		return benchmark.At(row, "question %q names no evaluation that can be done: %v", it.ID, err)
	}
	if e.name == abstention && !isAbstention(it.Category) {
		return benchmark.At(row, "question %q is judged by %s, and its question_type %q is not one with a wrong premise", it.ID, e.name, it.Category)
	}
	benchmark.SetField(it, fieldEvaluation, v.Str())
	if v, ok := benchmark.First(row, questionColumns...); ok {
		it.Question = v.Str()
		if inner := v.Get("text"); !inner.Missing() {
			it.Question = inner.Str() // with a picture
		}
	}
	v, ok := benchmark.First(row, referenceColumns...)
	if !ok {
		return benchmark.At(row, "question %q has no answer to judge by: the column %q is missing", it.ID, referenceColumns[0])
	}
	it.References = []string{v.Str()}
	return nil
}

// readAnswer reads what upstream measures: the duration of the memory query, without the
// model that then reads.
func readAnswer(it *deem.Item, row *benchmark.Row) error {
	if v := row.Get(latencyColumn); !v.Blank() {
		x, err := strconv.ParseFloat(v.Str(), 64)
		if err != nil || x < 0 {
			return benchmark.At(row, "%s is not a number of seconds, but %q", latencyColumn, v.Str())
		}
		benchmark.SetField(it, deem.FieldLatency, text.Float(x*1000))
	}
	return nil
}
