package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/benchmark"
	"deem/internal/catalog"
	"deem/internal/dataset"
	"deem/internal/reader"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge/pairwise"
	"deem/report"
)

// items are the items to judge: a file of items, or the set of a benchmark.
type items = benchmark.Set

// openData opens the items, which reads and checks all of them.
func (a *app) openData(ctx context.Context, o *runOptions, judgings []catalog.Choice) (items, error) {
	data, err := a.openItems(ctx, *o, judgings)
	if err != nil {
		return nil, usage.Mark(err)
	}
	for _, note := range data.Notes() {
		a.say("%s", note)
	}
	rest, counts, err := excluded(data, o.exclude)
	o.exclusions = counts
	for _, text := range reports.LeftOut(counts) {
		a.say("left out: %s", words.Printable(text))
	}
	if err == nil {
		rest, err = a.withContexts(ctx, rest, o)
	}
	if err == nil {
		rest, err = a.applyArm(rest, *o)
	}
	if err == nil && o.sample > 0 {
		if rest, o.drawn, err = sample(rest, o.sample, o.seed); err == nil {
			a.say("judging %s", o.drawn)
		}
	}
	if err == nil {
		rest, err = a.pair(ctx, rest, *o, judgings)
	}
	if err == nil {
		rest, err = a.applyErrata(ctx, rest, *o)
	}
	if err == nil && o.until != "" {
		if rest, err = shuffle(rest, o.seed); err == nil {
			a.say("items in random order, seed %d", o.seed)
		}
	}
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	return rest, nil
}

func (a *app) openItems(ctx context.Context, o runOptions, judgings []catalog.Choice, fields ...string) (items, error) {
	if len(o.contexts) > 0 && len(o.data) == 0 {
		return a.openContexts(ctx, o)
	}
	if o.benchmark != nil {
		if err := o.benchmark.Check(o.judge.With); err != nil {
			return nil, err
		}
		return o.benchmark.Open(ctx, a.benchmarkOptions(o, judgings))
	}
	mapping, err := dataset.ParseMapping(o.mapping)
	if err != nil {
		return nil, err
	}
	for _, j := range judgings {
		fields = append(fields, j.Wanted()...)
	}
	if len(o.other) > 0 {
		fields = slices.DeleteFunc(fields, func(name string) bool { return name == pairwise.Field }) // the other file provides it
	}
	src := dataset.Source{Names: o.data, Stdin: a.in, Format: o.format, Map: mapping, Fields: fields, Limit: o.limit}
	if o.answers() {
		src.Part = dataset.Questions
	}
	if len(o.responses) > 0 {
		return a.join(ctx, src, o)
	}
	return dataset.Open(ctx, src)
}

// benchmarkOptions returns the options of a benchmark. The reading is that of its own
// judge, because the set of items may depend on it.
func (a *app) benchmarkOptions(o runOptions, judgings []catalog.Choice) benchmark.Options {
	b := benchmark.Options{
		Data: o.data, Responses: o.responses, Stdin: a.in, RequireAll: o.requireAll, Limit: o.limit, Unanswered: o.answers(),
		With: o.judge.With, MaxUnjudged: o.maxUnjudged, Judges: o.judges,
	}
	switch {
	case o.arm == reader.ArmFull || o.arm == reader.ArmOracle:
		b.Arm = o.arm
	case o.arm == reader.ArmShuffle && len(o.contexts) == 0:
		b.Arm = reader.ArmOracle
	}
	for _, j := range judgings {
		if slices.Contains(o.benchmark.Judges, j.Name()) {
			b.Reading = o.judge.Reading
		}
	}
	return b
}

// preflight rejects a dataset in which no item has what the judge needs. It examines the
// first hundred items: a missing column is missing in all of them. The error has the hint of
// the judge, or the given one.
func preflight(ctx context.Context, c catalog.Choice, data items, otherwise string) error {
	const most = 100
	var last *deem.Failure
	n, hint := 0, ""
	for it, err := range data.Items() {
		if err != nil {
			return err
		}
		err = c.Try(ctx, it)
		f, ok := errors.AsType[*deem.Failure](err)
		if !ok || f.Kind != deem.Input {
			return nil
		}
		last, hint = f, deem.HintOf(err)
		if n++; n == most {
			break
		}
	}
	if last == nil {
		return nil
	}
	err := fmt.Errorf("%s: judge %s can judge none of the first %s: %s", strings.Join(data.Names(), ", "), c.Name(), words.Count(n, "item"), last.Detail)
	return usage.Mark(deem.WithHint(err, "%s", cmp.Or(hint, otherwise)))
}

// The hints for items that lack what a judge needs: in files of the user, and in files of
// a benchmark, to which --map does not apply.
const (
	mapHint   = "say which column holds it, as --map references=gold,question=q or --map field.context=passages; deem list formats names those that are recognised"
	filesHint = "deem list benchmarks says where the files of the benchmark are"
)

// A dryRun describes what one judge would do, with the first request if it uses a model.
type dryRun struct {
	Judge string `json:"judge"`
	Model string `json:"model,omitempty"`
	Items int    `json:"items"`
	Calls int    `json:"calls"` // maximum
	*deem.Request
}

