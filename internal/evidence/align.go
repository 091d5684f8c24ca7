package evidence

import "fmt"

// aligned is how many content words of either text are laid side by side. Answers
// are shorter; of a longer text the beginning is taken.
const aligned = 256

// replaced returns how many content words of the answer stand opposite to others in
// the response: "raise money for a hospital" and "raise money for a museum". A word
// that is only left out is not replaced. The words of the question count on neither
// side.
func (w *weighing) replaced() int {
	a := w.against.elems[:min(24, len(w.against.elems))]
	r := w.response.elems[:min(aligned, len(w.response.elems))]
	ends := commonSubsequence(a, r)
	if len(ends) == 0 {
		return 0
	}
	n := 0
	last := [2]int{-1, -1}
	for _, p := range append(ends, [2]int{len(a), len(r)}) {
		left, put := w.fresh(a[last[0]+1:p[0]]), r[last[1]+1:p[1]]
		switch {
		case left == 0 || len(put) == 0:
		case last[1] < 0: // before the first shared word, the nearest count
			n += min(left, w.fresh(w.sameSentence(put[max(0, len(put)-4):], r[p[1]].tok)))
		case p[1] == len(r):
			n += min(left, w.fresh(w.sameSentence(put[:min(4, len(put))], r[last[1]].tok)))
		default:
			n += min(left, w.fresh(put))
		}
		last = p
	}
	return n
}

// fresh counts the elements that the question does not have.
func (w *weighing) fresh(list []elem) int {
	n := 0
	for _, e := range list {
		if !w.question.hasElem(e) {
			n++
		}
	}
	return n
}

// sameSentence returns the elements that stand in the sentence of token tok.
func (w *weighing) sameSentence(list []elem, tok int) []elem {
	var kept []elem
	for _, e := range list {
		if w.response.toks[e.tok].sent == w.response.toks[tok].sent {
			kept = append(kept, e)
		}
	}
	return kept
}

// commonSubsequence returns the pairs of places of the longest run of elements that
// both lists have in the same order.
func commonSubsequence(a, b []elem) [][2]int {
	width := len(b) + 1
	table := make([]uint8, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		key := a[i].root
		for j := len(b) - 1; j >= 0; j-- {
			at := i*width + j
			if key == b[j].root {
				table[at] = table[at+width+1] + 1
			} else {
				table[at] = max(table[at+width], table[at+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		at := i*width + j
		switch {
		case a[i].root == b[j].root:
			pairs = append(pairs, [2]int{i, j})
			i++
			j++
		case table[at+width] >= table[at+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// otherDay returns what tells the response's time from the answer's where the
// answer is more than a date: another date, another day of the week or another
// season. It is "" if nothing does.
func (c *comparison) otherDay(a *reading) string {
	for _, want := range a.dates {
		best, rival := unrelated, date{}
		for _, d := range c.response.dates {
			rel := relate(d, want)
			if rel == conflict && best < conflict {
				rival = d
			}
			best = max(best, rel)
		}
		if best == conflict && !c.asks(rival) && !c.sameTime(a, want) {
			return rival.describe(want)
		}
	}
	for _, d := range a.dates {
		if d.d > 0 {
			return "" // the day is said, and agrees
		}
	}
	for _, names := range []map[string]int{weekdayNumbers, seasons} {
		want, got := a.soleOf(names), c.response.soleOf(names)
		if want != "" && got != "" && names[want] != names[got] && c.question.soleOf(names) == "" {
			return fmt.Sprintf("the %s of the reference is %s in the response", want, got)
		}
	}
	return ""
}

// sameTime reports whether the response may mean the time of a date of a by other
// words.
func (c *comparison) sameTime(a *reading, d date) bool {
	want, ok := a.stretchOf(d, 0)
	if !ok {
		return false
	}
	for _, other := range c.response.dates {
		if got, ok := c.response.stretchOf(other, d.y); ok && got.overlaps(want) {
			return true
		}
	}
	return false
}

// soleOf returns the one name of a list that a text has, "" for none or several.
func (r *reading) soleOf(names map[string]int) string {
	found := ""
	for _, t := range r.toks {
		name := trimPlural(t.text)
		if _, ok := names[name]; !ok || name == found {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

var seasons = map[string]int{"spring": 1, "summer": 2, "autumn": 3, "fall": 3, "winter": 4}
