package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"deem"
	"deem/internal/text"
)

// readerVersion is increased whenever a parser may return a different verdict for the same
// reply, so that the judge's hash changes too.
const readerVersion = 2

// A declaredProtocol is the protocol of a declaration, with one of its readings.
type declaredProtocol struct {
	decl    Declaration
	reading string
	system  template
	prompt  template

	forms    map[string]*Form          // by the line that a parser demands
	patterns map[string]*regexp.Regexp // by their text
}

var _ Readable = (*declaredProtocol)(nil)

// Protocol returns the protocol with the named reading; "" means the default one. If the
// judge is asked about each criterion separately, the protocol is a [Dialogue].
func (d *Declaration) Protocol(reading string) (Readable, error) {
	if reading == "" {
		reading = d.defaultReading()
	}
	if _, ok := d.Readings[reading]; !ok {
		return nil, fmt.Errorf("judge %s has no reading %q; it has %s", d.Name, reading, strings.Join(sortedKeys(d.Readings), ", "))
	}
	if err := d.Params.check(); err != nil {
		return nil, fmt.Errorf("judge %s: %w", d.Name, err)
	}
	switch {
	case d.Pass == nil:
	case len(d.Aspects) == 0 && d.Criteria == nil:
		return nil, fmt.Errorf("judge %s: it has labels and no pass mark", d.Name)
	case !(*d.Pass >= 0 && *d.Pass <= 1):
		return nil, fmt.Errorf("judge %s: pass mark %v lies outside 0 to 1", d.Name, *d.Pass)
	}
	p := &declaredProtocol{decl: *d, reading: reading, forms: map[string]*Form{}, patterns: map[string]*regexp.Regexp{}}
	for _, r := range d.Readings {
		form, pattern, err := r.compile(d.labelNames())
		if err != nil {
			return nil, fmt.Errorf("judge %s: %w", d.Name, err)
		}
		p.forms[r.Line], p.patterns[r.Pattern] = form, pattern
	}
	var err error
	if p.system, err = parseTemplate(d.System, d.Slots); err != nil {
		return nil, fmt.Errorf("judge %s: system text: %w", d.Name, err)
	}
	if p.prompt, err = parseTemplate(d.Prompt, d.Slots); err != nil {
		return nil, fmt.Errorf("judge %s: prompt: %w", d.Name, err)
	}
	return p.readable(), nil
}

// compile returns the form and the pattern that a parser needs.
func (r Reader) compile(labels []string) (*Form, *regexp.Regexp, error) {
	form, err := NewForm(r.Line, labels...)
	if err != nil || r.How != "pattern" {
		return form, nil, err
	}
	pattern, err := regexp.Compile(r.Pattern)
	if err == nil && pattern.NumSubexp() != 1 {
		err = fmt.Errorf("the pattern %q has %d groups; it needs one, in parentheses, that matches the verdict", r.Pattern, pattern.NumSubexp())
	}
	return form, pattern, err
}

// readable returns the protocol as a dialogue if it makes one call per criterion.
func (p *declaredProtocol) readable() Readable {
	if p.decl.Criteria.each() {
		return perCriterion{p}
	}
	return p
}

// Name returns the judge's name.
func (p *declaredProtocol) Name() string { return p.decl.Name }

// Reading returns the name of the current reading.
func (p *declaredProtocol) Reading() string { return p.reading }

// FailuresWrong returns the FailuresWrong field of the declaration.
func (p *declaredProtocol) FailuresWrong() bool { return p.decl.FailuresWrong }

// Reread returns the protocol with its other reading.
func (p *declaredProtocol) Reread() Readable {
	for _, name := range sortedKeys(p.decl.Readings) {
		if name != p.reading {
			other := *p
			other.reading = name
			return other.readable()
		}
	}
	return nil
}

// Spec returns the declaration, including the bytes of the prompt, and the reading.
func (p *declaredProtocol) Spec() Spec {
	return Spec{Kind: KindModel, Name: p.decl.Name, Version: readerVersion, Reading: p.reading, Declaration: &p.decl}
}

// sound returns an error if the declaration cannot be used. A parsed declaration is always
// sound; one from a received file may contain anything.
func (d *Declaration) sound() error {
	if (len(d.Labels) == 0) == (len(d.Aspects) == 0) {
		return errors.New("it has neither labels nor aspects, or both")
	}
	weights := 0.0
	for _, a := range d.Aspects {
		if !(a.Max > a.Min) || !(a.Weight >= 0) {
			return fmt.Errorf("aspect %q has no scale or no weight", a.Name)
		}
		weights += a.Weight
	}
	if len(d.Aspects) > 0 && weights == 0 {
		return errors.New("no aspect has a weight")
	}
	if d.Criteria != nil {
		if err := d.Criteria.check(); err != nil {
			return err
		}
	}
	for name, r := range d.Readings {
		w, ok := ways[r.How]
		if !ok || len(d.Aspects) > 0 && w.numbers == nil || len(d.Aspects) == 0 && w.label == nil {
			return fmt.Errorf("reading %q reads replies in no known way: %q", name, r.How)
		}
		if r.How == "pattern" && len(d.Aspects) > 1 {
			return fmt.Errorf("reading %q reads one number, and there are %d aspects", name, len(d.Aspects))
		}
		if _, ok := parts[r.Part]; !ok {
			return fmt.Errorf("reading %q reads an unknown part of replies: %q", name, r.Part)
		}
	}
	return nil
}

