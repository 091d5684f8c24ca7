package report

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// A Wire is a set of parameters that a model was called with, under the vendor's names.
type Wire struct {
	Model   string            `json:"model"`
	Sent    map[string]string `json:"sent,omitempty"`
	Dropped map[string]string `json:"dropped,omitempty"` // parameters of the judge that were not sent, and why
	Replies int               `json:"replies"`
}

// wired is a wire before parsing.
type wired struct{ model, sent, dropped string }

// wires returns the wires in a fixed order.
func wires(counts map[wired]int) []Wire {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b wired) int {
		return cmp.Or(cmp.Compare(a.model, b.model), cmp.Compare(a.sent, b.sent), cmp.Compare(a.dropped, b.dropped))
	})
	var list []Wire
	for _, k := range keys {
		list = append(list, Wire{Model: k.model, Sent: parseWire(k.sent), Dropped: parseWire(k.dropped), Replies: counts[k]})
	}
	return list
}

// parseWire parses [deem.Reply.Sent] or [deem.Reply.Dropped].
func parseWire(text string) map[string]string {
	values, err := url.ParseQuery(text)
	if err != nil || len(values) == 0 {
		return nil
	}
	params := map[string]string{}
	for name, v := range values {
		params[name] = strings.Join(v, ", ")
	}
	return params
}

// WireList returns the entries of [deem.Reply.Sent] or [deem.Reply.Dropped], for example
// "max_completion_tokens 8197".
func WireList(text string) []string { return Harness{Params: parseWire(text)}.ParamList() }

// asked are the parameters of a judge that affect its requests. The parameters as sent
// replace them.
var asked = []string{"json", "max_tokens", "optional", "schema", "seed", "stop", "temperature", "top_logprobs", "top_p", "settings"}

// asSent returns the harness with the parameters as sent in place of those that the judge
// declares. If calls differ, it lists all their values.
func (h Harness) asSent(list []Wire) Harness {
	if len(list) == 0 {
		return h
	}
	params := maps.Clone(h.Params)
	settings := parseWire(params["settings"])
	maps.DeleteFunc(params, func(name, _ string) bool {
		return slices.Contains(asked, name[strings.LastIndexByte(name, ' ')+1:]) // "abstention temperature" is one too
	})
	h.Params, h.Dropped = params, nil
	if params == nil {
		h.Params = map[string]string{}
	}
	if room := settings["room"]; room != "" {
		h.Params["room"] = room // part of the limit that was sent, which it explains
	}
	for _, w := range list {
		for name, value := range w.Sent {
			h.Params[name] = either(h.Params[name], value)
		}
		for name, why := range w.Dropped {
			if h.Dropped == nil {
				h.Dropped = map[string]string{}
			}
			h.Dropped[name] = either(h.Dropped[name], why)
		}
	}
	return h
}

// Structured returns how replies were constrained to a schema, "" if the judge has none.
func (h Harness) Structured() string {
	var ways []string
	for _, name := range slices.Sorted(maps.Keys(h.Params)) {
		switch {
		case !strings.HasPrefix(h.Params[name], "sha256:"):
		case strings.HasPrefix(name, "tool"):
			ways = append(ways, "the input of a tool call ("+name+")")
		case name == "format":
			ways = append(ways, "a grammar ("+name+")")
		case name != "schema": // the judge's own schema, before the first reply
			ways = append(ways, "a JSON schema ("+name+")")
		}
	}
	if h.Dropped["schema"] != "" {
		ways = append(ways, "no schema: it was not sent")
	}
	return strings.Join(ways, " or ")
}

// either adds a value to a list of alternatives.
func either(values, value string) string {
	if values == "" || slices.Contains(strings.Split(values, " or "), value) {
		return cmp.Or(values, value)
	}
	return values + " or " + value
}

// DroppedList returns the parameters that were not sent, in a fixed order, for example
// "temperature: the model rejects it".
func (h Harness) DroppedList() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(h.Dropped)) {
		list = append(list, name+": "+h.Dropped[name])
	}
	return list
}
