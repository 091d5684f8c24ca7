package manual

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An openAPI is what the page about the HTTP API shows of its OpenAPI document.
type openAPI struct {
	Info struct {
		Description string `yaml:"description"`
	} `yaml:"info"`
	Tags []struct {
		Name string `yaml:"name"`
	} `yaml:"tags"`
	Paths      yaml.Node `yaml:"paths"`
	Components struct {
		Schemas    yaml.Node            `yaml:"schemas"`
		Parameters map[string]parameter `yaml:"parameters"`
	} `yaml:"components"`
}

type operation struct {
	Tags        []string    `yaml:"tags"`
	ID          string      `yaml:"operationId"`
	Summary     string      `yaml:"summary"`
	Description string      `yaml:"description"`
	Parameters  []parameter `yaml:"parameters"`
	Body        body        `yaml:"requestBody"`
	Responses   yaml.Node   `yaml:"responses"`
}

type parameter struct {
	Ref         string `yaml:"$ref"`
	Name        string `yaml:"name"`
	In          string `yaml:"in"`
	Required    bool   `yaml:"required"`
	Description string `yaml:"description"`
}

type body struct {
	Description string           `yaml:"description"`
	Content     map[string]media `yaml:"content"`
}

type media struct {
	Schema schema `yaml:"schema"`
}

type schema struct {
	Ref         string    `yaml:"$ref"`
	Type        yaml.Node `yaml:"type"`
	Description string    `yaml:"description"`
	Required    []string  `yaml:"required"`
	Properties  yaml.Node `yaml:"properties"`
	Items       *schema   `yaml:"items"`
	Enum        []any     `yaml:"enum"`
}

// APIPage returns the page about an HTTP API, as Markdown made from its OpenAPI document.
func APIPage(document []byte) ([]byte, error) {
	var d openAPI
	if err := yaml.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# HTTP API reference\n\n%s\n\n[HTTP API](api.md) shows how to use it. "+
		"This page is made from the OpenAPI document, which a server returns at `/api/v1/openapi.json`.\n", d.Info.Description)
	for _, tag := range d.Tags {
		fmt.Fprintf(&b, "\n## %s%s\n", strings.ToUpper(tag.Name[:1]), tag.Name[1:])
		if err := eachOperation(&d, func(method, path string, op operation) error {
			if len(op.Tags) > 0 && op.Tags[0] == tag.Name {
				return writeOperation(&b, &d, method, path, op)
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n## Objects\n")
	err := eachPair(d.Components.Schemas, func(name string, n *yaml.Node) error {
		var s schema
		if err := n.Decode(&s); err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", name, s.Description)
		return writeFields(&b, s)
	})
	return b.Bytes(), err
}

// eachPair calls f for each key of a mapping, in the order of the document.
func eachPair(n yaml.Node, f func(key string, value *yaml.Node) error) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := f(n.Content[i].Value, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func eachOperation(d *openAPI, f func(method, path string, op operation) error) error {
	return eachPair(d.Paths, func(path string, methods *yaml.Node) error {
		return eachPair(*methods, func(method string, n *yaml.Node) error {
			var op operation
			if method == "parameters" {
				return nil
			}
			if err := n.Decode(&op); err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			return f(strings.ToUpper(method), path, op)
		})
	})
}

func writeOperation(b *bytes.Buffer, d *openAPI, method, path string, op operation) error {
	fmt.Fprintf(b, "\n### %s %s\n\n%s\n\n%s\n", method, path, op.Summary, op.Description)
	if len(op.Parameters) > 0 {
		b.WriteString("\n| parameter | in | what it is |\n|---|---|---|\n")
	}
	for _, p := range op.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[lastName(p.Ref)]
		}
		need := ""
		if p.Required {
			need = ", required"
		}
		fmt.Fprintf(b, "| `%s` | %s%s | %s |\n", p.Name, p.In, need, cell(p.Description))
	}
	for kind, m := range sorted(op.Body.Content) {
		fmt.Fprintf(b, "\nBody: %s, `%s`. %s\n", typeOf(m.Schema), kind, op.Body.Description)
	}
	b.WriteByte('\n')
	return eachPair(op.Responses, func(status string, n *yaml.Node) error {
		var r struct {
			Ref  string `yaml:"$ref"`
			body `yaml:",inline"`
		}
		if err := n.Decode(&r); err != nil {
			return err
		}
		if r.Ref != "" {
			fmt.Fprintf(b, "- `%s`: %s\n", status, lastName(r.Ref))
			return nil
		}
		fmt.Fprintf(b, "- `%s`: %s", status, r.Description)
		for kind, m := range sorted(r.Content) {
			fmt.Fprintf(b, " %s, `%s`.", typeOf(m.Schema), kind)
		}
		b.WriteByte('\n')
		return nil
	})
}

// writeFields writes the fields of an object as a table.
func writeFields(b *bytes.Buffer, s schema) error {
	if len(s.Properties.Content) == 0 {
		return nil
	}
	b.WriteString("\n| field | type | what it is |\n|---|---|---|\n")
	return eachPair(s.Properties, func(name string, n *yaml.Node) error {
		var field schema
		if err := n.Decode(&field); err != nil {
			return err
		}
		need := ""
		for _, r := range s.Required {
			if r == name {
				need = ", always"
			}
		}
		fmt.Fprintf(b, "| `%s` | %s%s | %s |\n", name, typeOf(field), need, cell(field.Description))
		return nil
	})
}

// typeOf names the type of a value. An object that has a name is linked.
func typeOf(s schema) string {
	switch {
	case s.Ref != "":
		name := lastName(s.Ref)
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	case s.Items != nil:
		return "list of " + typeOf(*s.Items)
	case len(s.Enum) > 0:
		return strings.Trim(fmt.Sprint(s.Enum), "[]")
	case s.Type.Kind == yaml.SequenceNode:
		var names []string
		for _, n := range s.Type.Content {
			names = append(names, n.Value)
		}
		return strings.Join(names, " or ")
	case s.Type.Value != "":
		return s.Type.Value
	}
	return "any"
}

func lastName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// cell returns a text for a cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// sorted returns the entries of a map by their keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
