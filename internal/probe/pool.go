package probe

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"deem"
)

// lowest keeps the values with the lowest ranks, so that the selection does not depend on
// the order of values.
type lowest[T any] struct {
	limit  int
	ranked []ranked[T]
	full   bool   // limit values are kept, and
	bound  uint64 // a rank above this one is too high
}

type ranked[T any] struct {
	rank  uint64
	id    string // breaks ties between equal ranks
	value T
}

// add keeps the value if its rank is low enough. It sorts only after twice as many values
// as needed have come, which is cheaper than keeping them sorted.
func (l *lowest[T]) add(rank uint64, id string, value T) {
	l.ranked = append(l.ranked, ranked[T]{rank, id, value})
	if len(l.ranked) >= 2*max(l.limit, 1) {
		l.cut()
	}
}

func (l *lowest[T]) cut() {
	slices.SortFunc(l.ranked, func(a, b ranked[T]) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id)) })
	keep := min(len(l.ranked), l.limit)
	clear(l.ranked[keep:]) // discarded values may be large
	l.ranked = l.ranked[:keep]
	if l.full = keep > 0 && keep == l.limit; l.full {
		l.bound = l.ranked[keep-1].rank
	}
}

// wants reports whether a value of this rank may be kept, so that the caller need not make
// values that would be discarded.
func (l *lowest[T]) wants(rank uint64) bool { return l == nil || !l.full || rank <= l.bound }

// sorted returns the kept values, lowest rank first.
func (l *lowest[T]) sorted() []T {
	l.cut()
	values := make([]T, len(l.ranked))
	for i, r := range l.ranked {
		values[i] = r.value
	}
	return values
}

// poolSize is the number of answers kept for each shape. More would not add variety.
const poolSize = 512

// An answer is the reference of an item in the pool.
type answer struct {
	text, id, question string
}

// A pool contains references by shape, from which it draws a wrong but specific answer to
// another item.
type pool map[shape][]answer

// gather collects the references of all items. It leaves out answers with the same words as
// another one: if one is right for an item, the others are too, and trying them takes time.
func gather(items iter.Seq2[deem.Item, error], seed uint64) (pool, error) {
	byShape := map[shape]*lowest[answer]{}
	for it, err := range items {
		if err != nil {
			return nil, err
		}
		ref := firstReference(it)
		if ref == "" {
			continue
		}
		sh := shapeOf(ref)
		if byShape[sh] == nil {
			byShape[sh] = &lowest[answer]{limit: poolSize}
		}
		byShape[sh].add(mix(seed, "pool", it.ID), it.ID, answer{ref, it.ID, it.Question})
	}
	p := pool{}
	for sh, l := range byShape {
		seen := map[string]bool{}
		p[sh] = slices.DeleteFunc(l.sorted(), func(a answer) bool {
			text := plain(a.text)
			again := seen[text]
			seen[text] = true
			return again
		})
	}
	return p, nil
}

// other returns a reference of the shape that is not right for the item. It starts the
// search at index begin and returns "" if there is none.
func (p pool) other(it deem.Item, sh shape, begin uint64) string {
	list := p[sh]
	for i := range list {
		e := list[(begin+uint64(i))%uint64(len(list))] //nolint:gosec // an index is not negative
		if e.id != it.ID && plain(e.question) != plain(it.Question) && differs(e.text, it.References) {
			return e.text
		}
	}
	return ""
}

// differs reports whether an answer shares no more than single words with the references.
// An answer that contains a reference, or is contained in one, may be right.
func differs(given string, refs []string) bool {
	a := " " + plain(given) + " "
	if a == "  " {
		return false
	}
	for _, ref := range refs {
		r := " " + plain(ref) + " "
		if strings.Contains(a, r) || strings.Contains(r, a) || same(given, ref) {
			return false
		}
	}
	return true
}
