package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/findings"
	"deem/internal/usage"
	"deem/judge"
	"deem/judge/cascade"
	"deem/judge/compose"
	"deem/judge/pairwise"
	"deem/judge/panel"
	"deem/model"
)

// A composed is a judge that is made of others.
type composed struct {
	decl    *compose.Declaration
	members []choice
}

// maxNesting is how deep judges may be made of judges that are made of others. A file
// that names itself would have no end.
const maxNesting = 4

// chooseComposed finds the judge that is made of others. It reports false when the name
// is that of another judge.
func chooseComposed(name string, o judgeOptions, depth int) (choice, bool, error) {
	if name == compose.Pairwise {
		d := &compose.Declaration{Kind: compose.Pairwise, Name: name, Members: []compose.Member{{}}}
		c, err := compositeOf(d, o, depth)
		return c, true, err
	}
	if !looksLikeFile(name) {
		return choice{}, false, nil
	}
	d, ok, err := compose.Load(name)
	if err != nil || !ok {
		return choice{}, ok || err != nil, usage.Mark(err)
	}
	if depth >= maxNesting {
		return choice{}, true, usage.Errorf("%s: judges are made of judges more than %d deep", name, maxNesting)
	}
	if slices.Contains(judgeNames(), d.Name) {
		return choice{}, true, usage.Mark(deem.WithHint(fmt.Errorf("%s: the name %q belongs to a judge that comes with deem", name, d.Name), "choose a name of your own, as %q", "my-"+d.Name))
	}
	c, err := compositeOf(d, o, depth)
	return c, true, err
}

// compositeOf chooses the members.
func compositeOf(d *compose.Declaration, o judgeOptions, depth int) (choice, error) {
	c := choice{composed: &composed{decl: d}}
	for _, m := range d.Members {
		member, err := chooseMember(d, m, o, depth)
		if err != nil {
			return choice{}, err
		}
		c.composed.members = append(c.composed.members, member)
		c.wanted = append(c.wanted, member.wanted...)
	}
	if d.Kind == compose.Pairwise {
		c.wanted = append(c.wanted, pairwise.Field)
	}
	if !c.composed.asks() {
		// Members that ask no model make a judge that asks none: a rule like any other.
		j, err := c.composed.make(func(i int) (deem.Judge, error) { return c.composed.members[i].rule, nil })
		if err != nil {
			return choice{}, usage.Mark(err)
		}
		c.rule = j
	}
	return c, nil
}

