package reports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/dataset"
	"deem/internal/rows"
	"deem/internal/text"
	"deem/internal/usage"
)

// An Erratum is one known error in an answer key.
type Erratum struct {
	ID       string `json:"id,omitempty"`       // of the item; at least one of ID and Question is set
	Question string `json:"question,omitempty"` // of the item
	Category string `json:"category,omitempty"` // of the item, if given
	Kind     string `json:"kind"`               // the kind of error, in the words of the list

	// Published are the wrong references, if given.
	Published []string `json:"published,omitempty"`

	// References are the correct answers. They are empty if the list does not give them or
	// the question cannot be answered.
	References []string `json:"references,omitempty"`

	// Corrupts reports whether the error can change a score. A right reference that cites
	// the wrong turns does not.
	Corrupts bool `json:"corrupts"`
}

// ErrataList are the known errors of one answer key.
type ErrataList struct {
	Name string    // of the file without its folder
	List []Erratum // in the order of the file

	// Hash is the SHA-256 of the list in hexadecimal. Lists with the same errata in the
	// same order have the same hash, whatever the format of the file.
	Hash string

	id     func(string) string
	byID   map[string]int
	byText map[string][]int
}

// The columns of a list. Names that only lists of errata use come first, then those of
// package rows. The locomo-audit project uses question_id, golden_answer, correct_answer and
// error_type.
var (
	idColumns        = rows.Names(rows.ID)
	questionColumns  = rows.Names(rows.Question)
	categoryColumns  = without(rows.Names(rows.Category), kindColumns...)
	kindColumns      = []string{"kind", "error_type", "type", "error"}
	publishedColumns = append([]string{"published", "original_answer", "wrong_reference"}, without(rows.Names(rows.References), append(correctedColumns, rows.Answer)...)...)
	correctedColumns = []string{"corrected", "corrected_references", "corrected_reference", "corrected_answer", "correct_answer", "references", "reference"}
	corruptsColumns  = []string{"corrupts", "corrupts_score", "score_corrupting"}
)

// without returns the names that are not among the others: in a list of errata they have
// another meaning.
func without(names []string, others ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(others, name) })
}

// ReadErrata reads a list of errata from JSON, JSONL, CSV or Parquet. A row identifies an
// item by "id", by "question", or by both. It may give the correct answer ("corrected", a
// text or a list), the wrong one ("published"), the kind of error ("kind"), and whether it
// can change a score ("corrupts", yes or no). By default all errors can, except those whose
// kind contains "citation". A benchmark may write the ids of its items in several ways; nil
// means no benchmark. If rows are invalid, the error is a [*deem.Problems].
func ReadErrata(ctx context.Context, path string, b *benchmark.Benchmark) (*ErrataList, error) {
	isErratum := func(keys []string) bool { // whether an object is itself an erratum
		return slices.ContainsFunc(keys, func(key string) bool {
			return slices.ContainsFunc(slices.Concat(idColumns, questionColumns), func(name string) bool { return rows.Plain(name) == rows.Plain(key) })
		})
	}
	files, err := dataset.OpenFiles(ctx, dataset.Input{Names: []string{path}, Whole: isErratum})
	if err != nil {
		return nil, usage.Mark(err)
	}
	e := &ErrataList{Name: filepath.Base(path), byID: map[string]int{}, byText: map[string][]int{}}
	e.id = func(id string) string { return id }
	if b != nil && b.ItemID != nil {
		e.id = b.ItemID
	}
	var problems deem.Problems
	for v, rowErr := range files.Values(ctx) {
		if rowErr == nil {
			rowErr = e.row(v)
		}
		if p, ok := errors.AsType[deem.Problem](rowErr); ok {
			problems.Add(p)
		} else if rowErr != nil {
			return nil, usage.Mark(errors.Join(rowErr, files.Close()))
		}
	}
	if problems.Total == 0 && len(e.List) == 0 {
		problems.Add(deem.Problem{File: path, Message: "there is no erratum in it"})
	}
	if err := errors.Join(problems.Err(), files.Close()); err != nil {
		return nil, usage.Mark(err)
	}
	e.Hash, err = deem.Hash(e.List)
	return e, err
}

// row adds one row of the file.
func (e *ErrataList) row(r rows.Value) error {
	x := Erratum{
		ID: errataText(r, idColumns), Question: errataText(r, questionColumns), Category: errataText(r, categoryColumns), Kind: errataText(r, kindColumns),
		Published: errataTexts(r, publishedColumns), References: errataTexts(r, correctedColumns),
	}
	fault := func(format string, args ...any) error {
		return deem.Problem{File: r.File, Line: r.Line, Message: fmt.Sprintf(format, args...)}
	}
	if x.ID == "" && x.Question == "" {
		return fault(`the erratum names no item: it has neither "id" nor "question"`)
	}
	switch said := errataText(r, corruptsColumns); strings.ToLower(said) {
	case "":
		x.Corrupts = !strings.Contains(strings.ToLower(x.Kind), "citation")
	case "yes", "y", "true", "1":
		x.Corrupts = true
	case "no", "n", "false", "0":
	default:
		return fault("whether the fault can move a score is %q, and not yes or no", said)
	}
	if x.ID != "" {
		id := e.id(x.ID)
		if _, ok := e.byID[id]; ok {
			return fault("there was an erratum of %s before", x.ID)
		}
		e.byID[id] = len(e.List)
	}
	if x.Question != "" {
		e.byText[plain(x.Question)] = append(e.byText[plain(x.Question)], len(e.List))
	}
	e.List = append(e.List, x)
	return nil
}

