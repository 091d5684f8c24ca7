package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"deem"
	"deem/internal/text"
)

// A strict reading is a contract: the prompt demands a form, and a reply in that form is
// read. There are three forms:
//
//   - a label: the reply is the label alone, or its last line is what the prompt asks for,
//     as "VERDICT: CORRECT" ([Form]);
//   - one JSON object with the label or the numbers ([ReadObject]);
//   - for published prompts that let models chatter, text that matches a pattern of the
//     declaration.
//
// Any other reply is unparseable. That costs one unjudged item, and a verdict that the
// judge did not give would cost trust in all of them. For the same reason, what stands in
// the item's own texts never decides: a judge that quotes the response has not said it.

// openings and closings match the tags around a model's reasoning, in the forms that models
// are known to leak. In the channel format the final message follows the reasoning.
var (
	openings = regexp.MustCompile(`^(?i)(?:<(?:seed:|antml:)?` + thinkNames + `\s*>|\[think(?:ing)?\]|◁think▷|<\|begin_of_thought\|>|<\|start_thinking\|>|<\|channel\|>)`)
	closings = regexp.MustCompile(`(?i)</(?:seed:|antml:)?` + thinkNames + `\s*>|\[/think(?:ing)?\]|◁/think▷|<\|end_of_thought\|>|<\|end_thinking\|>` +
		`|<\|channel\|>final(?:\s*<\|constrain\|>\w+)?<\|message\|>`)
	trailers = regexp.MustCompile(`<\|(?:return|end)\|>\s*$`)
)

const thinkNames = `(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|judge_thinking)`

// Answer returns a reply without the model's reasoning and without surrounding white space.
// The reasoning extends to the first closing tag; some templates put the opening tag in the
// prompt, so it may be missing. The result is "" if the reasoning never ends.
func Answer(reply string) string {
	answer, _, _ := cutThinking(reply)
	return answer
}

// cutThinking splits a reply into the tag that ends the reasoning, or "" if there is none,
// and the answer after it. It reports whether the reasoning never ends.
func cutThinking(reply string) (answer, tag string, endless bool) {
	reply = text.Strip(reply)
	at := closings.FindStringIndex(reply)
	switch {
	case at != nil:
		return text.Strip(trailers.ReplaceAllString(reply[at[1]:], "")), reply[at[0]:at[1]], false
	case openings.MatchString(reply):
		return "", "", true
	}
	return reply, "", false
}

// answerOf returns the answer in a reply about an item. A tag that ends the reasoning and
// also stands in the item may be a quote, so that nothing after it can be trusted.
func answerOf(it deem.Item, reply string) (string, error) {
	answer, tag, endless := cutThinking(reply)
	switch {
	case endless:
		return "", deem.Failf(deem.Truncated, "the reply ends within its thinking")
	case answer == "":
		return "", deem.Failf(deem.Empty, "the reply has no text after its thinking")
	case tag != "" && Quotes(it, tag):
		return "", deem.Failf(deem.Contradictory, "the tag %s ends the thinking and also stands in the item", tag)
	}
	return answer, nil
}

// Quotes reports whether span stands in one of the item's own texts. White space and case
// are ignored.
func Quotes(it deem.Item, span string) bool {
	span = squeeze(span)
	for own := range ownTexts(it) {
		if strings.Contains(squeeze(own), span) {
			return true
		}
	}
	return false
}

// ownTexts yields the texts of an item that a prompt may show.
func ownTexts(it deem.Item) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range append([]string{it.Response, it.Question}, it.References...) {
			if !yield(s) {
				return
			}
		}
		for _, m := range it.Messages {
			if !yield(m.Content) {
				return
			}
		}
		for _, s := range it.Fields {
			if !yield(s) {
				return
			}
		}
	}
}

// squeeze returns s in lower case and without white space.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// A Form is the form in which a prompt demands a label.
type Form struct {
	labels []string
	alone  *regexp.Regexp
	line   *regexp.Regexp // nil if the prompt demands the label alone
	shown  string         // the line with {label}
}

// A Found is a label that a reply gives.
type Found struct {
	Label  string // spelt as the protocol offers it
	Start  int    // position of the label in the reply, -1 if unknown
	Reason string // what the reply says before its last line
}

// NewForm returns the form of a prompt that demands one of the labels alone or, if line is
// not empty, as the last line of the reply. {label} stands for the label in line, as in
// "VERDICT: {label}". Case, surrounding white space, Markdown and a full stop do not matter.
func NewForm(line string, labels ...string) (*Form, error) {
	f := &Form{labels: labels, alone: formPattern("{label}", labels), shown: strings.TrimSpace(line)}
	switch strings.Count(line, "{label}") {
	case 0:
		if line != "" {
			return nil, fmt.Errorf("the line %q has no {label}", line)
		}
	case 1:
		f.line = formPattern(line, labels)
	default:
		return nil, fmt.Errorf("the line %q has {label} more than once", line)
	}
	return f, nil
}

