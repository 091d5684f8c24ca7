package judge

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"deem"
	"deem/internal/text"
)

// Open returns the judge with the given name, or that of a YAML file, asking m and reading
// replies as published. Judges without a model, such as match, have packages of their own.
func Open(nameOrFile string, m deem.Model) (deem.Judge, error) {
	d, ok := Builtin(nameOrFile)
	if !ok {
		if ext := filepath.Ext(nameOrFile); ext != ".yaml" && ext != ".yml" {
			return nil, deem.WithHint(fmt.Errorf("there is no judge %q", nameOrFile),
				"a judge is one of %s, or a file that ends in .yaml", strings.Join(Builtins(), ", "))
		}
		var err error
		if d, err = Load(nameOrFile); err != nil {
			return nil, err
		}
	}
	p, err := d.Protocol("")
	if err != nil {
		return nil, err
	}
	return New(p, m), nil
}

// Load reads a judge from a YAML file. Errors in the file are returned as *[deem.Problems]
// with file and line.
func Load(path string) (*Declaration, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d, err := Parse(path, data, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		return os.ReadFile(name)
	})
	if err != nil {
		return nil, err
	}
	if _, taken := Builtin(d.Name); taken {
		return nil, deem.WithHint(&deem.Problems{
			List:  []deem.Problem{{File: path, Message: fmt.Sprintf("the name %q belongs to a judge that comes with deem", d.Name)}},
			Total: 1,
		}, "choose a name of your own, as %q", "my-"+d.Name)
	}
	return d, nil
}

// Parse parses a judge from the text of a YAML file. name is shown in errors, and read
// returns the prompt files that the YAML refers to.
func Parse(name string, data []byte, read func(string) ([]byte, error)) (*Declaration, error) {
	x := &decoder{file: name, read: read, slots: map[string]int{}, lines: map[string]int{}}
	x.d.Slots = map[string]Slot{}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		p := deem.Problem{File: name, Message: strings.TrimPrefix(err.Error(), "yaml: ")}
		if m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(p.Message); m != nil {
			p.Line, _ = strconv.Atoi(m[1])
			p.Message = p.Message[len(m[0]):]
		}
		p.Message = "no YAML: " + p.Message
		x.problems.Add(p)
		return nil, x.problems.Err()
	}
	if len(doc.Content) == 0 {
		x.problems.Add(deem.Problem{File: name, Message: "the file is empty"})
		return nil, x.problems.Err()
	}
	n := doc.Content[0]
	if root := resolve(n); root.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(root.Content); i += 2 {
			x.lines[root.Content[i].Value] = root.Content[i].Line
		}
	}
	x.mapping(n, "a judge", map[string]func(*yaml.Node){
		"name":     func(v *yaml.Node) { x.str(v, "name", &x.d.Name) },
		"about":    func(v *yaml.Node) { x.str(v, "about", &x.d.About) },
		"vendor":   func(v *yaml.Node) { x.str(v, "vendor", &x.d.Vendor) },
		"date":     func(v *yaml.Node) { x.str(v, "date", &x.d.Date) },
		"source":   func(v *yaml.Node) { x.str(v, "source", &x.d.Source) },
		"licence":  func(v *yaml.Node) { x.str(v, "licence", &x.d.Licence) },
		"votes":    func(v *yaml.Node) { x.d.Votes = int(x.atLeastOne(v, "votes")) },
		"prompt":   func(v *yaml.Node) { x.prompt(v, "prompt", &x.d.Prompt) },
		"system":   func(v *yaml.Node) { x.prompt(v, "system", &x.d.System) },
		"slots":    x.readSlots,
		"labels":   x.readLabels,
		"aspects":  x.readAspects,
		"criteria": x.readCriteria,
		"pass":     x.readPass,
		"read":     x.readReadings,
		"failures": x.readFailures,
		"quotes":   x.readQuotes,
		"params":   x.readParams,
	})
	x.check(n)
	if err := x.problems.Err(); err != nil {
		return nil, err
	}
	return &x.d, nil
}

