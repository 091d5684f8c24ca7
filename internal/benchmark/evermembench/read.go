package evermembench

import (
	"context"
	"slices"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
)

// Options says what to read. Data are upstream's questions: {"qars": [...]},
// {"questions": [...]}, or rows. Responses are a system's answers: rows with question_id and
// generated_answer.
type Options = benchmark.Options

// The columns of rows, those of upstream's newer files first.
var (
	questionColumns = []string{"Q", "question"}
	answerColumns   = []string{"correct_option", "A", "golden_answer", "answer"}
)

// Open joins questions and responses into items: only multiple-choice questions, unless a
// judge of open ones is named.
func Open(ctx context.Context, o Options) (benchmark.Set, error) {
	join := benchmark.Join{
		Options: o,
		ID:      rows.Names(rows.ID), Response: rows.NamesAfter(rows.Response, "generated_answer"),
		Further:  append(append([]string{benchmark.OptionsField}, questionColumns...), answerColumns...),
		Question: readQuestion,
	}
	if !slices.ContainsFunc(o.Judges, func(name string) bool { return name != ChoiceName }) {
		join.Keep, join.Dropped = func(it deem.Item) bool { return it.Category == multipleChoice }, "open, left out: "+UpstreamName+" judges them"
	}
	return join.Open(ctx)
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
