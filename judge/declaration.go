package judge

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"deem"
)

// Schema is the JSON Schema of a judge's YAML file.
//
//go:embed judge.schema.json
var Schema []byte

// A Declaration is a protocol as data: what a judge's YAML file says. Its JSON is
// part of the judge's identity, so every field that can change a verdict is here,
// the prompt with all its bytes among them.
type Declaration struct {
	// Name identifies the judge in records and reports.
	Name string `json:"name"`

	// About says in one line what the judge decides. It is not part of the
	// judge's identity.
	About string `json:"-"`

	// Vendor, Date, Source and Licence say who published the prompt, when, where and under
	// which licence. They are not part of the identity.
	Vendor  string `json:"-"`
	Date    string `json:"-"`
	Source  string `json:"-"`
	Licence string `json:"-"`

	// Votes is how often the published program asks about an item; it takes the mean. 0 is
	// once. The judge that asks several times is made of this one.
	Votes int `json:"-"`

	// System and Prompt are the messages, with slots as {name}.
	System string `json:"system,omitempty"`
	Prompt string `json:"prompt"`

	// Slots say where the values of the slots come from. A slot that is named
	// after a part of the item needs no entry.
	Slots map[string]Slot `json:"slots,omitempty"`

	// Labels are the decisions offered, with their scores from 0 to 1.
	Labels []Label `json:"labels,omitempty"`

	// Aspects are the numbers asked for. A declaration has labels or aspects.
	Aspects []Aspect `json:"aspects,omitempty"`

	// Criteria say which list of the item is judged one criterion at a time; nil means
	// that the item is judged as a whole.
	Criteria *Criteria `json:"criteria,omitempty"`

	// Pass is the score from which a verdict passes; nil means no pass mark.
	Pass *float64 `json:"pass,omitempty"`

	// Readings are the ways to read a reply, by name: upstream, strict.
	Readings map[string]Reader `json:"readings"`

	// FailuresWrong says that the published program counts a reply that it cannot
	// read as wrong. deem does not, and prints that program's number beside its
	// own.
	FailuresWrong bool `json:"failures_wrong,omitempty"`

	// Params are the parameters of the request.
	Params Params `json:"params"`
}

// A Slot says where a slot's value comes from: the first of From that the item
// has.
type Slot struct {
	From    []string `json:"from"`              // id, category, question, response, reference, references, conversation, fields.NAME
	As      string   `json:"as,omitempty"`      // how several references are written: python (the default), lines, or, json
	Default *string  `json:"default,omitempty"` // what stands there when the item has none; without it the item is unjudged
	Fence   bool     `json:"fence,omitempty"`   // put between delimiters that the text inside cannot forge
	Mark    string   `json:"mark,omitempty"`    // how a published prompt marks the slot, where that is not {name}

	// Turns and Tokens bound a conversation: its last turns are shown, as many as there may
	// be and fit. A token counts as four bytes. 0 means no bound.
	Turns  int `json:"turns,omitempty"`
	Tokens int `json:"tokens,omitempty"`

	// Until says at which text the value ends, by the category of the item.
	Until map[string]string `json:"until,omitempty"`
}

// A Label is a decision offered and how it counts.
type Label struct {
	Label string  `json:"label"`
	Score float64 `json:"score"`
}

// LabelNames returns the labels as they are spelt, as "SAME, PARTLY, DIFFERENT".
func LabelNames(list []Label) string {
	names := make([]string, len(list))
	for i, l := range list {
		names[i] = l.Label
	}
	return strings.Join(names, ", ")
}

// An Aspect is a number asked for, on its own scale.
type Aspect struct {
	Name    string  `json:"name"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Integer bool    `json:"integer,omitempty"`
	Weight  float64 `json:"weight"` // in the mean that is the score

	// About says what the number is about, and Levels what some of its values mean. The
	// slot {aspects} shows them to the model.
	About  string  `json:"about,omitempty"`
	Levels []Level `json:"levels,omitempty"` // from the lowest

	// Must is the lowest number with which the verdict can pass; nil means any.
	Must *float64 `json:"must,omitempty"`
}

// A Level says what one value of an aspect means.
type Level struct {
	Value float64 `json:"value"`
	About string  `json:"about"`
}

// rubric writes the aspects as the slot {aspects} shows them.
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

// A Reader is one way to read a reply.
type Reader struct {
	// How is one of the ways of [Ways].
	How string `json:"how"`

	// Key is the JSON key that holds the label, for the way "json"; "" means
	// "label".
	Key string `json:"key,omitempty"`

	// Reason is the JSON key that holds the explanation; "" means any of the
	// usual ones.
	Reason string `json:"reason,omitempty"`

	// Part is the part of the reply that the way "loads" parses, one of [Parts]; "" is all
	// of it.
	Part string `json:"part,omitempty"`

	// Fold makes the way "loads" compare labels without case, and Trim without the white
	// space around them.
	Fold bool `json:"fold,omitempty"`
	Trim bool `json:"trim,omitempty"`

	// Else is the label that the ways "loads" and "last" give where the published program
	// takes any other value for it; "" is a failure.
	Else string `json:"else,omitempty"`
}

// Params are the parameters of a request. The zero value leaves each to the
// vendor.
type Params struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
	JSON        bool     `json:"json,omitempty"`
	TopLogprobs int      `json:"top_logprobs,omitempty"`

	// Schema is the text of the JSON Schema that the reply must meet. How it is enforced
	// depends on the vendor.
	Schema string `json:"schema,omitempty"`

	// Optional names the parameters without which the judge may ask if the vendor says
	// that it does not support them.
	Optional []string `json:"optional,omitempty"`
}

// The names of the readings.
const (
	Upstream = "upstream" // as the published program reads, bug for bug
	Strict   = "strict"   // a reply that does not clearly say one label is a failure
)

// DefaultReading returns "upstream" where there is one, so that numbers are
// comparable with published ones.
func (d *Declaration) DefaultReading() string {
	if _, ok := d.Readings[Upstream]; ok {
		return Upstream
	}
	return Strict
}

// HasPass reports whether the judge can have a pass mark. One that decides an item as a
// whole by labels has none: a label counts as its score says.
func (d *Declaration) HasPass() bool { return len(d.Aspects) > 0 || d.Criteria != nil }

// SetPass sets the pass mark.
func (d *Declaration) SetPass(mark float64) error {
	if !d.HasPass() {
		return fmt.Errorf("judge %s has labels and no pass mark", d.Name)
	}
	if err := checkPass(mark); err != nil {
		return err
	}
	d.Pass = &mark
	return nil
}

func checkPass(mark float64) error {
	if math.IsNaN(mark) || mark < 0 || mark > 1 {
		return fmt.Errorf("pass mark %v lies outside 0 to 1", mark)
	}
	return nil
}

// Fields returns the item fields that the slots name, for a reader of datasets to look for.
// A field that the judge can do without, because another one may be there, ends with "?".
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
				add(name, len(s.From) > 1)
			}
		}
	}
	return names
}

// request returns a request with the declared parameters.
func (d *Declaration) request(messages ...deem.Message) deem.Request {
	p := d.Params
	req := deem.Request{
		Messages: messages, Temperature: p.Temperature, TopP: p.TopP, MaxTokens: p.MaxTokens,
		Seed: p.Seed, Stop: p.Stop, JSON: p.JSON, TopLogprobs: p.TopLogprobs, Optional: p.Optional,
	}
	if p.Schema != "" {
		req.Schema = json.RawMessage(p.Schema)
	}
	return req
}
