package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/labels"
	"deem/internal/model"
	"deem/internal/reader"
	"deem/internal/usage"
	"deem/internal/vendors"
	"deem/judge"
	"deem/judge/match"
	"deem/judge/pairwise"
	"deem/judge/rule"
)

// A Choice is a judge that was chosen by name. Its spec has no models, unless they were
// named, until [Choice.WithModels] adds them.
type Choice struct {
	Spec    judge.Spec
	As      string          // as named by the user
	Promise *CascadePromise // the guarantee of a fitted cascade, or nil

	parts Parts
	wires map[wireKey]deem.Model // nil until the models are open
}

// A wireKey identifies a model.
type wireKey struct{ name, settings string }

// LooksLikeFile distinguishes the file of a judge from the name of one.
func LooksLikeFile(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml" || strings.ContainsRune(name, filepath.Separator) && FileExists(name)
}

// FileExists reports whether a file with that name exists.
func FileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// ruleNames returns the names of the rules that do not belong to a benchmark.
func ruleNames() []string {
	names := append([]string{match.New().Name(), match.Forced().Name()}, rule.Names()...)
	for _, c := range benchmark.ChoiceRules() {
		names = append(names, c[0])
	}
	return names
}

// ruleNamed returns the named rule, and reports whether there is one that does not belong to
// a benchmark.
func ruleNamed(name string) (deem.Judge, bool) {
	for _, j := range []deem.Judge{match.New(), match.Forced()} {
		if j.Name() == name {
			return j, true
		}
	}
	if isChoice(name) {
		return benchmark.NewChoice(name, name, ""), true
	}
	return rule.Named(name)
}

// ruleAbout describes the named rule in one line.
func ruleAbout(name string) string {
	for _, c := range benchmark.ChoiceRules() {
		if c[0] == name {
			return c[1]
		}
	}
	return cmp.Or(match.Doc(name), rule.Doc(name))
}

// JudgeNames returns the names of all judges that need no file.
func JudgeNames() []string {
	names := append(append(ruleNames(), judge.Builtins()...), judge.KindPairwise)
	for _, b := range benchmark.All() {
		names = append(names, b.Judges...)
	}
	return names
}

// KnownRule reports whether a name is that of a rule, or of several. It is used for names
// from clients, which must not cause files to be opened.
func KnownRule(name string) bool {
	for _, part := range strings.Split(name, "+") {
		if _, ok := benchmark.All().OfJudge(part); !ok && !slices.Contains(ruleNames(), part) {
			return false
		}
	}
	return true
}

// Declaration returns the declared judge with that name or file.
func Declaration(name string) (*judge.Declaration, error) {
	if LooksLikeFile(name) {
		d, err := judge.Load(name)
		if err != nil {
			return nil, usage.Mark(err)
		}
		if _, taken := benchmark.All().OfJudge(d.Name); taken {
			return nil, ownName(name, d.Name)
		}
		return d, nil
	}
	if d, ok := judge.Builtin(name); ok {
		return d, nil
	}
	return nil, usage.Mark(usage.Unknown("judge", name, JudgeNames()))
}

// ownName returns the error for a judge in a file that has the name of another judge.
func ownName(file, name string) error {
	return usage.Mark(deem.WithHint(fmt.Errorf("%s: the name %q belongs to a judge that comes with deem", file, name), "choose a name of your own, as %q", "my-"+name))
}

// JudgeOptions are options that change a judge.
type JudgeOptions struct {
	Embedder    rule.Embedder     // for the judge that compares meanings; may be nil
	With        map[string]string // options specific to a benchmark
	Reading     string
	Pass        Optional[float64]
	Temperature Optional[float64]
	MaxTokens   int
}

// Choose returns the judge with that name. An option that does not apply to it is an error,
// unless there are several judges and it may be meant for another.
func Choose(name string, o JudgeOptions, several bool) (Choice, error) {
	return chooseAt(name, o, several, 0)
}

// chooseAt is Choose at the given nesting depth.
func chooseAt(name string, o JudgeOptions, several bool, depth int) (Choice, error) {
	c, ok, err := chooseComposed(name, o, depth)
	if !ok {
		c, err = chooseSingle(name, o, several)
	}
	if err == nil && !c.Spec.Asks() {
		// A judge without a model can be checked now.
		_, err = Build(c.Spec, c.parts)
	}
	c.As = name
	return c, usage.Mark(err)
}

