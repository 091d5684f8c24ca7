package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/catalog"
	"deem/internal/dataset"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge/pairwise"
)

// pairedItems are items with the response of another system beside their own.
type pairedItems struct {
	items
	other map[string]string // by id
	names []string
	hash  string
}

func (p pairedItems) Hash() string    { return p.hash }
func (p pairedItems) Names() []string { return p.names }

func (p pairedItems) Items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for it, err := range p.items.Items() {
			if other, ok := p.other[it.ID]; ok && err == nil {
				it.Fields = maps.Clone(it.Fields)
				if it.Fields == nil {
					it.Fields = map[string]string{}
				}
				it.Fields[pairwise.Field] = other
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// pair puts the responses of --other beside those of the items, by id. They are held in
// memory. An item without another response stays, and is unjudged.
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
	p := pairedItems{items: data, other: map[string]string{}, names: append(slices.Clone(data.Names()), set.Names()...)}
	for it, err := range set.Items() {
		if err != nil {
			return nil, errors.Join(err, set.Close())
		}
		p.other[it.ID] = it.Response
	}
	if p.hash, err = dataset.HashItems(p.Items()); err != nil {
		return nil, errors.Join(err, set.Close())
	}
	return p, errors.Join(a.unpaired(p, strings.Join(o.other, ", ")), set.Close())
}

// unpaired says which items have nothing to compare with. That none has is a mistake.
func (a *app) unpaired(p pairedItems, name string) error {
	found, n := 0, 0
	for it, err := range p.items.Items() {
		if err != nil {
			return err
		}
		n++
		if _, ok := p.other[it.ID]; ok {
			found++
		}
	}
	switch {
	case found == 0 && n > 0:
		return usage.Mark(deem.WithHint(fmt.Errorf("%s has a response to none of the %s", name, words.Count(n, "item")), "responses are found by the id of the item"))
	case found < n:
		a.say("%s has no response to %s, which will be unjudged", name, words.Count(n-found, "item"))
	}
	return nil
}
