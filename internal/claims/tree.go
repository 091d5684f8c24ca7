package claims

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

func (g *grid) yaml(data []byte) error {
	var doc yaml.Node
	err := yaml.Unmarshal(data, &doc)
	if err != nil {
		line, message := 1, strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(message); m != nil {
			line, _ = strconv.Atoi(m[1]) // digits
			message = m[2]
		}
		return g.problem(line, "%s", message)
	}
	if len(doc.Content) == 0 {
		return g.problem(1, "the file is empty")
	}
	return g.tree(doc.Content[0])
}

// json parses JSON into YAML nodes, which keep lines, and numbers as written.
func (g *grid) json(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	root, err := jsonNode(dec, data)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return g.tree(root)
		}
		err = errors.New("there is more after the end of the JSON value")
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	at := dec.InputOffset()
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = e.Offset
	}
	return g.problem(lineAt(data, at), "%v", err)
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte("\n"))
}

// jsonNode parses one value.
func jsonNode(dec *json.Decoder, data []byte) (*yaml.Node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: lineAt(data, dec.InputOffset())}
	switch v := token.(type) {
	case json.Delim:
		n.Kind = yaml.SequenceNode
		if v == '{' {
			n.Kind = yaml.MappingNode
		}
		for dec.More() {
			child, err := jsonNode(dec, data)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err = dec.Token() // the closing bracket
	case json.Number:
		n.Value = v.String()
	case string:
		n.Value = v
	case bool:
		n.Value = strconv.FormatBool(v)
	case nil:
		n.Tag = "!!null"
	}
	return n, err
}

// tree converts a YAML or JSON file into a grid. The file is a list of rows, or an object
// with rows (or systems), and optionally columns, sizes, total and benchmark.
func (g *grid) tree(root *yaml.Node) error {
	var rows, columns, sizes *yaml.Node
	if root.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(root.Content); i += 2 {
			key, value := root.Content[i], target(root.Content[i+1])
			switch key.Value {
			case "rows", "systems":
				rows = value
			case "columns":
				columns = value
			case "sizes":
				sizes = value
			case "benchmark":
				g.benchmark = field{value.Value, value.Line}
			case "total":
				g.total = field{value.Value, value.Line}
			default:
				return g.problem(key.Line, "unknown key %q; there are rows, columns, sizes, total and benchmark", key.Value)
			}
		}
	} else {
		rows = root
	}
	if rows == nil || rows.Kind != yaml.MappingNode && rows.Kind != yaml.SequenceNode {
		return g.problem(root.Line, "there are no rows: write rows: as a list, or by the names of systems")
	}
	b := &builder{grid: g, head: []field{{"", root.Line}}}
	if columns != nil {
		for _, c := range columns.Content {
			b.head = append(b.head, field{target(c).Value, c.Line})
		}
		b.fixed = true
	}
	var list [][]field
	add := func(name field, n *yaml.Node) error {
		row, err := b.row(name, n)
		list = append(list, row)
		return err
	}
	if sizes != nil {
		if err := add(field{"n", sizes.Line}, sizes); err != nil {
			return err
		}
	}
	for i, n := range rows.Content {
		var err error
		switch {
		case rows.Kind == yaml.SequenceNode:
			err = add(field{"row " + strconv.Itoa(i+1), n.Line}, target(n))
		case i%2 == 1:
			err = add(field{rows.Content[i-1].Value, rows.Content[i-1].Line}, target(n))
		}
		if err != nil {
			return err
		}
	}
	g.rows = append([][]field{b.head}, list...)
	return nil
}

// target follows an alias to another node of the file.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// A builder makes rows from nodes. Columns are added as they appear unless they are fixed.
type builder struct {
	grid  *grid
	head  []field
	fixed bool
}

// rowNames are the keys with the name of a row.
var rowNames = []string{"name", "system", "method", "model"}

// row makes a row from a list, or from an object with a key for each column.
func (b *builder) row(name field, n *yaml.Node) ([]field, error) {
	row := []field{name}
	switch n.Kind {
	case yaml.SequenceNode:
		for _, c := range n.Content {
			text, err := b.scalar(c)
			if err != nil {
				return nil, err
			}
			row = append(row, text)
		}
		if !b.fixed {
			return nil, b.grid.problem(n.Line, "a row that is a list needs columns: that say what its numbers are")
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			text, err := b.scalar(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			if slices.Contains(rowNames, strings.ToLower(key.Value)) {
				row[0] = text
				continue
			}
			at := slices.IndexFunc(b.head[1:], func(f field) bool { return fold(f.text) == fold(key.Value) }) + 1
			if at == 0 && b.fixed {
				return nil, b.grid.problem(key.Line, "%q is not among the columns", key.Value)
			}
			if at == 0 {
				at, b.head = len(b.head), append(b.head, field{key.Value, key.Line})
			}
			for len(row) <= at {
				row = append(row, field{"", key.Line})
			}
			row[at] = text
		}
	default:
		return nil, b.grid.problem(n.Line, "a row is a list of numbers, or an object with a key for each column")
	}
	return row, nil
}

func (b *builder) scalar(n *yaml.Node) (field, error) {
	line := n.Line
	n = target(n)
	if n.Kind != yaml.ScalarNode {
		return field{}, b.grid.problem(line, "a number or a text must stand here")
	}
	if n.Tag == "!!null" {
		return field{"", line}, nil
	}
	return field{n.Value, line}, nil
}
