package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deem"
	"deem/internal/text"
)

// sources are the parts of an item that can fill a slot, in addition to fields.NAME.
var sources = []string{"id", "category", "cluster", "question", "response", "reference", "references", slotCriterion, slotCriteria, slotAspects, slotConversation, slotConversation + ".last"}

func isSource(name string) bool {
	_, turn := turnOf(name)
	return turn || slices.Contains(sources, name)
}

// fieldName returns NAME of "fields.NAME".
func fieldName(from string) (string, bool) {
	name, ok := strings.CutPrefix(from, "fields.")
	return name, ok && name != ""
}

// renderings are the ways to write several references into one slot.
var renderings = []string{"python", "lines", "or", "json"}

var judgeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// check validates the declaration as a whole, after all of it has been read.
func (x *decoder) check(n *yaml.Node) {
	d := &x.d
	switch {
	case d.Name == "" && x.lines["name"] == 0:
		x.bad(n, "the judge has no name")
	case !judgeName.MatchString(d.Name):
		x.badKey("name", "the name %q wants letters, digits and . _ / - only", d.Name)
	}
	if x.lines["prompt"] == 0 {
		x.bad(n, "the judge has no prompt")
	} else if strings.TrimSpace(d.Prompt) == "" && x.problems.Total == 0 {
		x.badKey("prompt", "the prompt is empty")
	}
	switch {
	case x.lines["labels"] == 0 && x.lines["aspects"] == 0:
		x.bad(n, "the judge has neither labels nor aspects, so there is nothing to decide")
	case x.lines["labels"] != 0 && x.lines["aspects"] != 0:
		x.badKey("aspects", "the judge has labels and aspects; it can have one of them")
	case x.lines["labels"] != 0 && len(d.Labels) < 2:
		x.badKey("labels", "the judge has fewer than two labels, so there is nothing to decide")
	case x.lines["aspects"] != 0 && len(d.Aspects) == 0:
		x.badKey("aspects", "the judge has no aspect")
	case d.Pass != nil && len(d.Aspects) == 0 && d.Criteria == nil:
		x.badKey("pass", "a pass mark goes with aspects or criteria; a label counts as its score says")
	}
	x.checkReadings()
	x.checkSchema()
	x.checkPrompts()
}

// badKey reports a problem at a top-level key.
func (x *decoder) badKey(key, format string, args ...any) {
	x.problems.Add(deem.Problem{File: x.file, Line: x.lines[key], Message: fmt.Sprintf(format, args...)})
}

// checkReadings sets the default reading if the declaration has none, and checks that each
// reading can produce the verdict.
func (x *decoder) checkReadings() {
	d := &x.d
	ofAspects := len(d.Aspects) > 0
	if x.lines["read"] == 0 {
		how := "label"
		if ofAspects || x.derive || d.Params.Schema != "" {
			how = "json"
		}
		d.Readings = map[string]Reader{Strict: {How: how}}
	}
	for _, name := range sortedKeys(d.Readings) {
		r := d.Readings[name]
		w, ok := ways[r.How]
		if _, known := parts[r.Part]; !known {
			x.badKey("read", "no part of a reply is called %q; there are %s", r.Part, strings.Join(sortedKeys(parts)[1:], ", "))
		}
		if r.Else != "" && !slices.ContainsFunc(d.Labels, func(l Label) bool { return l.Label == r.Else }) {
			x.badKey("read", "else is %q, which is not one of the labels", r.Else)
		}
		switch {
		case !ok: // reported when it was read
		case ofAspects && w.numbers == nil:
			x.badKey("read", "the way %q reads labels, and this judge has aspects", r.How)
		case !ofAspects && w.label == nil:
			x.badKey("read", "the way %q reads numbers, and this judge has labels", r.How)
		case r.How == "pattern" && len(d.Aspects) > 1:
			x.badKey("read", "the way \"pattern\" reads one number, and this judge has %d aspects", len(d.Aspects))
		case r.Line != "" && (r.How != "label" && r.How != "json" || ofAspects):
			x.badKey("read", "line is for labels read by \"label\" or \"json\", and this reading uses %q", r.How)
		case d.Quotes && (r.How != "json" || r.Line != ""):
			x.badKey("quotes", "quotes are read from JSON, and this reading uses %q; read it with json, and without a line", r.How)
		case (r.Pattern != "") != (r.How == "pattern"):
			x.badKey("read", "a pattern and the way \"pattern\" need each other, as {how: pattern, pattern: 'Verdict: (yes|no)'}")
		default:
			if _, _, err := r.compile(d.labelNames()); err != nil {
				x.badKey("read", "%v", err)
			}
		}
	}
	if len(d.Readings) == 0 && x.problems.Total == 0 {
		x.badKey("read", "there is no way to read a reply")
	}
}

