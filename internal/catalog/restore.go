package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/benchmark"
	"deem/internal/compose"
	"deem/internal/findings"
	"deem/internal/store"
	"deem/judge"
	"deem/judge/cascade"
	"deem/judge/pairwise"
	"deem/judge/panel"
	"deem/judge/rule"
)

// Rule makes the rule of a run again. It returns nil when what comes of it is not the
// judge that the run had.
func Rule(run store.Run, set findings.Settings) deem.Judge {
	marks := append([]Optional[float64]{{}}, passMarks(run.Judge.Identity)...)
	for _, pass := range marks {
		c, err := Choose(run.Judge.Name, JudgeOptions{With: set.With, Reading: set.Reading, Pass: pass}, true)
		if err != nil || c.Rule == nil {
			continue
		}
		if hash, err := deem.JudgeHash(c.Rule); err == nil && hash == run.Judge.Hash {
			return c.Rule
		}
	}
	return nil
}

// passMarks returns the pass marks in the identity of a rule or of several.
func passMarks(identity []byte) []Optional[float64] {
	type options struct {
		Options struct {
			Pass *float64 `json:"pass"`
		} `json:"options"`
	}
	var id struct {
		options
		Rules []options `json:"rules"`
	}
	_ = json.Unmarshal(identity, &id) // Of other forms nothing is known.
	var marks []Optional[float64]
	for _, o := range append(id.Rules, id.options) {
		if o.Options.Pass != nil {
			marks = append(marks, Optional[float64]{Value: *o.Options.Pass, Set: true})
		}
	}
	return marks
}

// KnownRule reports whether a name is that of a rule, or of several. What a file says
// must not make us open others.
func KnownRule(name string) bool {
	for _, part := range together(name) {
		if _, ok := benchmark.OfJudge(part); !ok && !slices.Contains(rule.Names(), part) {
			return false
		}
	}
	return true
}

// A Restorer makes a judge out of its identity.
type Restorer struct {
	Settings findings.Settings

	// Model opens a model by its name and the settings that are part of the identity.
	Model func(name, settings string) (deem.Model, error)

	// Careful goes around every member; nil leaves them as they are.
	Careful func(deem.Judge) deem.Judge

	// Instead stands in for the i-th member or stage of a judge that cannot be made;
	// nil means that the whole judge cannot.
	Instead func(id Identity, i int) deem.Judge
}

// member makes the i-th member or stage of a judge.
func (r *Restorer) member(id Identity, i int, identity json.RawMessage, depth int) (deem.Judge, error) {
	j, err := r.restore(identity, depth+1)
	if err != nil && (depth > 0 || r.Instead == nil) {
		return nil, err
	}
	if err != nil {
		j = r.Instead(id, i)
	}
	return r.around(j), nil
}

// around returns the judge with care, where that is wanted.
func (r *Restorer) around(j deem.Judge) deem.Judge {
	if r.Careful == nil || j == cascade.People() { // at which a cascade looks
		return j
	}
	return r.Careful(j)
}

// An Identity is what the identities of all judges have between them.
type Identity struct {
	Kind     string           `json:"kind"`
	Name     string           `json:"name"`
	Rule     string           `json:"rule"`
	Tie      string           `json:"tie"`
	Quorum   int              `json:"quorum"`
	Pass     float64          `json:"pass"`
	Judge    json.RawMessage  `json:"judge"`
	Members  []MemberIdentity `json:"members"`
	Stages   []MemberIdentity `json:"stages"`
	Model    string           `json:"model"`
	Settings string           `json:"settings"`
}

// A MemberIdentity is the identity of one in a panel or a cascade.
type MemberIdentity struct {
	Name      string          `json:"name"`
	Weight    float64         `json:"weight"`
	Threshold *float64        `json:"threshold"`
	Judge     json.RawMessage `json:"judge"`
}

// Restore makes the judge that an identity is of.
func (r *Restorer) Restore(identity json.RawMessage) (deem.Judge, error) {
	return r.restore(identity, 0)
}

// restore makes a judge that is so many judges deep.
func (r *Restorer) restore(identity json.RawMessage, depth int) (deem.Judge, error) {
	var id Identity
	if json.Unmarshal(identity, &id.Name) != nil { // A judge without an identity is its name.
		if err := json.Unmarshal(identity, &id); err != nil {
			return nil, err
		}
	}
	if depth > maxNesting+1 { // --repeat is one more than a file may have
		return nil, fmt.Errorf("its judges are made of judges more than %d deep", maxNesting)
	}
	switch id.Kind {
	case compose.Panel:
		return r.panel(id, depth)
	case compose.Repeat:
		return r.repeat(id, depth)
	case compose.Cascade:
		return r.cascade(id, depth)
	case compose.Pairwise:
		j, err := r.restore(id.Judge, depth+1)
		if err != nil {
			return nil, err
		}
		return pairwise.New(id.Name, r.around(j)), nil
	case compose.People:
		return cascade.People(), nil
	case "model":
		return r.asking(id, identity)
	default:
		return r.rule(id, identity)
	}
}

