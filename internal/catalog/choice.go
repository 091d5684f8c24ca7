package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/benchmark"
	"deem/internal/choice"
	"deem/internal/labels"
	"deem/internal/usage"
	"deem/judge"
	"deem/judge/pairwise"
	"deem/judge/panel"
	"deem/judge/rule"
	"deem/model"
)

// A Choice is a judge that was chosen by name. Its spec lacks the models, unless they
// were named, until [Choice.WithModels] opens them.
type Choice struct {
	Spec    judge.Spec
	As      string          // as the user named it
	Promise *CascadePromise // what was promised of a cascade, nil when nothing was

	parts Parts
	wires map[wireKey]deem.Model // nil until the models are open
}

// A wireKey tells models apart: those with the same key are one.
type wireKey struct{ name, settings string }

// LooksLikeFile tells the file of a judge from the name of one.
func LooksLikeFile(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml" || strings.ContainsRune(name, filepath.Separator) && FileExists(name)
}

// FileExists reports whether there is a file of that name.
func FileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// ruleNames returns the names of the rules that belong to no benchmark.
func ruleNames() []string {
	names := rule.Names()
	for _, c := range choice.Rules() {
		names = append(names, c[0])
	}
	return names
}

// JudgeNames returns the names of all judges that need no file.
func JudgeNames() []string {
	names := append(append(ruleNames(), judge.Builtins()...), judge.KindPairwise)
	for _, b := range benchmark.All() {
		names = append(names, b.Judges...)
	}
	return names
}

// KnownRule reports whether a name is that of a rule, or of several. What a client says
// must not make us open files.
func KnownRule(name string) bool {
	for _, part := range together(name) {
		if _, ok := benchmark.OfJudge(part); !ok && !slices.Contains(ruleNames(), part) {
			return false
		}
	}
	return true
}

// Declaration returns the declared judge of that name or file.
func Declaration(name string) (*judge.Declaration, error) {
	if LooksLikeFile(name) {
		d, err := judge.Load(name)
		if err != nil {
			return nil, usage.Mark(err)
		}
		if _, taken := benchmark.OfJudge(d.Name); taken {
			return nil, ownName(name, d.Name)
		}
		return d, nil
	}
	if d, ok := judge.Builtin(name); ok {
		return d, nil
	}
	return nil, usage.Mark(usage.Unknown("judge", name, JudgeNames()))
}

// ownName refuses a judge in a file that takes the name of another.
func ownName(file, name string) error {
	return usage.Mark(deem.WithHint(fmt.Errorf("%s: the name %q belongs to a judge that comes with deem", file, name), "choose a name of your own, as %q", "my-"+name))
}

// A JudgeOptions changes what a declared judge says of itself.
type JudgeOptions struct {
	Embedder    rule.Embedder     // for the judge that compares by meaning; nil when none was named
	Thesaurus   rule.Thesaurus    // for the judge that knows synonyms; nil when none was named
	With        map[string]string // what a benchmark has options of its own for
	Reading     string
	Pass        Optional[float64]
	Temperature Optional[float64]
	MaxTokens   int
}

// Choose finds the judge of that name. An option that says nothing to it is a
// mistake, unless it may be meant for another of several judges.
func Choose(name string, o JudgeOptions, several bool) (Choice, error) {
	return chooseAt(name, o, several, 0)
}

// chooseAt is choose so many judges deep.
func chooseAt(name string, o JudgeOptions, several bool, depth int) (Choice, error) {
	c, ok, err := chooseComposed(name, o, depth)
	if !ok {
		c, err = chooseSingle(name, o, several)
	}
	if err == nil && !c.Spec.Asks() {
		// Whether a judge without a model can be made is known now.
		_, err = Build(c.Spec, c.parts)
	}
	c.As = name
	return c, usage.Mark(err)
}

