package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"deem/internal/words"
	"deem/report/internal/page"
)

// A Part is one thing in which two judges differ.
type Part struct {
	// Name says in a word what it is: prompt, model, reading, parser, parameters,
	// labels; or else where it stands.
	Name string `json:"name"`

	Path   string `json:"path"` // where in the identity it stands, as "protocol.reading"
	First  string `json:"first"`
	Second string `json:"second"`
}

// partNames are the words for the members of an identity, by the name of a member on
// the way to what differs. The innermost counts.
var partNames = map[string]string{
	"model": "model",

	"prompt": "prompt", "prompts": "prompt", "system": "prompt", "slots": "prompt", "types": "prompt", "abstention": "prompt",

	"reading": "reading", "readings": "reading",

	"reader_version": "parser", "version": "parser", "parse": "parser", "parser": "parser",

	"params": "parameters", "temperature": "parameters", "max_tokens": "parameters", "top_p": "parameters", "seed": "parameters", "options": "parameters",

	"labels": "labels", "aspects": "labels", "pass": "labels",

	"failures_wrong": "denominator",
}

// identityParts returns what the judges of two runs differ in, and nothing when that
// is not known.
func identityParts(a, b Run) []Part {
	var x, y any
	if json.Unmarshal(a.Identity, &x) != nil || json.Unmarshal(b.Identity, &y) != nil {
		return plainParts(a, b)
	}
	var parts []Part
	differing(nil, x, y, func(path []string, first, second string) {
		parts = append(parts, Part{Name: partName(path), Path: strings.Join(path, "."), First: first, Second: second})
	})
	return parts
}

// plainParts compares what is known of judges without identities, as a saved report
// has it.
func plainParts(a, b Run) []Part {
	var parts []Part
	for _, p := range []Part{
		{"judge", "judge", a.Judge, b.Judge},
		{"model", "model", a.Model, b.Model},
		{"reading", "reading", a.Reading, b.Reading},
	} {
		if p.First != p.Second {
			parts = append(parts, p)
		}
	}
	return parts
}

// partName returns the word for what stands at the path.
func partName(path []string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if name, ok := partNames[path[i]]; ok {
			return name
		}
	}
	return strings.Join(path, ".")
}

// differing hands every leaf in which two JSON values differ to found.
func differing(path []string, x, y any, found func(path []string, first, second string)) {
	if mx, ok := x.(map[string]any); ok {
		if my, ok := y.(map[string]any); ok {
			keys := slices.Concat(slices.Collect(maps.Keys(mx)), slices.Collect(maps.Keys(my)))
			slices.Sort(keys)
			for _, k := range slices.Compact(keys) {
				differing(append(path[:len(path):len(path)], k), mx[k], my[k], found)
			}
			return
		}
	}
	first, second := leaf(x), leaf(y)
	if first != second {
		found(path, first, second)
	}
}

// leaf returns a value as text; "" stands for none.
func leaf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // It was read from JSON.
		}
		return string(text)
	}
}

// maxValue is how long a value may be to be shown whole.
const maxValue = 60

// String says what differs in a few words: both values when they are short, and
// otherwise where they begin to differ.
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

// runeStart reports whether a character begins at the place, or the text ends there.
func runeStart(s string, at int) bool { return at == len(s) || utf8.RuneStart(s[at]) }

// excerpt returns a few words from the place where two texts begin to differ.
func excerpt(s string, at int) string {
	if at == len(s) {
		return "the end"
	}
	// A character that breaks a line is shown, since line ends are what copies of a
	// prompt often differ in.
	return page.Cell(fmt.Sprintf("%q", s[at:min(len(s), at+4*maxValue)]), maxValue/2)
}

// quoted returns a short value as it is shown.
func quoted(s string) string {
	if s == "" {
		return "none"
	}
	return words.Fold(s)
}