func (r *Restorer) panel(id Identity, depth int) (deem.Judge, error) {
	var members []panel.Member
	for i, m := range id.Members {
		j, err := r.member(id, i, m.Judge, depth)
		if err != nil {
			return nil, err
		}
		members = append(members, panel.Member{Name: m.Name, Judge: j, Weight: m.Weight})
	}
	return orNil(panel.New(members, r.options(id)))
}

func (r *Restorer) options(id Identity) panel.Options {
	return panel.Options{Name: id.Name, Rule: panel.Rule(id.Rule), Tie: panel.Tie(id.Tie), Quorum: id.Quorum, Pass: id.Pass}
}

func (r *Restorer) repeat(id Identity, depth int) (deem.Judge, error) {
	j, err := r.restore(id.Judge, depth+1)
	if err != nil {
		return nil, err
	}
	return orNil(panel.Repeat(r.around(j), len(id.Members), r.options(id)))
}

func (r *Restorer) cascade(id Identity, depth int) (deem.Judge, error) {
	var stages []cascade.Stage
	for i, s := range id.Stages {
		j, err := r.member(id, i, s.Judge, depth)
		if err != nil {
			return nil, err
		}
		stages = append(stages, cascade.Stage{Name: s.Name, Judge: j, Threshold: s.Threshold})
	}
	return orNil(cascade.New(id.Name, stages))
}

// asking makes a judge that asks a model. Whose protocol it is, the hash tells.
func (r *Restorer) asking(id Identity, identity json.RawMessage) (deem.Judge, error) {
	want, err := deem.Hash(identity)
	if err != nil {
		return nil, err
	}
	m, err := r.Model(id.Model, id.Settings)
	if err != nil {
		return nil, err
	}
	makers := []func([]byte) (judge.Readable, error){func(id []byte) (judge.Readable, error) { return judge.Restore(id) }}
	for _, b := range benchmark.All() {
		if b.Restore != nil {
			makers = append(makers, b.Restore)
		}
	}
	for _, restore := range makers {
		p, err := restore(identity)
		if err != nil {
			continue // It is of another kind.
		}
		j := judge.New(p, m)
		if hash, err := deem.JudgeHash(j); err == nil && hash == want {
			return j, nil
		}
	}
	return nil, fmt.Errorf("this deem cannot ask %s as its member %s did", id.Model, deem.ShortHash(want))
}

// rule makes a rule, if it needs nothing but its name.
func (r *Restorer) rule(id Identity, identity json.RawMessage) (deem.Judge, error) {
	name := nameOfRule(id.Name, identity)
	hash, err := deem.Hash(identity)
	if err != nil {
		return nil, err
	}
	if name != "" && KnownRule(name) {
		set := r.Settings
		for _, reading := range []string{set.Reading, readingOf(identity)} {
			set.Reading = reading
			if j := Rule(store.Run{Spec: store.Spec{Judge: store.JudgeSpec{Name: name, Hash: hash, Identity: identity}}}, set); j != nil {
				return j, nil
			}
		}
	}
	return nil, fmt.Errorf("its member %s judges by further data", cmp.Or(name, id.Kind, deem.ShortHash(hash)))
}

// nameOfRule returns the name of a rule, or of several that go together.
func nameOfRule(name string, identity json.RawMessage) string {
	var several struct {
		Rules []json.RawMessage `json:"rules"`
	}
	if name != "" || json.Unmarshal(identity, &several) != nil {
		return name
	}
	var names []string
	for _, rule := range several.Rules {
		var one struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(rule, &one) != nil && json.Unmarshal(rule, &one.Name) != nil {
			return ""
		}
		names = append(names, one.Name)
	}
	return strings.Join(names, "+")
}

// readingOf returns the reading in the identity of a benchmark's rule, which the file of
// a panel may have named.
func readingOf(identity json.RawMessage) string {
	var id struct {
		Reading string `json:"reading"`
		Options struct {
			Reading string `json:"reading"`
		} `json:"options"`
	}
	_ = json.Unmarshal(identity, &id) // Other rules have no reading.
	return cmp.Or(id.Reading, id.Options.Reading)
}
