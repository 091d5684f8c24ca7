package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/dataset"
	"deem/internal/usage"
	"deem/internal/words"
)

// join opens questions and responses in two files, and joins them by id. The responses are
// held in memory. Questions without a response are left out, and responses without a
// question are ignored; both are counted and named.
func (a *app) join(ctx context.Context, src dataset.Source, o runOptions) (items, error) {
	for i, name := range src.Fields { // Either file may have them.
		src.Fields[i] = strings.TrimSuffix(name, dataset.Optional) + dataset.Optional
	}
	second := src
	src.Part, src.Limit, src.Map = dataset.Questions, 0, maps.Clone(src.Map)
	delete(src.Map, "response")
	second.Part, second.Limit, second.Names, second.Map = dataset.Responses, 0, o.responses, maps.Clone(second.Map)
	maps.DeleteFunc(second.Map, func(target, _ string) bool { return target != "id" && target != "response" })

	responses, names, err := a.readResponses(ctx, second)
	if err != nil {
		return nil, err
	}
	data, err := dataset.Open(ctx, src)
	if err != nil {
		return nil, err
	}
	joined, err := a.joinItems(data, responses, names, o)
	if err != nil {
		_ = data.Close()
		return nil, err
	}
	return joined, nil
}

// readResponses reads responses by id, and returns the names of their files.
func (a *app) readResponses(ctx context.Context, src dataset.Source) (map[string]deem.Item, []string, error) {
	set, err := dataset.Open(ctx, src)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = set.Close() }()
	for _, note := range set.Notes() {
		a.say("%s", note)
	}
	responses := map[string]deem.Item{}
	for it, err := range set.Items() {
		if err != nil {
			return nil, nil, err
		}
		responses[it.ID] = it
	}
	return responses, set.Names(), nil
}

// joinItems returns the questions that have a response, at most o.limit of them. A field of
// a question takes precedence over that of its response.
func (a *app) joinItems(data items, responses map[string]deem.Item, names []string, o runOptions) (items, error) {
	var unanswered []string
	joined := map[string]bool{}
	end := data.Len() // the number of questions to read for o.limit
	at := 0
	for it, err := range data.Items() {
		if err != nil {
			return nil, err
		}
		at++
		if _, ok := responses[it.ID]; !ok {
			unanswered = append(unanswered, it.ID)
			continue
		}
		if joined[it.ID] = true; len(joined) == o.limit {
			end = at
		}
	}
	unasked := slices.DeleteFunc(slices.Sorted(maps.Keys(responses)), func(id string) bool { return joined[id] })
	questions, answers := strings.Join(data.Names(), ", "), strings.Join(names, ", ")
	switch {
	case len(joined) == 0:
		return nil, usage.Mark(deem.WithHint(
			fmt.Errorf("%s and %s have no id in common: %q is the first of the questions, %q of the responses", questions, answers, unanswered[0], unasked[0]),
			"if another column holds the ids: --map id=COLUMN"))
	case len(unanswered) > 0 && o.requireAll:
		return nil, usage.Errorf("%s has no response to %s of %s: %s", answers, words.Comma(len(unanswered)), words.Count(data.Len(), "question"), someOf(unanswered))
	case len(unanswered) > 0:
		a.say("%s has no response to %s of %s, which are left out: %s", answers, words.Comma(len(unanswered)), words.Count(data.Len(), "question"), someOf(unanswered))
	}
	if len(unasked) > 0 {
		a.say("%s has %s to no question of %s: %s", answers, words.Count(len(unasked), "response"), questions, someOf(unasked))
	}
	d, err := derive(data, changed(data, func(at int, it deem.Item) (deem.Item, bool) {
		given, ok := responses[it.ID]
		it.Response = given.Response
		for name, value := range given.Fields {
			if _, has := it.Fields[name]; !has {
				it = withField(it, name, value)
			}
		}
		return it, ok && at < end
	}))
	if err != nil {
		return nil, err
	}
	d.names = slices.Concat(d.names, names)
	return d, nil
}

// someOf lists the first of many ids for a message.
func someOf(ids []string) string {
	return words.Printable(dataset.Listed(ids))
}
