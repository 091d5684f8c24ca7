package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/benchmark"
	"deem/internal/dataset"
	"deem/internal/findings"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge/pairwise"
)

// items are what is judged: a file of items, or the set of a benchmark.
type items = benchmark.Set

// openData opens what is judged, which reads and checks all of it.
func (a *app) openData(ctx context.Context, o *runOptions, judgings []judging) (items, error) {
	data, err := a.openItems(ctx, *o, judgings)
	if err != nil {
		return nil, usage.Mark(err)
	}
	for _, note := range data.Notes() {
		a.say("%s", note)
	}
	rest, counts, err := excluded(data, o.exclude)
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	o.exclusions = counts
	for _, text := range findings.LeftOut(counts) {
		a.say("left out: %s", words.Printable(text))
	}
	rest, err = a.pair(ctx, rest, *o, judgings)
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	heeded, err := a.heed(ctx, rest, *o)
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	return heeded, nil
}

func (a *app) openItems(ctx context.Context, o runOptions, judgings []judging) (items, error) {
	if o.benchmark != nil {
		if err := o.benchmark.Check(o.judge.with); err != nil {
			return nil, err
		}
		return o.benchmark.Open(ctx, a.benchmarkOptions(o, judgings))
	}
	mapping, err := dataset.ParseMapping(o.mapping)
	if err != nil {
		return nil, err
	}
	var fields []string
	for _, j := range judgings {
		fields = append(fields, j.wanted...)
	}
	if len(o.other) > 0 {
		fields = slices.DeleteFunc(fields, func(name string) bool { return name == pairwise.Field }) // it comes from there
	}
	return dataset.Open(ctx, dataset.Source{
		Names: o.data, Stdin: a.in, Format: o.format, Map: mapping, Fields: fields, Limit: o.limit,
	})
}

// benchmarkOptions says what a benchmark reads. The reading is that of its own
// judge, since which items there are may depend on it.
func (a *app) benchmarkOptions(o runOptions, judgings []judging) benchmark.Options {
	b := benchmark.Options{
		Data: o.data, Responses: o.responses, Stdin: a.in, RequireAll: o.requireAll, Limit: o.limit,
		With: o.judge.with, MaxUnjudged: o.maxUnjudged,
	}
	for _, j := range judgings {
		if j.benchmark == o.benchmark.Name {
			b.Reading = o.judge.reading
		}
	}
	return b
}

// preflight refuses a dataset in which no item has what the judge needs. It looks
// at the first hundred: whoever forgot a column forgot it in all of them.
func preflight(ctx context.Context, c choice, data items) error {
	const most = 100
	var last *deem.Failure
	n := 0
	for it, err := range data.Items() {
		if err != nil {
			return err
		}
		f, ok := errors.AsType[*deem.Failure](c.try(ctx, it))
		if !ok || f.Kind != deem.Input {
			return nil
		}
		last = f
		if n++; n == most {
			break
		}
	}
	if last == nil {
		return nil
	}
	err := fmt.Errorf("%s: judge %s can judge none of the first %s: %s", strings.Join(data.Names(), ", "), c.name(), words.Count(n, "item"), last.Detail)
	return usage.Mark(deem.WithHint(err, "say which column holds it, as --map references=gold,question=q; deem list formats names those that are recognised"))
}

// dryRun prints the first prompt of each judge and what a run would ask.
func (a *app) dryRun(judgings []judging, data items, o runOptions) error {
	for _, j := range judgings {
		if j.rule != nil {
			a.say("would judge %s with the rule %s and call nothing", words.Count(data.Len(), "item"), j.name())
			continue
		}
		for _, l := range j.leaves() {
			if err := a.printPrompt(l.choice, data); err != nil {
				return err
			}
			a.say("would ask %s %s%s about %s", l.wire.Name(), l.bound(), words.Count(data.Len()*o.trials*l.times, "time"), words.Count(data.Len(), "item"))
		}
	}
	return nil
}

// printPrompt prints what would be asked about the first item that can be asked
// about.
func (a *app) printPrompt(c choice, data items) error {
	for it, err := range data.Items() {
		if err != nil {
			return err
		}
		req, err := c.protocol.Request(it)
		if err != nil {
			continue // this item would be unjudged
		}
		if a.json {
			writeJSON(a.out, req)
			return nil
		}
		for _, m := range req.Messages {
			if _, err := fmt.Fprintf(a.out, "%s:\n%s\n", m.Role, m.Content); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}
