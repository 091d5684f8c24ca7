package judge

import (
	_ "embed"
	"fmt"
	"strings"
)

// Schema is the JSON Schema of a judge's YAML file.
//
//go:embed judge.schema.json
var Schema []byte

// A Declaration is a protocol as data: the contents of a judge's YAML file. Its JSON is
// part of the judge's identity, so it includes every field that can change a verdict, such
// as the exact bytes of the prompt.
type Declaration struct {
	// Name identifies the judge in records and reports.
	Name string `json:"name"`

	// About describes in one line what the judge decides. It is not part of the judge's
	// identity.
	About string `json:"-"`

	// Vendor, Date, Source and Licence say who published the prompt, when, where and under
	// which licence. They are not part of the identity.
	Vendor  string `json:"-"`
	Date    string `json:"-"`
	Source  string `json:"-"`
	Licence string `json:"-"`

	// Votes is the number of times that the published program asks about an item; it
	// takes the mean. 0 means once. The repeating judge is built from this one.
	Votes int `json:"-"`

	// System and Prompt are the messages. A slot is written {name}.
	System string `json:"system,omitempty"`
	Prompt string `json:"prompt"`

	// Slots says where the values of the slots come from. A slot named after a part of
	// the item needs no entry.
	Slots map[string]Slot `json:"slots,omitempty"`

	// Labels are the decisions offered, with their scores from 0 to 1.
	Labels []Label `json:"labels,omitempty"`

	// Aspects are the numbers asked for. A declaration has labels or aspects.
	Aspects []Aspect `json:"aspects,omitempty"`

	// Criteria says which list of the item is judged criterion by criterion; nil means
	// that the item is judged as a whole.
	Criteria *Criteria `json:"criteria,omitempty"`

	// Pass is the lowest score that passes; nil means no pass mark.
	Pass *float64 `json:"pass,omitempty"`

	// Readings are the parsers of a reply, by name: upstream, strict.
	Readings map[string]Reader `json:"readings"`

	// Quotes means that the judge must quote the response under "quote", and that a verdict
	// with a quote that does not stand in the response is a failure.
	Quotes bool `json:"quotes,omitempty"`

	// FailuresWrong means that the published program counts an unreadable reply as
	// wrong. deem does not, and shows that program's score next to its own.
	FailuresWrong bool `json:"failures_wrong,omitempty"`

	// Params are the parameters of the request.
	Params Params `json:"params"`
}

// A Slot says where a slot's value comes from: the first source in From that the item has.
type Slot struct {
	From    []string `json:"from"`              // id, category, question, response, reference, references, conversation, fields.NAME
	As      string   `json:"as,omitempty"`      // format of several references: python (the default), lines, or, json
	Default *string  `json:"default,omitempty"` // used if the item has no value; without a default the item is unjudged
	Fence   bool     `json:"fence,omitempty"`   // enclose in delimiters that the text inside cannot forge
	Mark    string   `json:"mark,omitempty"`    // the published prompt's marker for the slot, if it is not {name}

	// Turns and Tokens limit a conversation to its last turns. A token counts as four
	// bytes. 0 means no limit.
	Turns  int `json:"turns,omitempty"`
	Tokens int `json:"tokens,omitempty"`

	// Until is the text at which the value ends, by category of the item.
	Until map[string]string `json:"until,omitempty"`
}

// A Label is a decision that the judge offers, with its score.
type Label struct {
	Label string  `json:"label"`
	Score float64 `json:"score"`
}

