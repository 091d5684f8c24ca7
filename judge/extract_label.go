package judge

import (
	"strings"

	"deem"
)

// word returns text as a label if it is a single word. Most replies are, and reading them
// in full would take longer than all other processing of the reply.
func word(text string, labels []string) (Found, bool) {
	const letter = 1 // A single letter may be the name of an option.
	if len(text) <= letter || strings.ContainsFunc(text, func(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' }) {
		return Found{}, false
	}
	known := false
	for _, l := range labels {
		switch {
		case l == text:
			known = true
		default:
			if n, ok := foldPrefix(text, l); ok && n == len(text) {
				return Found{}, false // The first of them counts.
			}
		}
	}
	return Found{Label: text, How: "line", End: len(text)}, known
}

// readWhole finds the label that any text states. [FindLabel] explains the steps.
func readWhole(text string, labels []string) (Found, error) {
	m := newMenu(labels)
	t, err := speech(text)
	if err != nil {
		return Found{}, err
	}
	b := blanker{text: t}
	objects := findObjects(t, func(o *object) {
		if len(o.fields) > 0 || o.truncated {
			b.blank(span{o.start, o.end})
		}
	})
	r := newReading(m, b.String())
	b.out = nil
	marked, line := r.marked(), r.line()

	for o := range objects.backward() {
		found, tries, err := m.objectVerdict(o)
		if !tries {
			continue
		}
		outside := later(marked, line)
		after := outside != nil && outside.Start >= o.end
		switch {
		case err != nil && after:
			return *outside, nil
		case err == nil && after && outside.Label != found.Label:
			return Found{}, contradiction(found.Label, outside.Label)
		}
		return found, err
	}
	if marked != nil {
		if line != nil && line.Start > marked.Start && line.Label != marked.Label {
			return Found{}, contradiction(marked.Label, line.Label)
		}
		return *marked, nil
	}
	found := line
	if found == nil {
		found = r.first()
	}
	if found == nil {
		return r.prose(t)
	}
	if start := lastSentence(r.text); start >= found.End {
		if last := r.statedFrom(start); last != nil && last.Label != found.Label {
			return Found{}, contradiction(found.Label, last.Label)
		}
	}
	return *found, nil
}

// later returns the one of two findings that starts later, or nil.
func later(a, b *Found) *Found {
	if a == nil || b != nil && b.Start > a.Start {
		return b
	}
	return a
}

// contradiction returns the failure of a text that states two labels.
func contradiction(a, b string) error {
	return deem.Failf(deem.Contradictory, "the reply says both %q and %q", a, b)
}
