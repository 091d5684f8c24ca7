package catalog

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/compose"
	"deem/internal/findings"
	"deem/internal/usage"
	"deem/judge/cascade"
	"deem/judge/pairwise"
	"deem/judge/panel"
)

// A Composed is a judge that is made of others.
type Composed struct {
	Declaration *compose.Declaration
	Members     []Choice
}

// maxNesting is how deep judges may be made of judges that are made of others. A file
// that names itself would have no end.
const maxNesting = 4

// chooseComposed finds the judge that is made of others. It reports false when the name
// is that of another judge.
func chooseComposed(name string, o JudgeOptions, depth int) (Choice, bool, error) {
	if name == compose.Pairwise {
		d := &compose.Declaration{Kind: compose.Pairwise, Name: name, Members: []compose.Member{{}}}
		c, err := compositeOf(d, o, depth)
		return c, true, err
	}
	if !LooksLikeFile(name) {
		return Choice{}, false, nil
	}
	d, ok, err := compose.Load(name)
	if err != nil || !ok {
		return Choice{}, ok || err != nil, usage.Mark(err)
	}
	if depth >= maxNesting {
		return Choice{}, true, usage.Errorf("%s: judges are made of judges more than %d deep", name, maxNesting)
	}
	if slices.Contains(JudgeNames(), d.Name) {
		return Choice{}, true, usage.Mark(deem.WithHint(fmt.Errorf("%s: the name %q belongs to a judge that comes with deem", name, d.Name), "choose a name of your own, as %q", "my-"+d.Name))
	}
	c, err := compositeOf(d, o, depth)
	return c, true, err
}

// compositeOf chooses the members.
func compositeOf(d *compose.Declaration, o JudgeOptions, depth int) (Choice, error) {
	c := Choice{Composed: &Composed{Declaration: d}}
	for _, m := range d.Members {
		member, err := chooseMember(d, m, o, depth)
		if err != nil {
			return Choice{}, err
		}
		c.Composed.Members = append(c.Composed.Members, member)
		c.Wanted = append(c.Wanted, member.Wanted...)
	}
	if d.Kind == compose.Pairwise {
		c.Wanted = append(c.Wanted, pairwise.Field)
	}
	if !c.Composed.asks() {
		// Members that ask no model make a judge that asks none: a rule like any other.
		j, err := c.Composed.make(func(i int) (deem.Judge, error) { return c.Composed.Members[i].Rule, nil })
		if err != nil {
			return Choice{}, usage.Mark(err)
		}
		c.Rule = j
	}
	return c, nil
}

// chooseMember finds the judge that a member names, seen from the file that names it.
func chooseMember(d *compose.Declaration, m compose.Member, o JudgeOptions, depth int) (Choice, error) {
	if m.Reading != "" {
		o.Reading = m.Reading
	}
	name := m.Judge
	switch rest, isLabels := strings.CutPrefix(name, LabelsPrefix); {
	case name == "" && d.Kind == compose.Pairwise:
		p, err := pairwise.Declaration().Protocol(o.Reading)
		return Choice{Protocol: p}, usage.Mark(err)
	case name == compose.People && d.Kind == compose.Cascade:
		return Choice{Rule: cascade.People()}, nil
	case isLabels:
		name = LabelsPrefix + d.Path(rest)
	case LooksLikeFile(name) || LooksLikeFile(d.Path(name)) && FileExists(d.Path(name)) && strings.Contains(name, "."):
		name = d.Path(name)
	}
	c, err := chooseAt(name, o, true, depth+1)
	if err != nil {
		return Choice{}, atMember(d, m, err)
	}
	c.model = m.Model
	if c.Rule != nil && c.Composed == nil && m.Model != "" {
		return Choice{}, d.Problem(m, "%s is a rule and asks no model", c.Name())
	}
	return c, nil
}

// atMember says where the member stands that something is wrong with.
func atMember(d *compose.Declaration, m compose.Member, err error) error {
	if d.File == "" {
		return err
	}
	hint := deem.HintOf(err)
	err = usage.Mark(fmt.Errorf("%s:%d: %w", d.File, m.Line, err))
	if hint != "" {
		return deem.WithHint(err, "%s", hint)
	}
	return err
}

// asks reports whether a member asks a model.
func (c *Composed) asks() bool {
	return slices.ContainsFunc(c.Members, func(m Choice) bool { return m.Rule == nil })
}

