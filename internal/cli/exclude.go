package cli

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/dataset"
	"deem/internal/findings"
	"deem/internal/usage"
)

// excludeUsage is what --exclude says of itself.
const excludeUsage = "leave items out: `category=NAME` or id=ID; may be given again"

// parseExclusion splits what a user typed.
func parseExclusion(text string) (kind, name string, err error) {
	kind, name, ok := strings.Cut(text, "=")
	if !ok || name == "" || kind != "category" && kind != "id" {
		return "", "", usage.Errorf("--exclude %s: it is category=NAME or id=ID", text)
	}
	return kind, name, nil
}

// excluded returns the items without those that are left out, and how many each
// exclusion leaves out. One that leaves out nothing is a mistake.
func excluded(data items, list []string) (items, []findings.Exclusion, error) {
	if len(list) == 0 {
		return data, nil, nil
	}
	r := remaining{items: data, categories: map[string]int{}, ids: map[string]int{}}
	counts := make([]findings.Exclusion, len(list))
	for i, text := range list {
		counts[i].Items = text
		kind, name, err := parseExclusion(text)
		switch {
		case err != nil:
			return nil, nil, err
		case kind == "id":
			r.ids[name] = i
		default:
			r.categories[name] = i
		}
	}
	seen := map[string]bool{}
	for it, err := range data.Items() {
		if err != nil {
			return nil, nil, err
		}
		seen[it.Category] = true
		if at, out := r.out(it); out {
			counts[at].N++
		} else {
			r.n++
		}
	}
	for _, c := range counts {
		if c.N == 0 {
			return nil, nil, noneExcluded(c.Items, seen)
		}
	}
	var err error
	r.hash, err = dataset.HashItems(r.Items())
	return r, counts, err
}

// noneExcluded says that an exclusion leaves out nothing, and what there is.
func noneExcluded(text string, categories map[string]bool) error {
	delete(categories, "")
	err := fmt.Errorf("--exclude %s leaves out nothing", text)
	if name, ok := strings.CutPrefix(text, "category="); ok {
		return usage.Mark(deem.WithHint(err, "%s", deem.HintOf(usage.Unknown("category", name, slices.Sorted(maps.Keys(categories))))))
	}
	return usage.Mark(deem.WithHint(err, "an id is case-sensitive, and an item that is left out twice counts once"))
}

// remaining are items without some of them, and so another dataset.
type remaining struct {
	items
	categories, ids map[string]int // which exclusion leaves them out
	hash            string
	n               int
}

// out returns the exclusion that leaves an item out, and whether there is one.
func (r remaining) out(it deem.Item) (int, bool) {
	if at, ok := r.ids[it.ID]; ok {
		return at, true
	}
	at, ok := r.categories[it.Category]
	return at, ok
}

func (r remaining) Items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for it, err := range r.items.Items() {
			if _, out := r.out(it); err == nil && out {
				continue
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

func (r remaining) Len() int     { return r.n }
func (r remaining) Hash() string { return r.hash }
