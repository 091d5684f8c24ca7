package published

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"deem/internal/dataset"
	"deem/internal/text"
)

// A kind is the kind of a JSON value.
type kind uint8

const (
	missing kind = iota // no such value, or null
	boolean
	number
	str
	list
	object
)

// A node is a JSON value. Members keep the order of the file, because the order of
// conversations is that of the items.
type node struct {
	kind kind
	text string // a string, or a number or boolean as spelled in the file

	keys []string // of an object
	vals []node   // of an object or a list
}

// deepest is the maximum nesting depth. Logs of tools that call tools are the deepest in
// practice, with some thirty levels.
const deepest = 200

// parse parses one JSON value and nothing after it. Python programs write NaN for a missing
// number, for example inspect in its logs; it is read as null.
func parse(data []byte) (node, error) {
	n, err := parseJSON(data)
	if err == nil {
		return n, nil
	}
	if finite := text.FiniteJSON(string(data)); finite != string(data) {
		if n, err := parseJSON([]byte(finite)); err == nil {
			return n, nil
		}
	}
	return node{}, err
}

func parseJSON(data []byte) (node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	n, err := parseValue(dec, 0)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return node{}, fmt.Errorf("not JSON at byte %d: %w", dec.InputOffset(), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return node{}, fmt.Errorf("the value is followed by something at byte %d", dec.InputOffset())
	}
	return n, nil
}

func parseValue(dec *json.Decoder, depth int) (node, error) {
	token, err := dec.Token()
	if err != nil {
		return node{}, err
	}
	switch t := token.(type) {
	case bool:
		return node{kind: boolean, text: strconv.FormatBool(t)}, nil
	case json.Number:
		return node{kind: number, text: t.String()}, nil
	case string:
		return node{kind: str, text: t}, nil
	case json.Delim:
		if depth == deepest {
			return node{}, fmt.Errorf("values are nested more than %d deep", deepest)
		}
		n := node{kind: list}
		if t == '{' {
			n.kind = object
		}
		for dec.More() {
			if n.kind == object {
				key, err := dec.Token()
				if err != nil {
					return node{}, err
				}
				name, _ := key.(string) // the decoder accepts nothing else there
				n.keys = append(n.keys, name)
			}
			v, err := parseValue(dec, depth+1)
			if err != nil {
				return node{}, err
			}
			n.vals = append(n.vals, v)
		}
		_, err := dec.Token()
		return n, err
	}
	return node{}, nil
}

// fromRow makes an object from a row. The cells of a table are strings, and an empty cell
// has no value.
func fromRow(r *dataset.Row) (node, error) {
	n := node{kind: object}
	for _, name := range r.Names() {
		v := r.Get(name)
		n.keys = append(n.keys, strings.Clone(name))
		child, err := parse(v.JSON())
		if err != nil {
			return node{}, fmt.Errorf("column %q: %w", name, err)
		}
		n.vals = append(n.vals, child)
	}
	return n, nil
}

// member returns the member of an object with that name. Of duplicates the last one counts,
// as in Python.
func (n node) member(name string) node {
	for i := len(n.keys) - 1; i >= 0; i-- {
		if n.keys[i] == name {
			return n.vals[i]
		}
	}
	return node{}
}

// has reports whether the object has a member of that name, possibly null.
func (n node) has(name string) bool { return slices.Contains(n.keys, name) }

// at returns the value at a dotted path. A name with dots takes precedence over a path, and
// a number is an index into a list, from 0.
func (n node) at(path string) node {
	if path == "" || n.kind == object && n.has(path) {
		return n.named(path)
	}
	head, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		return n.named(head)
	}
	return n.named(head).at(rest)
}

// reaches reports whether the object has a member at a dotted path, possibly null.
func (n node) reaches(path string) bool {
	if n.kind != object || n.has(path) {
		return n.has(path)
	}
	head, rest, deeper := strings.Cut(path, ".")
	return deeper && n.member(head).reaches(rest)
}

func (n node) named(name string) node {
	switch {
	case name == "":
		return n
	case n.kind == list:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.vals) {
			return n.vals[i]
		}
		return node{}
	}
	return n.member(name)
}

// isScalar reports whether the value is a text, a number or a boolean.
func (n node) isScalar() bool { return n.kind == str || n.kind == number || n.kind == boolean }

// blank reports whether there is no value, or only white space.
func (n node) blank() bool {
	return n.kind == missing || n.kind == str && strings.TrimSpace(n.text) == ""
}

// str returns the value as Python's str writes it, and "" for none.
func (n node) str() string {
	switch n.kind {
	case missing:
		return ""
	case str:
		return n.text
	}
	return text.Str(n.tree())
}

// tree returns the value as encoding/json would.
func (n node) tree() any {
	switch n.kind {
	case boolean:
		return n.text == "true"
	case number:
		return json.Number(n.text)
	case str:
		return n.text
	case list:
		values := make([]any, len(n.vals))
		for i, v := range n.vals {
			values[i] = v.tree()
		}
		return values
	case object:
		members := make(map[string]any, len(n.keys))
		for i, key := range n.keys {
			members[key] = n.vals[i].tree()
		}
		return members
	}
	return nil
}

// float returns the value, or its text, as a number.
func (n node) float() (float64, bool) {
	if n.kind != number && n.kind != str {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(n.text), 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}
