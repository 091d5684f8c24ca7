package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deem"
	"deem/benchmark"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/usage"
	"deem/judge"
	"deem/judge/compose"
	"deem/judge/rule"
)

// defaultJudge needs no key, so that the first command works.
const defaultJudge = "match"

// A choice is a judge that was chosen by name and has no model yet: a rule, or a
// protocol.
type choice struct {
	rule     deem.Judge
	protocol judge.Readable
	wanted   []string // the item fields that a declared judge may want from a dataset

	benchmark string // whose judge it is, "" for judges of their own

	spec     string    // as the user named it
	model    string    // that a member of a composed judge names, "" for --model
	composed *composed // nil unless it is made of other judges; without models it is a rule too
}

// looksLikeFile tells the file of a judge from the name of one.
func looksLikeFile(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml" || strings.ContainsRune(name, filepath.Separator) && fileExists(name)
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// judgeNames returns the names of all judges that need no file.
func judgeNames() []string {
	names := append(append(rule.Names(), judge.Builtins()...), compose.Pairwise)
	for _, b := range benchmark.All() {
		names = append(names, b.Judges...)
	}
	return names
}

// declaration returns the declared judge of that name or file.
func declaration(name string) (*judge.Declaration, error) {
	if looksLikeFile(name) {
		d, err := judge.Load(name)
		return d, usage.Mark(err)
	}
	if d, ok := judge.Builtin(name); ok {
		return d, nil
	}
	return nil, usage.Mark(usage.Unknown("judge", name, judgeNames()))
}

// A judgeOptions changes what a declared judge says of itself.
type judgeOptions struct {
	embedder    rule.Embedder     // for the judge that compares by meaning; nil when none was named
	thesaurus   rule.Thesaurus    // for the judge that knows synonyms; nil when none was named
	with        map[string]string // what a benchmark has options of its own for
	reading     string
	pass        optional[float64]
	temperature optional[float64]
	maxTokens   int
}

// choose finds the judge of that name. An option that says nothing to it is a
// mistake, unless it may be meant for another of several judges.
func choose(name string, o judgeOptions, several bool) (choice, error) {
	return chooseAt(name, o, several, 0)
}

// chooseAt is choose so many judges deep.
func chooseAt(name string, o judgeOptions, several bool, depth int) (choice, error) {
	c, ok, err := chooseComposed(name, o, depth)
	if !ok {
		c, err = chooseSingle(name, o, several)
	}
	c.spec = name
	return c, err
}

// chooseSingle finds a judge that is made of no others.
func chooseSingle(name string, o judgeOptions, several bool) (choice, error) {
	if spec, ok := strings.CutPrefix(name, labelsPrefix); ok {
		return chooseLabels(spec, o, several)
	}
	if names := together(name); len(names) > 1 && !looksLikeFile(name) {
		r, err := o.severalRules(names)
		return choice{rule: r}, err
	}
	if rule.NeedsThesaurus(name) {
		if o.thesaurus == nil {
			return choice{}, usage.Mark(deem.WithHint(fmt.Errorf("judge %s needs WordNet", name),
				"--wordnet names a folder with the database files of WordNet 3.0; meteor/stem needs none"))
		}
		return o.chooseRule(rule.METEOR(o.thesaurus), several)
	}
	if r, ok := rule.NamedWith(name, o.embedder); ok {
		if rule.NeedsEmbedder(name) && o.embedder == nil {
			return choice{}, usage.Mark(deem.WithHint(fmt.Errorf("judge %s needs embeddings", name),
				"--embeddings names a folder with a sentence model's files, or a model of a server: openai:text-embedding-3-small, ollama:nomic-embed-text"))
		}
		return o.chooseRule(r, several)
	}
	if b, ok := benchmark.OfJudge(name); ok {
		return chooseBenchmark(b, name, o)
	}
	d, err := declaration(name)
	if err != nil {
		return choice{}, err
	}
	if o.pass.set && (len(d.Aspects) > 0 || !several) {
		if err := d.SetPass(o.pass.value); err != nil {
			return choice{}, usage.Mark(err)
		}
	}
	if o.temperature.set {
		d.Params.Temperature = &o.temperature.value
	}
	if o.maxTokens > 0 {
		d.Params.MaxTokens = o.maxTokens
	}
	p, err := d.Protocol(o.reading)
	return choice{protocol: p, wanted: d.Fields()}, usage.Mark(err)
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
func (o judgeOptions) severalRules(names []string) (deem.Judge, error) {
	var rules []deem.Judge
	for _, name := range names {
		c, err := choose(name, o, true)
		if err != nil {
			return nil, err
		}
		if c.rule == nil {
			return nil, usage.Mark(deem.WithHint(fmt.Errorf("%s asks a model, and only rules go together with +", name), "give --judge again for each"))
		}
		rules = append(rules, c.rule)
	}
	j, err := rule.Several(rules...)
	return j, usage.Mark(err)
}

// chooseBenchmark returns a judge of a benchmark, which is asked as published.
func chooseBenchmark(b benchmark.Benchmark, name string, o judgeOptions) (choice, error) {
	if o.pass.set || o.temperature.set || o.maxTokens > 0 {
		return choice{}, usage.Errorf("judge %s is asked as published; --pass, --temperature and --max-tokens cannot change it", name)
	}
	if err := b.Check(o.with); err != nil {
		return choice{}, usage.Mark(err)
	}
	j, err := b.Judge(name, benchmark.Options{Reading: o.reading, With: o.with})
	return choice{rule: j.Rule, protocol: j.Protocol, benchmark: b.Name}, usage.Mark(err)
}

// chooseRule refuses what only a judge with a model can heed.
func (o judgeOptions) chooseRule(r deem.Judge, several bool) (choice, error) {
	var flag string
	switch {
	case several:
	case o.reading != "":
		flag = "--reading"
	case o.temperature.set:
		flag = "--temperature"
	case o.maxTokens > 0:
		flag = "--max-tokens"
	}
	if flag != "" {
		return choice{}, usage.Errorf("%s says nothing to %s, which is a rule and asks no model", flag, r.Name())
	}
	if o.pass.set {
		marked, err := rule.WithPass(r, o.pass.value)
		if err == nil {
			r = marked
		} else if !several {
			return choice{}, usage.Mark(err)
		}
	}
	return choice{rule: r}, nil
}

// name returns the judge's name.
func (c choice) name() string {
	switch {
	case c.rule != nil:
		return c.rule.Name()
	case c.composed != nil:
		return c.composed.decl.Name
	}
	return c.protocol.Name()
}

// try says what the judge lacks in an item, without asking a model or a server: nil
// when it lacks nothing.
func (c choice) try(ctx context.Context, it deem.Item) error {
	switch {
	case c.composed != nil:
		return c.composed.try(ctx, it)
	case c.rule == nil:
		_, err := c.protocol.Request(it)
		return err
	case rule.NeedsEmbedder(c.name()):
		return nil // embeddings may have to be paid for
	default:
		_, err := c.rule.Judge(ctx, it)
		return err
	}
}

// try says what all members lack. One that lacks nothing is enough to begin with.
func (c *composed) try(ctx context.Context, it deem.Item) error {
	var last error
	for _, m := range c.members {
		err := m.try(ctx, it)
		if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != deem.Input {
			return err
		}
		last = err
	}
	return last
}

// with returns the judge that asks m.
func (c choice) with(m deem.Model) deem.Judge {
	if c.rule != nil {
		return c.rule
	}
	return judge.New(c.protocol, m)
}

// openStore opens the store for writing and creates it where there is none.
func (a *app) openStore(ctx context.Context) (store.Store, error) {
	if err := a.checkDB(); err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, a.db, sqlite.Options{})
}

// readStore opens a store that is there already.
func (a *app) readStore(ctx context.Context) (store.Store, error) {
	if err := a.checkDB(); err != nil {
		return nil, err
	}
	return sqlite.OpenReadOnly(ctx, a.db, sqlite.Options{})
}

func (a *app) checkDB() error {
	if strings.Contains(a.db, "://") {
		return usage.Errorf("--db %s: a database is a file", a.db)
	}
	return nil
}

// optional is the value of a flag that may be absent.
type optional[T any] struct {
	value T
	set   bool
}
