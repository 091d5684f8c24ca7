package text

import (
	"math/bits"
	"slices"
)

// A Block is a run of N equal elements in two sequences, at A in the first and at B in
// the second.
type Block struct{ A, B, N int }

// joined makes blocks that touch in both sequences one.
func joined(list []Block) []Block {
	var out []Block
	for _, m := range list {
		if n := len(out); n > 0 && out[n-1].A+out[n-1].N == m.A && out[n-1].B+out[n-1].N == m.B {
			out[n-1].N += m.N
		} else if m.N > 0 {
			out = append(out, m)
		}
	}
	return out
}

// LevenshteinBlocks returns the blocks that python-Levenshtein leaves as they are when
// it turns a into b, two sequences of small numbers, in order and without the empty one
// that it puts at the end. Of all shortest edits it takes a certain one: what is equal at
// both ends stays, and in between the table of distances is followed from its end, where
// a run of insertions or deletions goes on as long as it can, and otherwise equal elements
// go before a replacement, that before an insertion, and that before a deletion.
func LevenshteinBlocks(a, b []int32) []Block {
	front := commonFront(a, b)
	x, y := a[front:], b[front:]
	back := 0
	for back < min(len(x), len(y)) && x[len(x)-1-back] == y[len(y)-1-back] {
		back++
	}
	x, y = x[:len(x)-back], y[:len(y)-back]
	list := []Block{{0, 0, front}}
	for _, m := range keptElements(x, y) {
		list = append(list, Block{m.A + front, m.B + front, m.N})
	}
	return joined(append(list, Block{len(a) - back, len(b) - back, back}))
}

// commonFront returns how many elements a and b begin with in common.
func commonFront(a, b []int32) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// keptElements returns the elements of a that stay, each as a block.
func keptElements(a, b []int32) []Block {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	w := &editWay{a: a, b: b, cols: newColumns(b), j: len(b)}
	gap := w.gap()
	tops := w.tops(gap)
	for k := len(tops) - 1; k >= 0 && w.j > 0; k-- {
		w.back(tops[k], k*gap, min((k+1)*gap, len(a)))
	}
	slices.Reverse(w.kept)
	return w.kept
}

// An editWay is a way back through the table of distances, as a [trace] is through that
// of a subsequence: a few rows are kept, and those between are computed again.
type editWay struct {
	a, b []int32
	cols *columns
	j    int     // how much of b is left
	run  int     // below 0 in a run of insertions, above 0 in one of deletions
	kept []Block // from the end
}

// An editRow is a row of the table after some elements of a: where the distance grows
// and shrinks along b.
type editRow struct{ up, down []uint64 }

// gap returns how many rows lie between two that are kept: all where they are few, else
// about the root of their number.
func (w *editWay) gap() int {
	n := len(w.a)
	if n*len(w.cols.up) <= 1<<15 {
		return n
	}
	gap := 1
	for gap*gap < n {
		gap++
	}
	return gap
}

// tops returns every gap-th row, beginning with that before a.
func (w *editWay) tops(gap int) []editRow {
	list := []editRow{w.row()}
	for i, x := range w.a[:(len(w.a)-1)/gap*gap] {
		w.cols.next(x)
		if (i+1)%gap == 0 {
			list = append(list, w.row())
		}
	}
	return list
}

// row returns a copy of the present row.
func (w *editWay) row() editRow { return editRow{slices.Clone(w.cols.up), slices.Clone(w.cols.down)} }

// back follows the way from row to up to row from, which is top.
func (w *editWay) back(top editRow, from, to int) {
	copy(w.cols.up, top.up)
	copy(w.cols.down, top.down)
	rows := []editRow{top}
	for _, x := range w.a[from:to] {
		w.cols.next(x)
		rows = append(rows, w.row())
	}
	for i := to; i > from && w.j > 0; {
		i = w.step(i, rows[i-from], rows[i-from-1])
	}
}

// step follows the way along row i until it leaves it, and returns where it goes on: the
// row above, or this one when nothing is left of b.
func (w *editWay) step(i int, here, above editRow) int {
	now, over := i+here.sum(w.j), i-1+above.sum(w.j)
	for ; w.j > 0; w.j-- {
		last := w.j - 1
		grows := here.change(last) > 0
		goOn := w.run < 0 && grows
		switch {
		case goOn:
		case w.run > 0 && now == over+1:
			return i - 1
		case w.a[i-1] == w.b[last]: // Then the distance is that before both.
			w.kept = append(w.kept, Block{i - 1, last, 1})
			w.run, w.j = 0, last
			return i - 1
		case now == over-above.change(last)+1: // One more than before both: a replacement.
			w.run, w.j = 0, last
			return i - 1
		case w.run == 0 && grows:
			w.run = -1
		case w.run == 0 && now == over+1:
			w.run = 1
			return i - 1
		default:
			panic("text: no way through the table of distances")
		}
		now--
		over -= above.change(last)
	}
	return i
}

// change returns by how much the distance changes at place j of b.
func (r editRow) change(j int) int {
	return int(r.up[j>>6]>>(j&63)&1) - int(r.down[j>>6]>>(j&63)&1)
}

// sum returns the change over the first n places.
func (r editRow) sum(n int) int { return ones(r.up, n) - ones(r.down, n) }

// ones counts the bits among the first n of a row.
func ones(row []uint64, n int) int {
	count := 0
	for _, word := range row[:n>>6] {
		count += bits.OnesCount64(word)
	}
	if n&63 > 0 {
		count += bits.OnesCount64(row[n>>6] & (1<<(n&63) - 1))
	}
	return count
}