// chooseSingle finds a judge that is made of no others.
func chooseSingle(name string, o JudgeOptions, several bool) (Choice, error) {
	if spec, ok := strings.CutPrefix(name, LabelsPrefix); ok {
		return chooseLabels(spec, o, several)
	}
	if short, ok := ProgramName(name); ok {
		if o.Pass.Set || o.Temperature.Set || o.MaxTokens > 0 || o.Reading != "" {
			return Choice{}, usage.Errorf("judge %s is a program: --pass, --temperature, --max-tokens and --reading cannot change it", name)
		}
		spec := judge.NewExternal(short).Spec()
		spec.Model = name
		return Choice{Spec: spec}, nil
	}
	if names := together(name); len(names) > 1 && !LooksLikeFile(name) {
		return o.severalRules(names)
	}
	if b, ok := benchmark.OfJudge(name); ok {
		return ChooseBenchmark(b, name, o)
	}
	parts := Parts{Embedder: o.Embedder, Thesaurus: o.Thesaurus}
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
	if o.Pass.Set && (d.HasPass() || !several) {
		if err := d.SetPass(o.Pass.Value); err != nil {
			return Choice{}, err
		}
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
	return Choice{Spec: p.Spec(), As: d.Name}, nil
}

// ProgramName returns the short name of a judge that is a program (command:./grade.py) or
// a server (http://127.0.0.1:8000/grade), and whether it is one.
func ProgramName(name string) (string, bool) {
	if text, ok := strings.CutPrefix(name, commandVendor+":"); ok {
		args, err := SplitCommand(text)
		if err != nil {
			return text, true // Opening it says what is wrong.
		}
		for i, arg := range args {
			// In "python3 grade.py" the program is the file, and not the interpreter.
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

// together splits "f1+rougeL+bleu". A name may end in + itself, as chrf++ does.
func together(name string) []string {
	var names []string
	for _, part := range strings.Split(name, "+") {
		if last := len(names) - 1; part == "" && last >= 0 {
			names[last] += "+"
		} else {
			names = append(names, part)
		}
	}
	return names
}

// severalRules returns the judge that "f1+rougeL+bleu" names.
func (o JudgeOptions) severalRules(names []string) (Choice, error) {
	c := Choice{
		Spec:  judge.Spec{Kind: judge.KindRules, Name: strings.Join(names, "+")},
		parts: Parts{Embedder: o.Embedder, Thesaurus: o.Thesaurus},
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

// ChooseBenchmark returns a judge of a benchmark, which is asked as published.
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
		members := []judge.Member{{Judge: j.Protocol.Spec()}}
		return Choice{Spec: judge.Spec{Kind: judge.KindRepeat, Name: name, Times: j.Votes, Rule: string(panel.Mean), Members: members}}, nil
	}
	return Choice{Spec: j.Protocol.Spec()}, nil
}

// chooseRule refuses what only a judge with a model can heed.
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

// Name returns the judge's name.
func (c Choice) Name() string { return c.Spec.Name }

// Asks reports whether the judge asks a model.
func (c Choice) Asks() bool { return c.Spec.Asks() }

// Wanted returns the item fields that the judge may want from a dataset.
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
		fields = append(fields, choice.OptionsField)
	}
	return fields
}

// isChoice tells the rules for questions of multiple choice from others.
func isChoice(name string) bool {
	return slices.ContainsFunc(choice.Rules(), func(c [2]string) bool { return c[0] == name })
}

// External reports whether the judge is a program of the user's own.
func (c Choice) External() bool { return c.Spec.External() }

// Try says what the judge lacks in an item, without asking a model or a server: nil
// when it lacks nothing. Of several members, one that lacks nothing is enough.
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
		p, err := Protocol(s)
		if err == nil {
			_, err = p.Request(it)
		}
		return err
	case rule.NeedsEmbedder(s.Name):
		return nil // embeddings may have to be paid for
	}
	j, err := Build(s, c.parts)
	if err == nil {
		_, err = j.Judge(ctx, it)
	}
	return err
}

// WithModels opens the models of a judge and of those that it is made of. The function
// open is told which judge asks, and which model it names, if it names one.
func (c Choice) WithModels(open func(judge, own string) (deem.Model, error)) (Choice, error) {
	c.wires = map[wireKey]deem.Model{}
	var err error
	c.Spec, err = c.Spec.Map(func(leaf judge.Spec) (judge.Spec, error) {
		if leaf.Kind != judge.KindModel {
			return leaf, nil
		}
		wire, err := open(leaf.Name, leaf.Model)
		if err != nil {
			return leaf, err
		}
		leaf.Model, leaf.Settings = wire.Name(), deem.SettingsOf(wire)
		c.wires[wireKey{leaf.Model, leaf.Settings}] = wire
		return leaf, nil
	})
	return c, err
}

// Assemble makes the judge, with what decorate puts around its models. Members that ask
// the same model share it with its limits.
func (c Choice) Assemble(decorate func(wire deem.Model) deem.Model) (deem.Judge, error) {
	parts := c.parts
	parts.Model = func(name, settings string) (deem.Model, error) {
		return decorate(c.wires[wireKey{name, settings}]), nil
	}
	return Build(c.Spec, parts)
}

// Judge makes the judge with its models as they are.
func (c Choice) Judge() (deem.Judge, error) {
	return c.Assemble(func(wire deem.Model) deem.Model { return wire })
}

// A Leaf is a judge in a composed one that asks a model, and how often it does so for
// one item.
type Leaf struct {
	Choice
	Protocol judge.Readable
	Wire     deem.Model
	Times    int
	AtMost   bool // it is not asked about every item
}

// Leaves returns the judges that ask a model: the judge itself, or those that it is
// made of.
func (c Choice) Leaves() []Leaf { return c.leaves(c.Spec) }

func (c Choice) leaves(s judge.Spec) []Leaf {
	if s.Kind == judge.KindModel {
		p, err := Protocol(s)
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
				l.AtMost = true // the same text twice is not asked about
			case judge.KindCascade:
				l.AtMost = l.AtMost || i > 0
			}
			list = append(list, l)
		}
	}
	return list
}

// Single returns the judge itself if it asks a model and is not made of others.
func (c Choice) Single() (Leaf, bool) {
	if c.Spec.Kind != judge.KindModel {
		return Leaf{}, false
	}
	return c.Leaves()[0], true
}

// Models returns the names and endpoints of all models that are asked.
func (c Choice) Models() (names, endpoints string) {
	var es []string
	for _, l := range c.Leaves() {
		if at := model.Endpoint(l.Wire); at != "" && !slices.Contains(es, at) {
			es = append(es, at)
		}
	}
	return strings.Join(c.Spec.Models(), " + "), strings.Join(es, " + ")
}

// Requests returns what the judge may ask about an item: nothing if it decides without
// asking or cannot ask.
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

// Bound says that a judge may be asked less often.
func (l Leaf) Bound() string {
	if l.AtMost {
		return "at most "
	}
	return ""
}

// Who names the judge in a line about it, where there is more than one.
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

// LabelsPrefix is what the name of a judge begins with whose verdicts are in a file.
const LabelsPrefix = "labels:"

// chooseLabels returns the judge whose verdicts are in a file: labels:FILE, or
// labels:FILE#COLUMN where the file has those of several.
func chooseLabels(spec string, o JudgeOptions, several bool) (Choice, error) {
	file, column, picked := strings.Cut(spec, "#")
	src := labels.Source{Names: []string{file}}
	name := LabelsPrefix + filepath.Base(file)
	if picked {
		src.Columns = map[string]string{"label": column}
		name += "#" + column
	}
	// The choice of a judge reads small files and is not interrupted.
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
