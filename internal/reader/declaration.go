package reader

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Declaration is a reader as data: everything that determines the request for a question
// and how the reply becomes an answer, apart from the model. Readers are declared in YAML.
type Declaration struct {
	Name    string `yaml:"name" json:"name"`
	Version int    `yaml:"version" json:"version,omitempty"` // increased whenever the same question may give another request
	About   string `yaml:"about" json:"-"`
	Source  string `yaml:"source" json:"-"`  // repository, commit and file of a published prompt
	License string `yaml:"license" json:"-"` // of a published prompt

	Messages []Message         `yaml:"messages" json:"messages"`
	Slots    map[string]string `yaml:"slots" json:"slots,omitempty"`     // the name of a value by its name in the prompt
	Dated    string            `yaml:"dated" json:"dated,omitempty"`     // the text of {dated}; a question without a date has none
	Undated  string            `yaml:"undated" json:"undated,omitempty"` // the date of a question without one
	Asked    string            `yaml:"asked" json:"asked,omitempty"`     // the question with its date; "" means the bare question
	Contexts Joining           `yaml:"contexts" json:"contexts"`
	Params   Params            `yaml:"params" json:"params"`
	Answer   Reading           `yaml:"answer" json:"answer"`
}

// A Message is one message of the prompt.
type Message struct {
	Role   string `yaml:"role" json:"role"`     // "system" or "user"
	File   string `yaml:"prompt" json:"-"`      // the file of the text
	Text   string `yaml:"text" json:"text"`     // the text itself, with slots
	Syntax string `yaml:"syntax" json:"syntax"` // format, place, jinja or exact
}

// A Joining says how contexts become one text.
type Joining struct {
	// Form is how passages are written: lines (each with a template), list (a JSON list
	// of lines), sessions (numbered sessions of turns), days (lines under the day they
	// belong to) or results (the search results as JSON).
	Form string `yaml:"form" json:"form"`

	Order    string `yaml:"order" json:"order,omitempty"`       // rank, or time: the oldest first, those without a time before them
	Top      int    `yaml:"top" json:"top,omitempty"`           // at most this many passages, by rank; 0 means all
	Speakers bool   `yaml:"speakers" json:"speakers,omitempty"` // one text for each of two speakers
	Turns    string `yaml:"turns" json:"turns,omitempty"`       // json or text, for sessions
	Time     string `yaml:"time" json:"time,omitempty"`         // how times are written: as given, day or weekday
	Merge    bool   `yaml:"merge" json:"merge,omitempty"`       // equal memories of two speakers are shown once

	Before  string `yaml:"before" json:"before,omitempty"`   // in front of the passages, if there are any
	Each    string `yaml:"each" json:"each,omitempty"`       // one passage: {text}, {time}, {speaker}, {number}
	Untimed string `yaml:"untimed" json:"untimed,omitempty"` // one passage without a time; "" means Each
	Between string `yaml:"between" json:"between,omitempty"`
	After   string `yaml:"after" json:"after,omitempty"`
	Empty   string `yaml:"empty" json:"empty,omitempty"`

	// Tokens is the budget of a question, counted with [Tokens]; 0 means no limit.
	// Passages of the lowest rank are left out until the others fit. A text that the
	// system joined is cut at its end.
	Tokens int `yaml:"tokens" json:"tokens,omitempty"`
}

// Params are the parameters of the request.
type Params struct {
	Temperature *float64 `yaml:"temperature" json:"temperature,omitempty"`
	MaxTokens   int      `yaml:"max_tokens" json:"max_tokens,omitempty"`
}

// A Reading says which part of a reply is the answer. Without a mark it is the whole reply.
// White space around an answer is removed.
type Reading struct {
	After string `yaml:"after" json:"after,omitempty"` // what follows this mark, if the reply has it
	First bool   `yaml:"first" json:"first,omitempty"` // the first mark counts, not the last
	Drop  string `yaml:"drop" json:"drop,omitempty"`   // blocks between these tags are removed first
}

//go:embed readers/*.yaml prompts/*.txt
var files embed.FS

// Default is the name of deem's own reader.
const Default = "deem"

// Names returns the names of the built-in readers: deem's own first, then the published ones.
func Names() []string {
	list, err := files.ReadDir("readers")
	if err != nil {
		panic("reader: " + err.Error()) // The files are part of the program.
	}
	names := []string{Default}
	for _, f := range list {
		if name := strings.TrimSuffix(f.Name(), ".yaml"); name != Default {
			names = append(names, name)
		}
	}
	return names
}

