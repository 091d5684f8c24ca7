package published

import (
	"fmt"
	"slices"
	"strings"
)

// People keep rows in many forms: a list per conversation under its number, under its
// name, inside a list of conversations, inside a report, or one row after the other.
// What they have in common is the row itself. So a file is searched for rows, and the
// way there tells the conversation.

// A row is an object of a file that is about one response.
type row struct {
	node
	file         string
	line         int
	path         string // in an object that fills the whole file
	conversation string // as the way there says; "" when it does not
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

	// rest is what stands beside the rows: where a file says what they amount to.
	rest []node
}

// deepestRow is how deep rows may lie. Real files need five levels.
const deepestRow = 8

// walk looks through the pieces of a file.
func (w *walker) walk(pieces []piece) {
	for _, p := range pieces {
		if !w.isRow(p.node) {
			w.rest = append(w.rest, p.node)
		}
		w.look(row{node: p.node, file: p.file, line: p.line}, 0)
	}
}

// look looks at one value.
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

// scalars leaves out what is not a text, a number or a boolean.
func scalars(vals []node) []node {
	list := make([]node, len(vals))
	for i, v := range vals {
		if v.isScalar() {
			list[i] = v
		}
	}
	return list
}

// into steps into a member. The name of a list of rows is that of their conversation,
// unless it is one that names no conversation.
func (r row) into(name string, v node) row {
	inner := r
	inner.node = v
	inner.path = strings.TrimPrefix(r.path+"."+name, ".")
	if inner.conversation == "" && v.kind == list && !slices.Contains(containers, name) {
		inner.conversation = name
	}
	return inner
}
