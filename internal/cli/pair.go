package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/catalog"
	"deem/internal/dataset"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge/pairwise"
)

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