// A decoder converts the nodes of a YAML file to a declaration. It works on nodes, not
// structs, so that every error has a line.
type decoder struct {
	file     string
	read     func(string) ([]byte, error)
	problems deem.Problems
	d        Declaration

	prompts []*source      // the prompt and the system text, if any
	slots   map[string]int // the line of each declared slot
	lines   map[string]int // the line of each top-level key
	derive  bool           // params.schema is true: derive the schema from the rest
}

// A source is the text of a prompt and its location, for error messages.
type source struct {
	file string
	line int // first line of the text
	text string
}

// bad reports a problem at a node.
func (x *decoder) bad(n *yaml.Node, format string, args ...any) {
	x.problems.Add(deem.Problem{File: x.file, Line: n.Line, Message: fmt.Sprintf(format, args...)})
}

// mapping walks the keys of a mapping. Unknown and repeated keys are reported.
func (x *decoder) mapping(n *yaml.Node, what string, keys map[string]func(*yaml.Node)) {
	x.pairs(n, what, func(key, value *yaml.Node) {
		if f, ok := keys[key.Value]; ok {
			f(value)
			return
		}
		known := sortedKeys(keys)
		if near := text.Closest(key.Value, known); near != "" {
			x.bad(key, "%s has no key %q; did you mean %q?", what, key.Value, near)
			return
		}
		x.bad(key, "%s has no key %q; it has %s", what, key.Value, strings.Join(known, ", "))
	})
}

// pairs walks the keys and values of a mapping.
func (x *decoder) pairs(n *yaml.Node, what string, f func(key, value *yaml.Node)) {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		x.bad(n, "%s wants keys and values, as \"key: value\"", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], resolve(n.Content[i+1])
		if seen[key.Value] {
			x.bad(key, "%s has the key %q twice", what, key.Value)
			continue
		}
		seen[key.Value] = true
		f(key, value)
	}
}

// resolve returns the target of an alias node.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// str reads a string.
func (x *decoder) str(n *yaml.Node, what string, to *string) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		x.bad(n, "%s wants a text", what)
		return
	}
	*to = n.Value
}

// number reads a finite number.
func (x *decoder) number(n *yaml.Node, what string, to *float64) {
	var f float64
	if n.Kind != yaml.ScalarNode || (n.Tag != "!!int" && n.Tag != "!!float") || n.Decode(&f) != nil || f != f || f-f != 0 {
		x.bad(n, "%s wants a number, and %q is none", what, n.Value)
		return
	}
	*to = f
}

// integer reads a whole number.
func (x *decoder) integer(n *yaml.Node, what string, to *int64) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(to) != nil {
		x.bad(n, "%s wants a whole number, and %q is none", what, n.Value)
	}
}

// atLeastOne reads an integer for which the zero value means no limit, so that an explicit
// 0 is an error.
func (x *decoder) atLeastOne(n *yaml.Node, what string) int64 {
	value := int64(1)
	x.integer(n, what, &value)
	if value < 1 {
		x.bad(n, "%s is %d; it must be at least 1, or left out for no limit", what, value)
		return 0
	}
	return value
}

// truth reads a boolean.
func (x *decoder) truth(n *yaml.Node, what string, to *bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(to) != nil {
		x.bad(n, "%s wants true or false, and %q is neither", what, n.Value)
	}
}

// texts reads one string or a list of strings.
func (x *decoder) texts(n *yaml.Node, what string, to *[]string) {
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
	}
	for _, c := range nodes {
		var s string
		x.str(resolve(c), what, &s)
		*to = append(*to, s)
	}
}

// prompt reads a string, or the file that contains it.
func (x *decoder) prompt(n *yaml.Node, what string, to *string) {
	src := &source{file: x.file, line: n.Line}
	x.prompts = append(x.prompts, src)
	if n.Kind == yaml.MappingNode {
		x.mapping(n, what, map[string]func(*yaml.Node){"file": func(v *yaml.Node) {
			var name string
			x.str(v, "file", &name)
			if name == "" {
				return
			}
			data, err := x.read(name)
			if err != nil {
				x.bad(v, "%v", err)
				return
			}
			src.file, src.line, src.text = name, 1, string(data)
		}})
	} else {
		x.str(n, what, &src.text)
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			src.line++ // the text begins below the "|"
		}
	}
	*to = src.text
}

