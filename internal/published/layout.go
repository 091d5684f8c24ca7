package published

import (
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/dataset"
	"deem/internal/words"
)

// A layout gives the columns of the parts of the rows of one file. No column is used twice.
type layout struct {
	mapping Mapping
	columns map[string][]string // the columns of each part, in order of precedence
	verdict verdictColumn
	others  []verdictColumn // additional columns with verdicts
	words   vocabulary
}

// A field is a column of rows: a member, or a member of a member.
type field struct {
	path, plain string
	example     node // the first non-blank value
	answers     bool // some row has a text, a number or a boolean there, possibly the empty text
}

// mostFields limits the number of columns: an object with a member for each item is not a
// row.
const mostFields = 500

// fieldsOf returns the columns of rows in the order of the file, members before their own
// members.
func fieldsOf(rows []row) []*field {
	var list []*field
	at := map[string]*field{}
	see := func(path string, v node) {
		f := at[path]
		if f == nil && len(list) < mostFields {
			f = &field{path: path, plain: dataset.PlainName(path)}
			at[path] = f
			list = append(list, f)
		}
		if f == nil {
			return
		}
		f.answers = f.answers || v.isScalar()
		if f.example.blank() {
			f.example = v
		}
	}
	for _, r := range rows {
		for i, key := range r.keys {
			see(key, r.vals[i])
		}
	}
	for _, r := range rows {
		for i, key := range r.keys {
			for j, inner := range r.vals[i].keys {
				see(key+"."+inner, r.vals[i].vals[j])
				for k, innermost := range r.vals[i].vals[j].keys {
					see(key+"."+inner+"."+innermost, r.vals[i].vals[j].vals[k])
				}
			}
		}
	}
	return list
}

// boundParts are the parts whose columns are found by name, in order of precedence.
var boundParts = []string{
	partQuestion, partReferences, partResponse, partID, partCategory, partCluster, partModel, partSystem, partReply, partReason,
}

// metaPrefixes are the objects in which programs store metadata of an item.
var metaPrefixes = []string{"", "meta.", "metadata."}

// bind finds the column of each part by its name, over all rows. It does not use a column
// that is mapped or belongs to another part.
func (l *layout) bind(rows []row) {
	fields := fieldsOf(rows)
	l.columns = map[string][]string{}
	taken := map[string]bool{}
	for part, path := range l.mapping {
		l.columns[part] = []string{path}
		taken[path] = true
	}
	for _, part := range boundParts {
		if _, ok := l.mapping[part]; ok {
			continue
		}
		for _, f := range named(fields, part) {
			shared := part == partReason && slices.Contains(l.columns[partReply], f.path) // a reply contains the reason, too
			if !taken[f.path] && f.plain != dataset.Answer && f.holds(part) || shared {
				l.columns[part] = append(l.columns[part], f.path)
				taken[f.path] = true
			}
		}
	}
	if len(l.columns[partResponse]) == 0 {
		// The LoCoMo script writes one column that ends in _prediction.
		found := slices.DeleteFunc(slices.Clone(fields), func(f *field) bool {
			return !strings.HasSuffix(f.path, "_prediction") || !f.holds(partResponse)
		})
		if len(found) == 1 && !taken[found[0].path] {
			l.columns[partResponse] = []string{found[0].path}
		}
	}
	// With another reference, "answer" is the response, as in files of Zep and MemOS; with a
	// response it is the reference; alone it is neither.
	i := slices.IndexFunc(fields, func(f *field) bool { return f.plain == dataset.Answer && !taken[f.path] })
	if i < 0 {
		return
	}
	f := fields[i]
	reference := len(l.columns[partReferences]) > 0 || slices.ContainsFunc(fields, func(f *field) bool { return numbered.MatchString(f.path) && f.holds(partReferences) })
	response := len(l.columns[partResponse]) > 0
	switch {
	case reference && !response && f.holds(partResponse):
		l.columns[partResponse] = []string{f.path}
	case response && !reference && f.holds(partReferences):
		l.columns[partReferences] = []string{f.path}
	}
}

// named returns the columns that have a name of the part, in the order of the names.
func named(fields []*field, part string) []*field {
	var list []*field
	for _, prefix := range metaPrefixes {
		for _, name := range dataset.ColumnNames(part) {
			plain := prefix + dataset.PlainName(name)
			for _, f := range fields {
				if f.plain == plain && !slices.Contains(list, f) {
					list = append(list, f)
				}
			}
		}
	}
	return list
}

// holds reports whether the column can contain a part: some row has a value there. A
// response may be the empty text; any other part must not be blank.
func (f *field) holds(part string) bool {
	switch {
	case part == partResponse:
		return f.answers
	case f.example.blank():
		return false
	case part == partReferences:
		return f.example.isScalar() || f.example.kind == list
	}
	return f.example.isScalar()
}

// value returns the value of a part in a row, and its column. A response is the value in
// the first of its columns that the row has, even null: no other column is then used.
func (l layout) value(r node, part string) (node, string) {
	for _, path := range l.columns[part] {
		v := r.at(path)
		if !v.blank() || part == partResponse && r.reaches(path) {
			return v, path
		}
	}
	return node{}, ""
}

// valueByName returns the value of a part in a single object, by the names of its members.
// It is for objects that are not rows, such as the variables of a test.
func valueByName(o node, part string) node {
	l := layout{}
	l.bind([]row{{node: o}})
	if v, _ := l.value(o, part); v.kind != missing {
		return v
	}
	if part == partReferences {
		return o.member(dataset.Answer)
	}
	return node{}
}

