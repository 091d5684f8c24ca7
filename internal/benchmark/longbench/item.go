package longbench

import (
	"strconv"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/words"
)

// item makes an item of a row.
func (s *Set) item(row *benchmark.Row, src *source) (deem.Item, error) {
	if s.edition == V2 {
		return choiceItem(row)
	}
	t, ok := table.Of(src.task)
	if !ok {
		return deem.Item{}, deem.WithHint(benchmark.At(row, "%s", table.Unknown(src.task)),
			"the task is the name of the file before its first point")
	}
	it := deem.Item{ID: src.task + "/" + strconv.Itoa(row.Line), Category: src.task}
	var err error
	benchmark.SetSystemFields(&it, row.Get)
	if it.Response, err = textOf(row, "pred"); err != nil {
		return it, err
	}
	if it.References, err = answers(row); err != nil {
		return it, err
	}
	if len(it.References) > 1 {
		// Those who have a model judge LongBench show it the first answer alone.
		benchmark.SetField(&it, fieldTruth, it.References[0])
	}
	if s.edition == E {
		benchmark.SetField(&it, fieldEdition, E)
	}
	if err := t.addClasses(&it, row); err != nil {
		return it, err
	}
	return it, s.addLength(&it, row)
}

// textOf returns the text in a column that must be there.
func textOf(row *benchmark.Row, column string) (string, error) {
	v := row.Get(column)
	switch {
	case v.Missing():
		return "", deem.WithHint(benchmark.At(row, "the line has no %q", column),
			"if the system gave nothing, write an empty text")
	case !benchmark.IsText(v):
		return "", benchmark.At(row, "%q is not text, but %s", column, clip(v))
	}
	return v.Str(), nil
}

// clip shortens a value for a message.
func clip(v benchmark.Value) string { return words.Clip(v.Str(), clipped) }

// clipped is how many characters of a value a message shows.
const clipped = 40

// answers returns the references of a row.
func answers(row *benchmark.Row) ([]string, error) {
	list, err := texts(row, "answers")
	if err == nil && list == nil {
		err = benchmark.At(row, "the line has no %q", "answers")
	}
	return list, err
}

// texts returns the texts in a column that holds a list of them; nil when there is
// no such column.
func texts(row *benchmark.Row, column string) ([]string, error) {
	v := row.Get(column)
	if v.Missing() {
		return nil, nil
	}
	list, ok := v.List()
	if !ok {
		// Upstream would go through the characters of a text.
		return nil, benchmark.At(row, "%q is not a list of texts, but %s", column, clip(v))
	}
	all := make([]string, 0, len(list))
	for _, e := range list {
		if !benchmark.IsText(e) {
			return nil, benchmark.At(row, "%q has an element that is not text, but %s", column, clip(e))
		}
		all = append(all, e.Str())
	}
	return all, nil
}

// addClasses enters the classes to choose from. Only the tasks that have any look at
// the column.
func (t task) addClasses(it *deem.Item, row *benchmark.Row) error {
	if t.metric != classification {
		return nil
	}
	list, err := texts(row, fieldClasses)
	switch {
	case err != nil:
		return err
	case list == nil:
		return benchmark.At(row, "the line has no %q, from which the response of task %s chooses", fieldClasses, t.name)
	}
	benchmark.SetField(it, fieldClasses, string(row.Get(fieldClasses).JSON()))
	return nil
}

// addLength enters the length, which LongBench-E cannot do without: upstream would
// leave as many lines out of its numbers, at the end, as there are without one.
func (s *Set) addLength(it *deem.Item, row *benchmark.Row) error {
	v := row.Get(fieldLength)
	if v.Missing() {
		if s.edition == E {
			return benchmark.At(row, "the line has no %q, by which LongBench-E reports", fieldLength)
		}
		return nil
	}
	if _, ok := v.Float(); !ok {
		return benchmark.At(row, "%q is not a number, but %s", fieldLength, clip(v))
	}
	benchmark.SetField(it, fieldLength, v.Str())
	return nil
}

// choiceItem makes an item of a row of LongBench v2.
func choiceItem(row *benchmark.Row) (deem.Item, error) {
	it := deem.Item{Fields: map[string]string{fieldEdition: V2}}
	benchmark.SetSystemFields(&it, row.Get)
	id := row.Get("_id")
	if id.Blank() {
		return it, benchmark.At(row, "the line has no %q", "_id")
	}
	it.ID = id.Str() // Upstream does not look at it, so that a number will do.
	answer, err := textOf(row, "answer")
	if err != nil {
		return it, err
	}
	if len(answer) != 1 || answer[0] < 'A' || answer[0] > 'D' {
		return it, benchmark.At(row, "the answer is none of the options A to D, but %s", words.Clip(answer, clipped))
	}
	it.References = []string{answer}
	for _, column := range []string{fieldDifficulty, fieldLength} {
		if it.Fields[column], err = textOf(row, column); err != nil {
			return it, err
		}
	}
	if v := row.Get("domain"); !v.Missing() {
		it.Category = v.Str()
	}
	if v := row.Get(fieldSubDomain); !v.Missing() {
		it.Fields[fieldSubDomain] = v.Str()
	}
	if v := row.Get("question"); !v.Missing() {
		it.Question = v.Str()
	}
	return it, addChoice(&it, row)
}

// addChoice enters the response or, where only that was kept, the letter that was
// found in it; a null says that none was found.
func addChoice(it *deem.Item, row *benchmark.Row) error {
	if v := row.Get("response"); !v.Missing() {
		var err error
		it.Response, err = textOf(row, "response")
		return err
	}
	if !benchmark.Has(row, "pred") {
		return deem.WithHint(benchmark.At(row, "the line has neither %q nor %q", "response", "pred"),
			"if the system gave nothing, write an empty response")
	}
	if !row.Get("pred").Missing() {
		var err error
		if it.Response, err = textOf(row, "pred"); err != nil {
			return err
		}
	}
	it.Fields[fieldOption] = it.Response
	return nil
}