func (x *decoder) readSlots(n *yaml.Node) {
	x.pairs(n, "slots", func(key, value *yaml.Node) {
		s := Slot{}
		what := "slot " + key.Value
		if value.Kind == yaml.MappingNode {
			x.mapping(value, what, map[string]func(*yaml.Node){
				"from":    func(v *yaml.Node) { x.texts(v, what, &s.From) },
				"as":      func(v *yaml.Node) { x.str(v, "as", &s.As) },
				"default": func(v *yaml.Node) { s.Default = new(string); x.str(v, "default", s.Default) },
				"fence":   func(v *yaml.Node) { x.truth(v, "fence", &s.Fence) },
				"turns":   func(v *yaml.Node) { s.Turns = int(x.atLeastOne(v, "turns")) },
				"tokens":  func(v *yaml.Node) { s.Tokens = int(x.atLeastOne(v, "tokens")) },
				"mark":    func(v *yaml.Node) { x.str(v, "mark", &s.Mark) },
				"until": func(v *yaml.Node) {
					s.Until = map[string]string{}
					x.pairs(v, what+": until", func(key, value *yaml.Node) {
						var end string
						x.str(value, what+": until", &end)
						s.Until[key.Value] = end
					})
				},
			})
		} else {
			x.texts(value, what, &s.From)
		}
		if len(s.From) == 0 && isSource(key.Value) {
			s.From = []string{key.Value}
		}
		if len(s.From) == 0 {
			x.bad(value, "%s does not say where it comes from; there are %s, fields.NAME", what, strings.Join(sources, ", "))
		}
		for _, from := range s.From {
			if _, ok := fieldName(from); ok || isSource(from) {
				continue
			}
			if near := text.Closest(from, sources); near != "" {
				x.bad(value, "%s comes from %q, which no item has; did you mean %q?", what, from, near)
			} else {
				x.bad(value, "%s comes from %q, which no item has; there are %s, fields.NAME", what, from, strings.Join(sources, ", "))
			}
		}
		if s.As != "" && !slices.Contains(renderings, s.As) {
			x.bad(value, "%s is written as %q; there are %s", what, s.As, strings.Join(renderings, ", "))
		}
		if s.As != "" && !slices.Contains(s.From, "references") {
			x.bad(value, "%s says \"as\", which is for references only", what)
		}
		if (s.Turns > 0 || s.Tokens > 0) && !slices.Contains(s.From, slotConversation) {
			x.bad(value, "%s has a window, which is for the conversation only", what)
		}
		x.slots[key.Value] = key.Line
		x.d.Slots[key.Value] = s
	})
}

func (x *decoder) readLabels(n *yaml.Node) {
	x.pairs(n, "labels", func(key, value *yaml.Node) {
		l := Label{Label: key.Value}
		x.number(value, "label "+key.Value, &l.Score)
		if l.Score < 0 || l.Score > 1 {
			x.bad(value, "the score of label %q is %v and lies outside 0 to 1", l.Label, l.Score)
		}
		if strings.TrimSpace(l.Label) == "" {
			x.bad(key, "a label wants a text")
		}
		for _, other := range x.d.Labels {
			if strings.EqualFold(other.Label, l.Label) {
				x.bad(key, "labels %q and %q differ only in case and cannot be told apart", other.Label, l.Label)
			}
		}
		x.d.Labels = append(x.d.Labels, l)
	})
}

