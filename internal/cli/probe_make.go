package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/catalog"
	"deem/internal/dataset"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge"
	"deem/judge/pairwise"
	"deem/probe"
)

// A probeSet is the probes of one judge, as a dataset.
type probeSet struct {
	*probe.Set
	names []string // sources of the items, and how they were made
	hash  string
}

func (s *probeSet) Len() int        { return len(s.Probes()) }
func (s *probeSet) Hash() string    { return s.hash }
func (s *probeSet) Names() []string { return s.names }
func (s *probeSet) Notes() []string { return nil }
func (s *probeSet) Close() error    { return nil }

// makeProbes makes the probes for one judge: injections ask for its label.
func (a *app) makeProbes(ctx context.Context, g catalog.Choice, data items, o probeOptions) (*probeSet, error) {
	opts := probe.Options{Seed: o.seed, Kinds: o.kinds, PerKind: o.perKind, Accept: acceptLabel(g)}
	if slices.Contains(g.Wanted(), pairwise.Field) {
		opts.ReferenceField, opts.Accept = pairwise.Field, "FIRST"
	}
	var made *probe.Set
	var source []string
	shipped := data == nil
	if shipped {
		made, _ = probe.Shipped(g.Name(), opts) // The caller has checked that there is one.
		set := &probeSet{Set: made, names: []string{"the set of " + g.Name()}}
		data, source = set, set.names
	} else {
		var err error
		if made, err = probe.Make(data.Items(), opts); err != nil {
			return nil, usage.Mark(err)
		}
		source = slices.Clone(data.Names())
	}
	for _, name := range o.banks {
		bank, err := dataset.Open(ctx, dataset.Source{Names: []string{name}, Fields: []string{"kind", "want", "of", "probe", "probe_want", "probe_of"}})
		if err != nil {
			return nil, usage.Mark(err)
		}
		err = made.AddBank(bank.Items(), data.Items())
		_ = bank.Close()
		if err != nil {
			return nil, usage.Mark(fmt.Errorf("%s: %w", name, err))
		}
		source = append(source, name)
	}
	hash, err := dataset.HashItems(made.Items())
	if err != nil {
		return nil, err
	}
	set := &probeSet{made, store.ProbeNames(source, o.seed), hash}
	if shipped {
		a.say("%s of %s", words.Count(set.Len(), "probe"), source[0])
	} else {
		absent := ""
		if kinds := made.Absent(); len(kinds) > 0 {
			absent = "; none of kind " + strings.Join(kinds, ", ")
		}
		a.say("%s made from %s with seed %d%s", words.Count(set.Len(), "probe"), words.Count(data.Len(), "item"), o.seed, absent)
	}
	return set, preflight(ctx, g, set, mapHint)
}

// acceptLabel returns the judge's label for a right answer, or "" if it does not declare
// one.
func acceptLabel(c catalog.Choice) string {
	d := c.Spec.Declaration
	if d == nil || len(d.Labels) == 0 {
		return ""
	}
	return slices.MaxFunc(d.Labels, func(a, b judge.Label) int { return cmp.Compare(a.Score, b.Score) }).Label
}

// printProbes prints the probes as items, one per line, or as one list with --json.
func (a *app) printProbes(set *probeSet) error {
	if a.json {
		return writeJSONList(a.out, set.Items())
	}
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	for it, err := range set.Items() {
		if err != nil {
			return err
		}
		if err := enc.Encode(it); err != nil {
			return err
		}
	}
	return nil
}

// shippedSet is the data if the probes are those shipped with deem.
const shippedSet = "\x00set"

// openProbed opens judges and data like a run, and adds columns of the data with values
// that were right before an update. Standard input cannot be read twice; there, name such a
// column with --map field.stale=COLUMN.
func (a *app) openProbed(ctx context.Context, o *runOptions) ([]catalog.Choice, items, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	// Whether the judges can judge is tested on the probes: a judge may need fields that
	// only probes have.
	judgings, err := a.openJudges(o)
	if err != nil {
		return nil, nil, err
	}
	if o.data[0] == shippedSet {
		return judgings, nil, nil
	}
	data, err := a.openData(ctx, o, judgings)
	if err != nil || o.benchmark != nil || slices.Contains(o.data, "-") {
		return judgings, data, err
	}
	all, err := a.openItems(ctx, *o, nil, probe.StaleFields...)
	if err != nil {
		return nil, nil, errors.Join(usage.Mark(err), data.Close())
	}
	defer func() { _ = all.Close() }()
	stale := map[string]string{} // the earlier right values, by item
	for it, err := range all.Items() {
		if err != nil {
			return nil, nil, errors.Join(err, data.Close())
		}
		for _, name := range probe.StaleFields {
			if value := strings.TrimSpace(it.Fields[name]); value != "" {
				stale[it.ID] = value
				break
			}
		}
	}
	if len(stale) == 0 {
		return judgings, data, nil
	}
	return judgings, view(data, changed(data, func(_ int, it deem.Item) (deem.Item, bool) {
		if value, ok := stale[it.ID]; ok {
			it = withField(it, probe.StaleFields[0], value)
		}
		return it, true
	})), nil
}
