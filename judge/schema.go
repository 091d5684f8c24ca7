package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deem"
)

// readSchema reads params.schema: true for the schema derived from labels, aspects and
// criteria, or the user's JSON Schema. It is kept as text, because models write properties
// in the order in which the schema lists them.
func (x *decoder) readSchema(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		x.truth(n, "schema", &x.derive)
		return
	}
	var tree map[string]any
	if err := n.Decode(&tree); err != nil { // This also rejects an alias that contains itself.
		x.bad(n, "schema wants true or a JSON Schema: %v", err)
		return
	}
	if name, ok := tree["file"].(string); ok && len(tree) == 1 {
		data, err := x.read(name)
		if err != nil {
			x.bad(n, "%v", err)
			return
		}
		x.d.Params.Schema = strings.TrimSpace(string(data))
		return
	}
	x.d.Params.Schema = jsonOf(n)
}

// jsonOf returns a node as JSON and keeps the order of keys.
func jsonOf(n *yaml.Node) string {
	n = resolve(n)
	var list []string
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			list = append(list, quoted(n.Content[i].Value)+":"+jsonOf(n.Content[i+1]))
		}
		return "{" + strings.Join(list, ",") + "}"
	case yaml.SequenceNode:
		for _, c := range n.Content {
			list = append(list, jsonOf(c))
		}
		return "[" + strings.Join(list, ",") + "]"
	default:
		var v any
		_ = n.Decode(&v) // The whole document was decoded before.
		return quoted(v)
	}
}

// quoted returns a value as JSON, or null if it has no JSON form, such as infinity.
func quoted(v any) string {
	text, err := deem.Canonical(v)
	if err != nil {
		return "null"
	}
	return string(text)
}

// jsonWays are the parsers that find a verdict in JSON.
var jsonWays = []string{"json", "ladder", "loads"}

// checkSchema derives the schema, or checks the user's schema against the keys that are
// read from a reply.
func (x *decoder) checkSchema() {
	d := &x.d
	if !x.derive && d.Params.Schema == "" || x.problems.Total > 0 {
		return
	}
	for _, name := range sortedKeys(d.Readings) {
		if how := d.Readings[name].How; !slices.Contains(jsonWays, how) {
			x.badKey("params", "params.schema has the model reply in JSON, which the way %q does not read; read it with json", how)
		}
	}
	if x.derive {
		d.Params.Schema = d.schema()
		return
	}
	var own struct {
		Type       string         `json:"type"`
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal([]byte(d.Params.Schema), &own); err != nil || own.Type != "object" {
		x.badKey("params", "params.schema is not the JSON Schema of an object, which begins with \"type: object\"")
		return
	}
	for _, p := range d.verdictProperties() {
		if own.Properties[p.name] == nil && (d.Criteria == nil || d.Criteria.each()) {
			x.badKey("params", "params.schema has no property %q, in which the verdict is looked for", p.name)
		}
	}
}

// A property is a name in a JSON Schema with the schema of its value.
type property struct{ name, schema string }

// verdictProperties returns the properties of a reply that contain the verdict.
func (d *Declaration) verdictProperties() []property {
	if len(d.Labels) > 0 {
		key := cmp.Or(d.Readings[d.defaultReading()].Key, "label")
		return []property{{key, `{"type":"string","enum":` + quoted(d.labelNames()) + `}`}}
	}
	var list []property
	for _, a := range d.Aspects {
		kind := "number"
		if a.Integer {
			kind = "integer"
		}
		list = append(list, property{a.Name, fmt.Sprintf(`{"type":%q,"minimum":%s,"maximum":%s}`, kind, quoted(a.Min), quoted(a.Max))})
	}
	return list
}

// schema returns the JSON Schema of a reply: the explanation if the parser names a key for
// it, then the label or the numbers. For several criteria it is a list of such objects.
func (d *Declaration) schema() string {
	var list []property
	if reason := d.Readings[d.defaultReading()].Reason; reason != "" {
		list = append(list, property{reason, `{"type":"string"}`})
	}
	if d.Quotes {
		list = append(list, property{quoteKey, `{"type":"string"}`})
	}
	list = append(list, d.verdictProperties()...)
	if d.Criteria == nil || d.Criteria.each() {
		return objectSchema(list)
	}
	entry := objectSchema(append([]property{{slotCriterion, `{"type":"integer"}`}}, list...))
	return objectSchema([]property{{"verdicts", `{"type":"array","items":` + entry + `}`}})
}

// objectSchema returns the schema of an object with exactly these properties, as vendors
// require of a schema that they enforce.
func objectSchema(list []property) string {
	var names, properties []string
	for _, p := range list {
		names = append(names, quoted(p.name))
		properties = append(properties, quoted(p.name)+":"+p.schema)
	}
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`, strings.Join(properties, ","), strings.Join(names, ","))
}
