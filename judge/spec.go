package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deem"
)

// The kinds of judges.
const (
	KindRule     = "rule"     // decides without a model
	KindRules    = "rules"    // several rules are applied to an item together
	KindModel    = "model"    // asks a model according to a protocol
	KindPanel    = "panel"    // several judges vote
	KindRepeat   = "repeat"   // one judge is asked several times
	KindCascade  = "cascade"  // judges are asked in turn until one is confident
	KindAnswer   = "answer"   // a reader answers the item, and another judge judges the answer
	KindPairwise = "pairwise" // one judge compares two responses in both orders
	KindPeople   = "people"   // leaves the item to people
	KindRecorded = "recorded" // returns the verdicts in a file of results
)

// CalibrationError is an option of a rule that, where it does not decide, states the
// probability that a response is correct. Its value is the difference between the mean of
// these probabilities and the share of correct responses.
const CalibrationError = "calibration_error"

// A Spec is a judge as data: everything that determines a verdict, and nothing else. It is
// stored with a run and in a run file, its hash is the hash of the judge, and the judge can
// be rebuilt from it. The Identity of every judge in this module is a Spec.
type Spec struct {
	Kind string `json:"kind,omitempty"`
	Name string `json:"name"`

	// Version is increased whenever the same input may give a different verdict.
	Version int    `json:"version,omitempty"`
	Reading string `json:"reading,omitempty"`

	// Options are the options of a rule or a programmed protocol, and the hashes of the
	// data it uses.
	Options map[string]string `json:"options,omitempty"`

	// Declaration is that of a declared protocol, including the bytes of its prompts.
	Declaration *Declaration `json:"declaration,omitempty"`

	// Reader is the declaration of a reader, which is a protocol that answers questions.
	Reader json.RawMessage `json:"reader,omitempty"`

	// Prompts, by name, and Params are those of a programmed protocol.
	Prompts map[string]string `json:"prompts,omitempty"`
	Params  *Params           `json:"params,omitempty"`

	Model    string `json:"model,omitempty"`
	Settings string `json:"settings,omitempty"` // of the model, in the format of the vendor's package

	// How the members of a panel vote, and how many times repeat asks.
	Rule   string   `json:"rule,omitempty"`
	Tie    string   `json:"tie,omitempty"`
	Quorum int      `json:"quorum,omitempty"`
	Times  int      `json:"times,omitempty"`
	Pass   *float64 `json:"pass,omitempty"` // the lowest score with which a rule or a panel passes an item

	// Members are the judges that this one asks, in order.
	Members []Member `json:"members,omitempty"`
}