// chooseMember finds the judge that a member names, seen from the file that names it.
func chooseMember(d *compose.Declaration, m compose.Member, o judgeOptions, depth int) (choice, error) {
	if m.Reading != "" {
		o.reading = m.Reading
	}
	name := m.Judge
	switch rest, isLabels := strings.CutPrefix(name, labelsPrefix); {
	case name == "" && d.Kind == compose.Pairwise:
		p, err := pairwise.Declaration().Protocol(o.reading)
		return choice{protocol: p}, usage.Mark(err)
	case name == compose.People && d.Kind == compose.Cascade:
		return choice{rule: cascade.People()}, nil
	case isLabels:
		name = labelsPrefix + d.Path(rest)
	case looksLikeFile(name) || looksLikeFile(d.Path(name)) && fileExists(d.Path(name)) && strings.Contains(name, "."):
		name = d.Path(name)
	}
	c, err := chooseAt(name, o, true, depth+1)
	if err != nil {
		return choice{}, atMember(d, m, err)
	}
	c.model = m.Model
	if c.rule != nil && c.composed == nil && m.Model != "" {
		return choice{}, d.Problem(m, "%s is a rule and asks no model", c.name())
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
func (c *composed) asks() bool {
	return slices.ContainsFunc(c.members, func(m choice) bool { return m.rule == nil })
}

// make makes the judge out of its members.
func (c *composed) make(member func(i int) (deem.Judge, error)) (deem.Judge, error) {
	d := c.decl
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
			members = append(members, panel.Member{Name: c.memberName(i), Judge: judges[i], Weight: m.Weight})
		}
		return orNil(panel.New(members, o))
	case compose.Repeat:
		return orNil(panel.Repeat(judges[0], d.Times, o))
	case compose.Pairwise:
		return pairwise.New(d.Name, judges[0]), nil
	default:
		var stages []cascade.Stage
		for i, m := range d.Members {
			stages = append(stages, cascade.Stage{Name: c.memberName(i), Judge: judges[i], Threshold: m.Threshold})
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

// memberName returns the name of a member: its own, or that of its judge, with the
// model where it names one.
func (c *composed) memberName(i int) string {
	m := c.decl.Members[i]
	switch name := c.members[i].name(); {
	case m.Name != "":
		return m.Name
	case m.Model != "":
		return name + "@" + m.Model
	default:
		return name
	}
}

// bound refuses a judge that is not the one that a threshold was fitted for.
func (c *composed) bound(m compose.Member, j deem.Judge) error {
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
		c.decl.File, m.Line, j.Name(), deem.ShortHash(hash), deem.ShortHash(m.Hash)),
		"fit again with labels: deem cascade fit; or name the model and the reading that it was fitted with")
}

// repeated returns the judge that asks another several times.
func repeated(c choice, times int, tie string) (choice, error) {
	if c.composed != nil && c.composed.decl.Kind != compose.Pairwise {
		return choice{}, usage.Errorf("--repeat asks one judge several times, and %s is made of several", c.name())
	}
	d := &compose.Declaration{
		Kind: compose.Repeat, Name: fmt.Sprintf("%s×%d", c.name(), times), Times: times, Tie: tie,
		Members: []compose.Member{{Judge: c.spec}},
	}
	out := choice{composed: &composed{decl: d, members: []choice{c}}, wanted: c.wanted}
	if c.rule != nil {
		return choice{}, usage.Mark(deem.WithHint(fmt.Errorf("%s is a rule: it says the same each time", c.name()), "--repeat is for judges that ask a model"))
	}
	return out, nil
}

// joinPanel puts what the command says into the judges: how often to ask, and what ties
// come to.
func (o runOptions) joinPanel(c choice) (choice, error) {
	if o.repeat != 0 {
		if o.repeat < 2 {
			return c, usage.Errorf("--repeat is %d; asking once is what is done without it", o.repeat)
		}
		return repeated(c, o.repeat, o.tie)
	}
	if o.tie == "" {
		return c, nil
	}
	if c.composed == nil || c.composed.decl.Kind != compose.Panel && c.composed.decl.Kind != compose.Repeat {
		return c, usage.Errorf("--tie says what a panel does, and %s is none", c.name())
	}
	c.composed.decl.Tie = o.tie
	if c.rule != nil {
		j, err := c.composed.make(func(i int) (deem.Judge, error) { return c.composed.members[i].rule, nil })
		if err != nil {
			return c, usage.Mark(err)
		}
		c.rule = j
	}
	return c, nil
}

// judge returns the judge of a judging, whose models go through around.
func (g judging) judge(around func(deem.Model) (deem.Model, error)) (deem.Judge, error) {
	switch {
	case g.rule != nil:
		return g.rule, nil
	case g.composed != nil:
		return g.composed.make(func(i int) (deem.Judge, error) { return g.members[i].judge(around) })
	}
	m, err := around(g.wire)
	if err != nil {
		return nil, err
	}
	return judge.New(g.protocol, m), nil
}

// A leaf is a judge in a composed one that asks a model, and how often it does so for
// one item.
type leaf struct {
	judging
	times  int
	atMost bool // it is not asked about every item
}

// leaves returns the judges that ask a model: the judge itself, or those that it is
// made of.
func (g judging) leaves() []leaf {
	switch {
	case g.rule != nil:
		return nil
	case g.composed == nil:
		return []leaf{{judging: g, times: 1}}
	}
	var list []leaf
	for i, m := range g.members {
		for _, l := range m.leaves() {
			switch d := g.composed.decl; d.Kind {
			case compose.Repeat:
				l.times *= d.Times
			case compose.Pairwise:
				l.times *= 2
				l.atMost = true // the same text twice is not asked about
			case compose.Cascade:
				l.atMost = l.atMost || i > 0
			}
			list = append(list, l)
		}
	}
	return list
}

// wireKey tells models apart: those with the same key are one.
func wireKey(m deem.Model) string {
	return m.Name() + "\x00" + model.Endpoint(m) + "\x00" + deem.SettingsOf(m)
}

// models returns the names and endpoints of all models that are asked.
func (g judging) models() (names, endpoints string) {
	var ns, es []string
	for _, l := range g.leaves() {
		if name := l.wire.Name(); !slices.Contains(ns, name) {
			ns = append(ns, name)
		}
		if at := model.Endpoint(l.wire); at != "" && !slices.Contains(es, at) {
			es = append(es, at)
		}
	}
	return strings.Join(ns, " + "), strings.Join(es, " + ")
}

// A judging is one judge that goes over the items, with the model that it asks.
type judging struct {
	choice
	wire    deem.Model // nil for a rule, and for a judge that is made of others:
	members []judging
}

// withModels opens the models of a judge and of those that it is made of. The function
// open is told which judge asks, and which model it names, if it names one.
func (c choice) withModels(open func(judge, own string) (deem.Model, error)) (judging, error) {
	j := judging{choice: c}
	var err error
	switch {
	case c.rule != nil:
	case c.composed != nil:
		for _, m := range c.composed.members {
			if m.model == "" {
				m.model = c.model // of the judge that it is a member of
			}
			member, err := m.withModels(open)
			if err != nil {
				return j, err
			}
			j.members = append(j.members, member)
		}
	default:
		j.wire, err = open(c.name(), c.model)
	}
	return j, err
}

// assemble makes the judge, with what decorate puts around its models. Members that ask
// the same model share it with its limits. The model that is returned is nil when there
// is none, or more than one; the function closes all of them.
func (g judging) assemble(decorate func(wire deem.Model) (deem.Model, func() error, error)) (deem.Judge, deem.Model, func() error, error) {
	made := map[string]deem.Model{}
	var closers []func() error
	closeAll := func() error {
		var errs []error
		for _, m := range made {
			if c, ok := model.As[io.Closer](m); ok {
				errs = append(errs, c.Close())
			}
		}
		for _, c := range closers {
			errs = append(errs, c())
		}
		return errors.Join(errs...)
	}
	j, err := g.judge(func(wire deem.Model) (deem.Model, error) {
		key := wireKey(wire)
		if m, ok := made[key]; ok {
			return m, nil
		}
		m, done, err := decorate(wire)
		if err != nil {
			return nil, err
		}
		made[key] = m
		closers = append(closers, done)
		return m, nil
	})
	if err != nil {
		return nil, nil, nil, errors.Join(err, closeAll())
	}
	if len(made) == 1 {
		for _, m := range made {
			return j, m, closeAll, nil
		}
	}
	return j, nil, closeAll, nil
}

// relative returns a judge's file as it is named from the folder of another file.
func relative(to, name string) (string, error) {
	prefix, file := "", name
	if rest, ok := strings.CutPrefix(name, labelsPrefix); ok {
		prefix, file = labelsPrefix, rest
	} else if !looksLikeFile(name) {
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

// promise returns what was promised of the judge, nil when nothing was.
func (c choice) promise() *findings.CascadePromise {
	if c.composed == nil || c.composed.decl.Promise == nil {
		return nil
	}
	p := &findings.CascadePromise{Promise: *c.composed.decl.Promise, Stages: map[string]compose.Fitted{}}
	for i, m := range c.composed.decl.Members {
		if m.Fitted != nil {
			p.Stages[c.composed.memberName(i)] = *m.Fitted
		}
	}
	return p
}
