package labels

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"deem"
	"deem/internal/rows"
)

// formatYAML is a format that package dataset does not read. YAML is for files written by
// hand, such as labels.
const formatYAML = "yaml"

// isYAML reports whether a file is read as YAML.
func (r *reader) isYAML(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return r.src.Format == formatYAML || r.src.Format == "" && (ext == ".yaml" || ext == ".yml")
}

// yamlFile reads the only value of a file written by hand.
func (r *reader) yamlFile(name string) ([]rows.Value, error) {
	var data []byte
	var err error
	if name == "-" && r.src.Stdin != nil {
		data, err = io.ReadAll(r.src.Stdin)
	} else if data, err = os.ReadFile(name); err != nil {
		err = fmt.Errorf("read labels: %w", err)
	}
	if err != nil {
		return nil, err
	}
	root, wrong := parseYAML(data)
	switch {
	case wrong.Message != "":
		r.bad(name, wrong.Line, "", "%s", wrong.Message)
		return nil, nil
	case root == nil:
		return nil, nil
	}
	left := mostNodes
	value := yamlNode(root, &left)
	if left <= 0 {
		r.bad(name, 0, "", "the file has more than %d values, because aliases repeat parts of it", mostNodes)
		return nil, nil
	}
	return []rows.Value{{Node: value, File: name, Line: 1}}, nil
}

// mostNodes limits the values of a file: aliases can repeat each other, so that a short file
// has more values than memory can hold, or infinitely many.
const mostNodes = 1_000_000

// yamlNode returns a value as package rows has it. Scalars are texts, as they are spelled,
// and a value without a text is missing: the label is still to come.
func yamlNode(n *yaml.Node, left *int) rows.Node {
	n = resolve(n)
	if *left--; *left <= 0 {
		return rows.Node{}
	}
	v := rows.Node{Line: n.Line}
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		v.Kind, v.Text = rows.String, n.Value
	case n.Kind == yaml.SequenceNode:
		v.Kind = rows.List
		for _, e := range n.Content {
			v.Vals = append(v.Vals, yamlNode(e, left))
		}
	case n.Kind == yaml.MappingNode:
		v.Kind = rows.Object
		for i := 0; i+1 < len(n.Content); i += 2 {
			v.Keys, v.Vals = append(v.Keys, resolve(n.Content[i]).Value), append(v.Vals, yamlNode(n.Content[i+1], left))
		}
	}
	return v
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// parseYAML returns the root of a document, or nil if it is empty. The problem has a message
// if the text is not YAML.
func parseYAML(data []byte) (*yaml.Node, deem.Problem) {
	var doc yaml.Node
	err := yaml.Unmarshal(data, &doc)
	switch {
	case err == nil && len(doc.Content) == 0:
		return nil, deem.Problem{}
	case err == nil:
		return resolve(doc.Content[0]), deem.Problem{}
	}
	msg := err.Error()
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		line, _ := strconv.Atoi(m[1]) // the pattern matches only digits
		return nil, deem.Problem{Line: line, Message: "no YAML: " + msg[len(m[0]):]}
	}
	return nil, deem.Problem{Message: "no YAML: " + strings.TrimPrefix(msg, "yaml: ")}
}

// resolve returns the target of an alias node.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
