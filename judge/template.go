package judge

import (
	"fmt"
	"slices"
	"strings"

	"deem/internal/words"
)

// A template is a prompt with slots, in the subset of Python's str.format that prompts use:
// {name} is a slot, {{ and }} are braces. It is filled in one pass, so {question} or {{
// inside a value is left unchanged.
type template struct{ parts []part }

// A part of a template is literal text, or a slot if slot is not "".
type part struct {
	text   string
	slot   string
	offset int // of the slot in the template's text
}

// A templateError describes an error in a template and its byte offset.
type templateError struct {
	offset  int
	message string
}

func (e *templateError) Error() string { return e.message }

// parseTemplate splits text into literal parts and slots. Some slots may have their own
// mark.
func parseTemplate(text string, slots map[string]Slot) (template, error) {
	var t template
	var lit strings.Builder
	marks := slices.DeleteFunc(sortedKeys(slots), func(name string) bool { return slots[name].Mark == "" })
	for i := 0; i < len(text); {
		rest := text[i:]
		marked := "" // the slot whose mark stands here
		for _, name := range marks {
			if marked == "" && strings.HasPrefix(rest, slots[name].Mark) {
				marked = name
			}
		}
		switch {
		case marked != "":
			t.parts = append(t.parts, part{text: lit.String()}, part{slot: marked, offset: i})
			lit.Reset()
			i += len(slots[marked].Mark)
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			lit.WriteByte(rest[0])
			i += 2
		case rest[0] == '}':
			return t, &templateError{i, "a single } in the prompt; write }} for a brace"}
		case rest[0] == '{':
			end := strings.IndexAny(rest[1:], "{}")
			if end < 0 || rest[1+end] == '{' {
				return t, &templateError{i, "a single { in the prompt; write {{ for a brace"}
			}
			name := rest[1 : 1+end]
			if name == "" {
				return t, &templateError{i, "{} is not a slot: name it, or write {{}} for braces"}
			}
			if strings.ContainsFunc(name, func(r rune) bool {
				return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
			}) {
				return t, &templateError{i, fmt.Sprintf("{%s} is not a slot: a name has letters, digits, _ and dots; write {{ for a brace", clip(name))}
			}
			t.parts = append(t.parts, part{text: lit.String()}, part{slot: name, offset: i})
			lit.Reset()
			i += len(name) + 2
		default:
			lit.WriteByte(rest[0])
			i++
		}
	}
	t.parts = append(t.parts, part{text: lit.String()})
	return t, nil
}

// clip shortens quoted text so that it fits into a message.
func clip(s string) string {
	return words.Clip(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\n", " "), 40)
}

// slots returns the slots in the order of their first use.
func (t template) slots() []part {
	var slots []part
	seen := map[string]bool{}
	for _, p := range t.parts {
		if p.slot != "" && !seen[p.slot] {
			seen[p.slot] = true
			slots = append(slots, p)
		}
	}
	return slots
}

// fill returns the template with its slots filled.
func (t template) fill(values map[string]string) string {
	n := 0
	for _, p := range t.parts {
		n += len(p.text) + len(values[p.slot])
	}
	var b strings.Builder
	b.Grow(n)
	for _, p := range t.parts {
		b.WriteString(p.text)
		b.WriteString(values[p.slot])
	}
	return b.String()
}
