package reports

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
	"deem/internal/doc"
	"deem/judge"
)

// DescribeHarness returns the public information in the spec of a judge: its prompts by their
// bytes, its parameters, and its treatment of categories.
func DescribeHarness(s judge.Spec) doc.Harness {
	d := &describer{params: map[string]string{}}
	d.judge("", s, nil)
	dropped := d.reject()
	slices.SortStableFunc(d.prompts, func(a, b doc.Prompt) int { return cmp.Compare(a.Name, b.Name) })
	return doc.Harness{Prompts: d.prompts, Params: d.params, Dropped: dropped, Policy: strings.Join(d.policy, "; ")}
}

// reject removes the parameters that the model rejects according to its settings, and returns
// them with the reason. A parameter that members of a panel have under the same name is
// removed as well; their replies show whether it was sent.
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

// A describer collects information while it walks a spec.
type describer struct {
	prompts []doc.Prompt
	params  map[string]string
	policy  []string
}

// judge adds the information of a judge and then of its members. who is the name of a
// member, which may have a threshold.
func (d *describer) judge(who string, s judge.Spec, threshold *float64) {
	params, pass := s.Params, s.Pass
	if decl := s.Declaration; decl != nil {
		d.prompt(cmp.Or(who, "prompt"), decl.Prompt)
		d.prompt(strings.TrimSpace(who+" system"), decl.System)
		params, pass = &decl.Params, decl.Pass
	}
	for _, name := range slices.Sorted(maps.Keys(s.Prompts)) {
		d.prompt(strings.TrimSpace(who+" "+name), s.Prompts[name])
	}
	if policy := s.Options["category5"]; policy != "" {
		d.policy = append(d.policy, "category 5 (adversarial): "+policy)
	}
	if rule := s.Options["abstention"]; rule != "" {
		d.policy = append(d.policy, "abstention prompt where the "+rule)
	}
	own := map[string]any{"pass": pass, "quorum": s.Quorum, "rule": s.Rule, "settings": s.Settings, "threshold": threshold, "tie": s.Tie}
	if s.Kind == judge.KindRule {
		own["version"] = s.Version
	}
	if text, err := json.Marshal(params); err == nil && params != nil {
		_ = json.Unmarshal(text, &own) // the JSON is always an object
	}
	delete(own, "optional")
	if schema, ok := own["schema"].(string); ok {
		hash, err := deem.Hash(json.RawMessage(schema))
		if err == nil {
			own["schema"] = "sha256:" + deem.ShortHash(hash)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		d.param(who, key, own[key])
	}
	for _, m := range s.Members {
		d.judge(strings.TrimSpace(who+" "+m.Name), m.Judge, m.Threshold)
	}
}

// prompt adds a text with its hash. The same prompt under the same name is added once.
func (d *describer) prompt(name, text string) {
	if text == "" {
		return
	}
	sum := sha256.Sum256([]byte(text))
	p := doc.Prompt{Name: name, SHA256: hex.EncodeToString(sum[:]), Text: text}
	if !slices.Contains(d.prompts, p) {
		d.prompts = append(d.prompts, p)
	}
}

// param adds a parameter. If two judges have different values, the second is added under
// the judge's name.
func (d *describer) param(who, key string, v any) {
	text, err := deem.Canonical(v)
	value := strings.Trim(string(text), `"`)
	if err != nil || value == "" || value == "null" || value == "0" && (key == "quorum" || key == "version") {
		return
	}
	if old, ok := d.params[key]; ok && old != value {
		key = strings.TrimSpace(who + " " + key)
	}
	d.params[key] = value
}
