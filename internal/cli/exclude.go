package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/reports"
	"deem/internal/usage"
)

// excludeUsage is the usage text of --exclude.
const excludeUsage = "leave items out: `category=NAME` or id=ID; repeatable"

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
