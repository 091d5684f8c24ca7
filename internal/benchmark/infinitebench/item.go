package infinitebench

import (
	"cmp"
	"strconv"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/internal/words"
)

// clip shortens a value for a message.
func clip(v benchmark.Value) string { return words.Clip(v.Str(), clipped) }

// clipped is the maximum number of characters of a value in a message.
const clipped = 40

func (s *Set) item(row *benchmark.Row, src *source) (deem.Item, error) {
	id := row.Get("id").Str()
	if src.byLine {
		id = strconv.Itoa(row.Line)
	}
	it := deem.Item{ID: src.task + "/" + id, Category: src.task}
	benchmark.SetSystemFields(&it, row.Get)
	var err error
	if it.Response, err = prediction(row); err != nil {
		return it, err
	}
	if src.task == mathCalc {
		benchmark.SetField(&it, fieldModel, cmp.Or(s.system, systemName(row.File)))
	}
	return it, src.addLabel(&it, row)
}

// prediction returns the system's answer, under either of upstream's column names.
func prediction(row *benchmark.Row) (string, error) {
	for _, column := range []string{"prediction", "pred"} {
		if !benchmark.Has(row, column) {
			continue
		}
		v := row.Get(column)
		if !benchmark.IsText(v) {
			return "", deem.WithHint(benchmark.At(row, "%q is not text, but %s", column, clip(v)),
				"if the system gave nothing, write an empty text")
		}
		return v.Str(), nil
	}
	return "", deem.WithHint(benchmark.At(row, "the line has neither %q nor %q", "prediction", "pred"),
		"if the system gave nothing, write an empty text")
}

// addLabel sets the label: its strings as references, and the rest as fields.
func (src *source) addLabel(it *deem.Item, row *benchmark.Row) error {
	if !benchmark.Has(row, src.labelKey) {
		benchmark.SetField(it, fieldLabel, noLabel)
		return nil
	}
	v := row.Get(src.labelKey)
	raw := v.JSON()
	switch raw[0] {
	case 'n', '{':
		return benchmark.At(row, "%q is not text, number or list, but %s", src.labelKey, clip(v))
	}
	list, isList := v.List()
	if !isList || src.task == mathCalc {
		// The numbers of a calculation are one answer together.
		it.References = []string{text.Str(raw)}
		benchmark.SetField(it, fieldLabel, string(raw))
		return nil
	}
	onlyTexts := len(list) > 0
	for _, e := range list {
		onlyTexts = onlyTexts && benchmark.IsText(e) && !e.Blank()
		if !e.Blank() {
			it.References = append(it.References, e.Str())
		}
	}
	if !onlyTexts {
		benchmark.SetField(it, fieldLabel, string(raw))
	}
	if !onlyTexts || len(list) == 1 {
		benchmark.SetField(it, fieldTruth, text.Str(raw))
	}
	return nil
}
