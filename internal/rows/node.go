package rows

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

	"deem/internal/text"
)

// A Kind is the kind of a JSON value.
type Kind uint8

// The kinds of values. Missing means that there is no such value, or null.
const (
	Missing Kind = iota
	Bool
	Number
	String
	List
	Object
)

// A Node is a JSON value. Members keep the order of the file, because the order of
// conversations is that of the items.
type Node struct {
	Kind Kind
	Text string // a string, or a number or boolean as spelled in the file
	Line int    // where an object begins, from 1 for the first line of the parsed text

	Keys []string // of an object
	Vals []Node   // of an object or a list
}

// Text returns the node of a string.
func Text(s string) Node { return Node{Kind: String, Text: s} }

// deepest is the maximum nesting depth. Logs of tools that call tools are the deepest in
// practice, with some thirty levels.
const deepest = 200

// Parse parses one JSON value and nothing after it. Python programs write NaN for a missing
// number, for example inspect in its logs; it is read as null.
func Parse(data []byte) (Node, error) {
	n, err := parseJSON(data)
	if err == nil {
		return n, nil
	}
	if finite := text.FiniteJSON(string(data)); finite != string(data) {
		if n, err := parseJSON([]byte(finite)); err == nil {
			return n, nil
		}
	}
	return Node{}, err
}

func parseJSON(data []byte) (Node, error) {
	p := parser{dec: json.NewDecoder(bytes.NewReader(data)), data: data, line: 1}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Node{}, fmt.Errorf("not JSON at byte %d: %w", p.dec.InputOffset(), err)
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return Node{}, fmt.Errorf("the value is followed by something at byte %d", p.dec.InputOffset())
	}
	return n, nil
}

// A parser counts the lines of a text that it decodes.
type parser struct {
	dec  *json.Decoder
	data []byte
	seen int // the bytes whose lines are counted
	line int
}

// here returns the line of the last token.
func (p *parser) here() int {
	at := int(p.dec.InputOffset())
	p.line += bytes.Count(p.data[p.seen:at], []byte{'\n'})
	p.seen = at
	return p.line
}

func (p *parser) value(depth int) (Node, error) {
	token, err := p.dec.Token()
	if err != nil {
		return Node{}, err
	}
	switch t := token.(type) {
	case bool:
		return Node{Kind: Bool, Text: strconv.FormatBool(t)}, nil
	case json.Number:
		return Node{Kind: Number, Text: t.String()}, nil
	case string:
		return Text(t), nil
	case json.Delim:
		if depth == deepest {
			return Node{}, fmt.Errorf("values are nested more than %d deep", deepest)
		}
		n := Node{Kind: List}
		if t == '{' {
			n.Kind, n.Line = Object, p.here()
		}
		for p.dec.More() {
			if n.Kind == Object {
				key, err := p.dec.Token()
				if err != nil {
					return Node{}, err
				}
				name, _ := key.(string) // the decoder accepts nothing else there
				n.Keys = append(n.Keys, name)
			}
			v, err := p.value(depth + 1)
			if err != nil {
				return Node{}, err
			}
			n.Vals = append(n.Vals, v)
		}
		_, err := p.dec.Token()
		return n, err
	}
	return Node{}, nil
}

// Member returns the member of an object with that name. Of duplicates the last one counts,
// as in Python.
func (n Node) Member(name string) Node {
	for i := len(n.Keys) - 1; i >= 0; i-- {
		if n.Keys[i] == name {
			return n.Vals[i]
		}
	}
	return Node{}
}

// Named returns the member of an object that has a name of a part, and a value. The stronger
// name wins.
func (n Node) Named(part string) Node { return n.First(Names(part)...) }