// errataTexts returns the texts in the first column that has a value: those of a list, or a
// single one, without surrounding white space. The cell of a table may contain a list as
// JSON.
func errataTexts(r rows.Value, columns []string) []string {
	var list []string
	for _, name := range columns {
		v := r.First(name)
		if inside, err := rows.Parse([]byte(v.Text)); err == nil && r.Table && inside.Kind == rows.List {
			v = inside
		}
		for _, text := range v.Texts() {
			list = append(list, strings.TrimSpace(text))
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

// errataText returns the text in the first column that has one, "" if there is none.
func errataText(r rows.Value, columns []string) string {
	for _, name := range columns {
		if v := r.First(name); !v.Blank() {
			return strings.TrimSpace(v.Str())
		}
	}
	return ""
}

// plain returns text normalized for comparison: in lower case, with single spaces. Files
// with the same question differ in these.
func plain(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// A Matched is a list of errata matched with the items of a run.
type Matched struct {
	Errata *ErrataList    // the whole list
	of     map[string]int // item id to the index of its erratum
	mended int            // items whose reference is already corrected
	absent int            // errata that can change a score and match no item of the run
}

// Match finds the items that the errata apply to, in one pass over all items of a run.
//
// An erratum with an id applies only to the item with that id, because equal questions need
// not have equal errors. If there is no such item, because the dataset uses other ids, or
// if the erratum has no id, it applies to every item with its question, its category and
// its wrong reference, as far as these are given. It does not apply to an item whose
// reference is already the corrected one.
func (e *ErrataList) Match(items iter.Seq2[deem.Item, error]) (*Matched, error) {
	byID, byText := map[int][]deem.Item{}, map[int][]deem.Item{}
	for it, err := range items {
		if err != nil {
			return nil, err
		}
		slim := deem.Item{ID: it.ID, References: it.References} // what is needed until the end of the pass
		if i, ok := e.byID[e.id(it.ID)]; ok && e.List[i].asks(it) {
			byID[i] = append(byID[i], slim)
			continue
		}
		for _, i := range e.byText[plain(it.Question)] {
			if e.List[i].describes(it) {
				byText[i] = append(byText[i], slim)
			}
		}
	}
	m := &Matched{Errata: e, of: map[string]int{}}
	for i, x := range e.List {
		if !x.Corrupts {
			continue
		}
		found := byID[i]
		if len(found) == 0 {
			found = byText[i]
		}
		if len(found) == 0 {
			m.absent++
		}
		for _, it := range found {
			if x.mended(it) {
				m.mended++
			} else if _, taken := m.of[it.ID]; !taken {
				m.of[it.ID] = i
			}
		}
	}
	return m, nil
}

// asks reports whether an item with the erratum's id does not have a different question. It
// has one if two files number their items differently.
func (x Erratum) asks(it deem.Item) bool {
	return x.Question == "" || it.Question == "" || plain(x.Question) == plain(it.Question)
}

// describes reports whether nothing in an item with the erratum's question contradicts
// the erratum.
func (x Erratum) describes(it deem.Item) bool {
	if x.Category != "" && it.Category != "" && x.Category != it.Category {
		return false
	}
	return len(x.Published) == 0 || len(it.References) == 0 || overlap(x.Published, it.References)
}

// mended reports whether an item already has the corrected references.
func (x Erratum) mended(it deem.Item) bool {
	if len(x.References) == 0 || len(it.References) == 0 || overlap(x.Published, it.References) {
		return false
	}
	return !slices.ContainsFunc(it.References, func(ref string) bool { return !overlap(x.References, []string{ref}) })
}

// overlap reports whether two lists have a text in common.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return plain(x) == plain(y) })
	})
}

// Faulty returns how many items have a wrong reference.
func (m *Matched) Faulty() int { return len(m.of) }

// Of returns the erratum that applies to an item, and whether there is one.
func (m *Matched) Of(it deem.Item) (Erratum, bool) {
	i, ok := m.of[it.ID]
	if !ok {
		return Erratum{}, false
	}
	return m.Errata.List[i], true
}

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
	// A field of another name with the same text, for example a place that is also the
	// answer, is not a copy of the references.
	names := []string{"label"} // of InfiniteBench
	for _, c := range rows.Columns() {
		if c.Target == "references" {
			names = append(names, c.Names...)
		}
	}
	for _, name := range names {
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
