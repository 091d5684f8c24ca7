package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deem"
	"deem/internal/text"
	"deem/judge"
)

// A decoder converts the nodes of a file to a declaration. It works on nodes so that every
// error has a line.
type compositionDecoder struct {
	file     string
	problems deem.Problems
	d        Composition
}

func (x *compositionDecoder) bad(n *yaml.Node, format string, args ...any) {
	x.problems.Add(deem.Problem{File: x.file, Line: n.Line, Message: fmt.Sprintf(format, args...)})
}

// compositionKeys maps the keys of a mapping to the functions that read their values.
type compositionKeys map[string]func(*yaml.Node)

// mapping walks the keys of a mapping. Unknown and repeated keys are reported.
func (x *compositionDecoder) mapping(n *yaml.Node, what string, known compositionKeys) {
	if n.Kind != yaml.MappingNode {
		x.bad(n, "%s wants keys and values, as \"key: value\"", what)
		return
	}
	names := slices.Sorted(maps.Keys(known))
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		read, ok := known[key.Value]
		near := text.Closest(key.Value, names)
		switch {
		case seen[key.Value]:
			x.bad(key, "%s has the key %q twice", what, key.Value)
		case !ok && near != "":
			x.bad(key, "%s has no key %q; did you mean %q?", what, key.Value, near)
		case !ok:
			x.bad(key, "%s has no key %q; it has %s", what, key.Value, strings.Join(names, ", "))
		default:
			read(value)
		}
		seen[key.Value] = true
	}
}

// into returns a function that reads a value of the type of to.
func (x *compositionDecoder) into(what string, to any) func(*yaml.Node) {
	words := map[string]string{"*string": "a text", "*int": "a whole number", "*float64": "a number", "**float64": "a number"}
	return func(n *yaml.Node) {
		_, isText := to.(*string)
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || !isText && n.Tag == "!!str" || n.Decode(to) != nil {
			x.bad(n, "%s wants %s, and %q is none", what, words[fmt.Sprintf("%T", to)], n.Value)
		}
	}
}

// declaration reads the whole file. The allowed keys depend on the kind.
func (x *compositionDecoder) declaration(root *yaml.Node) {
	d := &x.d
	known := compositionKeys{
		"kind": func(*yaml.Node) {}, "name": x.into("name", &d.Name), "about": x.into("about", &d.About),
	}
	votes := compositionKeys{
		"rule": x.into("rule", &d.Rule), "tie": x.into("tie", &d.Tie),
		"quorum": x.into("quorum", &d.Quorum), "pass": x.into("pass", &d.Pass),
	}
	one := Member{Line: root.Line}
	single := compositionKeys{"judge": x.into("judge", &one.Judge), "model": x.into("model", &one.Model), "reading": x.into("reading", &one.Reading)}
	switch d.Kind {
	case judge.KindPanel:
		maps.Copy(known, votes)
		known["members"] = func(n *yaml.Node) { x.members(n, "members", keysOfMember) }
	case judge.KindRepeat:
		maps.Copy(known, votes)
		maps.Copy(known, single)
		known["times"] = x.into("times", &d.Times)
	case judge.KindCascade:
		known["stages"] = func(n *yaml.Node) { x.members(n, "stages", keysOfStage) }
		known["promise"] = x.promise
	case judge.KindPairwise:
		maps.Copy(known, single)
	}
	x.mapping(root, "a judge of kind "+d.Kind, known)
	if d.Kind == judge.KindRepeat || d.Kind == judge.KindPairwise {
		d.Members = []Member{one}
	}
}

var (
	keysOfMember = []string{"judge", "model", "name", "reading", "weight", "hash"}
	keysOfStage  = []string{"judge", "model", "name", "reading", "threshold", "hash", "fitted"}
)

// members reads a list of judges, each a name or a mapping with the given keys.
func (x *compositionDecoder) members(n *yaml.Node, what string, allowed []string) {
	if n.Kind != yaml.SequenceNode {
		x.bad(n, "%s wants a list of judges", what)
		return
	}
	for _, item := range n.Content {
		m := Member{Line: item.Line}
		if item.Kind == yaml.ScalarNode {
			x.into("a member", &m.Judge)(item)
		} else {
			all := compositionKeys{
				"judge": x.into("judge", &m.Judge), "model": x.into("model", &m.Model), "name": x.into("name", &m.Name),
				"reading": x.into("reading", &m.Reading), "hash": x.into("hash", &m.Hash),
				"weight": x.into("weight", &m.Weight), "threshold": x.into("threshold", &m.Threshold),
				"fitted": func(v *yaml.Node) { x.fitted(v, &m) },
			}
			maps.DeleteFunc(all, func(key string, _ func(*yaml.Node)) bool { return !slices.Contains(allowed, key) })
			x.mapping(item, "a member", all)
		}
		if m.Fitted != nil && m.Threshold != nil && *m.Threshold != m.Fitted.Threshold {
			x.bad(item, "the threshold is %v, and %v was fitted: what was promised does not hold for another; "+
				"fit again, or take promise and fitted away", *m.Threshold, m.Fitted.Threshold)
		}
		if m.Judge == "" {
			x.bad(item, "a member wants a judge: a name, a file, or labels:FILE")
		}
		x.d.Members = append(x.d.Members, m)
	}
}

func (x *compositionDecoder) promise(n *yaml.Node) {
	p := &Promise{}
	x.d.Promise = p
	x.mapping(n, "promise", compositionKeys{
		"alpha": x.into("alpha", &p.Alpha), "delta": x.into("delta", &p.Delta), "labels": x.into("labels", &p.Labels),
	})
}

func (x *compositionDecoder) fitted(n *yaml.Node, m *Member) {
	f := &Fitted{}
	m.Fitted = f
	x.mapping(n, "fitted", compositionKeys{
		"threshold": x.into("threshold", &f.Threshold), "labelled": x.into("labelled", &f.Labelled),
		"decided": x.into("decided", &f.Decided), "wrong": x.into("wrong", &f.Wrong), "bound": x.into("bound", &f.Bound),
	})
}

// check validates the declaration as a whole.
func (x *compositionDecoder) check(root *yaml.Node) {
	d := &x.d
	if d.Name == "" {
		x.bad(root, "the judge has no name")
	}
	switch {
	case d.Kind == judge.KindRepeat && d.Times < 2:
		x.bad(root, "times says how often to ask, two times or more")
	case d.Kind == judge.KindRepeat && d.Members[0].Judge == "":
		x.bad(root, "repeat wants a judge: a name or a file")
	case d.Kind == judge.KindPanel && len(d.Members) < 2:
		x.bad(root, "a panel wants two members or more")
	case d.Kind == judge.KindCascade && len(d.Members) < 2:
		x.bad(root, "a cascade wants two stages or more")
	case d.Kind == judge.KindCascade && d.Promise != nil:
		for _, m := range d.Members[:len(d.Members)-1] {
			if m.Fitted == nil || m.Hash == "" || m.Threshold == nil {
				x.problems.Add(deem.Problem{File: x.file, Line: m.Line, Message: "the cascade makes a promise, and this stage has no threshold that was fitted for a judge; " +
					"deem cascade fit writes both"})
			}
		}
	}
}