// Request renders the prompt for an item.
func (p *declaredProtocol) Request(it deem.Item) (deem.Request, error) {
	if c := p.decl.Criteria; c != nil {
		list, err := c.of(it)
		if err != nil {
			return deem.Request{}, err
		}
		if c.each() {
			it = about(it, list[0])
		}
	}
	return p.render(it)
}

// maxPromptBytes limits the prompt of one item. It is far above the window of any model.
const maxPromptBytes = 16 << 20

// render fills the prompt. Its length is known before the first byte is written: a slot may
// occur many times, and its text may be long.
func (p *declaredProtocol) render(it deem.Item) (deem.Request, error) {
	values, size := map[string]string{}, 0
	for _, t := range []template{p.system, p.prompt} {
		for _, part := range t.parts {
			v, ok := values[part.slot]
			if part.slot != "" && !ok {
				var err error
				if v, err = p.value(it, part.slot); err != nil {
					return deem.Request{}, err
				}
				values[part.slot] = v
			}
			if size += len(part.text) + len(v); size > maxPromptBytes {
				return deem.Request{}, deem.Failf(deem.Input, "the prompt has more than %d MiB", maxPromptBytes>>20)
			}
		}
	}
	o := p.decl.Params
	req := deem.Request{
		Temperature: o.Temperature, TopP: o.TopP, MaxTokens: o.MaxTokens, Seed: o.Seed, Stop: o.Stop,
		JSON: o.JSON, TopLogprobs: o.TopLogprobs, Optional: o.Optional,
	}
	if o.Schema != "" {
		req.Schema = json.RawMessage(o.Schema)
	}
	if p.decl.System != "" {
		req.Messages = append(req.Messages, deem.Message{Role: "system", Content: p.system.fill(values)})
	}
	req.Messages = append(req.Messages, deem.Message{Role: "user", Content: p.prompt.fill(values)})
	return req, nil
}

// value returns the text of a slot.
func (p *declaredProtocol) value(it deem.Item, name string) (string, error) {
	s, ok := p.decl.Slots[name]
	if !ok {
		s = Slot{From: []string{name}}
	}
	for _, from := range s.From {
		v, ok, err := p.take(it, s, from)
		if err != nil {
			return "", err
		}
		if !ok {
			continue
		}
		if end := s.Until[it.Category]; end != "" && strings.Contains(v, end) {
			v, _, _ = strings.Cut(v, end)
			v = text.Strip(v)
		}
		if s.Fence {
			v = fence(it, name, v)
		}
		return v, nil
	}
	if s.Default != nil {
		return *s.Default, nil
	}
	names := make([]string, len(s.From))
	for i, from := range s.From {
		names[i] = strings.TrimPrefix(from, "fields.")
	}
	return "", deem.Failf(deem.Input, "the item has no %s", strings.Join(names, " or "))
}

// take returns the value of the source from in the item. An empty response counts as a
// response, but an empty question counts as missing.
func (p *declaredProtocol) take(it deem.Item, s Slot, from string) (v string, ok bool, err error) {
	if n, turn := turnOf(from); turn {
		return s.conversation(it.Messages, n)
	}
	if c := p.decl.Criteria; from == slotCriteria && c != nil {
		list, err := c.of(it)
		for i, criterion := range list {
			list[i] = fmt.Sprintf("%d. %s", i+1, criterion)
		}
		return strings.Join(list, "\n"), err == nil, nil
	}
	switch from {
	case "id":
		return it.ID, true, nil
	case "category":
		return it.Category, it.Category != "", nil
	case "cluster":
		return it.Cluster, it.Cluster != "", nil
	case "question":
		return it.Question, it.Question != "", nil
	case "response":
		return it.Response, true, nil
	case "reference":
		if len(it.References) == 0 {
			return "", false, nil
		}
		return it.References[0], true, nil
	case "references":
		return s.render(it.References), len(it.References) > 0, nil
	case slotAspects:
		return rubric(p.decl.Aspects), true, nil
	}
	field, _ := fieldName(from)
	v, ok = it.Fields[field]
	return v, ok, nil
}

// render writes the references as one text. A single reference is written unchanged.
// Several are written as a Python list, which is what published programs do with the value
// they read, or in the format that the slot names.
func (s Slot) render(refs []string) string {
	switch {
	case s.As == "json":
		b, _ := deem.Canonical(refs) // strings can always be encoded
		return string(b)
	case s.As == "lines":
		return "- " + strings.Join(refs, "\n- ")
	case len(refs) == 1:
		return refs[0]
	case s.As == "or":
		return strings.Join(refs, " or ")
	default:
		return text.Repr(refs)
	}
}

// fence encloses untrusted text in tags that it cannot close. The tag's name is derived
// from the hash of the whole item, including the text, so the author of the text cannot
// know it. If it occurs in the text anyway, it is removed.
func fence(it deem.Item, slot, v string) string {
	sum := sha256.Sum256([]byte("fence " + slot + " " + it.Hash()))
	mark := hex.EncodeToString(sum[:8])
	v = strings.ReplaceAll(v, mark, "")
	return fmt.Sprintf("<%s-%s>\n%s\n</%s-%s>", slot, mark, v, slot, mark)
}