// make makes the judge out of its members.
func (c *Composed) make(member func(i int) (deem.Judge, error)) (deem.Judge, error) {
	d := c.Declaration
	var judges []deem.Judge
	for i, m := range d.Members {
		j, err := member(i)
		if err != nil {
			return nil, err
		}
		if err := c.bound(m, j); err != nil {
			return nil, err
		}
		judges = append(judges, j)
	}
	o := panel.Options{Name: d.Name, Rule: panel.Rule(d.Rule), Tie: panel.Tie(d.Tie), Quorum: d.Quorum, Pass: d.Pass}
	switch d.Kind {
	case compose.Panel:
		var members []panel.Member
		for i, m := range d.Members {
			members = append(members, panel.Member{Name: c.MemberName(i), Judge: judges[i], Weight: m.Weight})
		}
		return orNil(panel.New(members, o))
	case compose.Repeat:
		return orNil(panel.Repeat(judges[0], d.Times, o))
	case compose.Pairwise:
		return pairwise.New(d.Name, judges[0]), nil
	default:
		var stages []cascade.Stage
		for i, m := range d.Members {
			stages = append(stages, cascade.Stage{Name: c.MemberName(i), Judge: judges[i], Threshold: m.Threshold})
		}
		return orNil(cascade.New(d.Name, stages))
	}
}

// orNil keeps a nil pointer from becoming a judge.
func orNil[J deem.Judge](j J, err error) (deem.Judge, error) {
	if err != nil {
		return nil, err
	}
	return j, nil
}

// MemberName returns the name of a member: its own, or that of its judge, with the
// model where it names one.
func (c *Composed) MemberName(i int) string {
	m := c.Declaration.Members[i]
	switch name := c.Members[i].Name(); {
	case m.Name != "":
		return m.Name
	case m.Model != "":
		return name + "@" + m.Model
	default:
		return name
	}
}

// bound refuses a judge that is not the one that a threshold was fitted for.
func (c *Composed) bound(m compose.Member, j deem.Judge) error {
	if m.Hash == "" {
		return nil
	}
	hash, err := deem.JudgeHash(j)
	if err != nil {
		return err
	}
	if strings.HasPrefix(hash, m.Hash) && len(m.Hash) >= 12 {
		return nil
	}
	return deem.WithHint(fmt.Errorf("%s:%d: %s is judge %s, and the file was made for %s: what was promised of one does not hold for the other",
		c.Declaration.File, m.Line, j.Name(), deem.ShortHash(hash), deem.ShortHash(m.Hash)),
		"fit again with labels: deem cascade fit; or name the model and the reading that it was fitted with")
}

// Repeated returns the judge that asks another several times.
func Repeated(c Choice, times int, tie string) (Choice, error) {
	if c.Composed != nil && c.Composed.Declaration.Kind != compose.Pairwise {
		return Choice{}, usage.Errorf("--repeat asks one judge several times, and %s is made of several", c.Name())
	}
	d := &compose.Declaration{
		Kind: compose.Repeat, Name: fmt.Sprintf("%s×%d", c.Name(), times), Times: times, Tie: tie,
		Members: []compose.Member{{Judge: c.Spec}},
	}
	out := Choice{Composed: &Composed{Declaration: d, Members: []Choice{c}}, Wanted: c.Wanted}
	if c.Rule != nil {
		return Choice{}, usage.Mark(deem.WithHint(fmt.Errorf("%s is a rule: it says the same each time", c.Name()), "--repeat is for judges that ask a model"))
	}
	return out, nil
}

// WithTie returns a panel that says something else where it is evenly split.
func (c Choice) WithTie(tie string) (Choice, error) {
	if c.Composed == nil || c.Composed.Declaration.Kind != compose.Panel && c.Composed.Declaration.Kind != compose.Repeat {
		return c, usage.Errorf("--tie says what a panel does, and %s is none", c.Name())
	}
	c.Composed.Declaration.Tie = tie
	if c.Rule != nil {
		j, err := c.Composed.make(func(i int) (deem.Judge, error) { return c.Composed.Members[i].Rule, nil })
		if err != nil {
			return c, usage.Mark(err)
		}
		c.Rule = j
	}
	return c, nil
}

// Relative returns a judge's file as it is named from the folder of another file.
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

// Promise returns what was promised of the judge, nil when nothing was.
func (c Choice) Promise() *findings.CascadePromise {
	if c.Composed == nil || c.Composed.Declaration.Promise == nil {
		return nil
	}
	p := &findings.CascadePromise{Promise: *c.Composed.Declaration.Promise, Stages: map[string]compose.Fitted{}}
	for i, m := range c.Composed.Declaration.Members {
		if m.Fitted != nil {
			p.Stages[c.Composed.MemberName(i)] = *m.Fitted
		}
	}
	return p
}
