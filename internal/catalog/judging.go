package catalog

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"deem"
	"deem/internal/compose"
	"deem/judge"
	"deem/model"
)

// A Judging is one judge that goes over the items, with the model that it asks.
type Judging struct {
	Choice
	Wire    deem.Model // nil for a rule, and for a judge that is made of others:
	Members []Judging
}

// WithModels opens the models of a judge and of those that it is made of. The function
// open is told which judge asks, and which model it names, if it names one.
func (c Choice) WithModels(open func(judge, own string) (deem.Model, error)) (Judging, error) {
	j := Judging{Choice: c}
	var err error
	switch {
	case c.Rule != nil:
	case c.Composed != nil:
		for _, m := range c.Composed.Members {
			if m.model == "" {
				m.model = c.model // of the judge that it is a member of
			}
			member, err := m.WithModels(open)
			if err != nil {
				return j, err
			}
			j.Members = append(j.Members, member)
		}
	default:
		j.Wire, err = open(c.Name(), c.model)
	}
	return j, err
}

// Assemble makes the judge, with what decorate puts around its models. Members that ask
// the same model share it with its limits. The model that is returned is nil when there
// is none, or more than one; the function closes all of them.
func (g Judging) Assemble(decorate func(wire deem.Model) (deem.Model, func() error, error)) (deem.Judge, deem.Model, func() error, error) {
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
	j, err := g.Judge(func(wire deem.Model) (deem.Model, error) {
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

// Judge returns the judge of a judging, whose models go through around.
func (g Judging) Judge(around func(deem.Model) (deem.Model, error)) (deem.Judge, error) {
	switch {
	case g.Rule != nil:
		return g.Rule, nil
	case g.Composed != nil:
		return g.Composed.make(func(i int) (deem.Judge, error) { return g.Members[i].Judge(around) })
	}
	m, err := around(g.Wire)
	if err != nil {
		return nil, err
	}
	return judge.New(g.Protocol, m), nil
}

// A Leaf is a judge in a composed one that asks a model, and how often it does so for
// one item.
type Leaf struct {
	Judging
	Times  int
	AtMost bool // it is not asked about every item
}

// Leaves returns the judges that ask a model: the judge itself, or those that it is
// made of.
func (g Judging) Leaves() []Leaf {
	switch {
	case g.Rule != nil:
		return nil
	case g.Composed == nil:
		return []Leaf{{Judging: g, Times: 1}}
	}
	var list []Leaf
	for i, m := range g.Members {
		for _, l := range m.Leaves() {
			switch d := g.Composed.Declaration; d.Kind {
			case compose.Repeat:
				l.Times *= d.Times
			case compose.Pairwise:
				l.Times *= 2
				l.AtMost = true // the same text twice is not asked about
			case compose.Cascade:
				l.AtMost = l.AtMost || i > 0
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

// Models returns the names and endpoints of all models that are asked.
func (g Judging) Models() (names, endpoints string) {
	var ns, es []string
	for _, l := range g.Leaves() {
		if name := l.Wire.Name(); !slices.Contains(ns, name) {
			ns = append(ns, name)
		}
		if at := model.Endpoint(l.Wire); at != "" && !slices.Contains(es, at) {
			es = append(es, at)
		}
	}
	return strings.Join(ns, " + "), strings.Join(es, " + ")
}

// Bound says that a judge may be asked less often.
func (l Leaf) Bound() string {
	if l.AtMost {
		return "at most "
	}
	return ""
}

// Who names the judge in a line about it, where there is more than one.
func (l Leaf) Who(g Judging) string {
	if g.Composed == nil {
		return ""
	}
	return fmt.Sprintf("%s with %s: %s", l.Name(), l.Wire.Name(), l.Bound())
}
