package labels

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"deem"
)

// formatYAML is a format that package dataset does not read. YAML is for files written by
// hand, such as labels.
const formatYAML = "yaml"

// yamlFile reads labels written by hand: a list, a list under a key, such as
//
//	judge_hash: 3f9c2a10b7e4
//	labels:
//	  - {id: q1, output: "In March.", label: PASS}
//
// or a label for each id, such as "q1: PASS".
func (r *reader) yamlFile(name string) error {
	var data []byte
	var err error
	if name == "-" && r.src.Stdin != nil {
		data, err = io.ReadAll(r.src.Stdin)
	} else if data, err = os.ReadFile(name); err != nil {
		err = fmt.Errorf("read labels: %w", err)
	}
	if err != nil {
		return err
	}
	root, wrong := parseYAML(data)
	switch {
	case wrong.Message != "":
		r.bad(name, wrong.Line, "", "%s", wrong.Message)
	case root == nil:
	case root.Kind == yaml.SequenceNode:
		r.yamlList(name, root)
	case root.Kind == yaml.MappingNode:
		r.yamlMapping(name, root)
	default:
		r.bad(name, root.Line, "", "the file wants a list of labels, or a label for each id")
	}
	return nil
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

func (r *reader) yamlMapping(name string, root *yaml.Node) {
	var lists, rest []*yaml.Node // the values of lists; the keys and values of others
	var h head
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], resolve(root.Content[i+1])
		plain := value.Kind == yaml.ScalarNode
		switch {
		case plain && key.Value == "judge_hash":
			h.JudgeHash = value.Value
		case plain && key.Value == "annotator":
			h.Annotator = value.Value
		case plain && key.Value == "scale":
			x, err := strconv.ParseFloat(value.Value, 64)
			if err != nil || !(x > 0) {
				r.bad(name, value.Line, "", "the scale %q is not a positive number", value.Value)
			}
			h.Scale = x
		case value.Kind == yaml.SequenceNode:
			lists = append(lists, value)
		default:
			rest = append(rest, key, value)
		}
	}
	r.head(h, name, root.Line)
	switch len(lists) {
	case 0:
		r.yamlByID(name, rest)
	case 1:
		r.yamlList(name, lists[0])
	default:
		r.bad(name, lists[1].Line, "", "the file has two lists, and it does not say which one holds the labels")
	}
}

func (r *reader) yamlList(name string, list *yaml.Node) {
	for _, n := range list.Content {
		if n = resolve(n); n.Kind != yaml.MappingNode {
			r.bad(name, n.Line, "", "a label wants keys and values, as {id: q1, label: yes}")
			continue
		}
		r.take(yamlRow(name, n))
	}
}

// yamlByID reads a label for each id.
func (r *reader) yamlByID(name string, pairs []*yaml.Node) {
	for i := 0; i+1 < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		rw := row{file: name, line: key.Line, names: []string{"item", "label"}}
		inner := func(string) (string, bool) { return "", false }
		if value.Kind == yaml.MappingNode {
			below := yamlRow(name, value)
			inner, rw.names = below.get, append([]string{"item"}, below.names...)
		}
		rw.get = func(column string) (string, bool) {
			switch {
			case column == "item":
				return key.Value, true
			case column == "label" && value.Kind == yaml.ScalarNode:
				return scalar(value)
			}
			return inner(column)
		}
		r.take(rw)
	}
}

// yamlRow returns a mapping as a row.
func yamlRow(name string, n *yaml.Node) row {
	rw := row{file: name, line: n.Line}
	values := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		rw.names = append(rw.names, n.Content[i].Value)
		values[n.Content[i].Value] = resolve(n.Content[i+1])
	}
	rw.get = func(column string) (string, bool) {
		if v, ok := values[column]; ok {
			return scalar(v)
		}
		return "", false
	}
	return rw
}

// scalar returns the text of a scalar, and reports false for anything else. An empty value
// is an empty text: the label is still to come.
func scalar(n *yaml.Node) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return "", false
	}
	return n.Value, true
}