// Open returns the built-in reader of this name, or the one declared in a file that ends in
// .yaml or .yml.
func Open(name string) (*Declaration, error) {
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return Parse(name, data, func(prompt string) ([]byte, error) {
			return os.ReadFile(filepath.Join(filepath.Dir(name), prompt))
		})
	}
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("unknown reader %q; there are %s", name, strings.Join(Names(), ", "))
	}
	file := "readers/" + name + ".yaml"
	data, err := files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, data, func(prompt string) ([]byte, error) { return files.ReadFile(path.Join("readers", prompt)) })
}

// Parse parses a declaration. Prompts in files of their own are read with open.
func Parse(file string, data []byte, open func(prompt string) ([]byte, error)) (*Declaration, error) {
	var d Declaration
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&d); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i := range d.Messages {
		m := &d.Messages[i]
		if m.File == "" {
			continue
		}
		if m.Text != "" {
			return nil, fmt.Errorf("%s: message %d has a text and a prompt file", file, i+1)
		}
		text, err := open(m.File)
		if err != nil {
			return nil, fmt.Errorf("%s: message %d: %w", file, i+1, err)
		}
		m.Text = string(text)
	}
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &d, nil
}

// values are the names of what a prompt can show.
var values = []string{"question", "date", "dated", "contexts", "speaker_1", "speaker_2", "speaker_1_contexts", "speaker_2_contexts"}

// check returns an error if the declaration cannot be used.
func (d *Declaration) check() error {
	switch {
	case d.Name == "":
		return errors.New("a reader needs a name")
	case len(d.Messages) == 0:
		return errors.New("a reader needs messages")
	case !slices.Contains([]string{"", "rank", "time"}, d.Contexts.Order):
		return fmt.Errorf("contexts are in the order of rank or time, not of %q", d.Contexts.Order)
	case forms[d.Contexts.Form] == nil:
		return fmt.Errorf("unknown form of contexts %q; there are %s", d.Contexts.Form, strings.Join(formNames(), ", "))
	}
	for name, value := range d.Slots {
		if !slices.Contains(values, value) {
			return fmt.Errorf("slot %s: there is no value %q; there are %s", name, value, strings.Join(values, ", "))
		}
	}
	shown := map[string]bool{}
	for i, m := range d.Messages {
		if m.Role != "system" && m.Role != "user" {
			return fmt.Errorf("message %d: the role is system or user, not %q", i+1, m.Role)
		}
		for _, name := range m.slots() {
			value := d.valueOf(name)
			if !slices.Contains(values, value) {
				return fmt.Errorf("message %d: there is no value {%s}; there are %s", i+1, name, strings.Join(values, ", "))
			}
			shown[value] = true
		}
	}
	if !shown["question"] {
		return errors.New("the prompt does not show the question")
	}
	return nil
}

// valueOf returns the name of the value that a slot shows.
func (d *Declaration) valueOf(slot string) string {
	if value, ok := d.Slots[slot]; ok {
		return value
	}
	return slot
}

var slotPatterns = map[string]*regexp.Regexp{
	"format": regexp.MustCompile(`\{\{|\}\}|\{[A-Za-z_0-9]*\}`),
	"place":  regexp.MustCompile(`\{\{|\}\}|\{\}`),
	"jinja":  regexp.MustCompile(`\{\{ ?[A-Za-z_0-9]+ ?\}\}`),
}

// slots returns the names of the slots of a message. Slots without a name are numbered.
func (m Message) slots() []string {
	var names []string
	m.replace(func(name string) string {
		names = append(names, name)
		return ""
	})
	return names
}

// replace fills the slots of a message in one pass, so that a slot inside a value stays
// text.
func (m Message) replace(value func(name string) string) string {
	pattern, ok := slotPatterns[m.Syntax]
	if !ok {
		return m.Text
	}
	text := m.Text
	if m.Syntax == "jinja" {
		text = strings.TrimSuffix(text, "\n") // Jinja drops one newline at the end.
	}
	place := 0
	return pattern.ReplaceAllStringFunc(text, func(slot string) string {
		switch {
		case m.Syntax == "jinja":
			return value(strings.TrimSpace(strings.Trim(slot, "{}")))
		case slot == "{{" || slot == "}}":
			return slot[:1]
		case m.Syntax == "place":
			place++
			return value(fmt.Sprint(place))
		}
		return value(strings.Trim(slot, "{}"))
	})
}
