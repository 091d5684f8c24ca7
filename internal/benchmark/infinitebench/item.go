package infinitebench

import (
	"cmp"
	"strconv"

	"deem"
	"deem/internal/benchmark/itemset"
	"deem/internal/text"
	"deem/internal/words"
)

// clip shortens a value for a message.
func clip(v itemset.Value) string { return words.Clip(v.Str(), clipped) }

// clipped is how many characters of a value a message shows.
const clipped = 40

// item makes an item of a row.
func (s *Set) item(row *itemset.Row, src *source) (deem.Item, error) {
	it := deem.Item{ID: src.task + "/" + src.id(row), Category: src.task}
	itemset.SetSystemFields(&it, row.Get)
	var err error
	if it.Response, err = prediction(row); err != nil {
		return it, err
	}
	if src.task == mathCalc {
		itemset.SetField(&it, fieldModel, cmp.Or(s.system, systemName(row.File)))
	}
	return it, src.addLabel(&it, row)
}

// id returns the id of a row: upstream's, or the line where those are no use.
func (src *source) id(row *itemset.Row) string {
	if src.byLine {
		return strconv.Itoa(row.Line)
	}
	return row.Get("id").Str()
}

// prediction returns what the system gave, under either of upstream's names.
func prediction(row *itemset.Row) (string, error) {
	for _, column := range []string{"prediction", "pred"} {
		if !itemset.Has(row, column) {
			continue
		}
		v := row.Get(column)
		if !itemset.IsText(v) {
			return "", deem.WithHint(itemset.At(row, "%q is not text, but %s", column, clip(v)),
				"if the system gave nothing, write an empty text")
		}
		return v.Str(), nil
	}
	return "", deem.WithHint(itemset.At(row, "the line has neither %q nor %q", "prediction", "pred"),
		"if the system gave nothing, write an empty text")
}

// addLabel enters the label: its texts as references, and what they do not say in
// fields.
func (src *source) addLabel(it *deem.Item, row *itemset.Row) error {
	if !itemset.Has(row, src.labelKey) {
		itemset.SetField(it, fieldLabel, noLabel)
		return nil
	}
	v := row.Get(src.labelKey)
	raw := v.JSON()
	switch raw[0] {
	case 'n', '{':
		return itemset.At(row, "%q is not text, number or list, but %s", src.labelKey, clip(v))
	}
	list, isList := v.List()
	if !isList || src.task == mathCalc {
		// The numbers of a calculation are one answer together.
		it.References = []string{text.Str(raw)}
		itemset.SetField(it, fieldLabel, string(raw))
		return nil
	}
	onlyTexts := len(list) > 0
	for _, e := range list {
		onlyTexts = onlyTexts && itemset.IsText(e) && !e.Blank()
		if !e.Blank() {
			it.References = append(it.References, e.Str())
		}
	}
	if !onlyTexts {
		itemset.SetField(it, fieldLabel, string(raw))
	}
	if !onlyTexts || len(list) == 1 {
		itemset.SetField(it, fieldTruth, text.Str(raw))
	}
	return nil
}