// First returns the value of the first of the columns that has one. Columns are names or
// dotted paths, compared by [Plain].
func (n Node) First(names ...string) Node {
	for _, name := range names {
		plain := Plain(name)
		head, rest, deeper := strings.Cut(plain, ".")
		for i, key := range n.Keys {
			v := n.Vals[i]
			switch key := Plain(key); {
			case key == plain && v.Kind != Missing:
				return v
			case deeper && key == head:
				if inner := v.First(rest); inner.Kind != Missing {
					return inner
				}
			}
		}
	}
	return Node{}
}

// Has reports whether the object has a member of that name, possibly null.
func (n Node) Has(name string) bool { return slices.Contains(n.Keys, name) }

// At returns the value at a dotted path. A name with dots takes precedence over a path, and
// a number is an index into a list, from 0.
func (n Node) At(path string) Node {
	if path == "" || n.Kind == Object && n.Has(path) {
		return n.Index(path)
	}
	head, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		return n.Index(head)
	}
	return n.Index(head).At(rest)
}

// Reaches reports whether the object has a member at a dotted path, possibly null.
func (n Node) Reaches(path string) bool {
	if n.Kind != Object || n.Has(path) {
		return n.Has(path)
	}
	head, rest, deeper := strings.Cut(path, ".")
	return deeper && n.Member(head).Reaches(rest)
}

// Index returns the member of an object, or the element of a list whose number, from 0, is
// the name. The empty name is the value itself.
func (n Node) Index(name string) Node {
	switch {
	case name == "":
		return n
	case n.Kind == List:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Vals) {
			return n.Vals[i]
		}
		return Node{}
	}
	return n.Member(name)
}

// IsScalar reports whether the value is a text, a number or a boolean.
func (n Node) IsScalar() bool { return n.Kind == String || n.Kind == Number || n.Kind == Bool }

// Blank reports whether there is no value, or only white space.
func (n Node) Blank() bool {
	return n.Kind == Missing || n.Kind == String && strings.TrimSpace(n.Text) == ""
}

// Str returns the value as Python's str writes it, and "" for none.
func (n Node) Str() string {
	switch n.Kind {
	case Missing:
		return ""
	case String:
		return n.Text
	}
	return text.Str(n.tree())
}

// tree returns the value as encoding/json would.
func (n Node) tree() any {
	switch n.Kind {
	case Bool:
		return n.Text == "true"
	case Number:
		return json.Number(n.Text)
	case String:
		return n.Text
	case List:
		values := make([]any, len(n.Vals))
		for i, v := range n.Vals {
			values[i] = v.tree()
		}
		return values
	case Object:
		members := make(map[string]any, len(n.Keys))
		for i, key := range n.Keys {
			members[key] = n.Vals[i].tree()
		}
		return members
	}
	return nil
}

// Float returns the value, or its text, as a number.
func (n Node) Float() (float64, bool) {
	if n.Kind != Number && n.Kind != String {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(n.Text), 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// Elements returns the elements of a list, or the value itself.
func (n Node) Elements() []Node {
	if n.Kind == List {
		return n.Vals
	}
	return []Node{n}
}

// Texts returns the elements that are not blank, as texts.
func (n Node) Texts() []string {
	var list []string
	for _, e := range n.Elements() {
		if !e.Blank() {
			list = append(list, e.Str())
		}
	}
	return list
}

// AppendJSON writes the value as JSON, in the order of the file.
func (n Node) AppendJSON(to []byte) []byte {
	switch n.Kind {
	case Bool, Number:
		return append(to, n.Text...)
	case String:
		return appendString(to, n.Text)
	case List:
		to = append(to, '[')
		for i, v := range n.Vals {
			if i > 0 {
				to = append(to, ',')
			}
			to = v.AppendJSON(to)
		}
		return append(to, ']')
	case Object:
		to = append(to, '{')
		for i, key := range n.Keys {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendString(to, key), ':')
			to = n.Vals[i].AppendJSON(to)
		}
		return append(to, '}')
	}
	return append(to, "null"...)
}

func appendString(to []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // every string can be marshaled
	}
	return append(to, quoted...)
}
