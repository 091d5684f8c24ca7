package metric

import (
	"sync"

	"deem/internal/text"
)

// grams counts the n-grams of texts, and then how many of them another text has too.
// Equal n-grams have equal numbers whichever text they come from. An n-gram is the
// pair of the (n-1)-gram it begins with and its last word, so that no n-gram is ever
// spelled out.
//
// It holds the largest part of the work of most metrics, and the texts are short, so
// that all of its memory is used again: make one by newGrams and give it back by free.
type grams struct {
	words  text.Number[string]
	orders []order
	ids    []int32 // scratch: the words of the text being read
	runs   []int32 // scratch: its n-grams of one order
	same   []int   // what shared returns
}

// An order holds the n-grams of one length.
type order struct {
	numbers text.Number[uint64] // of pairs; none are needed for single words
	most    []int32             // by number: how often it is in the text that has most of it
	now     []int32             // by number: how often it was seen in the text being read, else zero
}

var freeGrams = sync.Pool{New: func() any { return &grams{} }}

// newGrams returns what counts n-grams of one word up to so many.
func newGrams(orders int) *grams {
	g, ok := freeGrams.Get().(*grams)
	if !ok {
		panic("metric: pool of n-grams holds something else")
	}
	if more := orders - cap(g.orders); more > 0 {
		g.orders = append(g.orders[:cap(g.orders)], make([]order, more)...)
	}
	g.orders = g.orders[:orders] // What lies beyond is kept for the next.
	return g
}

// free takes the memory of g back.
func (g *grams) free() {
	g.words.Reset()
	for i := range g.orders {
		o := &g.orders[i]
		o.numbers.Reset()
		o.most, o.now = o.most[:0], o.now[:0]
	}
	freeGrams.Put(g)
}

// gramsOf returns how many n-grams a text of so many words has.
func gramsOf(words, n int) int { return max(words-n+1, 0) }

// pair returns two numbers as one.
func pair(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

// add counts the n-grams of a text. After several texts the largest count of each
// n-gram stands.
func (g *grams) add(words []string) {
	g.ids = g.words.AppendOf(g.ids[:0], words)
	g.runs = append(g.runs[:0], g.ids...)
	runs := g.runs
	for n := range g.orders {
		o := &g.orders[n]
		if n > 0 && len(runs) > 0 {
			runs = runs[:len(runs)-1]
			for i, shorter := range runs {
				runs[i] = o.numbers.Add(pair(shorter, g.ids[i+n]))
			}
		}
		o.count(runs)
	}
}

// shared returns how many n-grams of each order a text has in common with those that
// were added, each as often as it is in both. The list is good until the next call.
func (g *grams) shared(words []string) []int {
	g.ids = g.ids[:0]
	for _, w := range words {
		g.ids = append(g.ids, g.words.Find(w))
	}
	g.same = g.same[:0]
	g.runs = append(g.runs[:0], g.ids...)
	runs := g.runs
	for n := range g.orders {
		o := &g.orders[n]
		if n > 0 && len(runs) > 0 {
			runs = runs[:len(runs)-1]
			for i, shorter := range runs {
				runs[i] = o.find(shorter, g.ids[i+n])
			}
		}
		g.same = append(g.same, o.shared(runs))
	}
	return g.same
}

// find returns the number of an n-gram, or -1 if it was not added. Its parts may be -1
// too, which saves looking for all that is longer than what the texts have in common.
func (o *order) find(shorter, word int32) int32 {
	if shorter < 0 || word < 0 {
		return -1
	}
	return o.numbers.Find(pair(shorter, word))
}

func (o *order) count(ids []int32) {
	for _, id := range ids {
		for int(id) >= len(o.now) { // The next number is at most one more.
			o.now, o.most = append(o.now, 0), append(o.most, 0)
		}
		o.now[id]++
		o.most[id] = max(o.most[id], o.now[id])
	}
	for _, id := range ids {
		o.now[id] = 0
	}
}

func (o *order) shared(ids []int32) int {
	n := 0
	for _, id := range ids {
		if id >= 0 && o.now[id] < o.most[id] {
			o.now[id]++
			n++
		}
	}
	for _, id := range ids {
		if id >= 0 {
			o.now[id] = 0
		}
	}
	return n
}

// A tally holds how often each number occurs.
type tally []int32

func count(ids []int32) tally {
	var t tally
	for _, id := range ids {
		for int(id) >= len(t) {
			t = append(t, 0)
		}
		t[id]++
	}
	return t
}

// has reports whether there is one more of a number.
func (t tally) has(id int32) bool { return int(id) < len(t) && t[id] > 0 }

// take returns how many of the numbers are there, and uses them up.
func (t tally) take(ids []int32) int {
	n := 0
	for _, id := range ids {
		if t.has(id) {
			t[id]--
			n++
		}
	}
	return n
}