// chooseSingle returns a judge that is not composed.
func chooseSingle(name string, o JudgeOptions, several bool) (Choice, error) {
	if spec, ok := strings.CutPrefix(name, LabelsPrefix); ok {
		return chooseLabels(spec, o, several)
	}
	if short, ok := ProgramName(name); ok {
		if o.Pass.Set || o.Temperature.Set || o.MaxTokens > 0 || o.Reading != "" {
			return Choice{}, usage.Errorf("judge %s is a program: --pass, --temperature, --max-tokens and --reading cannot change it", name)
		}
		spec := judge.External(short).Spec()
		spec.Model = name
		return Choice{Spec: spec}, nil
	}
	if names := strings.Split(name, "+"); len(names) > 1 && !LooksLikeFile(name) {
		c := Choice{
			Spec:  judge.Spec{Kind: judge.KindRules, Name: strings.Join(names, "+")},
			parts: Parts{Embedder: o.Embedder},
		}
		for _, name := range names {
			one, err := Choose(name, o, true)
			if err != nil {
				return Choice{}, err
			}
			if one.Spec.Asks() {
				return Choice{}, deem.WithHint(fmt.Errorf("%s asks a model, and only rules go together with +", name), "give --judge again for each")
			}
			c.Spec.Members = append(c.Spec.Members, judge.Member{Judge: one.Spec})
		}
		return c, nil
	}
	if b, ok := benchmark.All().OfJudge(name); ok {
		return ChooseBenchmark(b, name, o)
	}
	parts := Parts{Embedder: o.Embedder}
	if slices.Contains(ruleNames(), name) {
		j, err := parts.named(judge.Spec{Name: name})
		if err != nil {
			return Choice{}, err
		}
		return o.chooseRule(j, parts, several)
	}
	d, err := Declaration(name)
	if err != nil {
		return Choice{}, err
	}
	if o.Pass.Set && (len(d.Aspects) > 0 || d.Criteria != nil || !several) {
		d.Pass = &o.Pass.Value
	}
	if o.Temperature.Set {
		d.Params.Temperature = &o.Temperature.Value
	}
	if o.MaxTokens > 0 {
		d.Params.MaxTokens = o.MaxTokens
	}
	return Declared(d, o.Reading)
}

// Declared returns the choice of a declared judge.
func Declared(d *judge.Declaration, reading string) (Choice, error) {
	p, err := d.Protocol(reading)
	if err != nil {
		return Choice{}, usage.Mark(err)
	}
	c := made(p)
	c.As = d.Name
	return c, nil
}

// made returns the choice of a protocol.
func made(p judge.Readable) Choice {
	return Choice{Spec: p.Spec(), parts: Parts{made: map[string]judge.Readable{protocolKey(p.Spec()): p}}}
}

// ProgramName returns the short name of a judge that is a program (command:./grade.py) or a
// server (http://127.0.0.1:8000/grade), and reports whether it is one.
func ProgramName(name string) (string, bool) {
	if text, ok := strings.CutPrefix(name, vendors.Command+":"); ok {
		args, err := vendors.SplitCommand(text)
		if err != nil {
			return text, true // Opening it reports the error.
		}
		for i, arg := range args {
			// In "python3 grade.py" the program is the file, not the
			// interpreter.
			if FileExists(arg) && (i > 0 || len(args) == 1 || !FileExists(args[1])) {
				return filepath.Base(arg), true
			}
		}
		return text, true
	}
	u, err := url.Parse(name)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", false
	}
	if base := path.Base(u.Path); base != "." && base != "/" {
		return base, true
	}
	return u.Hostname(), true
}

// ChooseBenchmark returns a judge of a benchmark, which is used as published.
func ChooseBenchmark(b benchmark.Benchmark, name string, o JudgeOptions) (Choice, error) {
	if o.Pass.Set || o.Temperature.Set || o.MaxTokens > 0 {
		return Choice{}, usage.Errorf("judge %s is asked as published; --pass, --temperature and --max-tokens cannot change it", name)
	}
	if err := b.Check(o.With); err != nil {
		return Choice{}, usage.Mark(err)
	}
	j, err := b.Judge(name, benchmark.Options{Reading: o.Reading, With: o.With})
	switch {
	case err != nil:
		return Choice{}, usage.Mark(err)
	case j.Rule != nil:
		return Choice{Spec: judge.SpecOf(j.Rule)}, nil
	case j.Votes > 1:
		c := made(j.Protocol)
		c.Spec = judge.Spec{Kind: judge.KindRepeat, Name: name, Times: j.Votes, Rule: "mean", Members: []judge.Member{{Judge: c.Spec}}}
		return c, nil
	}
	return made(j.Protocol), nil
}

