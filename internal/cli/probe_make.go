package cli

import (
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
		if err := addBank(ctx, made, name, data); err != nil {
			return nil, usage.Mark(err)
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

// addBank adds the probes of a file.
func addBank(ctx context.Context, set *probe.Set, name string, data items) error {
	bank, err := dataset.Open(ctx, dataset.Source{Names: []string{name}, Fields: []string{"kind", "want", "of", "probe", "probe_want", "probe_of"}})
	if err != nil {
		return err
	}
	defer func() { _ = bank.Close() }()
	if err := set.AddBank(bank.Items(), data.Items()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// acceptLabel returns the judge's label for a right answer, or "" if it does not declare
// one.
func acceptLabel(c catalog.Choice) string {
	d := c.Spec.Declaration
	if d == nil || len(d.Labels) == 0 {
		return ""
	}
	best := slices.MaxFunc(d.Labels, func(a, b judge.Label) int {
		switch {
		case a.Score < b.Score:
			return -1
		case a.Score > b.Score:
			return 1
		default:
			return 0
		}
	})
	return best.Label
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
	stale, err := a.staleValues(ctx, *o)
	if err != nil {
		return nil, nil, errors.Join(err, data.Close())
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

// staleValues returns the earlier right values, by item.
func (a *app) staleValues(ctx context.Context, o runOptions) (map[string]string, error) {
	all, err := a.openItems(ctx, o, nil, probe.StaleFields...)
	if err != nil {
		return nil, usage.Mark(err)
	}
	defer func() { _ = all.Close() }()
	stale := map[string]string{}
	for it, err := range all.Items() {
		if err != nil {
			return nil, err
		}
		for _, name := range probe.StaleFields {
			if value := strings.TrimSpace(it.Fields[name]); value != "" {
				stale[it.ID] = value
				break
			}
		}
	}
	return stale, nil
}
