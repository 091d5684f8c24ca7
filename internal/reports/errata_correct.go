package reports

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/dataset"
	"deem/internal/text"
)

// Correct returns an item with its references corrected, and whether they are. If the list
// does not give the correct answer, the item is unchanged.
//
// Readers keep fields that repeat the references in the form that published programs write
// into a prompt. These are corrected in the same form. If the form is unknown, the field is
// removed and protocols use the references themselves: a judge must never see the wrong
// reference next to the right one.
func (m *Matched) Correct(it deem.Item) (deem.Item, bool) {
	x, ok := m.Of(it)
	if !ok || len(x.References) == 0 {
		return it, false
	}
	old := it.References
	it.References = slices.Clone(x.References)
	it.Fields = maps.Clone(it.Fields)
	for _, name := range truthFields() {
		value, ok := it.Fields[name]
		if !ok {
			continue
		}
		if said, ok := replaceReferences(value, old, x.References); ok {
			it.Fields[name] = said
		} else if name == groundTruth || restates(value, old) {
			delete(it.Fields, name)
		}
	}
	if len(it.Fields) == 0 {
		it.Fields = nil
	}
	return it, true
}

// groundTruth is the field that repeats the references in any form.
const groundTruth = "ground_truth"

// truthFields returns the names of fields with references. A field of another name with the
// same text, for example a place that is also the answer, is not a copy of them.
func truthFields() []string {
	names := []string{"label"} // of InfiniteBench
	for _, c := range dataset.Columns() {
		if c.Target == "references" {
			names = append(names, c.Names...)
		}
	}
	return names
}

// restates reports whether a value is JSON that repeats the references.
func restates(value string, refs []string) bool {
	var list []json.RawMessage
	if json.Unmarshal([]byte(value), &list) != nil {
		list = []json.RawMessage{json.RawMessage(value)}
	}
	return len(list) > 0 && !slices.ContainsFunc(list, func(raw json.RawMessage) bool {
		said := string(raw)
		if json.Unmarshal(raw, &said) != nil {
			said = string(raw) // a number is its own text
		}
		return !overlap(refs, []string{said})
	})
}

// forms are the forms in which a field may repeat references: as a Python list, as JSON, as
// a list without quotes where none are needed, a single one as a JSON string, and the first
// as plain text. A form that does not fit the number of references returns "".
var forms = []func(refs []string) string{
	func(refs []string) string { return text.Repr(refs) },
	func(refs []string) string { return asJSON(refs) },
	func(refs []string) string { return strings.ReplaceAll(asJSON(refs), `","`, `", "`) },
	func(refs []string) string { return "[" + strings.Join(refs, ", ") + "]" },
	func(refs []string) string {
		if len(refs) != 1 {
			return ""
		}
		return asJSON(refs[0])
	},
	func(refs []string) string { return refs[0] },
}

// asJSON returns v, which must be text or a list of texts, as JSON.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// replaceReferences returns the corrected references in the form in which a value repeats the old
// ones, and whether it does.
func replaceReferences(value string, old, corrected []string) (string, bool) {
	if len(old) == 0 || value == "" {
		return "", false
	}
	for _, form := range forms {
		if form(old) == value {
			said := form(corrected)
			return said, said != ""
		}
	}
	return "", false
}
