package text

import "slices"

// A Number assigns consecutive numbers from 0 to distinct elements.
type Number[T comparable] map[T]int32

// Add returns the number of x, which is the next one if x is new.
func (n Number[T]) Add(x T) int32 {
	id, ok := n[x]
	if !ok {
		id = int32(len(n))
		n[x] = id
	}
	return id
}

// Of returns the numbers of the elements of a list.
func (n Number[T]) Of(list []T) []int32 {
	ids := make([]int32, len(list))
	for i, x := range list {
		ids[i] = n.Add(x)
	}
	return ids
}

// Count returns how many times each of the first n numbers occurs.
func Count(ids []int32, n int) []int {
	counts := make([]int, n)
	for _, id := range ids {
		counts[id]++
	}
	return counts
}

// Grams counts the n-grams of texts, and then how many of them another text shares. An
// n-gram is represented by its first n-1 words, as an (n-1)-gram, and its last word, so
// that n-grams are never written out, and equal n-grams have equal numbers in all texts.
type Grams struct {
	words  Number[string]
	pairs  Number[[2]int32]
	orders int
	most   []int // maximum count in one text, by number
}

// NewGrams returns a counter of n-grams of 1 to orders words.
func NewGrams(orders int) *Grams {
	return &Grams{words: Number[string]{}, pairs: Number[[2]int32]{}, orders: orders}
}

// Add counts the n-grams of a text. After several texts, the count of an n-gram is the
// maximum.
func (g *Grams) Add(words []string) {
	now := Count(slices.Concat(g.of(words)...), len(g.pairs))
	for id, n := range g.most {
		now[id] = max(now[id], n)
	}
	g.most = now
}

// Shared returns, for each order, how many n-grams a text has in common with those added.
// Each counts the minimum of both counts.
func (g *Grams) Shared(words []string) []int {
	same, left := make([]int, g.orders), slices.Clone(g.most)
	for n, ids := range g.of(words) {
		for _, id := range ids {
			if int(id) < len(left) && left[id] > 0 {
				left[id]--
				same[n]++
			}
		}
	}
	return same
}

// of returns the numbers of the n-grams of a text, by order.
func (g *Grams) of(words []string) [][]int32 {
	ids := g.words.Of(words)
	list := make([][]int32, g.orders)
	for n := range list {
		list[n] = make([]int32, 0, len(ids))
		for i := n; i < len(ids); i++ {
			head := int32(-1) // for a single word
			if n > 0 {
				head = list[n-1][i-n]
			}
			list[n] = append(list[n], g.pairs.Add([2]int32{head, ids[i]}))
		}
	}
	return list
}
