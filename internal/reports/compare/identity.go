package compare

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"deem/internal/doc"
	"deem/internal/words"
	"deem/judge"
)

// A Part is one property in which two judges differ.
type Part judge.Difference

// specParts returns the properties in which the judges of two runs differ. For a run
// without a spec, such as a saved report, name, model and reading are known.
func specParts(a, b Run) []Part {
	x, y := a.Spec, b.Spec
	if x == nil || y == nil {
		x = &judge.Spec{Name: a.Judge, Model: a.Model, Reading: a.Reading}
		y = &judge.Spec{Name: b.Judge, Model: b.Model, Reading: b.Reading}
	}
	var parts []Part
	for _, d := range judge.Diff(*x, *y) {
		if d.Path == "name" {
			d.Name = "judge"
		}
		parts = append(parts, Part(d))
	}
	return parts
}

// maxValue is the length up to which a value is shown whole.
const maxValue = 60

// String describes the difference: both values if they are short, and otherwise where they
// begin to differ.
func (p Part) String() string {
	name := p.Name
	if p.Path != "" && p.Path != name && !strings.HasSuffix(p.Path, "."+name) {
		name += " (" + p.Path + ")"
	}
	if len(p.First) <= maxValue && len(p.Second) <= maxValue {
		return fmt.Sprintf("%s, %s and %s", words.Fold(name), quoted(p.First), quoted(p.Second))
	}
	at := 0
	for at < len(p.First) && at < len(p.Second) && p.First[at] == p.Second[at] {
		at++
	}
	for at > 0 && (!runeStart(p.First, at) || !runeStart(p.Second, at)) {
		at--
	}
	return fmt.Sprintf("%s, from character %d on: %s and %s", words.Fold(name),
		utf8.RuneCountInString(p.First[:at])+1, excerpt(p.First, at), excerpt(p.Second, at))
}

// runeStart reports whether a character begins at the index, or the text ends there.
func runeStart(s string, at int) bool { return at == len(s) || utf8.RuneStart(s[at]) }

// excerpt returns a few words from the place where two texts begin to differ.
func excerpt(s string, at int) string {
	if at == len(s) {
		return "the end"
	}
	// Line breaks are shown escaped, because copies of a prompt often differ in them.
	return doc.Clip(fmt.Sprintf("%q", s[at:min(len(s), at+4*maxValue)]), maxValue/2)
}

// quoted formats a short value.
func quoted(s string) string {
	if s == "" {
		return "none"
	}
	return words.Fold(s)
}