// A Member is a judge in a panel, a stage of a cascade, or the judge that is repeated.
type Member struct {
	Name      string   `json:"name,omitempty"`
	Weight    float64  `json:"weight,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
	Judge     Spec     `json:"judge"`

	// Fitted is the hash, or a prefix of the hash, of the judge that the threshold was
	// fitted for; "" accepts any judge. Place is the file and line of that setting.
	Fitted string `json:"-"`
	Place  string `json:"-"`
}

// SpecOf returns the spec of a judge. For a judge of another module it contains the name
// and the judge's identity.
func SpecOf(j deem.Judge) Spec {
	s := Spec{Name: j.Name()}
	ij, ok := j.(deem.Identified)
	if !ok {
		return s
	}
	id := ij.Identity()
	if own, ok := id.(Spec); ok {
		return own
	}
	if text, err := deem.Canonical(id); err == nil {
		s.Options = map[string]string{"identity": string(text)}
	}
	return s
}

// ParseSpec parses a stored spec. A judge without an identity is stored as its name, or not
// at all.
func ParseSpec(text []byte) (Spec, error) {
	var s Spec
	if len(text) == 0 || json.Unmarshal(text, &s.Name) == nil {
		return s, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return Spec{}, fmt.Errorf("read the spec of a judge: %w", err)
	}
	return s, nil
}

// Composed reports whether the judge is made of other judges.
func (s Spec) Composed() bool {
	return slices.Contains([]string{KindPanel, KindRepeat, KindCascade, KindPairwise, KindAnswer}, s.Kind)
}

// Asks reports whether the judge, or one of its members, asks a model.
func (s Spec) Asks() bool {
	return s.Kind == KindModel || slices.ContainsFunc(s.Members, func(m Member) bool { return m.Judge.Asks() })
}

// CalibrationError returns the value of the option of that name, 0 without one.
func (s Spec) CalibrationError() float64 {
	x, _ := strconv.ParseFloat(s.Options[CalibrationError], 64)
	return x
}

// Models returns the names of the models that the judge asks, without duplicates.
func (s Spec) Models() []string {
	var names []string
	_, _ = s.Map(func(leaf Spec) (Spec, error) {
		if leaf.Kind == KindModel && !slices.Contains(names, leaf.Model) {
			names = append(names, leaf.Model)
		}
		return leaf, nil
	})
	return names
}

// Map returns the judge with change applied to every judge in it that has no members.
func (s Spec) Map(change func(leaf Spec) (Spec, error)) (Spec, error) {
	if len(s.Members) == 0 {
		return change(s)
	}
	s.Members = slices.Clone(s.Members)
	for i := range s.Members {
		m := &s.Members[i]
		var err error
		if m.Judge, err = m.Judge.Map(change); err != nil {
			return Spec{}, err
		}
	}
	return s, nil
}

// External reports whether the judge is a user's program.
func (s Spec) External() bool { return s.Kind == KindModel && s.Options["protocol"] == external }

// Protocol returns the protocol of a declared or an external judge. The protocols of
// benchmarks are defined elsewhere.
func (s Spec) Protocol() (Readable, error) {
	switch {
	case s.External():
		return External(s.Name), nil
	case s.Kind != KindModel || s.Declaration == nil:
		return nil, fmt.Errorf("judge %s is not declared", s.Name)
	case s.Version != readerVersion:
		return nil, fmt.Errorf("the replies of judge %s were read by version %d, and this deem reads by version %d", s.Name, s.Version, readerVersion)
	}
	if err := s.Declaration.sound(); err != nil {
		return nil, fmt.Errorf("judge %s: %w", s.Name, err)
	}
	return s.Declaration.Protocol(s.Reading)
}

// A Difference is one difference between two judges.
type Difference struct {
	// Name is a short description: prompt, model, reading, parser, parameters, labels;
	// otherwise the path.
	Name string `json:"name"`

	Path   string `json:"path"` // location in the spec, for example "declaration.prompt"
	First  string `json:"first"`
	Second string `json:"second"`
}

// partNames maps the name of a field on the path of a difference to its description. The
// innermost field counts.
var partNames = map[string]string{
	"model": "model", "reading": "reading", "readings": "reading", "version": "parser", "failures_wrong": "denominator",
	"prompt": "prompt", "prompts": "prompt", "system": "prompt", "slots": "prompt", "abstention": "prompt",
	"params": "parameters", "options": "parameters",
	"labels": "labels", "aspects": "labels", "pass": "labels", "criteria": "criteria",
}

// Diff returns the differences between two judges.
func Diff(a, b Spec) []Difference { return differ(nil, tree(a), tree(b)) }

// tree returns a spec as decoded JSON.
func tree(s Spec) (v any) {
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		return fmt.Sprint(s) // It contains a number that JSON cannot represent.
	}
	return v
}

// differ returns the leaves in which two JSON values differ.
func differ(path []string, x, y any) []Difference {
	mx, isMap := x.(map[string]any)
	my, both := y.(map[string]any)
	if isMap && both {
		var list []Difference
		all := maps.Clone(mx)
		maps.Copy(all, my)
		for _, k := range sortedKeys(all) {
			list = append(list, differ(append(path[:len(path):len(path)], k), mx[k], my[k])...)
		}
		return list
	}
	d := Difference{Path: strings.Join(path, "."), First: leafText(x), Second: leafText(y)}
	if d.First == d.Second {
		return nil
	}
	d.Name = d.Path
	for _, field := range path {
		if word, ok := partNames[field]; ok {
			d.Name = word
		}
	}
	return []Difference{d}
}

// leafText returns a value as text; "" means none.
func leafText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, _ := json.Marshal(v) // It was read from JSON.
	return string(text)
}
