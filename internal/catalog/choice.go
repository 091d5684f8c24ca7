package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"deem"
	"deem/benchmark"
	"deem/internal/compose"
	"deem/internal/labels"
	"deem/internal/usage"
	"deem/judge"
	"deem/judge/rule"
)

// A Choice is a judge that was chosen by name and has no model yet: a rule, or a
// protocol.
type Choice struct {
	Rule     deem.Judge
	Protocol judge.Readable
	Wanted   []string // the item fields that a declared judge may want from a dataset

	Benchmark string // whose judge it is, "" for judges of their own

	Spec     string    // as the user named it
	model    string    // that a member of a composed judge names, "" for --model
	Composed *Composed // nil unless it is made of other judges; without models it is a rule too
}

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

// JudgeNames returns the names of all judges that need no file.
func JudgeNames() []string {
	names := append(append(rule.Names(), judge.Builtins()...), compose.Pairwise)
	for _, b := range benchmark.All() {
		names = append(names, b.Judges...)
	}
	return names
}

// Declaration returns the declared judge of that name or file.
func Declaration(name string) (*judge.Declaration, error) {
	if LooksLikeFile(name) {
		d, err := judge.Load(name)
		return d, usage.Mark(err)
	}
	if d, ok := judge.Builtin(name); ok {
		return d, nil
	}
	return nil, usage.Mark(usage.Unknown("judge", name, JudgeNames()))
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
	c.Spec = name
	return c, err
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
		return Choice{Protocol: judge.NewExternal(short), model: name}, nil
	}
	if names := together(name); len(names) > 1 && !LooksLikeFile(name) {
		r, err := o.severalRules(names)
		return Choice{Rule: r}, err
	}
	if rule.NeedsThesaurus(name) {
		if o.Thesaurus == nil {
			return Choice{}, usage.Mark(deem.WithHint(fmt.Errorf("judge %s needs WordNet", name),
				"--wordnet names a folder with the database files of WordNet 3.0; meteor/stem needs none"))
		}
		return o.chooseRule(rule.METEOR(o.Thesaurus), several)
	}
	if r, ok := rule.NamedWith(name, o.Embedder); ok {
		if rule.NeedsEmbedder(name) && o.Embedder == nil {
			return Choice{}, usage.Mark(deem.WithHint(fmt.Errorf("judge %s needs embeddings", name),
				"--embeddings names a folder with a sentence model's files, or a model of a server: openai:text-embedding-3-small, ollama:nomic-embed-text"))
		}
		return o.chooseRule(r, several)
	}
	if b, ok := benchmark.OfJudge(name); ok {
		return ChooseBenchmark(b, name, o)
	}
	d, err := Declaration(name)
	if err != nil {
		return Choice{}, err
	}
	if o.Pass.Set && (len(d.Aspects) > 0 || !several) {
		if err := d.SetPass(o.Pass.Value); err != nil {
			return Choice{}, usage.Mark(err)
		}
	}
	if o.Temperature.Set {
		d.Params.Temperature = &o.Temperature.Value
	}
	if o.MaxTokens > 0 {
		d.Params.MaxTokens = o.MaxTokens
	}
	p, err := d.Protocol(o.Reading)
	return Choice{Protocol: p, Wanted: d.Fields()}, usage.Mark(err)
}

// ProgramName returns the short name of a judge that is a program (command:./grade.py) or
// a server (http://127.0.0.1:8000/grade), and whether it is one.
func ProgramName(name string) (string, bool) {
	if text, ok := strings.CutPrefix(name, commandVendor+":"); ok {
		args, err := splitCommand(text)
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
func (o JudgeOptions) severalRules(names []string) (deem.Judge, error) {
	var rules []deem.Judge
	for _, name := range names {
		c, err := Choose(name, o, true)
		if err != nil {
			return nil, err
		}
		if c.Rule == nil {
			return nil, usage.Mark(deem.WithHint(fmt.Errorf("%s asks a model, and only rules go together with +", name), "give --judge again for each"))
		}
		rules = append(rules, c.Rule)
	}
	j, err := rule.Several(rules...)
	return j, usage.Mark(err)
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
	return Choice{Rule: j.Rule, Protocol: j.Protocol, Benchmark: b.Name}, usage.Mark(err)
}

// chooseRule refuses what only a judge with a model can heed.
func (o JudgeOptions) chooseRule(r deem.Judge, several bool) (Choice, error) {
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
			return Choice{}, usage.Mark(err)
		}
	}
	return Choice{Rule: r}, nil
}

// Name returns the judge's name.
func (c Choice) Name() string {
	switch {
	case c.Rule != nil:
		return c.Rule.Name()
	case c.Composed != nil:
		return c.Composed.Declaration.Name
	}
	return c.Protocol.Name()
}

// External reports whether the judge is a program of the user's own.
func (c Choice) External() bool {
	_, ok := c.Protocol.(judge.External)
	return ok
}

// Try says what the judge lacks in an item, without asking a model or a server: nil
// when it lacks nothing.
func (c Choice) Try(ctx context.Context, it deem.Item) error {
	switch {
	case c.Composed != nil:
		return c.Composed.try(ctx, it)
	case c.Rule == nil:
		_, err := c.Protocol.Request(it)
		return err
	case rule.NeedsEmbedder(c.Name()):
		return nil // embeddings may have to be paid for
	default:
		_, err := c.Rule.Judge(ctx, it)
		return err
	}
}

// try says what all members lack. One that lacks nothing is enough to begin with.
func (c *Composed) try(ctx context.Context, it deem.Item) error {
	var last error
	for _, m := range c.Members {
		err := m.Try(ctx, it)
		if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != deem.Input {
			return err
		}
		last = err
	}
	return last
}

// Request returns what the judge asks about an item, unless it decides without asking or
// cannot ask.
func (c Choice) Request(it deem.Item) (deem.Request, bool) {
	if d, ok := c.Protocol.(judge.Decider); ok {
		if _, ok := d.Decide(it); ok {
			return deem.Request{}, false
		}
	}
	req, err := c.Protocol.Request(it)
	return req, err == nil
}

// With returns the judge that asks m.
func (c Choice) With(m deem.Model) deem.Judge {
	if c.Rule != nil {
		return c.Rule
	}
	return judge.New(c.Protocol, m)
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
		if strings.Contains(deem.HintOf(err), "--columns label") {
			err = deem.WithHint(err, "say which column holds the verdicts: --judge %s%s#COLUMN", LabelsPrefix, file)
		}
		return Choice{}, usage.Mark(err)
	}
	j, err := set.Judge(name)
	if err != nil {
		return Choice{}, err
	}
	return o.chooseRule(j, several)
}