// checkPrompts parses the prompts and checks their slots against the declared ones.
func (x *decoder) checkPrompts() {
	used, from := map[string]bool{}, map[string]bool{}
	shown := false // the prompt shows some part of the item to judge
	for _, src := range x.prompts {
		t, err := parseTemplate(src.text, x.d.Slots)
		if err != nil {
			x.badTemplate(src, err)
			continue
		}
		for _, p := range t.slots() {
			used[p.slot] = true
			list := []string{p.slot}
			if s, ok := x.d.Slots[p.slot]; ok {
				list = s.From
			} else if !isSource(p.slot) {
				msg := fmt.Sprintf("the prompt uses the slot {%s}, which is not declared; declare it under slots, or write {{%s}} for braces", p.slot, p.slot)
				if near := text.Closest(p.slot, append(sortedKeys(x.d.Slots), sources...)); near != "" {
					msg = fmt.Sprintf("the prompt uses the slot {%s}, which is not declared; did you mean {%s}?", p.slot, near)
				}
				x.badTemplate(src, &templateError{p.offset, msg})
			}
			for _, name := range list {
				_, field := fieldName(name)
				_, turn := turnOf(name)
				from[name] = true
				shown = shown || field || turn || name == "response"
			}
		}
	}
	for _, name := range sortedKeys(x.slots) {
		if !used[name] {
			x.problems.Add(deem.Problem{
				File: x.file, Line: x.slots[name],
				Message: fmt.Sprintf("slot %s is declared and the prompt does not use it; write {%s} where it belongs", name, name),
			})
		}
	}
	c, want := x.d.Criteria, slotCriterion
	if !c.each() {
		want = slotCriteria
	}
	switch {
	case c == nil && (from[slotCriterion] || from[slotCriteria]):
		x.badKey("prompt", "the prompt shows criteria, and the judge has none; say which field holds the list, as \"criteria: checklist\"")
	case c != nil && !from[want]:
		x.badKey("prompt", "the prompt does not show what it asks about; write {%s} where it belongs", want)
	case c != nil && from[slotCriterion] && from[slotCriteria]:
		x.badKey("prompt", "the prompt shows {criterion} and {criteria}; a call is about one of them")
	}
	described := slices.ContainsFunc(x.d.Aspects, func(a Aspect) bool { return a.About != "" || len(a.Levels) > 0 })
	switch {
	case described && !from[slotAspects]:
		x.badKey("prompt", "the prompt does not show what the aspects mean; write {aspects} where it belongs")
	case from[slotAspects] && len(x.d.Aspects) == 0:
		x.badKey("prompt", "the prompt shows {aspects}, and the judge has none")
	}
	if x.problems.Total == 0 && !shown {
		x.badKey("prompt", "the prompt does not show the response; write {response} or {conversation} where it belongs")
	}
}

// badTemplate reports an error inside a prompt, at its line in the file.
func (x *decoder) badTemplate(src *source, err error) {
	line := src.line
	if te, ok := errors.AsType[*templateError](err); ok {
		line += strings.Count(src.text[:te.offset], "\n")
	}
	x.problems.Add(deem.Problem{File: src.file, Line: line, Message: err.Error()})
}

// spareable are the parameters that a judge may declare optional.
var spareable = []string{"json", "max_tokens", "schema", "seed", "stop", "temperature", "top_logprobs", "top_p"}

// check checks the parameters against the ranges that all vendors accept.
func (p Params) check() error {
	switch {
	case p.Temperature != nil && (*p.Temperature < 0 || *p.Temperature > 2):
		return fmt.Errorf("temperature %v lies outside 0 to 2", *p.Temperature)
	case p.TopP != nil && (*p.TopP <= 0 || *p.TopP > 1):
		return fmt.Errorf("top_p %v must be above 0 and at most 1", *p.TopP)
	case p.MaxTokens < 0:
		return fmt.Errorf("max_tokens is %d; it must be at least 1", p.MaxTokens)
	case p.TopLogprobs < 0 || p.TopLogprobs > 20:
		return fmt.Errorf("top_logprobs %d lies outside 0 to 20", p.TopLogprobs)
	case p.Schema != "" && !json.Valid([]byte(p.Schema)):
		return errors.New("schema is not JSON")
	}
	for _, name := range p.Optional {
		if !slices.Contains(spareable, name) {
			return fmt.Errorf("optional names %q; a judge can go without %s", name, strings.Join(spareable, ", "))
		}
	}
	return nil
}
