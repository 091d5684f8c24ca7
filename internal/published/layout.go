package published

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
	"deem/internal/words"
)

// A layout gives the columns of the parts of the rows of one file. No column is used twice.
type layout struct {
	mapping Mapping
	columns map[string][]string // the columns of each part, in order of precedence
	verdict rows.Verdict
	others  []rows.Verdict // additional columns with verdicts
	words   vocabulary
}

// A field is a column of rows: a member, or a member of a member.
type field struct {
	path, plain string
	example     rows.Node // the first non-blank value
	answers     bool      // some row has a text, a number or a boolean there, possibly the empty text
}

// mostFields limits the number of columns: an object with a member for each item is not a
// row.
const mostFields = 500

// fieldsOf returns the columns of rows in the order of the file, members before their own
// members.
func fieldsOf(found []rows.Row) []*field {
	var list []*field
	at := map[string]*field{}
	see := func(path string, v rows.Node) {
		f := at[path]
		if f == nil && len(list) < mostFields {
			f = &field{path: path, plain: rows.Plain(path)}
			at[path] = f
			list = append(list, f)
		}
		if f == nil {
			return
		}
		f.answers = f.answers || v.IsScalar()
		if f.example.Blank() {
			f.example = v
		}
	}
	for _, r := range found {
		for i, key := range r.Keys {
			see(key, r.Vals[i])
		}
	}
	for _, r := range found {
		for i, key := range r.Keys {
			for j, inner := range r.Vals[i].Keys {
				see(key+"."+inner, r.Vals[i].Vals[j])
				for k, innermost := range r.Vals[i].Vals[j].Keys {
					see(key+"."+inner+"."+innermost, r.Vals[i].Vals[j].Vals[k])
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
func (l *layout) bind(found []rows.Row) {
	fields := fieldsOf(found)
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
			if !taken[f.path] && f.plain != rows.Answer && f.holds(part) || shared {
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
	i := slices.IndexFunc(fields, func(f *field) bool { return f.plain == rows.Answer && !taken[f.path] })
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
		for _, name := range rows.Names(part) {
			plain := prefix + rows.Plain(name)
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
	case f.example.Blank():
		return false
	case part == partReferences:
		return f.example.IsScalar() || f.example.Kind == rows.List
	}
	return f.example.IsScalar()
}

// value returns the value of a part in a row, and its column. A response is the value in
// the first of its columns that the row has, even null: no other column is then used.
func (l layout) value(r rows.Node, part string) (rows.Node, string) {
	for _, path := range l.columns[part] {
		v := r.At(path)
		if !v.Blank() || part == partResponse && r.Reaches(path) {
			return v, path
		}
	}
	return rows.Node{}, ""
}

// valueByName returns the value of a part in a single object, by the names of its members.
// It is for objects that are not rows, such as the variables of a test.
func valueByName(o rows.Node, part string) rows.Node {
	l := layout{}
	l.bind([]rows.Row{{Node: o}})
	if v, _ := l.value(o, part); v.Kind != rows.Missing {
		return v
	}
	if part == partReferences {
		return o.Member(rows.Answer)
	}
	return rows.Node{}
}

// The plain names of the columns that make an object a row: of a question, of an id, of a
// response, and of an answer or a decision.
var rowAsks, rowIDs, rowAnswers, rowSays = plainNames(partQuestion), plainNames(partID), plainNames(partResponse), func() map[string]bool {
	says := map[string]bool{rows.Answer: true}
	for _, c := range rows.Verdicts() {
		head, _, _ := strings.Cut(c.Path, ".")
		says[rows.Plain(head)] = true
	}
	return says
}()

func plainNames(part string) map[string]bool {
	names := map[string]bool{}
	for _, name := range rows.Names(part) {
		names[rows.Plain(name)] = true
	}
	return names
}

// grade says how much of a row an object is. A row identifies a question, by its text, by
// an id or by its key, and contains an answer or a decision.
func (l layout) grade(o rows.Node, keyed bool) rows.Grade { //nolint:gocyclo // A case for each kind of object.
	if o.Kind != rows.Object {
		return rows.None
	}
	var named, asks, says, answers, mapped bool
	for part, path := range l.mapping {
		v := o.At(path)
		there := v.Kind != rows.Missing || o.Reaches(path)
		switch part {
		case partQuestion:
			asks = asks || v.IsScalar()
		case partID:
			named = named || v.IsScalar()
		case partResponse:
			answers, mapped = answers || there, mapped || there
		case partLabel:
			mapped = mapped || there
		}
	}
	for i, key := range o.Keys {
		plain, v := rows.Plain(key), o.Vals[i]
		if v.IsScalar() && !v.Blank() {
			asks, named = asks || rowAsks[plain], named || rowIDs[plain]
		}
		says = says || rowSays[plain]
		answers = answers || rowAnswers[plain] || strings.HasSuffix(key, "_prediction")
	}
	about, says := asks || named, says || answers || mapped
	switch {
	case about && says && (asks || answers || mapped), keyed && answers:
		return rows.Strong
	case mapped:
		return rows.Nameless
	case about && says:
		return rows.Weak
	case asks || answers:
		return rows.Opaque
	}
	return rows.None
}

func (l layout) finder() rows.Finder {
	return rows.Finder{
		Grade: l.grade,
		Same: func(o rows.Node) string {
			var parts []string
			for i, key := range o.Keys {
				plain := rows.Plain(key)
				if rowIDs[plain] || rowAsks[plain] || rowSays[plain] || rowAnswers[plain] || slices.Contains(slices.Collect(maps.Values(l.mapping)), key) {
					parts = append(parts, plain+"="+string(o.Vals[i].AppendJSON(nil)))
				}
			}
			slices.Sort(parts)
			return strings.Join(parts, "\n")
		},
		Question: func(o rows.Node) string {
			if path := l.mapping[partQuestion]; path != "" {
				return o.At(path).Str()
			}
			for i, key := range o.Keys {
				if rowAsks[rows.Plain(key)] && o.Vals[i].IsScalar() {
					return o.Vals[i].Str()
				}
			}
			return ""
		},
	}
}

// decide finds the columns of the parts, and the column of the verdict.
func (l *layout) decide(found []rows.Row) {
	l.bind(found)
	if path, ok := l.mapping[partLabel]; ok {
		l.verdict = rows.Verdict{Path: path}
		if i := slices.IndexFunc(rows.Verdicts(), func(c rows.Verdict) bool { return rows.Plain(c.Path) == rows.Plain(path) }); i >= 0 {
			l.verdict = rows.Verdicts()[i]
			l.verdict.Path = path
		}
		l.words.inverted = l.verdict.Inverted
		return
	}
	taken := map[string]bool{}
	for _, paths := range l.columns {
		for _, path := range paths {
			taken[path] = true
		}
	}
	fields := fieldsOf(found)
	for _, c := range rows.Verdicts() {
		for _, f := range fields {
			if f.plain != rows.Plain(c.Path) || taken[f.path] {
				continue
			}
			c.Path = f.path
			switch {
			case !l.holdsVerdicts(c, found):
			case l.verdict.Path == "":
				l.verdict = c
			case !c.Rule && !strings.HasPrefix(c.Path, l.verdict.Path) && !strings.HasPrefix(l.verdict.Path, c.Path):
				l.others = append(l.others, c)
			}
		}
	}
	l.words.inverted = l.verdict.Inverted
}

// holdsVerdicts reports whether a column exists and most of its values can be read.
func (l layout) holdsVerdicts(c rows.Verdict, found []rows.Row) bool {
	present, readable, verdicts := 0, 0, 0
	for _, r := range found {
		for _, v := range c.In(r.Node) {
			if v.Kind == rows.Missing {
				continue
			}
			present++
			o := l.words.read(v)
			if o.verdict != nil {
				verdicts++
			}
			_, none := noWords[strings.ToLower(strings.TrimSpace(v.Text))] // a word for no verdict
			if v.IsScalar() && (none || o.verdict != nil || l.words.scale == 0 && o.failure.Kind == deem.OutOfRange) {
				readable++
			}
		}
	}
	return verdicts > 0 && 2*readable >= present
}

// listFields names columns with one example value each.
func listFields(found []rows.Row) string {
	const most = 16
	var fields []string
	for _, f := range fieldsOf(found) {
		if strings.Contains(f.path, ".") || len(fields) == most {
			continue
		}
		var example string
		switch f.example.Kind {
		case rows.Missing:
			example = "always empty"
		case rows.List:
			example = fmt.Sprintf("a list of %d", len(f.example.Vals))
		case rows.Object:
			example = "an object"
		case rows.Bool:
			example = f.example.Text
		default:
			text := []rune(words.Printable(f.example.Str()))
			if len(text) > 24 {
				text = append(text[:24], '.', '.', '.')
			}
			example = string(text)
		}
		fields = append(fields, fmt.Sprintf("%s (%s)", words.Printable(f.path), example))
	}
	return strings.Join(fields, ", ")
}
