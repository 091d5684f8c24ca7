package judge

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"deem"
	"deem/internal/text"
)

// parts returns the part of a reply in which a published program looks for JSON, by name.
// The result is "" if there is none.
var parts = map[string]func(reply string) string{
	"": text.Strip,
	// fence: the text in the first Markdown fence, else the whole reply.
	"fence": func(reply string) string {
		if m := fenced.FindStringSubmatch(reply); m != nil {
			return m[1]
		}
		return text.Strip(reply)
	},
	// final: the whole reply; of an object whose only key is "final", the object
	// inside.
	"final": func(reply string) string {
		object, err := text.Loads(text.Strip(reply))
		if inner, ok := object["final"].(string); err == nil && ok && len(object) == 1 {
			return inner
		}
		return text.Strip(reply)
	},
	// label: the first object that contains only a label.
	"label": labelObject.FindString,
	// braces: the object in the first fence, else the first object that has a label and
	// no nested object, else the whole reply.
	"braces": func(reply string) string {
		if m := fencedObject.FindStringSubmatch(reply); m != nil {
			return m[1]
		}
		if m := flatObject.FindString(reply); m != "" {
			return m
		}
		return text.Strip(reply)
	},
	// span: the text in the first fence, else from the first { to the last }. If that
	// is not JSON, a reply that contains the word CORRECT and not the word WRONG is
	// correct.
	"span": func(reply string) string {
		body := reply
		if _, rest, ok := strings.Cut(reply, "```json"); ok {
			body, _, _ = strings.Cut(rest, "```")
		} else if _, rest, ok := strings.Cut(reply, "```"); ok {
			body, _, _ = strings.Cut(rest, "```")
		} else if from, to := strings.Index(reply, "{"), strings.LastIndex(reply, "}"); from >= 0 && to > from {
			body = reply[from : to+1]
		}
		body = text.Strip(body)
		if object, err := text.Loads(body); err == nil {
			if inner, ok := object["label"].(map[string]any); ok { // a label in a label
				if b, err := deem.Canonical(inner); err == nil {
					return string(b)
				}
			}
			return body
		}
		if all := text.Upper(reply); strings.Contains(all, "CORRECT") && !strings.Contains(all, "WRONG") {
			return `{"label": "CORRECT"}`
		}
		return `{"label": "WRONG"}`
	},
	// lenient: the last object that can be recovered from the reply, as repairing
	// parsers do.
	"lenient": func(reply string) string {
		if _, ok := Repair(reply, "label"); !ok {
			return ""
		}
		b, err := deem.Canonical(map[string]string{"label": repairedText(reply, "label")})
		if err != nil {
			return ""
		}
		return string(b)
	},
}

// The patterns are those of the published programs. They match only ASCII white space where
// Python matches more, but other white space is not valid JSON anyway.
var (
	fenced       = regexp.MustCompile("(?s)```(?:json)?\\s*(.*?)\\s*```")
	labelObject  = regexp.MustCompile(`\{\s*"label"\s*:\s*["']([^"']*)["']\s*\}`)
	fencedObject = regexp.MustCompile("(?s)```(?:json)?\\s*(\\{[^`]*\\})\\s*```")
	flatObject   = regexp.MustCompile(`\{[^{}]*"label"\s*:\s*"[^"]*"[^{}]*\}`)
)

// readLoads reads the label from JSON as published programs do. Where such a program stops
// or retries, it returns a failure.
func readLoads(p *declaredProtocol, r Reader, _ deem.Item, reply string) (found, error) {
	key := cmp.Or(r.Key, "label")
	object, err := text.Loads(parts[r.Part](reply))
	if inner, ok := object["final"].(map[string]any); ok && len(object) == 1 && r.Part == "final" {
		object = inner
	}
	value, there := object[key]
	label, isText := value.(string)
	if err != nil || !there || r.Fold && !isText {
		return found{}, deem.Failf(deem.Unparseable, "the reply has no JSON with a text under %q: %s", key, clip(reply))
	}
	f := found{start: -1, whole: true, reason: reasonOf(Answer(reply), r.Reason)}
	if r.Trim {
		label = text.Strip(label)
	}
	for _, l := range p.decl.Labels {
		if isText && (label == l.Label || r.Fold && text.Upper(label) == text.Upper(l.Label)) {
			f.label = l.Label
			return f, nil
		}
	}
	return p.otherwise(f, r, text.Str(value))
}

// reasonOf returns the explanation in the last JSON object of a reply that has one, under
// the key or, if it is "", under a usual one.
func reasonOf(answer, key string) string {
	keys := reasonKeys
	if key != "" {
		keys = []string{key}
	}
	for _, key := range keys {
		if s := repairedText(answer, key); s != "" {
			return strings.Clone(s) // A substring would keep the whole reply in memory.
		}
	}
	return ""
}

