package extract

import (
	"strings"

	"deem"
)

// A Found says what was found and how, for the trace of a reading.
type Found struct {
	// Label is spelt as the protocol offers it.
	Label string

	// How is the step that found it: "json", "marked", "line", "first", "only" or
	// "last". The package comment explains the steps.
	How string

	// Start and End are the place of the label in the text.
	Start, End int
}

// Label finds the one label that text says. The labels are spelt as the protocol
// offers them; the text may spell them in any case. Spaces, hyphens and underscores
// within a label are alike. The package comment says what counts as a verdict and
// which failure is returned when there is none.
func Label(text string, labels []string) (Found, error) {
	if f, ok := word(text, labels); ok {
		return f, nil
	}
	return readWhole(text, labels)
}

// word returns the label that text is, where text is one word. Most replies are no more
// than that, and to read them as if they were would take longer than all else that is
// done about them.
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
				return Found{}, false // The first of them is meant.
			}
		}
	}
	return Found{Label: text, How: "line", End: len(text)}, known
}

// readWhole is Label for a text that may be anything.
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

// later returns whichever of two findings stands further back, or nil.
func later(a, b *Found) *Found {
	if a == nil || b != nil && b.Start > a.Start {
		return b
	}
	return a
}

// settleJSON decides between a verdict in JSON and a mark or line outside it.
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

// settle decides between the verdicts that stand apart from running prose. It
// returns false when there are none.
func settle(marked, line, first *Found, r *reading) (f Found, ok bool, err error) {
	switch {
	case marked != nil:
		if line != nil && line.Start > marked.Start && line.Label != marked.Label {
			return Found{}, true, contradiction(marked.Label, line.Label)
		}
		return *marked, true, nil
	case line != nil:
		return r.unlessTakenBack(*line)
	case first != nil:
		return r.unlessTakenBack(*first)
	}
	return Found{}, false, nil
}

// unlessTakenBack returns found unless the text ends by stating another label.
func (r *reading) unlessTakenBack(found Found) (f Found, ok bool, err error) {
	if other := r.closing(found.End); other != "" && other != found.Label {
		return Found{}, true, contradiction(found.Label, other)
	}
	return found, true, nil
}

// contradiction is the failure of a text that says two labels.
func contradiction(a, b string) error {
	return deem.Failf(deem.Contradictory, "the reply says both %q and %q", a, b)
}

// LabelIn reads a label out of JSON: the value under key in the last object that
// has it, at any depth. The value must be a label, or a number spelt as one; true
// and false are labels where the labels are yes/no or true/false.
func LabelIn(text, key string, labels []string) (Found, error) {
	m := newMenu(labels)
	t, err := speech(text)
	if err != nil {
		return Found{}, err
	}
	for o := range findObjects(t, nil).backward() {
		// Half a value is behind every whole one, so it would have been the last.
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