// chooseRule returns the choice of a rule. It rejects options that only apply to a judge
// with a model.
func (o JudgeOptions) chooseRule(r deem.Judge, parts Parts, several bool) (Choice, error) {
	var flag string
	switch {
	case several:
	case o.Reading != "":
		flag = "--reading"
	case o.Temperature.Set:
		flag = "--temperature"
	case o.MaxTokens > 0:
		flag = "--max-tokens"
	}
	if flag != "" {
		return Choice{}, usage.Errorf("%s says nothing to %s, which is a rule and asks no model", flag, r.Name())
	}
	if o.Pass.Set {
		marked, err := rule.WithPass(r, o.Pass.Value)
		if err == nil {
			r = marked
		} else if !several {
			return Choice{}, err
		}
	}
	return Choice{Spec: judge.SpecOf(r), parts: parts}, nil
}

// Answered returns a judge that has each item answered by a reader with the named model, and
// the answer judged by c. The zero Choice leaves the answers unjudged.
func (c Choice) Answered(by *reader.Declaration, model string) Choice {
	p := by.Protocol()
	spec := p.Spec()
	spec.Model = model
	whole := c
	whole.parts.made = maps.Clone(c.parts.made)
	whole.parts.keep(made(p).parts)
	whole.Spec = judge.Spec{Kind: judge.KindAnswer, Name: cmp.Or(c.Spec.Name, spec.Name), Members: []judge.Member{{Judge: spec}}}
	if c.Spec.Name != "" {
		whole.Spec.Members = append(whole.Spec.Members, judge.Member{Judge: c.Spec})
	}
	return whole
}

// Name returns the judge's name.
func (c Choice) Name() string { return c.Spec.Name }

// Asks reports whether the judge uses a model.
func (c Choice) Asks() bool { return c.Spec.Asks() }

// Wanted returns the item fields that the judge may need from a dataset.
func (c Choice) Wanted() []string { return wanted(c.Spec) }

func wanted(s judge.Spec) []string {
	var fields []string
	if s.Declaration != nil {
		fields = s.Declaration.Fields()
	}
	for _, m := range s.Members {
		fields = append(fields, wanted(m.Judge)...)
	}
	if s.Kind == judge.KindPairwise {
		fields = append(fields, pairwise.Field)
	}
	if isChoice(s.Name) {
		fields = append(fields, benchmark.OptionsField)
	}
	return fields
}

// isChoice reports whether a name is that of a rule for multiple-choice questions.
func isChoice(name string) bool {
	return slices.ContainsFunc(benchmark.ChoiceRules(), func(c [2]string) bool { return c[0] == name })
}

// External reports whether the judge is a user's program.
func (c Choice) External() bool { return c.Spec.External() }

// Try returns an error if an item lacks a value that the judge needs, without calling a
// model or a server. Of several members, one that lacks nothing is enough.
func (c Choice) Try(ctx context.Context, it deem.Item) error { return c.try(ctx, c.Spec, it) }

func (c Choice) try(ctx context.Context, s judge.Spec, it deem.Item) error {
	switch {
	case s.Composed():
		var last error
		for _, m := range s.Members {
			err := c.try(ctx, m.Judge, it)
			if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != deem.Input {
				return err
			}
			last = err
		}
		return last
	case s.Kind == judge.KindModel:
		p, err := c.parts.protocol(s)
		if err == nil {
			_, err = p.Request(it)
		}
		return err
	case rule.NeedsEmbedder(s.Name):
		return nil // embeddings may cost money
	}
	j, err := Build(s, c.parts)
	if err == nil {
		_, err = j.Judge(ctx, it)
	}
	return err
}

// WithModels returns the judge with a model for each of its [Choice.Leaves], in their order.
func (c Choice) WithModels(models []deem.Model) Choice {
	c.wires = map[wireKey]deem.Model{}
	c.Spec, _ = c.Spec.Map(func(leaf judge.Spec) (judge.Spec, error) {
		if leaf.Kind == judge.KindModel {
			wire := models[0]
			models = models[1:]
			leaf.Model, leaf.Settings = wire.Name(), deem.SettingsOf(wire)
			c.wires[wireKey{leaf.Model, leaf.Settings}] = wire
		}
		return leaf, nil
	})
	return c
}

// Wires returns the models of the judge. Members with the same model share it and its
// limits.
func (c Choice) Wires() []deem.Model {
	var list []deem.Model
	seen := map[wireKey]bool{}
	for _, l := range c.Leaves() {
		if key := (wireKey{l.Spec.Model, l.Spec.Settings}); !seen[key] {
			seen[key] = true
			list = append(list, l.Wire)
		}
	}
	return list
}

