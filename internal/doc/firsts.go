package doc

import (
	"cmp"
	"slices"
	"strings"
)

// Firsts counts items and stores the ids of those with the smallest positions. The position
// decides, not the time of arrival, so the order of the records does not matter.
type Firsts struct {
	N     int
	first []itemPlace
}

type itemPlace struct {
	position int
	id       string
}

// Add counts an item and stores it if it is among the first limit items.
func (f *Firsts) Add(position int, id string, limit int) {
	f.N++
	p := itemPlace{position, id}
	at, known := slices.BinarySearchFunc(f.first, p, func(a, b itemPlace) int {
		return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.id, b.id))
	})
	if at >= limit || known {
		return
	}
	// The id may be a substring of a long line, which must not stay in memory.
	p.id = strings.Clone(id)
	f.first = slices.Insert(f.first, at, p)
	f.first = f.first[:min(len(f.first), limit)]
}

// IDs returns the stored ids in order.
func (f *Firsts) IDs() []string {
	ids := make([]string, len(f.first))
	for i, p := range f.first {
		ids[i] = p.id
	}
	return ids
}

// Clone returns a deep copy.
func (f *Firsts) Clone() Firsts { return Firsts{f.N, slices.Clone(f.first)} }

// Entry returns the value of a key. It creates the value if the key is new.
func Entry[K comparable, V any](m map[K]*V, key K) *V {
	v, ok := m[key]
	if !ok {
		v = new(V)
		m[key] = v
	}
	return v
}