func (x *decoder) readAspects(n *yaml.Node) {
	x.pairs(n, "aspects", func(key, value *yaml.Node) {
		a := Aspect{Name: key.Value, Weight: 1}
		what := "aspect " + key.Value
		x.mapping(value, what, map[string]func(*yaml.Node){
			"min":     func(v *yaml.Node) { x.number(v, what+": min", &a.Min) },
			"max":     func(v *yaml.Node) { x.number(v, what+": max", &a.Max) },
			"integer": func(v *yaml.Node) { x.truth(v, what+": integer", &a.Integer) },
			"weight":  func(v *yaml.Node) { x.number(v, what+": weight", &a.Weight) },
			"about":   func(v *yaml.Node) { x.str(v, what+": about", &a.About) },
			"must":    func(v *yaml.Node) { a.Must = new(float64); x.number(v, what+": must", a.Must) },
			"levels": func(v *yaml.Node) {
				x.pairs(v, what+": levels", func(key, value *yaml.Node) {
					var l Level
					var err error
					if l.Value, err = strconv.ParseFloat(key.Value, 64); err != nil || l.Value-l.Value != 0 {
						x.bad(key, "%s: the level %q is not a number", what, key.Value)
					}
					x.str(value, what+": level "+key.Value, &l.About)
					a.Levels = append(a.Levels, l)
				})
				slices.SortFunc(a.Levels, func(a, b Level) int { return cmp.Compare(a.Value, b.Value) })
			},
		})
		if a.Min >= a.Max {
			x.bad(value, "%s goes from %v to %v; max must be above min", what, a.Min, a.Max)
		}
		if a.Weight <= 0 {
			x.bad(value, "%s has the weight %v; it must be above 0", what, a.Weight)
		}
		if a.Must != nil && (*a.Must < a.Min || *a.Must > a.Max) {
			x.bad(value, "%s: must is %v and lies outside %v to %v", what, *a.Must, a.Min, a.Max)
		}
		for _, l := range a.Levels {
			if l.Value < a.Min || l.Value > a.Max {
				x.bad(value, "%s: the level %v lies outside %v to %v", what, l.Value, a.Min, a.Max)
			}
		}
		x.d.Aspects = append(x.d.Aspects, a)
	})
}

func (x *decoder) readCriteria(n *yaml.Node) {
	c := Criteria{}
	if n.Kind == yaml.MappingNode {
		x.mapping(n, "criteria", map[string]func(*yaml.Node){
			"field":  func(v *yaml.Node) { x.str(v, "field", &c.Field) },
			"split":  func(v *yaml.Node) { x.str(v, "split", &c.Split) },
			"ask":    func(v *yaml.Node) { x.str(v, "ask", &c.Ask) },
			"score":  func(v *yaml.Node) { x.str(v, "score", &c.Score) },
			"failed": func(v *yaml.Node) { x.str(v, "failed", &c.Failed) },
		})
	} else {
		x.str(n, "criteria", &c.Field)
	}
	c.Field = strings.TrimPrefix(c.Field, "fields.")
	c.Ask, c.Score, c.Failed = cmp.Or(c.Ask, askEach), cmp.Or(c.Score, scoreMean), cmp.Or(c.Failed, failedUnjudged)
	if err := c.check(); err != nil {
		x.bad(n, "%v", err)
	}
	x.d.Criteria = &c
}

func (x *decoder) readPass(n *yaml.Node) {
	var mark float64
	x.number(n, "pass", &mark)
	if !(mark >= 0 && mark <= 1) {
		x.bad(n, "pass mark %v lies outside 0 to 1", mark)
	}
	x.d.Pass = &mark
}

func (x *decoder) readReadings(n *yaml.Node) {
	x.d.Readings = map[string]Reader{}
	one := n.Kind == yaml.ScalarNode
	for i := 0; i+1 < len(n.Content); i += 2 {
		one = one || n.Content[i].Value == "how" // "read: {how: json}", not "read: {strict: json}"
	}
	if one {
		x.d.Readings[Strict] = x.reader(n)
		return
	}
	x.mapping(n, "read", map[string]func(*yaml.Node){
		Upstream: func(v *yaml.Node) { x.d.Readings[Upstream] = x.reader(v) },
		Strict:   func(v *yaml.Node) { x.d.Readings[Strict] = x.reader(v) },
	})
}