// Build builds the judge, with a decorated model for each of [Choice.Wires], in their order.
func (c Choice) Build(models []deem.Model) (deem.Judge, error) {
	decorated := map[wireKey]deem.Model{}
	for i, wire := range c.Wires() {
		decorated[wireKey{wire.Name(), deem.SettingsOf(wire)}] = models[i]
	}
	parts := c.parts
	parts.Model = func(name, settings string) (deem.Model, error) { return decorated[wireKey{name, settings}], nil }
	return Build(c.Spec, parts)
}

// Judge builds the judge with its models as they are.
func (c Choice) Judge() (deem.Judge, error) { return c.Build(c.Wires()) }

// A Leaf is a judge inside a composed one that uses a model, with the number of times it is
// asked per item.
type Leaf struct {
	Choice
	Protocol judge.Readable
	Wire     deem.Model // nil until the models are open
	Times    int
	AtMost   bool // it is not asked about every item
}

// Leaves returns the judges that use a model: the judge itself, or its members.
func (c Choice) Leaves() []Leaf { return c.leaves(c.Spec) }

func (c Choice) leaves(s judge.Spec) []Leaf {
	if s.Kind == judge.KindModel {
		p, err := c.parts.protocol(s)
		if err != nil {
			panic(fmt.Sprintf("catalog: %v", err)) // It was chosen, so there is one.
		}
		return []Leaf{{
			Choice: Choice{Spec: s, As: c.As, parts: c.parts, wires: c.wires}, Protocol: p,
			Wire: c.wires[wireKey{s.Model, s.Settings}], Times: 1,
		}}
	}
	var list []Leaf
	for i, m := range s.Members {
		for _, l := range c.leaves(m.Judge) {
			switch s.Kind {
			case judge.KindRepeat:
				l.Times *= s.Times
			case judge.KindPairwise:
				l.Times *= 2
				l.AtMost = true // a pair of equal texts needs no call
			case judge.KindCascade:
				l.AtMost = l.AtMost || i > 0
			}
			list = append(list, l)
		}
	}
	return list
}

// Single returns the judge itself if it uses a model and is not composed.
func (c Choice) Single() (Leaf, bool) {
	if c.Spec.Kind != judge.KindModel {
		return Leaf{}, false
	}
	return c.Leaves()[0], true
}

// Models returns the names and endpoints of all models in use.
func (c Choice) Models() (names, endpoints string) {
	var es []string
	for _, l := range c.Leaves() {
		if at := model.Endpoint(l.Wire); at != "" && !slices.Contains(es, at) {
			es = append(es, at)
		}
	}
	return strings.Join(c.Spec.Models(), " + "), strings.Join(es, " + ")
}

// Requests returns the requests that the judge may make about an item: none if it decides
// without a model or cannot judge the item.
func (l Leaf) Requests(it deem.Item) []deem.Request {
	if d, ok := l.Protocol.(judge.Decider); ok {
		if _, ok := d.Decide(it); ok {
			return nil
		}
	}
	reqs, err := judge.Requests(l.Protocol, it)
	if err != nil {
		return nil
	}
	return reqs
}

// Bound returns "at most " if the judge may be asked less often.
func (l Leaf) Bound() string {
	if l.AtMost {
		return "at most "
	}
	return ""
}

// Who names the judge in a line about it, if there is more than one.
func (l Leaf) Who(of Choice) string {
	if !of.Spec.Composed() {
		return ""
	}
	return fmt.Sprintf("%s with %s: %s", l.Name(), l.Wire.Name(), l.Bound())
}

// Optional is the value of a flag that may be absent.
type Optional[T any] struct {
	Value T
	Set   bool
}

// LabelsPrefix begins the name of a judge whose verdicts are in a file.
const LabelsPrefix = "labels:"

// chooseLabels returns the judge whose verdicts are in a file: labels:FILE, or
// labels:FILE#COLUMN if the file has several.
func chooseLabels(spec string, o JudgeOptions, several bool) (Choice, error) {
	file, column, picked := strings.Cut(spec, "#")
	src := labels.Source{Names: []string{file}}
	name := LabelsPrefix + filepath.Base(file)
	if picked {
		src.Columns = map[string]string{"label": column}
		name += "#" + column
	}
	// It reads small files and cannot be interrupted.
	set, err := labels.Read(context.Background(), src)
	if err != nil {
		if strings.Contains(deem.HintOf(err), "--map label") {
			err = deem.WithHint(err, "say which column holds the verdicts: --judge %s%s#COLUMN", LabelsPrefix, file)
		}
		return Choice{}, err
	}
	j, err := set.Judge(name)
	if err != nil {
		return Choice{}, err
	}
	return o.chooseRule(j, Parts{Labels: map[string]deem.Judge{name: j}}, several)
}
