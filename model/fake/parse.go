package fake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem"
)

// modifiers are the part of a spec after the question mark.
type modifiers struct {
	latency       time.Duration
	p             *float64 // the share of the first label; nil means an equal share
	tokens        bool     // input and output are set
	input, output int
	vary          bool // trials differ
}

// modifierDocs is shown for an unknown modifier.
const modifierDocs = "latency=50ms, p=0.8, tokens=120 or tokens=120/5, vary=true"

func parse(spec string) (*model, error) {
	spec = strings.TrimPrefix(spec, "fake:")
	f := &model{name: "fake:" + spec}
	head, tail, modified := cutModifiers(spec)
	if modified {
		if err := f.mods.parse(tail); err != nil {
			return nil, err
		}
	}
	name, text, hasText := strings.Cut(head, "=")
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		var specs []string
		for _, k := range kinds {
			specs = append(specs, k.spec)
		}
		return nil, deem.WithHint(fmt.Errorf("there is no fake %q", name), "the fakes are %s", strings.Join(specs, ", "))
	}
	f.kind, f.text = kinds[i], text
	return f, f.readText(hasText)
}

// cutModifiers splits a spec at its last question mark. The rest must look like a modifier,
// since the text of a say may end with a question mark.
func cutModifiers(spec string) (head, tail string, ok bool) {
	i := strings.LastIndexByte(spec, '?')
	if i < 0 {
		return spec, "", false
	}
	head, tail = spec[:i], spec[i+1:]
	if !strings.HasPrefix(head, "say=") {
		return head, tail, true
	}
	key, _, _ := strings.Cut(tail, "=")
	if slices.Contains([]string{"latency", "p", "tokens", "vary"}, key) {
		return head, tail, true
	}
	return spec, "", false
}

// readText checks the text after the equals sign of a spec, or its absence.
func (f *model) readText(given bool) error {
	rule := f.kind.text
	if rule == maybeLabels && !given {
		f.text, given = "yes|no", true
	}
	if rule == maybeVerdict && !given {
		f.text, given = "CORRECT|INCORRECT", true
	}
	switch {
	case rule == noText && given:
		return fmt.Errorf("%s takes no text", f.kind.name)
	case rule != noText && !given:
		return fmt.Errorf("%s needs a text, as in %s", f.kind.name, f.kind.spec)
	case rule == someLabels || rule == maybeLabels || rule == maybeVerdict:
		f.labels = strings.Split(f.text, "|")
		if slices.Contains(f.labels, "") {
			return fmt.Errorf("%q holds an empty label", f.text)
		}
	case f.mods.p != nil:
		return fmt.Errorf("%s has no labels for p to share out", f.kind.name)
	}
	return nil
}

// parse parses modifiers, which are written like a URL query without escapes.
func (m *modifiers) parse(text string) error {
	for pair := range strings.SplitSeq(text, "&") {
		key, value, _ := strings.Cut(pair, "=")
		var err error
		valid := true
		switch key {
		case "latency":
			m.latency, err = time.ParseDuration(value)
			valid = m.latency >= 0
		case "p":
			m.p = new(float64)
			*m.p, err = strconv.ParseFloat(value, 64)
			valid = *m.p >= 0 && *m.p <= 1
		case "tokens": // "120/5" is input and output, "120" is input with one token of output.
			in, out, split := strings.Cut(value, "/")
			m.tokens, m.output = true, 1
			if m.input, err = strconv.Atoi(in); split && err == nil {
				m.output, err = strconv.Atoi(out)
			}
			valid = m.input >= 0 && m.output >= 0
		case "vary":
			m.vary, err = strconv.ParseBool(value)
		default:
			return deem.WithHint(fmt.Errorf("there is no modifier %q", key), "the modifiers are %s", modifierDocs)
		}
		if err != nil || !valid {
			return deem.WithHint(fmt.Errorf("%s=%s makes no sense", key, value), "the modifiers are written %s", modifierDocs)
		}
	}
	return nil
}
