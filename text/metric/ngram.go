package metric

import "deem/text"

// grams numbers n-grams, so that equal ones have equal numbers whichever text they
// come from. An n-gram is the pair of the (n-1)-gram it begins with and its last
// word, so that no n-gram is ever spelled out.
type grams struct {
	words  text.Number[string]
	longer []text.Number[[2]int32] // by order less two
}

func newGrams() *grams { return &grams{words: text.Number[string]{}} }

// of returns the numbers of the n-grams of each order, from the single words on, in
// the order of the text.
func (g *grams) of(words []string, orders int) [][]int32 {
	ids := g.words.Of(words)
	list := [][]int32{ids}
	for n := 2; n <= orders; n++ {
		if len(g.longer) < n-1 {
			g.longer = append(g.longer, text.Number[[2]int32]{})
		}
		shorter := list[n-2]
		pairs := make([][2]int32, 0, len(ids))
		for i := 0; i+n <= len(ids); i++ {
			pairs = append(pairs, [2]int32{shorter[i], ids[i+n-1]})
		}
		list = append(list, g.longer[n-2].Of(pairs))
	}
	return list
}

// A tally counts how often each n-gram occurs.
type tally map[int32]int

func count(ids []int32) tally {
	t := make(tally, len(ids))
	for _, id := range ids {
		t[id]++
	}
	return t
}

// shared returns how many of the n-grams are in both, as often as they are in each.
func (t tally) shared(ids []int32) int {
	left := make(tally, len(ids))
	n := 0
	for _, id := range ids {
		if left[id] < t[id] {
			left[id]++
			n++
		}
	}
	return n
}