// dryRun prints the first prompt of each judge and the number of calls of a run.
func (a *app) dryRun(judgings []catalog.Choice, data items, o runOptions) error {
	var runs []dryRun
	for _, j := range judgings {
		if !j.Spec.Asks() {
			a.say("would judge %s with the rule %s and call nothing", words.Count(data.Len(), "item"), j.Name())
			runs = append(runs, dryRun{Judge: j.Name(), Items: data.Len()})
			continue
		}
		for _, l := range j.Leaves() {
			req, err := firstRequest(l, data)
			if err != nil {
				return err
			}
			calls := data.Len() * o.Trials * l.Times
			runs = append(runs, dryRun{Judge: l.Name(), Model: l.Wire.Name(), Items: data.Len(), Calls: calls, Request: req})
			if a.json {
				continue
			}
			if req != nil {
				for _, m := range req.Messages {
					fmt.Fprintf(a.out, "%s:\n%s\n", m.Role, m.Content)
				}
			}
			a.say("would ask %s %s%s about %s", l.Wire.Name(), l.Bound(), words.Count(calls, "time"), words.Count(data.Len(), "item"))
		}
	}
	switch {
	case a.json && len(runs) == 1:
		_ = writeJSON(a.out, runs[0])
	case a.json:
		_ = writeJSON(a.out, map[string]any{"judges": runs})
	}
	return nil
}

// firstRequest returns the request for the first item that has one, or nil if none has.
func firstRequest(l catalog.Leaf, data items) (*deem.Request, error) {
	for it, err := range data.Items() {
		if err != nil {
			return nil, err
		}
		// An item without a request would be unjudged.
		if req, err := l.Protocol.Request(it); err == nil {
			return &req, nil
		}
	}
	return nil, nil
}

// parseExclusion splits an exclusion as typed by the user.
func parseExclusion(text string) (kind, name string, err error) {
	kind, name, ok := strings.Cut(text, "=")
	if !ok || name == "" || kind != "category" && kind != "id" {
		return "", "", usage.Errorf("--exclude %s: it is category=NAME or id=ID", text)
	}
	return kind, name, nil
}

// excluded returns the items that are not excluded, and how many each exclusion removes. An
// exclusion that removes nothing is an error.
func excluded(data items, list []string) (items, []reports.Exclusion, error) {
	if len(list) == 0 {
		return data, nil, nil
	}
	categories, ids := map[string]int{}, map[string]int{} // the exclusion that removes them
	out := func(it deem.Item) (int, bool) {
		at, ok := ids[it.ID]
		if !ok {
			at, ok = categories[it.Category]
		}
		return at, ok
	}
	counts := make([]reports.Exclusion, len(list))
	for i, text := range list {
		counts[i].Items = text
		kind, name, err := parseExclusion(text)
		switch {
		case err != nil:
			return nil, nil, err
		case kind == "id":
			ids[name] = i
		default:
			categories[name] = i
		}
	}
	seen := map[string]bool{}
	for it, err := range data.Items() {
		if err != nil {
			return nil, nil, err
		}
		seen[it.Category] = true
		if at, ok := out(it); ok {
			counts[at].N++
		}
	}
	for _, c := range counts {
		if c.N > 0 {
			continue
		}
		hint := "an id is case-sensitive, and an item that is left out twice counts once"
		if name, ok := strings.CutPrefix(c.Items, "category="); ok {
			delete(seen, "")
			hint = deem.HintOf(usage.Unknown("category", name, slices.Sorted(maps.Keys(seen))))
		}
		return nil, nil, usage.Mark(deem.WithHint(fmt.Errorf("--exclude %s leaves out nothing", c.Items), "%s", hint))
	}
	rest, err := derive(data, changed(data, func(_ int, it deem.Item) (deem.Item, bool) {
		_, ok := out(it)
		return it, !ok
	}))
	return rest, counts, err
}

// A derived set is made from other items by filtering, changing or reordering.
type derived struct {
	items
	seq   iter.Seq2[deem.Item, error]
	names []string
	n     int
	hash  string
}

func (d *derived) Items() iter.Seq2[deem.Item, error] { return d.seq }
func (d *derived) Names() []string                    { return d.names }
func (d *derived) Len() int                           { return d.n }
func (d *derived) Hash() string                       { return d.hash }

// derive returns a different dataset with its own hash: its runs never resume runs of data.
// It reads the items once.
func derive(data items, seq iter.Seq2[deem.Item, error]) (*derived, error) {
	d := &derived{items: data, seq: seq, names: data.Names()}
	var err error
	d.hash, err = deem.DatasetHash(func(yield func(deem.Item, error) bool) {
		for it, err := range seq {
			if d.n++; !yield(it, err) {
				return
			}
		}
	})
	return d, err
}

// view returns data with different items that count as the same dataset.
func view(data items, seq iter.Seq2[deem.Item, error]) items {
	return &derived{items: data, seq: seq, names: data.Names(), n: data.Len(), hash: data.Hash()}
}

