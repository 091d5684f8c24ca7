package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
)

// A lack collects rows without a response. If no row has one, that is one error, with a
// mapping that fits all of them.
type lack struct {
	first   *deem.Problem
	rows    int
	paths   []string // the columns of the first row, and the members of its objects
	others  []string // of the paths those with a text, and without a name that means another part
	mapping Mapping  // of the parts whose columns have a similar name in every row, or are the only ones left
}

// lack adds a row without a response.
func (s *survey) lack(row *Row) {
	if s.lacking == nil {
		s.lacking = &lack{first: &deem.Problem{File: row.File, Line: row.Line}}
		s.lacking.learn(row)
	}
	s.lacking.rows++
	for part, path := range s.lacking.mapping {
		if row.Get(path).form == absent {
			delete(s.lacking.mapping, part)
		}
	}
}

// similar are words in the names of columns that a program may use for a part.
var similar = map[string][]string{
	toResponse:   {"response", "output", "predict", "pred", "hypothes", "reply", "completion", "generat", "answer", "result"},
	toReferences: {"gold", "reference", "expected", "truth", "target", "label", "correct"},
	toQuestion:   {"question", "query", "prompt", "input"},
}

// learn finds the columns of a row and what they may contain.
func (l *lack) learn(row *Row) {
	var visit func(path string, v Value, depth int)
	visit = func(path string, v Value, depth int) {
		isObject := depth < 3 && v.form == raw && v.Members(func(key string, inner Value) { visit(path+"."+key, inner, depth+1) })
		if !isObject && len(l.paths) < 100 {
			l.paths = append(l.paths, path)
			_, isNumber := v.Float()
			if name := path[strings.LastIndexByte(path, '.')+1:]; parts[rows.Plain(name)] == "" && !isNumber && (v.form == cell || v.form == raw && v.data[0] == '"') {
				l.others = append(l.others, path)
			}
		}
	}
	for _, name := range row.Names() {
		visit(name, row.Get(name), 0)
	}
	l.mapping = Mapping{}
	taken := map[string]bool{}
	for _, part := range []string{toQuestion, toReferences, toResponse} {
		path := cmp.Or(l.named(part, taken), l.similar(part, taken))
		if path == "" && part == toResponse {
			path = l.only(taken)
		}
		if path != "" {
			l.mapping[part] = path
			taken[path] = true
		}
	}
}

// only returns the path of the only text that is left, "" if there is none or several.
func (l *lack) only(taken map[string]bool) string {
	left := slices.DeleteFunc(slices.Clone(l.others), func(path string) bool { return taken[path] })
	if len(left) != 1 {
		return ""
	}
	return left[0]
}

// named returns the path with a name of the part in it, "" if there is none.
func (l *lack) named(part string, taken map[string]bool) string {
	for _, path := range l.paths {
		for segment := range strings.SplitSeq(path, ".") {
			if !taken[path] && slices.ContainsFunc(rows.Names(part), func(name string) bool { return rows.Plain(name) == rows.Plain(segment) }) {
				return path
			}
		}
	}
	return ""
}

// similar returns the path whose last name is similar to those of the part.
func (l *lack) similar(part string, taken map[string]bool) string {
	for _, word := range similar[part] {
		for _, path := range l.paths {
			if last := path[strings.LastIndexByte(path, '.')+1:]; !taken[path] && strings.Contains(strings.ToLower(last), word) {
				return path
			}
		}
	}
	return ""
}

// err returns the error.
func (l *lack) err() error {
	l.first.Message = fmt.Sprintf("none of %d rows has a response (columns here: %s)", l.rows, Listed(l.paths))
	problems := &deem.Problems{}
	problems.Add(*l.first)
	if l.mapping[toResponse] == "" {
		return deem.WithHint(problems, "say which column holds it: --map response=COLUMN")
	}
	return deem.WithHint(problems, "every row has these columns: %s", shellFlag(l.mapping))
}