// The plain names that make an object a row: rowAbout identifies the question, and rowSays
// the answer or decision.
var rowAbout, rowSays = func() (about, says map[string]bool) {
	about, says = map[string]bool{}, map[string]bool{dataset.Answer: true}
	for _, part := range []string{partQuestion, partID} {
		for _, name := range dataset.ColumnNames(part) {
			about[dataset.PlainName(name)] = true
		}
	}
	for _, name := range dataset.ColumnNames(partResponse) {
		says[dataset.PlainName(name)] = true
	}
	for _, c := range verdictColumns {
		head, _, _ := strings.Cut(c.path, ".")
		says[dataset.PlainName(head)] = true
	}
	return about, says
}()

// isRow reports whether an object is a row: it identifies a question, and contains an
// answer or decision.
func (l layout) isRow(o node) bool {
	if o.kind != object {
		return false
	}
	about, says := false, false
	for part, path := range l.mapping {
		switch v := o.at(path); part {
		case partQuestion, partID:
			about = about || v.isScalar()
		case partLabel, partResponse:
			says = says || v.kind != missing || o.reaches(path)
		}
	}
	for i, key := range o.keys {
		plain := dataset.PlainName(key)
		about = about || rowAbout[plain] && o.vals[i].isScalar() && !o.vals[i].blank()
		says = says || rowSays[plain] || strings.HasSuffix(key, "_prediction")
	}
	return about && says && !l.wraps(o)
}

// wraps reports whether an object with an id and a number is a report around its rows: it
// has neither a question nor a response, but a list of rows.
func (l layout) wraps(o node) bool {
	for _, part := range []string{partQuestion, partResponse} {
		for _, name := range dataset.ColumnNames(part) {
			for _, key := range o.keys {
				if dataset.PlainName(key) == dataset.PlainName(name) {
					return false
				}
			}
		}
	}
	return slices.ContainsFunc(o.vals, func(v node) bool { return v.kind == list && len(v.vals) > 0 && l.isRow(v.vals[0]) })
}

// decide finds the columns of the parts, and the column of the verdict.
func (l *layout) decide(rows []row) {
	l.bind(rows)
	if path, ok := l.mapping[partLabel]; ok {
		l.verdict = verdictColumn{path: path}
		if i := slices.IndexFunc(verdictColumns, func(c verdictColumn) bool { return dataset.PlainName(c.path) == dataset.PlainName(path) }); i >= 0 {
			l.verdict = verdictColumns[i]
			l.verdict.path = path
		}
		l.words.inverted = l.verdict.inverted
		return
	}
	taken := map[string]bool{}
	for _, paths := range l.columns {
		for _, path := range paths {
			taken[path] = true
		}
	}
	fields := fieldsOf(rows)
	for _, c := range verdictColumns {
		for _, f := range fields {
			if f.plain != dataset.PlainName(c.path) || taken[f.path] {
				continue
			}
			c.path = f.path
			switch {
			case !l.holdsVerdicts(c, rows):
			case l.verdict.path == "":
				l.verdict = c
			case !c.rule && !strings.HasPrefix(c.path, l.verdict.path) && !strings.HasPrefix(l.verdict.path, c.path):
				l.others = append(l.others, c)
			}
		}
	}
	l.words.inverted = l.verdict.inverted
}

// holdsVerdicts reports whether a column exists and most of its values can be read.
func (l layout) holdsVerdicts(c verdictColumn, rows []row) bool {
	present, readable, verdicts := 0, 0, 0
	for _, r := range rows {
		for _, v := range c.votes(r.node) {
			if v.kind == missing {
				continue
			}
			present++
			o := l.words.read(v)
			if o.verdict != nil {
				verdicts++
			}
			_, none := noWords[strings.ToLower(strings.TrimSpace(v.text))] // a word for no verdict
			if v.isScalar() && (none || o.verdict != nil || l.words.scale == 0 && o.failure.Kind == deem.OutOfRange) {
				readable++
			}
		}
	}
	return verdicts > 0 && 2*readable >= present
}

// votes returns the verdicts of a row. There are several only if the column has a name
// under which programs store several; a list elsewhere is not a list of trials.
func (c verdictColumn) votes(row node) []node {
	v := row.at(c.path)
	if c.several && (v.kind == list || v.kind == object) {
		return v.vals
	}
	return []node{v}
}

// elements returns the elements of a list, or the value itself.
func elements(n node) []node {
	if n.kind == list {
		return n.vals
	}
	return []node{n}
}

// texts returns the elements that are not blank, as texts.
func (n node) texts() []string {
	var list []string
	for _, e := range elements(n) {
		if !e.blank() {
			list = append(list, e.str())
		}
	}
	return list
}

// listFields names columns with one example value each.
func listFields(rows []row) string {
	const most = 16
	var fields []string
	for _, f := range fieldsOf(rows) {
		if strings.Contains(f.path, ".") || len(fields) == most {
			continue
		}
		var example string
		switch f.example.kind {
		case missing:
			example = "always empty"
		case list:
			example = fmt.Sprintf("a list of %d", len(f.example.vals))
		case object:
			example = "an object"
		case boolean:
			example = f.example.text
		default:
			text := []rune(words.Printable(f.example.str()))
			if len(text) > 24 {
				text = append(text[:24], '.', '.', '.')
			}
			example = string(text)
		}
		fields = append(fields, fmt.Sprintf("%s (%s)", words.Printable(f.path), example))
	}
	return strings.Join(fields, ", ")
}