// MustForm is like [NewForm] for a line that is known to be right.
func MustForm(line string, labels ...string) *Form {
	f, err := NewForm(line, labels...)
	if err != nil {
		panic("judge: " + err.Error())
	}
	return f
}

// markup matches what may stand around the words of a line.
const markup = "[\\s*_`#]*"

var lineTokens = regexp.MustCompile(`\{label\}|[\pL\pM\pN]+|[^\s\pL\pM\pN]`)

// formPattern returns the pattern of a line. Its group is the label.
func formPattern(line string, labels []string) *regexp.Regexp {
	names := make([]string, len(labels))
	for i, l := range labels {
		names[i] = regexp.QuoteMeta(l)
	}
	var tokens []string
	for _, token := range lineTokens.FindAllString(line, -1) {
		if token == "{label}" {
			token = "(" + strings.Join(names, "|") + ")"
		} else {
			token = regexp.QuoteMeta(token)
		}
		tokens = append(tokens, token)
	}
	return regexp.MustCompile(`^(?i)` + markup + strings.Join(tokens, markup) + markup + `[.。]?` + markup + `$`)
}

// Read returns the label that the reply gives on the item in the demanded form.
func (f *Form) Read(it deem.Item, reply string) (Found, error) {
	answer, err := answerOf(it, reply)
	if err != nil {
		return Found{}, err
	}
	base := strings.LastIndex(reply, answer)
	if m := f.alone.FindStringSubmatchIndex(answer); m != nil {
		return f.found(answer, m, base), nil
	}
	if f.line == nil {
		return Found{}, deem.Failf(deem.Unparseable, "the reply is not one of %s alone: %s", strings.Join(f.labels, ", "), clip(answer))
	}
	start := strings.LastIndexAny(strings.TrimRight(answer, " \t\r\n*_`"), "\r\n") + 1
	last := answer[start:]
	m := f.line.FindStringSubmatchIndex(last)
	if m == nil {
		return Found{}, deem.Failf(deem.Unparseable, "the last line of the reply is not %q: %s", f.shown, clip(last))
	}
	found := f.found(last, m, base+start)
	// A label by itself is a word that may stand in any text.
	if f.shown != "{label}" && Quotes(it, strings.Replace(f.shown, "{label}", found.Label, 1)) {
		return Found{}, deem.Failf(deem.Contradictory, "the last line of the reply also stands in the item: %s", clip(last))
	}
	found.Reason = strings.Clone(text.Strip(answer[:start])) // A substring would keep the whole reply in memory.
	return found, nil
}

// found returns the label of a match in a part of the reply that begins at base.
func (f *Form) found(part string, m []int, base int) Found {
	said := part[m[2]:m[3]]
	i := slices.IndexFunc(f.labels, func(l string) bool { return strings.EqualFold(l, said) })
	return Found{Label: f.labels[i], Start: base + m[2]}
}

// wholeFence matches a Markdown fence around a whole text.
var wholeFence = regexp.MustCompile("(?s)^```[A-Za-z]*(.*)```$")

// An Object is the JSON object that a reply consists of.
type Object struct {
	// Fields has the values: string, json.Number, bool, nil, []any or map[string]any.
	Fields map[string]any

	text  string
	base  int            // of the text in the reply
	after map[string]int // the end of each key in the text
}

// ReadObject returns the one JSON object that the reply consists of. The model's reasoning
// and a fence around the whole do not count. It must have the keys, each once; a reply with
// a key twice, also in nested objects, is contradictory, and so is an object that stands in
// the item's own texts.
func ReadObject(it deem.Item, reply string, keys ...string) (*Object, error) {
	object := unfenced(text.Strip(reply))
	o, counts, bad := parseObject(object, keys)
	if bad != nil { // In an object, a tag of reasoning is part of a string.
		answer, err := answerOf(it, reply)
		if err != nil {
			return nil, err
		}
		object = unfenced(answer)
		o, counts, bad = parseObject(object, keys)
	}
	for i, key := range keys {
		if bad != nil && strings.Count(object, quoted(key)) > 1 || bad == nil && counts[i] > 1 {
			return nil, deem.Failf(deem.Contradictory, "the reply has %s more than once: %s", quoted(key), clip(object))
		}
	}
	if bad != nil {
		return nil, deem.Failf(deem.Unparseable, "the reply is not one JSON object: %s", clip(object))
	}
	for _, key := range keys {
		if _, ok := o.Fields[key]; !ok {
			return nil, deem.Failf(deem.Unparseable, "the JSON object has no %s: %s", quoted(key), clip(object))
		}
	}
	if Quotes(it, object) {
		return nil, deem.Failf(deem.Contradictory, "the JSON object also stands in the item: %s", clip(object))
	}
	o.text, o.base = object, strings.LastIndex(reply, object)
	return o, nil
}

