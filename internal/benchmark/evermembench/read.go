package evermembench

import (
	"context"
	"io"

	"deem"
	"deem/internal/benchmark"
)

// Options says what to read.
type Options struct {
	Data       []string  // upstream's questions: {"qars": [...]}, {"questions": [...]}, or rows
	Responses  []string  // a system's answers: rows with question_id and generated_answer
	Stdin      io.Reader // the input for "-"
	RequireAll bool      // a question without a response is an error
	Limit      int       // maximum number of items; 0 means all
	Choices    bool      // only multiple-choice questions
}

// The columns of rows, those of upstream's newer files first.
var (
	questionColumns = []string{"Q", "question"}
	answerColumns   = []string{"correct_option", "A", "golden_answer", "answer"}
)

// Open joins questions and responses into items.
func Open(ctx context.Context, o Options) (*benchmark.Held, error) {
	join := benchmark.Join{
		Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit,
		ID: []string{"id", "question_id"}, Response: []string{"generated_answer", "response"},
		Further:  append(append([]string{benchmark.OptionsField}, questionColumns...), answerColumns...),
		Question: readQuestion,
	}
	if o.Choices {
		join.Keep, join.Dropped = func(it deem.Item) bool { return it.Category == multipleChoice }, "open, left out: "+UpstreamName+" judges them"
	}
	held, err := join.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &held, nil
}

func readQuestion(it *deem.Item, row *benchmark.Row) error {
	v, ok := benchmark.First(row, questionColumns...)
	if !ok || v.Blank() {
		return benchmark.At(row, "question %q has no text under %q", it.ID, questionColumns[0])
	}
	it.Question = v.Str()
	if v, ok = benchmark.First(row, answerColumns...); !ok {
		return benchmark.At(row, "question %q has no answer to judge by", it.ID)
	}
	it.References, it.Category = []string{v.Str()}, openEnded
	if v := row.Get(benchmark.OptionsField); !v.Blank() {
		if _, err := benchmark.ChoiceOptions(v.Str()); err != nil {
			return benchmark.At(row, "question %q: %v", it.ID, err)
		}
		it.Category = multipleChoice
		benchmark.SetField(it, benchmark.OptionsField, v.Str())
	}
	return nil
}
