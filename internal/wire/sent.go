package wire

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"deem"
)

// Sent returns the parameters in the JSON of a call in the format of [deem.Reply.Sent]. A
// parameter inside an object is named by its path, for example "options.temperature". A
// schema is long and represented by its hash. Parameters listed in without are omitted:
// prompts, which are stored elsewhere, and constants.
func Sent(params any, without ...string) string {
	body, err := Encode(params)
	if err != nil {
		return ""
	}
	call := string(body) + strings.Join(without, " ")
	sentBefore.Lock()
	defer sentBefore.Unlock()
	if text, ok := sentBefore.of[call]; ok {
		return text
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // Show numbers as they were sent.
	var fields map[string]any
	if d.Decode(&fields) != nil {
		return ""
	}
	for _, name := range without {
		delete(fields, name)
	}
	v := url.Values{}
	flatten(v, "", fields)
	if len(sentBefore.of) >= 64 {
		clear(sentBefore.of)
	}
	sentBefore.of[call] = v.Encode()
	return sentBefore.of[call]
}

// sentBefore has the results of Sent by its arguments: nearly all calls of a run have the
// same parameters.
var sentBefore = struct {
	sync.Mutex
	of map[string]string
}{of: map[string]string{}}

// schemas are the vendors' names for a JSON Schema.
var schemas = []string{"schema", "input_schema", "parameters", "responseJsonSchema", "format", "json"}

func flatten(to url.Values, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if sub, ok := field.(map[string]any); ok && slices.Contains(schemas, name) && sub["type"] == "object" {
				shown := "unknown"
				if hash, err := deem.Hash(sub); err == nil {
					shown = "sha256:" + deem.ShortHash(hash)
				}
				to.Set(join(path, name), shown)
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

// A Drop is a parameter that a wire omits if the request has it.
type Drop struct {
	Param string
	Has   bool
	Why   string
}

// Dropped returns the omitted parameters in the format of [deem.Reply.Dropped].
func Dropped(list ...Drop) string {
	v := url.Values{}
	for _, d := range list {
		if d.Has {
			v.Set(d.Param, d.Why)
		}
	}
	return v.Encode()
}