// unfenced returns a text without the fence around it.
func unfenced(s string) string {
	if m := wholeFence.FindStringSubmatch(s); m != nil {
		return text.Strip(m[1])
	}
	return s
}

// parseObject parses a text that is one JSON object, and counts how often each key occurs
// in it at any depth and in any case.
func parseObject(object string, keys []string) (o *Object, counts []int, err error) {
	o = &Object{after: map[string]int{}}
	dec := json.NewDecoder(strings.NewReader(object))
	dec.UseNumber()
	if err := dec.Decode(&o.Fields); err != nil {
		return nil, nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) || o.Fields == nil {
		return nil, nil, errors.New("not one object")
	}
	counts = make([]int, len(keys))
	eachKey(json.NewDecoder(strings.NewReader(object)), 0, func(key string, depth, end int) {
		if depth == 1 {
			o.after[key] = end
		}
		for i, k := range keys {
			if strings.EqualFold(k, key) {
				counts[i]++
			}
		}
	})
	return o, counts, nil
}

// eachKey calls do with every key of a valid JSON value, its depth, and where it ends.
func eachKey(dec *json.Decoder, depth int, do func(key string, depth, end int)) {
	open, _ := dec.Token()
	for open == json.Delim('{') || open == json.Delim('[') {
		if !dec.More() {
			_, _ = dec.Token()
			return
		}
		if open == json.Delim('{') {
			token, _ := dec.Token()
			key, _ := token.(string)
			do(key, depth+1, int(dec.InputOffset()))
		}
		eachKey(dec, depth+1, do)
	}
}

// Text returns the string under key, or "".
func (o *Object) Text(key string) string {
	s, _ := o.Fields[key].(string)
	return s
}

// Label returns the value under key as one of the labels, in any case. A label may be
// written as a number or as true or false if it is one.
func (o *Object) Label(key string, labels []string) (Found, error) {
	said := ""
	switch v := o.Fields[key].(type) {
	case string:
		said = strings.TrimSpace(v)
	case json.Number, bool:
		said = fmt.Sprint(v)
	}
	for _, l := range labels {
		if !strings.EqualFold(l, said) {
			continue
		}
		f := Found{Label: l, Start: -1}
		if i := strings.Index(o.text[o.after[key]:], said); i >= 0 && o.base >= 0 {
			f.Start = o.base + o.after[key] + i
		}
		return f, nil
	}
	return Found{}, deem.Failf(deem.Unparseable, "%s is %s, which is not one of %s", quoted(key), clip(quoted(o.Fields[key])), strings.Join(labels, ", "))
}

// number matches a number in plain notation.
var number = regexp.MustCompile(`^[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`)

// Number reads a value of a reply as a number on the scale of the aspect: a JSON number, or
// a string that is a number. The failure is OutOfRange if the number is outside the scale,
// or not whole on a scale of whole numbers, and Unparseable if there is no number.
func (a Aspect) Number(v any) (float64, error) {
	said := ""
	switch v := v.(type) {
	case string:
		said = strings.TrimSpace(v)
	case json.Number:
		said = string(v)
	}
	x, err := strconv.ParseFloat(said, 64)
	switch {
	case !number.MatchString(said) || err != nil && !math.IsInf(x, 0):
		return 0, deem.Failf(deem.Unparseable, "%s is not a number", clip(quoted(v)))
	case !(x >= a.Min && x <= a.Max):
		return 0, deem.Failf(deem.OutOfRange, "%v is not from %v to %v", x, a.Min, a.Max)
	case a.Integer && x != math.Trunc(x):
		return 0, deem.Failf(deem.OutOfRange, "%v is not a whole number", x)
	}
	return x + 0, nil // -0 + 0 is 0.
}

// matchPattern returns what the group of a pattern matches in the reply, and where. All
// matches must agree, and none may stand in the item's own texts.
func matchPattern(it deem.Item, reply string, pattern *regexp.Regexp) (said string, start int, err error) {
	answer, err := answerOf(it, reply)
	if err != nil {
		return "", 0, err
	}
	start = -1
	for _, m := range pattern.FindAllStringSubmatchIndex(answer, -1) {
		one := answer[m[2]:m[3]]
		switch {
		case start >= 0 && !strings.EqualFold(said, one):
			return "", 0, deem.Failf(deem.Contradictory, "the reply says %s and %s", clip(said), clip(one))
		case Quotes(it, answer[m[0]:m[1]]):
			return "", 0, deem.Failf(deem.Contradictory, "%s also stands in the item", clip(answer[m[0]:m[1]]))
		}
		said, start = one, strings.LastIndex(reply, answer)+m[2]
	}
	if start < 0 {
		return "", 0, deem.Failf(deem.Unparseable, "the reply is not in the form that the prompt demands: %s", clip(answer))
	}
	return said, start, nil
}
