package longbench

import (
	"strconv"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/words"
)

// item returns the item for a row.
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
		// Programs that judge LongBench with a model show it only the first answer.
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

// textOf returns the text of a required column.
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

// clipped is the maximum number of characters of a value in a message.
const clipped = 40

// answers returns the references of a row.
func answers(row *benchmark.Row) ([]string, error) {
	list, err := texts(row, "answers")
	if err == nil && list == nil {
		err = benchmark.At(row, "the line has no %q", "answers")
	}
	return list, err
}

// texts returns the strings of a list column, or nil if there is no such column.
func texts(row *benchmark.Row, column string) ([]string, error) {
	v := row.Get(column)
	if v.Missing() {
		return nil, nil
	}
	list, ok := v.List()
	if !ok {
		// Upstream would iterate over the characters of a string.
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

// addClasses sets the classes to choose from. Only classification tasks use the column.
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

// addLength sets the length, which LongBench-E requires: upstream would drop as many lines
// at the end as there are lines without one.
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

// choiceItem returns the item for a row of LongBench v2.
func choiceItem(row *benchmark.Row) (deem.Item, error) {
	it := deem.Item{Fields: map[string]string{fieldEdition: V2}}
	benchmark.SetSystemFields(&it, row.Get)
	id := row.Get("_id")
	if id.Blank() {
		return it, benchmark.At(row, "the line has no %q", "_id")
	}
	it.ID = id.Str() // Upstream does not use it, so a number is fine.
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

// addChoice sets the response or, if only that was kept, the letter extracted from it; null
// means that there was none.
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
