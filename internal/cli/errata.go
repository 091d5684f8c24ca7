package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/spf13/pflag"

	"deem"
	"deem/benchmark"
	"deem/internal/assembly"
	"deem/internal/dataset"
	"deem/internal/findings"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge"
	"deem/model"
	"deem/report"
	"deem/report/errata"
)

// errataOptions are what a run is told about faults in the answer key.
type errataOptions struct {
	file      string
	corrected bool
}

func (o *errataOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.file, "errata", "", "show what the known faults of the answer key in this `file` do to the score; later reports show it too")
	f.BoolVar(&o.corrected, "corrected", false, "with --errata: judge the items with the references corrected, which makes them other items")
}

// check refuses options that say nothing.
func (o errataOptions) check() error {
	switch {
	case o.corrected && o.file == "":
		return usage.Errorf("--corrected needs a list of what is wrong: --errata FILE")
	case o.file == "-":
		return usage.Errorf("--errata is read again by later reports, so it must be a file and cannot be standard input")
	}
	return nil
}

// readErrata reads a list. A benchmark may write the ids of its items in several ways.
func readErrata(ctx context.Context, file string, b *benchmark.Benchmark) (*errata.Errata, error) {
	var o errata.Options
	if b != nil {
		o.ID = b.ItemID
	}
	e, err := errata.Read(ctx, file, o)
	return e, usage.Mark(err)
}

// heed looks up the errata among the items before anything is paid for, says what they
// amount to, and corrects the items if that was asked for.
func (a *app) heed(ctx context.Context, data items, o runOptions) (items, error) {
	if o.errata.file == "" {
		return data, nil
	}
	e, err := readErrata(ctx, o.errata.file, o.benchmark)
	if err != nil {
		return nil, err
	}
	m, err := e.Match(data.Items())
	if err != nil {
		return nil, err
	}
	n, all := m.Faulty(), data.Len()
	if !o.errata.corrected {
		a.say("%s of %s with a reference that %s calls wrong: whoever answers everything rightly scores %.2f%%",
			words.Thousands(n), words.Count(all, "item"), e.Name(), 100*float64(all-n)/float64(max(all, 1)))
		return data, nil
	}
	return a.corrected(data, m)
}

// corrected returns the items with the references that the errata correct.
func (a *app) corrected(data items, m *errata.Matched) (items, error) {
	c := correctedItems{items: data, matched: m}
	n := 0
	for it, err := range data.Items() {
		if err != nil {
			return nil, err
		}
		if _, ok := m.Correct(it); ok {
			n++
		}
	}
	var err error
	if c.hash, err = dataset.HashItems(c.Items()); err != nil {
		return nil, err
	}
	a.say("%s corrected by %s: these are not the published items", words.Count(n, "reference"), m.Errata().Name())
	return c, nil
}

// correctedItems are items with some of their references replaced, and so another
// dataset: runs of it never go on with runs of the published one.
type correctedItems struct {
	items
	matched *errata.Matched
	hash    string
}

func (c correctedItems) Items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for it, err := range c.items.Items() {
			if err == nil {
				it, _ = c.matched.Correct(it)
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

func (c correctedItems) Hash() string { return c.hash }

func (c correctedItems) Names() []string {
	return append(slices.Clone(c.items.Names()), "corrected by "+c.matched.Errata().Name())
}

// errataOf says what the errata do to the numbers of a run: those of the given file, or
// else those that the run was told of. It returns nil when there are none.
func (a *app) errataOf(ctx context.Context, st store.Store, run store.Run, h report.Head, file string) (*errata.Report, error) {
	b, set, err := findings.Benchmark(run)
	if err != nil {
		return nil, err
	}
	named := cmp.Or(file, set.Errata)
	if named == "" {
		return nil, nil
	}
	if file == "" && !assembly.FileExists(named) {
		// The run itself can still be shown.
		a.say("the errata that run %s was told of are not at %s any more; --errata names another place", run.ID, named)
		return nil, nil
	}
	e, err := readErrata(ctx, named, b)
	if err != nil {
		return nil, err
	}
	m, err := e.Match(judgedItems(ctx, st, run))
	if err != nil {
		return nil, err
	}
	judge, err := againJudge(st, run, set)
	if err != nil {
		return nil, err
	}
	builder := errata.New(m, h, judge)
	records := st.Records(ctx, run.ID, store.Query{Trial: new(int), WithCalls: true})
	for rec, err := range store.Ahead(records) {
		if err == nil {
			err = builder.Add(ctx, rec)
		}
		if err != nil {
			return nil, err
		}
	}
	r := builder.Report()
	return &r, nil
}

// judgedItems yields the items of a run that have a record.
func judgedItems(ctx context.Context, st store.Store, run store.Run) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for rec, err := range store.Ahead(st.Records(ctx, run.ID, store.Query{Trial: new(int)})) {
			if !yield(rec.Item, err) {
				return
			}
		}
	}
}

// againJudge returns the judge of a run as far as it costs nothing to ask it again: a
// rule, or a protocol whose model is what the store has of its replies. It returns nil
// for a rule that needs more than its name, as a model of embeddings.
func againJudge(st store.Store, run store.Run, set findings.Settings) (deem.Judge, error) {
	if run.Judge.Rule {
		return assembly.Rule(run, set), nil
	}
	p, err := findings.Protocol(run)
	if err != nil || p == nil {
		return nil, err
	}
	var id struct {
		Settings string `json:"settings"`
	}
	_ = json.Unmarshal(run.Judge.Identity, &id) // A judge without an identity has no settings either.
	m := &memory{name: run.Model, endpoint: run.Endpoint, settings: id.Settings}
	return &recalling{judge.New(p, model.Cache(m, st, model.CacheOptions{})), m}, nil
}

// A memory is a model that says nothing new. Behind a cache it stands for the model
// whose replies the cache holds, and remembers that it was asked for one that is not
// there.
type memory struct {
	name, endpoint, settings string
	asked                    bool
}

var _ deem.Tuned = (*memory)(nil)

func (m *memory) Name() string     { return m.name }
func (m *memory) Endpoint() string { return m.endpoint }
func (m *memory) Settings() string { return m.settings }

func (m *memory) Complete(context.Context, deem.Request) (deem.Reply, error) {
	m.asked = true
	return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Err: errata.ErrUnasked}
}

// recalling is a judge that asks a memory.
type recalling struct {
	inside *judge.Judge
	memory *memory
}

func (r *recalling) Name() string { return r.inside.Name() }

// Judge returns the verdict that a reply from before gives.
func (r *recalling) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	r.memory.asked = false
	v, err := r.inside.Judge(ctx, it)
	if r.memory.asked {
		return deem.Verdict{}, errata.ErrUnasked
	}
	return v, err
}

// addErrata puts the list of faults that was looked at into the head of a report.
func addErrata(r *report.Report, faults *errata.Report) {
	if faults == nil || r.Head.Harness == nil {
		return
	}
	h := *r.Head.Harness
	h.Errata = &report.ErrataFile{File: faults.File, Hash: faults.Hash, Faulty: faults.Overall.Faulty}
	r.Head.Harness = &h
}
