package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"deem/internal/doc"
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
		list = append(list, Wire{Model: k.model, Sent: doc.ParseWire(k.sent), Dropped: doc.ParseWire(k.dropped), Replies: counts[k]})
	}
	return list
}

// asked are the parameters of a judge that affect its requests. The parameters as sent
// replace them.
var asked = []string{"json", "max_tokens", "optional", "schema", "seed", "stop", "temperature", "top_logprobs", "top_p", "settings"}

// asSent returns the harness with the parameters as sent in place of those that the judge
// declares. If calls differ, it lists all their values.
func asSent(h doc.Harness, list []Wire) doc.Harness {
	if len(list) == 0 {
		return h
	}
	params := maps.Clone(h.Params)
	settings := doc.ParseWire(params["settings"])
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

// either adds a value to a list of alternatives.
func either(values, value string) string {
	if values == "" || slices.Contains(strings.Split(values, " or "), value) {
		return cmp.Or(values, value)
	}
	return values + " or " + value
}
