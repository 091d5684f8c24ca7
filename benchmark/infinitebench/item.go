package infinitebench

import (
	"fmt"
	"slices"
	"strconv"

	"deem"
	"deem/internal/dataset"
	"deem/text"
)

// at returns a problem at a row.
func at(row *dataset.Row, format string, args ...any) error {
	return deem.Problem{File: row.File, Line: row.Line, Message: fmt.Sprintf(format, args...)}
}

func setField(it *deem.Item, name, value string) {
	if it.Fields == nil {
		it.Fields = map[string]string{}
	}
	it.Fields[name] = value
}

// has reports whether a row has a column, also when there is a null in it.
func has(row *dataset.Row, column string) bool { return slices.Contains(row.Names(), column) }

// clip shortens a value for a message.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// item makes an item of a row.
func (s *Set) item(row *dataset.Row, src *source) (deem.Item, error) {
	it := deem.Item{ID: src.task + "/" + src.id(row), Category: src.task}
	var err error
	if it.Response, err = prediction(row); err != nil {
		return it, err
	}
	if src.task == mathCalc {
		setField(&it, fieldModel, firstOf(s.system, systemName(row.File)))
	}
	return it, src.addLabel(&it, row)
}

// id returns the id of a row: upstream's, or the line where those are no use.
func (src *source) id(row *dataset.Row) string {
	if src.byLine {
		return strconv.Itoa(row.Line)
	}
	return row.Get("id").Str()
}

// prediction returns what the system gave, under either of upstream's names.
func prediction(row *dataset.Row) (string, error) {
	for _, column := range []string{"prediction", "pred"} {
		if !has(row, column) {
			continue
		}
		v := row.Get(column)
		if v.JSON()[0] != '"' {
			return "", deem.WithHint(at(row, "%q is no text, but %s", column, clip(v.Str())),
				"if the system gave nothing, write an empty text")
		}
		return v.Str(), nil
	}
	return "", deem.WithHint(at(row, "the line has neither %q nor %q", "prediction", "pred"),
		"if the system gave nothing, write an empty text")
}

// addLabel enters the label: its texts as references, and what they do not say in
// fields.
func (src *source) addLabel(it *deem.Item, row *dataset.Row) error {
	if !has(row, src.labelKey) {
		setField(it, fieldLabel, noLabel)
		return nil
	}
	v := row.Get(src.labelKey)
	raw := v.JSON()
	switch raw[0] {
	case 'n', '{':
		return at(row, "%q is no text, number or list, but %s", src.labelKey, clip(v.Str()))
	}
	list, isList := v.List()
	if !isList || src.task == mathCalc {
		// The numbers of a calculation are one answer together.
		it.References = []string{text.Str(raw)}
		setField(it, fieldLabel, string(raw))
		return nil
	}
	onlyTexts := len(list) > 0
	for _, e := range list {
		onlyTexts = onlyTexts && e.JSON()[0] == '"' && !e.Blank()
		if !e.Blank() {
			it.References = append(it.References, e.Str())
		}
	}
	if !onlyTexts {
		setField(it, fieldLabel, string(raw))
	}
	if !onlyTexts || len(list) == 1 {
		setField(it, fieldTruth, text.Str(raw))
	}
	return nil
}
