package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
	"deem/internal/text"
)

// groundTruth is the field with the references as a Python program would write them into a
// prompt, if that differs from the judge's own form.
const groundTruth = "ground_truth"

// item makes an item from a row with this layout. The ID is empty if the row has none. An
// error concerns this row.
func (l *layout) item(row *Row) (deem.Item, error) {
	it := deem.Item{
		Category: optional(l.category.of(row)),
		Cluster:  optional(l.cluster.of(row)),
	}
	if v := l.id.of(row); !v.Missing() {
		if it.ID = v.Str(); it.ID == "" {
			return it, errors.New("the id is empty")
		}
		it.Cluster = cmp.Or(it.Cluster, rows.Conversation(it.ID))
	}
	// The conversation is in the column "messages", or else a question that is a list of
	// messages and a response that is one. Without a separate column, the response is the
	// last message of the assistant.
	turns, err := l.messages.of(row).turns(true)
	if err != nil {
		return it, err
	}
	if v := l.question.of(row); !v.Missing() {
		it.Question = v.Said("user")
		if asked, err := v.turns(false); err == nil && len(turns) == 0 {
			turns = asked
		}
	}
	it.Question = cmp.Or(it.Question, turns.Said("user"))
	switch v, said := l.response.of(row), turns.Said("assistant"); {
	case v.form == absent && said != "":
		it.Response = said
	case l.unanswered:
		it.Response = ""
	case v.Missing():
		return it, l.noResponse(row)
	default:
		it.Response = v.Said("assistant")
		if given, err := v.turns(false); err == nil {
			turns = append(turns, given...)
		}
	}
	it.Messages = turns
	if it.Weight, err = weight(row, l.weight.of(row)); err != nil {
		return it, err
	}
	refs, rendering := references(l.references.of(row))
	it.References = refs
	if rendering != "" {
		it.Fields = map[string]string{groundTruth: rendering}
	}
	// Of two sources for one field the stronger wins: a mapped column, then a member of
	// "fields", then a column that happens to have the name.
	set := func(name string, v Value) {
		if v.Missing() || v.form == cell && len(v.data) == 0 {
			return
		}
		if it.Fields == nil {
			it.Fields = map[string]string{}
		}
		it.Fields[name] = v.Str()
	}
	if l.ranked {
		setRetrieved(&it, row.Get)
	}
	if l.unanswered {
		SetGold(&it, row.Get)
	}
	for _, f := range l.fields {
		switch v := f.of(row); {
		case f.source != "" && !v.Blank():
			set(f.name, Value{form: literal, data: []byte(InMilliseconds(f.source, v.Str()))})
		case f.source == "" && !f.strong:
			set(f.name, v)
		}
	}
	if v := l.members.of(row); !v.Blank() && !v.Members(set) {
		return it, fmt.Errorf("fields must be an object, but it is %s", excerpt([]byte(v.Str())))
	}
	for _, f := range l.fields {
		if f.strong {
			set(f.name, f.of(row))
		}
	}
	return it, nil
}

// optional returns the text of a value, "" for a missing one.
func optional(v Value) string {
	if v.Missing() {
		return ""
	}
	return v.Str()
}

// Listed joins the first of many names for a message.
func Listed(names []string) string {
	const most = 12
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// errNoResponse is the error of a row without a column for the response.
var errNoResponse = errors.New("no response")

// noResponse returns the error for a row without a response, and suggests a column whose
// name sounds like one. An empty response is valid; a missing one is an error in the file.
func (l *layout) noResponse(row *Row) error {
	if l.response.of(row).form != absent {
		return deem.WithHint(errors.New("the response is null"), "a system that gave nothing has the empty text as its response")
	}
	err := fmt.Errorf("%w (columns here: %s)", errNoResponse, Listed(row.names))
	if l.responsePath != "" {
		return deem.WithHint(err, "every row needs column %q, with the empty text when the system gave nothing", l.responsePath)
	}
	used := []slot{l.id, l.category, l.cluster, l.question, l.references, l.weight, l.members}
	for i, name := range l.names {
		if slices.Contains(used, slot{column: i}) {
			continue
		}
		if name == "answer" || name == "answers" {
			return deem.WithHint(err, "if column %q holds the reference: --map references=%s,response=COLUMN; if it holds the response: --map references=COLUMN,response=%s", name, name, name)
		}
		for _, sound := range []string{"response", "output", "predict", "hypothes", "answer", "reply", "completion", "generat", "result"} {
			if strings.Contains(strings.ToLower(name), sound) {
				return deem.WithHint(err, "say which column holds it: %s", mapFlag(toResponse, name))
			}
		}
	}
	return deem.WithHint(err, "say which column holds it: --map response=COLUMN")
}

// weight returns the weight in a value of row, 0 if it is missing. NaN is not missing: a
// weight that could not be computed must not become the default weight.
func weight(row *Row, v Value) (float64, error) {
	if v.form == raw && slices.Contains(row.nans, &v.data[0]) {
		return 0, errors.New(`the weight "NaN" is not a positive number`)
	}
	if v.Blank() {
		return 0, nil
	}
	w, ok := v.Float()
	if !ok || w <= 0 || math.IsInf(w, 0) || math.IsNaN(w) {
		return 0, fmt.Errorf("the weight %s is not a positive number", excerpt([]byte(v.Str())))
	}
	return w, nil
}

// references returns the correct answers in a value, and how Python would write the value
// if a judge that only sees the answers would write them differently: a list of one,
// numbers in a list, an empty text in a list.
func references(v Value) (refs []string, rendering string) {
	if v.Blank() {
		return nil, ""
	}
	list, ok := v.List()
	if !ok {
		if said := v.Said("assistant"); v.form == raw && said != string(v.JSON()) {
			return []string{said}, ""
		}
		return []string{v.Str()}, ""
	}
	same := len(list) > 1
	for _, e := range list {
		if e.Blank() {
			same = false
			continue
		}
		same = same && e.data[0] == '"'
		refs = append(refs, e.Str())
	}
	if same || len(refs) == 0 {
		return refs, ""
	}
	return refs, text.Str(json.RawMessage(v.data))
}
