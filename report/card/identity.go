package card

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"deem"
	"deem/report"
)

// Describe returns what the identity of a judge says that a stranger wants to know: its
// prompts by their bytes, its parameters, and what it does with categories. An identity
// is JSON that every kind of judge writes in its own form, so it is searched by the
// names that all of them use. Of a form that is not known nothing is said, and the hash
// beside it still tells judges apart.
func Describe(identity []byte) report.Harness {
	var root any
	if json.Unmarshal(identity, &root) != nil {
		return report.Harness{}
	}
	d := &describer{params: map[string]string{}}
	d.walk(nil, root)
	dropped := d.reject()
	slices.SortStableFunc(d.prompts, func(a, b report.Prompt) int { return cmp.Compare(a.Name, b.Name) })
	return report.Harness{Prompts: d.prompts, Params: d.params, Dropped: dropped, Policy: strings.Join(d.policy, "; ")}
}

// reject takes parameters away that the settings of the model say it rejects, and returns
// them with the reason. With them go those of the judges of a panel: which of them are sent
// their replies tell.
func (d *describer) reject() map[string]string {
	settings, err := url.ParseQuery(d.params["settings"])
	if err != nil || !settings.Has("rejects") {
		return nil
	}
	dropped := map[string]string{}
	for name := range strings.SplitSeq(settings.Get("rejects"), ",") {
		if _, ok := d.params[name]; ok {
			delete(d.params, name)
			dropped[name] = "the model rejects it"
		}
	}
	return dropped
}

// A describer gathers while it goes through an identity.
type describer struct {
	prompts []report.Prompt
	params  map[string]string
	policy  []string
}

// params are the keys that change what a judge decides and are no text.
var params = []string{
	"json", "max_tokens", "pass", "quorum", "rule", "seed", "settings", "stop", "temperature", "threshold", "tie", "top_logprobs",
	"top_p", "version",
}

// frames are the keys that say where something stands and not what it is.
var frames = []string{"protocol", "declaration", "params", "options", "prompts", "rules", "judge", "members", "stages"}

// walk goes through a value in the order of its keys.
func (d *describer) walk(path []string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !d.take(path, key, v[key]) {
				d.walk(append(slices.Clone(path), key), v[key])
			}
		}
	case []any:
		for _, e := range v {
			d.walk(member(path, e), e)
		}
	}
}

// member returns the path of one of several: its name tells it from the others.
func member(path []string, v any) []string {
	if m, ok := v.(map[string]any); ok {
		if name, ok := m["name"].(string); ok && name != "" {
			return append(slices.Clone(path), name)
		}
	}
	return path
}

// take enters what a key means, and reports whether it means anything here.
func (d *describer) take(path []string, key string, v any) bool {
	text, isText := v.(string)
	last := ""
	if len(path) > 0 {
		last = path[len(path)-1]
	}
	switch {
	case isText && (key == "prompt" || key == "system" || last == "prompts"):
		d.prompt(named(path, key), text)
	case isText && key == "category_5":
		d.policy = append(d.policy, "category 5 (adversarial): "+text)
	case isText && key == "abstention":
		d.policy = append(d.policy, "abstention prompt where the "+text)
	case slices.Contains(params, key) && last != "slots":
		d.param(path, key, v)
	default:
		return false
	}
	return true
}

// prompt enters a text with its hash. The same prompt under the same name is one.
func (d *describer) prompt(name, text string) {
	if text == "" {
		return
	}
	sum := sha256.Sum256([]byte(text))
	p := report.Prompt{Name: name, SHA256: hex.EncodeToString(sum[:]), Text: text}
	if !slices.Contains(d.prompts, p) {
		d.prompts = append(d.prompts, p)
	}
}

// param enters a parameter. One that is given twice with two values keeps the place it
// stands at in its name.
func (d *describer) param(path []string, key string, v any) {
	value, ok := v.(string)
	if !ok {
		text, err := deem.Canonical(v)
		if err != nil {
			return
		}
		value = string(text)
	}
	if value == "" || value == "null" {
		return
	}
	if old, ok := d.params[key]; ok && old != value {
		key = named(path, key)
	}
	d.params[key] = value
}

// named returns the name of what stands at a path: "prompt", or "abstention" of a judge
// that has a second one for that.
func named(path []string, key string) string {
	var parts []string
	for _, p := range path {
		if !slices.Contains(frames, p) {
			parts = append(parts, p)
		}
	}
	if key != "prompt" || len(parts) == 0 {
		parts = append(parts, key)
	}
	return strings.Join(parts, " ")
}