// otherwise returns the label for any other value.
func (p *declaredProtocol) otherwise(f found, r Reader, said string) (found, error) {
	if r.Else == "" {
		return found{}, deem.Failf(deem.Unparseable, "%q is not one of %s", clip(said), strings.Join(p.decl.labelNames(), ", "))
	}
	f.label = r.Else
	return f, nil
}

// thought matches the end of the model's reasoning.
var thought = regexp.MustCompile(`(?i)</judge_thinking>|</thinking>`)

// readLast reads the last label after the model's reasoning.
func readLast(p *declaredProtocol, r Reader, _ deem.Item, reply string) (found, error) {
	all := text.Strip(reply)
	list := thought.Split(all, -1)
	verdict := text.Lower(text.Strip(list[len(list)-1]))
	lines := strings.FieldsFunc(verdict, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) })
	for _, line := range slices.Backward(lines) {
		for _, l := range p.decl.Labels {
			if text.Strip(line) == text.Lower(l.Label) {
				return found{label: l.Label, start: -1}, nil
			}
		}
	}
	last, at := "", -1
	for _, l := range p.decl.Labels {
		if i := lastWord(verdict, text.Lower(l.Label)); i > at {
			last, at = l.Label, i
		}
	}
	if at >= 0 {
		return found{label: last, start: -1}, nil
	}
	for _, l := range p.decl.Labels {
		if strings.HasPrefix(text.Lower(all), text.Lower(l.Label)) {
			return found{label: l.Label, start: -1}, nil
		}
	}
	return p.otherwise(found{start: -1}, r, all)
}

// lastWord returns the index of the last occurrence of word in s as a whole word, or -1.
func lastWord(s, word string) int {
	for end := len(s); end > 0; {
		i := strings.LastIndex(s[:end], word)
		if i < 0 {
			break
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(word):])
		if !text.IsWord(before) && !text.IsWord(after) {
			return i
		}
		end = i + len(word) - 1
	}
	return -1
}

// readLadder reads numbers as in the published rubric judge. It tries the whole reply as
// JSON, then the text from the first { to the last }, then the first number after each
// name. Numbers are converted as Python's int does, and clamped to their scale.
func readLadder(p *declaredProtocol, r Reader, _ deem.Item, reply string) (found, error) {
	f, ok := ladderJSON(p, r, reply)
	if from, to := strings.IndexByte(reply, '{'), strings.LastIndexByte(reply, '}'); !ok && from >= 0 && to > from {
		f, ok = ladderJSON(p, r, reply[from:to+1])
	}
	if !ok {
		f, ok = ladderProse(p, reply)
	}
	if !ok {
		names := make([]string, len(p.decl.Aspects))
		for i, a := range p.decl.Aspects {
			names[i] = a.Name
		}
		return found{}, deem.Failf(deem.Unparseable, "the reply holds no numbers for %s: %s", strings.Join(names, ", "), clip(reply))
	}
	for _, a := range p.decl.Aspects {
		f.numbers[a.Name] = min(max(f.numbers[a.Name], a.Min), a.Max)
	}
	return f, nil
}

// ladderJSON reads a text that is a JSON object.
func ladderJSON(p *declaredProtocol, r Reader, reply string) (found, bool) {
	fields, err := text.Loads(reply)
	if err != nil {
		return found{}, false
	}
	f := found{numbers: map[string]float64{}, whole: true}
	for _, a := range p.decl.Aspects {
		n, ok := text.Int(fields[a.Name])
		if !ok {
			return found{}, false
		}
		f.numbers[a.Name] = float64(n)
	}
	if v, ok := fields[r.Reason]; ok {
		f.reason = text.Str(v)
	}
	return f, true
}

// ladderProse reads the first number after each name. The published pattern is
// "?correctness"?\s*[:=]\s*(\d+) with Python's definition of white space and digits.
func ladderProse(p *declaredProtocol, reply string) (found, bool) {
	const space = `[\s\x{0b}\x{1c}-\x{1f}\x{85}\p{Z}]*`
	f := found{numbers: map[string]float64{}}
	for _, a := range p.decl.Aspects {
		re := regexp.MustCompile(fmt.Sprintf(`(?i)"?%s"?%s[:=]%s(\p{Nd}+)`, regexp.QuoteMeta(a.Name), space, space))
		m := re.FindStringSubmatch(reply)
		if m == nil {
			return found{}, false
		}
		n, ok := text.Int(m[1])
		if !ok {
			n = int64(a.Max) // too many digits for int64, so beyond any scale
		}
		f.numbers[a.Name] = float64(n)
	}
	return f, true
}
