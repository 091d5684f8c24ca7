package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deem/internal/rows"
	"deem/internal/text"
)

// A Row is one row of a file: an object of a JSON file, a record of a table. It
// is valid until the next one is read.
type Row struct {
	File string // as the user named it
	Line int    // where the row begins, from 1; in Parquet the row number

	text   []byte   // of an object in JSON, nil for the row of a table
	file   int      // the index of the file among its inputs
	names  []string // the names of the columns, in the order of the file
	values []Value  // of the same length
	lone   bool     // it contains half of a surrogate pair
	python bool     // it contains NaN or an infinity
	nans   []*byte  // the first bytes of the nulls that were NaN in the file

	// element is its number in a list, from 1, if several rows begin in the same line.
	element int
}

// Names returns the names of the columns in the order of the file.
func (r *Row) Names() []string { return r.names }

// Get returns the value in the named column. It is missing if there is no such column. A
// dotted path that is not a name of a column reaches into objects and, with a number from
// 0, into lists: "meta.answers.0".
func (r *Row) Get(path string) Value {
	at, rest := resolve(path, r.names)
	if at < 0 {
		return Value{}
	}
	return r.values[at].Get(rest)
}

// Node returns the row as an object. The cells of a table are strings.
func (r *Row) Node() (rows.Node, error) {
	if r.text != nil {
		return rows.Parse(r.text)
	}
	n := rows.Node{Kind: rows.Object, Line: 1}
	for i, name := range r.names {
		child, err := rows.Parse(r.values[i].JSON())
		if err != nil {
			return rows.Node{}, fmt.Errorf("column %q: %w", name, err)
		}
		n.Keys = append(n.Keys, strings.Clone(name))
		n.Vals = append(n.Vals, child)
	}
	return n, nil
}

// resolve finds the column in which a path begins, and the rest of the path. The longest
// name wins, because a table made from nested objects has columns with dots in their names.
// The column is -1 if there is none.
func resolve(path string, names []string) (column int, rest string) {
	for head := path; ; {
		if i := slices.Index(names, head); i >= 0 {
			return i, strings.TrimPrefix(path[len(head):], ".")
		}
		dot := strings.LastIndexByte(head, '.')
		if dot < 0 {
			return -1, ""
		}
		head = head[:dot]
	}
}

// The forms of a value in a file.
type form uint8

const (
	absent  form = iota // no such column
	cell                // the text of a table's cell, which has no type
	literal             // a value that is known to be text
	raw                 // a JSON value
)

// A Value is one value of a row. It is valid as long as the row is.
type Value struct {
	form form
	data []byte
}

// Missing reports whether there is no value: no such column, or null. An empty text is a
// value.
func (v Value) Missing() bool {
	return v.form == absent || v.form == raw && string(v.data) == "null"
}

// Blank reports whether the value is missing or an empty text.
func (v Value) Blank() bool {
	return v.Missing() || v.form != raw && len(v.data) == 0 || v.form == raw && string(v.data) == `""`
}

// Str returns the value as Python's str would write it, which is how the programs that
// published the protocols put values into prompts. A missing value is "None".
func (v Value) Str() string {
	switch {
	case v.form == absent:
		return "None"
	case v.form != raw:
		return string(v.data)
	case v.data[0] == '"':
		return unquote(v.data)
	case len(v.data) <= 18 && len(bytes.Trim(v.data, "0123456789")) == 0: // short enough for Python to write it so
		return string(v.data)
	default:
		return text.Str(json.RawMessage(v.data))
	}
}

// JSON returns the value as JSON text: null if it is missing, and a string for the cell of
// a table. It returns a copy.
func (v Value) JSON() json.RawMessage {
	switch v.form {
	case absent:
		return json.RawMessage("null")
	case raw:
		return bytes.Clone(v.data)
	default:
		return appendString(nil, string(v.data))
	}
}

// Float returns the value, or its text, as a number.
func (v Value) Float() (float64, bool) {
	if v.form == absent || v.form == raw && v.data[0] != '"' && v.data[0] != '-' && !isDigit(v.data[0]) {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(v.Str()), 64)
	return n, err == nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// List returns the values of a list, and false for anything else. The cell of a table is a
// list if its text is a JSON list of strings and numbers.
func (v Value) List() ([]Value, bool) {
	data := v.data
	if v.form == cell {
		data = bytes.TrimSpace(data)
	}
	if v.form != raw && v.form != cell || len(data) == 0 || data[0] != '[' {
		return nil, false
	}
	list := []Value{}
	s := scanner{text: data}
	simple := true
	err := s.list(0, func(value []byte) {
		simple = simple && (value[0] == '"' || value[0] == '-' || isDigit(value[0]))
		list = append(list, Value{raw, value})
	})
	if err != nil || s.pos < len(data) || v.form == cell && !simple {
		return nil, false
	}
	return list, true
}

// Members calls visit with each member of an object in the order of the file and returns
// false for anything else. The cell of a table is an object if its text is a JSON object.
func (v Value) Members(visit func(key string, value Value)) bool {
	data := v.data
	if v.form == cell {
		data = bytes.TrimSpace(data)
	}
	if v.form != raw && v.form != cell || len(data) == 0 || data[0] != '{' {
		return false
	}
	s := scanner{text: data}
	if v.form == cell {
		// A cell is not validated yet, and visit must not see a partial object.
		if err := s.value(0); err != nil || s.pos < len(data) {
			return false
		}
		s.pos = 0
	}
	return s.object(0, func(key, value []byte) { visit(unquote(key), Value{raw, value}) }) == nil
}

// Get returns the value at a dotted path in an object or a list, and v itself for the empty
// path. It is missing if there is none.
func (v Value) Get(path string) Value {
	if path == "" {
		return v
	}
	head, rest, _ := strings.Cut(path, ".")
	if list, ok := v.List(); ok {
		i, err := strconv.Atoi(head)
		if err != nil || i < 0 || i >= len(list) {
			return Value{}
		}
		return list[i].Get(rest)
	}
	var found Value
	v.Members(func(key string, value Value) {
		switch {
		case key == path:
			found = value
		case key == head && rest != "":
			if inner := value.Get(rest); inner.form != absent {
				found = inner
			}
		}
	})
	return found
}
