package published

import (
	"fmt"
	"slices"
	"strings"
)

// Programs store rows in many forms: a list per conversation under its number or name,
// inside a list of conversations, inside a report, or one row after the other. They have
// only the row itself in common. So a file is searched for rows, and the path to a row
// gives its conversation.

// A row is an object of a file that is about one response.
type row struct {
	node
	file         string
	line         int
	path         string // in an object that fills the whole file
	conversation string // from the path; "" if unknown
}

func (r row) String() string {
	if r.path == "" {
		return fmt.Sprintf("%s:%d", r.file, r.line)
	}
	return fmt.Sprintf("%s:%d (%s)", r.file, r.line, r.path)
}

// A walker finds the rows of a file.
type walker struct {
	isRow func(node) bool
	rows  []row

	// rest is the values next to the rows, which may contain claims.
	rest []node
}

// deepestRow is the maximum depth of rows. Real files need five levels.
const deepestRow = 8

// look searches one value.
func (w *walker) look(r row, depth int) {
	switch {
	case depth > deepestRow:
	case w.isRow(r.node):
		w.rows = append(w.rows, r)
	case r.kind == object:
		for _, f := range named(fieldsOf([]row{{node: node{kind: object, keys: r.keys, vals: scalars(r.vals)}}}), partCluster) {
			if !f.example.blank() {
				r.conversation = f.example.str()
				break
			}
		}
		for i, v := range r.vals {
			w.look(r.into(r.keys[i], v), depth+1)
		}
	case r.kind == list:
		for i, v := range r.vals {
			if v.kind == object {
				inner := r
				inner.node, inner.path = v, fmt.Sprintf("%s[%d]", r.path, i)
				w.look(inner, depth+1)
			}
		}
	}
}

// scalars returns the values that are a text, a number or a boolean.
func scalars(vals []node) []node {
	list := make([]node, len(vals))
	for i, v := range vals {
		if v.isScalar() {
			list[i] = v
		}
	}
	return list
}

// into descends to a member. The name of a list of rows is that of their conversation,
// unless it is a container.
func (r row) into(name string, v node) row {
	inner := r
	inner.node = v
	inner.path = strings.TrimPrefix(r.path+"."+name, ".")
	if inner.conversation == "" && v.kind == list && !slices.Contains(containers, name) {
		inner.conversation = name
	}
	return inner
}
