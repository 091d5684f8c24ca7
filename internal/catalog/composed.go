package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/usage"
	"deem/judge"
	"deem/judge/pairwise"
)

// A CascadePromise is the guarantee of a fitted cascade, with that of each stage by name.
type CascadePromise struct {
	Promise
	Stages map[string]Fitted
}

// maxNesting is the maximum depth of judges composed of composed judges. A file that names
// itself would otherwise recurse without end.
const maxNesting = 4

// chooseComposed returns a composed judge. It reports false if the name is that of another
// judge.
func chooseComposed(name string, o JudgeOptions, depth int) (Choice, bool, error) {
	if name == judge.KindPairwise {
		d := &Composition{Kind: judge.KindPairwise, Name: name, Members: []Member{{}}}
		c, err := compositeOf(d, o, depth)
		return c, true, err
	}
	if !LooksLikeFile(name) {
		return Choice{}, false, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return Choice{}, true, usage.Mark(err)
	}
	d, ok, err := ParseComposition(name, data)
	if err != nil || !ok {
		return Choice{}, ok || err != nil, usage.Mark(err)
	}
	if depth >= maxNesting {
		return Choice{}, true, usage.Errorf("%s: judges are made of judges more than %d deep", name, maxNesting)
	}
	if slices.Contains(JudgeNames(), d.Name) {
		return Choice{}, true, ownName(name, d.Name)
	}
	c, err := compositeOf(d, o, depth)
	return c, true, err
}

// compositeOf chooses the members.
func compositeOf(d *Composition, o JudgeOptions, depth int) (Choice, error) {
	c := Choice{
		Spec:  judge.Spec{Kind: d.Kind, Name: d.Name, Rule: d.Rule, Tie: d.Tie, Quorum: d.Quorum, Times: d.Times},
		parts: Parts{Embedder: o.Embedder, Labels: map[string]deem.Judge{}},
	}
	if d.Pass != 0 {
		c.Spec.Pass = &d.Pass
	}
	if d.Promise != nil {
		c.Promise = &CascadePromise{Promise: *d.Promise, Stages: map[string]Fitted{}}
	}
	for _, m := range d.Members {
		chosen, err := chooseMember(d, m, o, depth)
		if err != nil {
			return Choice{}, err
		}
		name := chosen.Name()
		if m.Model != "" {
			name += "@" + m.Model
		}
		member := judge.Member{
			Name: cmp.Or(m.Name, name), Weight: m.Weight, Threshold: m.Threshold, Judge: chosen.Spec,
			Fitted: m.Hash, Place: fmt.Sprintf("%s:%d", d.File, m.Line),
		}
		c.Spec.Members = append(c.Spec.Members, member)
		maps.Copy(c.parts.Labels, chosen.parts.Labels)
		c.parts.keep(chosen.parts)
		if c.Promise != nil && m.Fitted != nil {
			c.Promise.Stages[member.Name] = *m.Fitted
		}
	}
	return c, nil
}

// chooseMember returns the judge of a member. File names are relative to the file that
// contains them.
func chooseMember(d *Composition, m Member, o JudgeOptions, depth int) (Choice, error) {
	if m.Reading != "" {
		o.Reading = m.Reading
	}
	name := m.Judge
	switch rest, isLabels := strings.CutPrefix(name, LabelsPrefix); {
	case name == "" && d.Kind == judge.KindPairwise:
		c, err := Declared(pairwise.Declaration(), o.Reading)
		return c.asking(m.Model), err
	case name == judge.KindPeople && d.Kind == judge.KindCascade:
		return Choice{Spec: judge.Spec{Kind: judge.KindPeople, Name: name}}, nil
	case isLabels:
		name = LabelsPrefix + d.Path(rest)
	case LooksLikeFile(name) || LooksLikeFile(d.Path(name)) && FileExists(d.Path(name)) && strings.Contains(name, "."):
		name = d.Path(name)
	}
	c, err := chooseAt(name, o, true, depth+1)
	if err != nil && d.File != "" {
		hint := deem.HintOf(err)
		err = usage.Mark(fmt.Errorf("%s:%d: %w", d.File, m.Line, err))
		if hint != "" {
			err = deem.WithHint(err, "%s", hint)
		}
	}
	if err != nil {
		return Choice{}, err
	}
	if !c.Spec.Asks() && !c.Spec.Composed() && m.Model != "" {
		return Choice{}, d.Problem(m, "%s is a rule and asks no model", c.Name())
	}
	return c.asking(m.Model), nil
}

// asking returns the judge with the given model for those of its members that name none.
func (c Choice) asking(name string) Choice {
	c.Spec, _ = c.Spec.Map(func(leaf judge.Spec) (judge.Spec, error) {
		if leaf.Kind == judge.KindModel && leaf.Model == "" {
			leaf.Model = name
		}
		return leaf, nil
	})
	return c
}

// Repeated returns a judge that asks another several times.
func Repeated(c Choice, times int, tie string) (Choice, error) {
	if c.Spec.Composed() && c.Spec.Kind != judge.KindPairwise {
		return Choice{}, usage.Errorf("--repeat asks one judge several times, and %s is made of several", c.Name())
	}
	if !c.Spec.Asks() {
		return Choice{}, usage.Mark(deem.WithHint(fmt.Errorf("%s is a rule: it says the same each time", c.Name()), "leave --repeat out: it is for judges that ask a model"))
	}
	c.Spec = judge.Spec{
		Kind: judge.KindRepeat, Name: fmt.Sprintf("%s×%d", c.Name(), times), Times: times, Tie: tie,
		Members: []judge.Member{{Judge: c.Spec}},
	}
	c.As = ""
	return c, nil
}

// WithTie returns a panel with a different rule for ties.
func (c Choice) WithTie(tie string) (Choice, error) {
	if c.Spec.Kind != judge.KindPanel && c.Spec.Kind != judge.KindRepeat {
		return c, usage.Errorf("--tie says what a panel does, and %s is not a panel", c.Name())
	}
	c.Spec.Tie = tie
	if c.Spec.Asks() {
		return c, nil
	}
	_, err := Build(c.Spec, c.parts)
	return c, usage.Mark(err)
}

// Relative returns a judge's file relative to the folder of another file.
func Relative(to, name string) (string, error) {
	prefix, file := "", name
	if rest, ok := strings.CutPrefix(name, LabelsPrefix); ok {
		prefix, file = LabelsPrefix, rest
	} else if !LooksLikeFile(name) {
		return name, nil
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	dir, err := filepath.Abs(filepath.Dir(to))
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(dir, abs)
	if err != nil {
		return "", err
	}
	return prefix + filepath.ToSlash(rel), nil
}