// An Aspect is a number that the judge asks for, with its scale.
type Aspect struct {
	Name    string  `json:"name"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Integer bool    `json:"integer,omitempty"`
	Weight  float64 `json:"weight"` // in the weighted mean that is the score

	// About describes the number, and Levels describes some of its values. The slot
	// {aspects} shows them to the model.
	About  string  `json:"about,omitempty"`
	Levels []Level `json:"levels,omitempty"` // from the lowest value

	// Must is the lowest number that can pass; nil means any.
	Must *float64 `json:"must,omitempty"`
}

// A Level says what one value of an aspect means.
type Level struct {
	Value float64 `json:"value"`
	About string  `json:"about"`
}

// rubric renders the aspects for the slot {aspects}.
func rubric(aspects []Aspect) string {
	var b strings.Builder
	for _, a := range aspects {
		whole := ""
		if a.Integer {
			whole = ", a whole number"
		}
		fmt.Fprintf(&b, "%s, from %v to %v%s", a.Name, a.Min, a.Max, whole)
		if a.About != "" {
			b.WriteString(": " + a.About)
		}
		b.WriteByte('\n')
		for _, l := range a.Levels {
			fmt.Fprintf(&b, "  %v: %s\n", l.Value, l.About)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A Reader is a configured parser of replies.
type Reader struct {
	// How is the parser: label, json, pattern, exact, ladder, loads or last.
	How string `json:"how"`

	// Line is the last line that the prompt demands, with {label} for the label. For the
	// parser "label", "" means that the prompt demands the label alone. The parser "json"
	// accepts it from models that are not held to JSON.
	Line string `json:"line,omitempty"`

	// Pattern is the regular expression of the parser "pattern". Its group matches the
	// label or the number.
	Pattern string `json:"pattern,omitempty"`

	// Key is the JSON key of the label, for the parser "json"; "" means "label".
	Key string `json:"key,omitempty"`

	// Reason is the JSON key of the explanation; "" means any of the usual ones.
	Reason string `json:"reason,omitempty"`

	// Part is the part of the reply that the parser "loads" reads: fence, final, label,
	// braces, span or lenient; "" means all of it.
	Part string `json:"part,omitempty"`

	// Fold makes the parser "loads" compare labels without case, and Trim without
	// surrounding white space.
	Fold bool `json:"fold,omitempty"`
	Trim bool `json:"trim,omitempty"`

	// Else is the label that the parsers "loads" and "last" return for any other value,
	// as the published program does; "" makes it a failure.
	Else string `json:"else,omitempty"`
}

// Params are the parameters of a request. A zero value means the vendor's default.
type Params struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
	JSON        bool     `json:"json,omitempty"`
	TopLogprobs int      `json:"top_logprobs,omitempty"`

	// Schema is the JSON Schema of the reply, as text. The vendor determines how it is
	// enforced.
	Schema string `json:"schema,omitempty"`

	// Optional lists the parameters that may be dropped if the vendor reports that it
	// does not support them.
	Optional []string `json:"optional,omitempty"`
}

// The names of the readings.
const (
	Upstream = "upstream" // reads as the published program does, including its bugs
	Strict   = "strict"   // a reply in any other form than the prompt demands is a failure
)

// defaultReading returns "upstream" if there is such a reading, so that scores are
// comparable with published ones, and "strict" otherwise.
func (d *Declaration) defaultReading() string {
	if _, ok := d.Readings[Upstream]; ok {
		return Upstream
	}
	return Strict
}

// Sees returns what the prompt shows beside the response: question, reference, context. A
// field of the item counts as context.
func (d *Declaration) Sees() []string {
	seen := map[string]bool{}
	for _, source := range []string{d.System, d.Prompt} {
		t, err := parseTemplate(source, d.Slots)
		if err != nil {
			continue
		}
		for _, s := range t.slots() {
			from := []string{s.slot}
			if declared, ok := d.Slots[s.slot]; ok {
				from = declared.From
			}
			for _, name := range from {
				_, field := fieldName(name)
				_, turn := turnOf(name)
				switch {
				case name == "question":
					seen[name] = true
				case strings.HasPrefix(name, "reference"):
					seen["reference"] = true
				case field && len(from) > 1 && from[len(from)-1] == "references": // the reference in another form
				case field || turn:
					seen["context"] = true
				}
			}
		}
	}
	var list []string
	for _, name := range []string{"question", "reference", "context"} {
		if seen[name] {
			list = append(list, name)
		}
	}
	return list
}

// Fields returns the fields of items that the slots use, so that a dataset reader can look
// for them. A "?" is appended to a field that is optional because another source or
// a default can replace it.
func (d *Declaration) Fields() []string {
	var names []string
	add := func(name string, optional bool) {
		if optional {
			name += "?"
		}
		names = append(names, name)
	}
	if d.Criteria != nil {
		add(d.Criteria.Field, d.Criteria.Split != "")
	}
	for _, s := range d.Slots {
		for _, from := range s.From {
			if name, ok := fieldName(from); ok {
				add(name, len(s.From) > 1 || s.Default != nil)
			}
		}
	}
	return names
}