func (x *decoder) reader(n *yaml.Node) Reader {
	var r Reader
	if n.Kind == yaml.MappingNode {
		x.mapping(n, "a reading", map[string]func(*yaml.Node){
			"how":     func(v *yaml.Node) { x.str(v, "how", &r.How) },
			"line":    func(v *yaml.Node) { x.str(v, "line", &r.Line) },
			"pattern": func(v *yaml.Node) { x.str(v, "pattern", &r.Pattern) },
			"key":     func(v *yaml.Node) { x.str(v, "key", &r.Key) },
			"reason":  func(v *yaml.Node) { x.str(v, "reason", &r.Reason) },
			"part":    func(v *yaml.Node) { x.str(v, "part", &r.Part) },
			"fold":    func(v *yaml.Node) { x.truth(v, "fold", &r.Fold) },
			"trim":    func(v *yaml.Node) { x.truth(v, "trim", &r.Trim) },
			"else":    func(v *yaml.Node) { x.str(v, "else", &r.Else) },
		})
	} else {
		x.str(n, "a reading", &r.How)
	}
	if _, ok := ways[r.How]; !ok {
		x.bad(n, "no way to read a reply is called %q; there are %s", r.How, strings.Join(sortedKeys(ways), ", "))
	}
	return r
}

func (x *decoder) readQuotes(n *yaml.Node) {
	var s string
	x.str(n, "quotes", &s)
	if s != "required" {
		x.bad(n, "quotes is %q; it is \"required\", or left out", s)
	}
	x.d.Quotes = true
}

func (x *decoder) readFailures(n *yaml.Node) {
	var s string
	x.str(n, "failures", &s)
	switch s {
	case "wrong":
		x.d.FailuresWrong = true
	case "apart":
	default:
		x.bad(n, "failures is %q; it is \"apart\", or \"wrong\" where the published program counts them so", s)
	}
}

func (x *decoder) readParams(n *yaml.Node) {
	p := &x.d.Params
	var maxTokens, logprobs int64
	x.mapping(n, "params", map[string]func(*yaml.Node){
		"temperature":  func(v *yaml.Node) { p.Temperature = new(float64); x.number(v, "temperature", p.Temperature) },
		"top_p":        func(v *yaml.Node) { p.TopP = new(float64); x.number(v, "top_p", p.TopP) },
		"max_tokens":   func(v *yaml.Node) { maxTokens = x.atLeastOne(v, "max_tokens") },
		"seed":         func(v *yaml.Node) { p.Seed = new(int64); x.integer(v, "seed", p.Seed) },
		"stop":         func(v *yaml.Node) { x.texts(v, "stop", &p.Stop) },
		"json":         func(v *yaml.Node) { x.truth(v, "json", &p.JSON) },
		"top_logprobs": func(v *yaml.Node) { x.integer(v, "top_logprobs", &logprobs) },
		"schema":       x.readSchema,
		"optional":     func(v *yaml.Node) { x.texts(v, "optional", &p.Optional) },
	})
	p.MaxTokens, p.TopLogprobs = int(maxTokens), int(logprobs)
	if err := p.check(); err != nil {
		x.bad(n, "%v", err)
	}
}

//go:embed judges prompts/*.txt
var files embed.FS

// Builtins returns the names of the built-in judges, sorted.
func Builtins() []string {
	var names []string
	err := fs.WalkDir(files, "judges", func(file string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(file, "judges/"), ".yaml"))
		}
		return err
	})
	if err != nil {
		panic(err) // The folder is part of the program.
	}
	slices.Sort(names)
	return names
}

// Builtin returns the built-in judge with the given name, and reports whether there is one.
func Builtin(name string) (*Declaration, bool) {
	file := "judges/" + name + ".yaml"
	data, err := files.ReadFile(file)
	if err != nil {
		return nil, false
	}
	d, err := Parse(file, data, func(prompt string) ([]byte, error) { return files.ReadFile(path.Join(path.Dir(file), prompt)) })
	if err != nil {
		panic("judge: " + err.Error()) // The file is part of the program, and a test reads it.
	}
	return d, true
}
