package wire

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"deem"
)

// Sent returns the parameters in the JSON of a call in the form of [deem.Reply.Sent]. A
// parameter inside an object has a path for its name, as "options.temperature". A schema
// is long, so that its hash stands for it. Parameters named by without are left out:
// prompts, which are kept elsewhere, and what is the same in every call.
func Sent(body []byte, without ...string) string {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // A number is shown as it was sent.
	var fields map[string]any
	if d.Decode(&fields) != nil {
		return ""
	}
	for _, name := range without {
		delete(fields, name)
	}
	v := url.Values{}
	flatten(v, "", fields)
	return v.Encode()
}

// schemas are the names under which vendors take a JSON Schema.
var schemas = []string{"schema", "input_schema", "parameters", "responseJsonSchema", "format", "json"}

func flatten(to url.Values, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if sub, ok := field.(map[string]any); ok && slices.Contains(schemas, name) && sub["type"] == "object" {
				to.Set(join(path, name), schemaHash(sub))
				continue
			}
			flatten(to, join(path, name), field)
		}
	case []any:
		for i, element := range value {
			flatten(to, join(path, strconv.Itoa(i)), element)
		}
	case string:
		to.Set(path, value)
	case json.Number:
		to.Set(path, value.String())
	case bool:
		to.Set(path, strconv.FormatBool(value))
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// schemaHash returns a schema as its hash.
func schemaHash(schema map[string]any) string {
	hash, err := deem.Hash(schema)
	if err != nil {
		return "unknown"
	}
	return "sha256:" + deem.ShortHash(hash)
}

// A Drop is a parameter that a wire leaves out if the request has it.
type Drop struct {
	Param string
	Has   bool
	Why   string
}

// Dropped returns what was left out in the form of [deem.Reply.Dropped].
func Dropped(list ...Drop) string {
	v := url.Values{}
	for _, d := range list {
		if d.Has {
			v.Set(d.Param, d.Why)
		}
	}
	return v.Encode()
}