// changed yields the items that change keeps, as returned by change. It passes their
// positions to change.
func changed(data items, change func(at int, it deem.Item) (deem.Item, bool)) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		at := 0
		for it, err := range data.Items() {
			keep := true
			if err == nil {
				it, keep = change(at, it)
				at++
			}
			if keep && !yield(it, err) {
				return
			}
		}
	}
}

// withField returns an item with an additional field.
func withField(it deem.Item, name, value string) deem.Item {
	fields := maps.Clone(it.Fields)
	if fields == nil {
		fields = map[string]string{}
	}
	fields[name] = value
	it.Fields = fields
	return it
}

// errataOptions are the options for faults in the answer key.
type errataOptions struct {
	file      string
	corrected bool
}

// check rejects options without effect.
func (o errataOptions) check() error {
	switch {
	case o.corrected && o.file == "":
		return usage.Errorf("--corrected needs a list of what is wrong: --errata FILE")
	case o.file == "-":
		return usage.Errorf("--errata is read again by later reports, so it must be a file and cannot be standard input")
	}
	return nil
}

// applyErrata matches the errata with the items before anything is paid for, prints a summary, and
// corrects the items if requested.
func (a *app) applyErrata(ctx context.Context, data items, o runOptions) (items, error) {
	if o.errata.file == "" {
		return data, nil
	}
	e, err := reports.ReadErrata(ctx, o.errata.file, o.benchmark)
	if err != nil {
		return nil, err
	}
	m, err := e.Match(data.Items())
	if err != nil {
		return nil, err
	}
	if !o.errata.corrected {
		n, all := m.Faulty(), data.Len()
		a.say("%s of %s with a reference that %s calls wrong: a perfect system scores %.2f%%",
			words.Comma(n), words.Count(all, "item"), e.Name, 100*float64(all-n)/float64(max(all, 1)))
		return data, nil
	}
	n := 0
	for it, err := range data.Items() {
		if err != nil {
			return nil, err
		}
		if _, ok := m.Correct(it); ok {
			n++
		}
	}
	c, err := derive(data, changed(data, func(_ int, it deem.Item) (deem.Item, bool) {
		it, _ = m.Correct(it)
		return it, true
	}))
	if err != nil {
		return nil, err
	}
	c.names = append(slices.Clone(c.names), "corrected by "+e.Name)
	a.say("%s corrected by %s: these are not the published items", words.Count(n, "reference"), e.Name)
	return c, nil
}

// errataOf returns the effect of errata on the numbers of a run: the errata in the given
// file, or else those given to the run. It returns nil if there are none.
func (a *app) errataOf(ctx context.Context, st store.Store, run store.Run, h report.Head, file string) (*reports.ErrataReport, error) {
	faults, err := reports.Errata(ctx, st, run, h, file, catalog.Again)
	if errors.Is(err, reports.ErrNoErrata) {
		named := reports.SettingsOf(run.Spec).Errata
		a.say("the errata that run %s was told of are not at %s any more; --errata names another place", run.ID, named)
		return nil, nil
	}
	return faults, err
}

// pair adds the responses of --other to the items, by id. They are held in memory. An item
// without another response stays, and is unjudged; if no item has one, that is an error.
func (a *app) pair(ctx context.Context, data items, o runOptions, judgings []catalog.Choice) (items, error) {
	if len(o.other) == 0 {
		return data, nil
	}
	wants := func(j catalog.Choice) bool { return slices.Contains(j.Wanted(), pairwise.Field) }
	if !slices.ContainsFunc(judgings, wants) {
		return nil, usage.Mark(deem.WithHint(errors.New("--other brings responses to compare with, and no judge compares"), "--judge pairwise does"))
	}
	mapping, err := dataset.ParseMapping(o.mapping)
	if err != nil {
		return nil, usage.Mark(err)
	}
	set, err := dataset.Open(ctx, dataset.Source{Names: o.other, Stdin: a.in, Format: o.format, Map: mapping})
	if err != nil {
		return nil, usage.Mark(err)
	}
	defer func() { _ = set.Close() }()
	others := map[string]string{} // by id
	for it, err := range set.Items() {
		if err != nil {
			return nil, err
		}
		others[it.ID] = it.Response
	}
	p, err := derive(data, changed(data, func(_ int, it deem.Item) (deem.Item, bool) {
		if other, ok := others[it.ID]; ok {
			it = withField(it, pairwise.Field, other)
		}
		return it, true
	}))
	if err != nil {
		return nil, err
	}
	p.names = append(slices.Clone(p.names), set.Names()...)
	found := 0
	for it, err := range data.Items() {
		if err != nil {
			return nil, err
		}
		if _, ok := others[it.ID]; ok {
			found++
		}
	}
	name := strings.Join(o.other, ", ")
	switch {
	case found == 0 && p.n > 0:
		return nil, usage.Mark(deem.WithHint(fmt.Errorf("%s has a response to none of the %s", name, words.Count(p.n, "item")), "responses are found by the id of the item"))
	case found < p.n:
		a.say("%s has no response to %s, which will be unjudged", name, words.Count(p.n-found, "item"))
	}
	return p, nil
}
