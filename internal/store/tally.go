package store

import (
	"cmp"
	"slices"
	"strings"
)

// A Tally counts records. Stores build [Counts] with it. The zero value is ready for use.
type Tally struct {
	categories, labels, kinds map[string]int
}

// Add counts n records of a category with a verdict of the given label or, if failed, a
// failure of the given kind.
func (t *Tally) Add(category, name string, failed bool, n int) {
	if t.categories == nil {
		t.categories, t.labels, t.kinds = map[string]int{}, map[string]int{}, map[string]int{}
	}
	t.categories[category] += n
	if failed {
		t.kinds[name] += n
	} else {
		t.labels[name] += n
	}
}

// Counts returns the counts.
func (t *Tally) Counts() Counts {
	c := Counts{Categories: ranked(t.categories), Labels: ranked(t.labels), Kinds: ranked(t.kinds)}
	for _, n := range t.categories {
		c.Total += n
	}
	for _, n := range t.kinds {
		c.Unjudged += n
	}
	return c
}

// ranked returns counts, the largest first. It copies the names, which may be substrings of
// a large text.
func ranked(counts map[string]int) []Count {
	list := make([]Count, 0, len(counts))
	for name, n := range counts {
		list = append(list, Count{Name: strings.Clone(name), N: n})
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name))
	})
	return list
}
