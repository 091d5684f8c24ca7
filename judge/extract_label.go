package judge

import (
	"strings"

	"deem"
)

// A Found is a label, how it was found, and where.
type Found struct {
	// Label is spelt as the protocol offers it.
	Label string

	// How is the step that found it: "json", "marked", "line", "first", "only" or
	// "last". [FindLabel] explains the steps.
	How string

	// Start and End are the position of the label in the text.
	Start, End int
}

// findLabel finds the one label that text states. The labels are spelt as the protocol offers
// them; case is ignored in the text. Spaces, hyphens and underscores within a label are
// equivalent. [FindLabel] defines what counts as a verdict, and the failures.
func findLabel(text string, labels []string) (Found, error) {
	if f, ok := word(text, labels); ok {
		return f, nil
	}
	return readWhole(text, labels)
}

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

// readWhole is Label for arbitrary text.
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

	js, seen := m.json(objects)
	if seen {
		return settleJSON(js, later(marked, line))
	}
	if f, ok, err := settle(marked, line, r.first(), &r); ok {
		return f, err
	}
	return r.prose(t)
}

// later returns the one of two findings that starts later, or nil.
func later(a, b *Found) *Found {
	if a == nil || b != nil && b.Start > a.Start {
		return b
	}
	return a
}

// settleJSON decides between a JSON verdict and a mark or line outside it.
func settleJSON(js jsonVerdict, outside *Found) (Found, error) {
	after := outside != nil && outside.Start >= js.end
	switch {
	case js.err != nil && after:
		return *outside, nil
	case js.err != nil:
		return Found{}, js.err
	case after && outside.Label != js.found.Label:
		return Found{}, contradiction(js.found.Label, outside.Label)
	}
	return js.found, nil
}

// settle decides between the verdicts outside running prose. It returns false if there are
// none.
func settle(marked, line, first *Found, r *labelReading) (f Found, ok bool, err error) {
	switch {
	case marked != nil:
		if line != nil && line.Start > marked.Start && line.Label != marked.Label {
			return Found{}, true, contradiction(marked.Label, line.Label)
		}
		return *marked, true, nil
	case line != nil:
		return r.unlessContradicted(*line)
	case first != nil:
		return r.unlessContradicted(*first)
	}
	return Found{}, false, nil
}

// unlessContradicted returns found unless the text ends by stating another label.
func (r *labelReading) unlessContradicted(found Found) (f Found, ok bool, err error) {
	if other := r.closing(found.End); other != "" && other != found.Label {
		return Found{}, true, contradiction(found.Label, other)
	}
	return found, true, nil
}

// contradiction returns the failure of a text that states two labels.
func contradiction(a, b string) error {
	return deem.Failf(deem.Contradictory, "the reply says both %q and %q", a, b)
}

// findLabelIn reads a label from JSON: the value under key in the last object that has the key,
// at any depth. The value must be a label, or a number spelt as one; true and false are
// labels if the labels are yes/no or true/false.
func findLabelIn(text, key string, labels []string) (Found, error) {
	m := newMenu(labels)
	t, err := speech(text)
	if err != nil {
		return Found{}, err
	}
	for o := range findObjects(t, nil).backward() {
		// A cut-off value comes after all complete ones, so it would have been the last.
		if o.halved(key) {
			return Found{}, deem.Failf(deem.Truncated, "the value of %q was cut off", key)
		}
		if in := o.having([]string{key}); in != nil {
			v := m.verdict(in, key)
			return v.found, v.err
		}
	}
	return Found{}, noVerdict(t, "no JSON object has the key %q", key)
}
