package halumem

import (
	"errors"
	"strings"
)

// A template is a prompt with slots in the format of Python's str.format: {name} is a slot,
// {{ and }} are braces. It is filled in one pass, so that {question} inside a memory stays
// text.
type template []part

// A part of a template is literal text, or a slot if slot is not "".
type part struct{ text, slot string }

// parseTemplate splits a prompt into literal text and slots.
func parseTemplate(prompt string) (template, error) {
	var t template
	var lit strings.Builder
	for prompt != "" {
		i := strings.IndexAny(prompt, "{}")
		if i < 0 {
			break
		}
		lit.WriteString(prompt[:i])
		prompt = prompt[i:]
		if strings.HasPrefix(prompt, "{{") || strings.HasPrefix(prompt, "}}") {
			lit.WriteByte(prompt[0])
			prompt = prompt[2:]
			continue
		}
		end := strings.IndexByte(prompt, '}')
		if prompt[0] == '}' || end < 2 {
			return nil, errors.New("prompt has a brace that opens or closes nothing")
		}
		t = append(t, part{text: lit.String()}, part{slot: prompt[1:end]})
		lit.Reset()
		prompt = prompt[end+1:]
	}
	lit.WriteString(prompt)
	return append(t, part{text: lit.String()}), nil
}

// fill returns the prompt with the slots filled. A slot without a value is a bug: the
// protocol checks the slots of its prompts when it is created.
func (t template) fill(slots map[string]string) string {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.text)
		b.WriteString(slots[p.slot])
	}
	return b.String()
}
