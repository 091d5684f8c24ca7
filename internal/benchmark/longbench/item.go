package longbench

import (
	"strconv"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/words"
)

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
	if it.References, err = texts(row, "answers"); err != nil {
		return it, err
	}
	if it.References == nil {
		return it, benchmark.At(row, "the line has no %q", "answers")
	}
	if len(it.References) > 1 {
		// Programs that judge LongBench with a model show it only the first answer.
		benchmark.SetField(&it, fieldTruth, it.References[0])
	}
	if s.edition == E {
		benchmark.SetField(&it, fieldEdition, E)
	}
	if t.metric == classification { // the others have the column and do not use it
		list, err := texts(row, fieldClasses)
		if err != nil {
			return it, err
		}
		if list == nil {
			return it, benchmark.At(row, "the line has no %q, from which the response of task %s chooses", fieldClasses, t.name)
		}
		benchmark.SetField(&it, fieldClasses, string(row.Get(fieldClasses).JSON()))
	}
	length := row.Get(fieldLength)
	if length.Missing() {
		if s.edition == E {
			// Upstream would drop as many lines at the end as there are lines without one.
			return it, benchmark.At(row, "the line has no %q, by which LongBench-E reports", fieldLength)
		}
		return it, nil
	}
	if _, ok := length.Float(); !ok {
		return it, benchmark.At(row, "%q is not a number, but %s", fieldLength, clip(length))
	}
	benchmark.SetField(&it, fieldLength, length.Str())
	return it, nil
}

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
	if !row.Get("response").Missing() {
		it.Response, err = textOf(row, "response")
		return it, err
	}
	// Only the letter extracted from the response was kept; null means that there was none.
	if !benchmark.Has(row, "pred") {
		return it, deem.WithHint(benchmark.At(row, "the line has neither %q nor %q", "response", "pred"),
			"if the system gave nothing, write an empty response")
	}
	if !row.Get("pred").Missing() {
		if it.Response, err = textOf(row, "pred"); err != nil {
			return it, err
		}
	}
	it.Fields[fieldOption] = it.Response
	return it, nil
}
