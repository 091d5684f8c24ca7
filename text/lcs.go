package text

import "math/bits"

// A Subsequence finds the longest common subsequences of one sequence with others.
// The elements are small numbers, as [Number] gives them.
//
// The table that textbooks fill has a cell for each pair of elements. Here a row of
// it is a bit vector, in which a zero marks the places where the length grows, and
// one machine word is 64 cells (H. Hyyrö, Bit-parallel LCS-length computation
// revisited, AWOCA 2004). A Subsequence may be used by one goroutine at a time.
type Subsequence struct {
	b    []int32
	at   [][]int32 // the places of each number in b
	mask []uint64  // scratch: all zero between calls
}

// NewSubsequence returns a Subsequence of b.
func NewSubsequence(b []int32) *Subsequence {
	s := &Subsequence{b: b, mask: make([]uint64, (len(b)+63)/64)}
	var count []int32
	for _, x := range b {
		for int(x) >= len(count) {
			count = append(count, 0)
		}
		count[x]++
	}
	s.at = make([][]int32, len(count))
	places := make([]int32, len(b))
	for x, n := range count {
		s.at[x], places = places[:0:n], places[n:]
	}
	for i, x := range b {
		s.at[x] = append(s.at[x], int32(i))
	}
	return s
}

// Len returns the length of the longest common subsequence of a and b.
func (s *Subsequence) Len(a []int32) int {
	row := s.firstRow()
	for _, x := range a {
		s.next(row, x)
	}
	return grown(row, len(s.b))
}

func (s *Subsequence) firstRow() []uint64 {
	row := make([]uint64, len(s.mask))
	for i := range row {
		row[i] = ^uint64(0)
	}
	return row
}

// next turns a row into the one below it, that of the element x.
func (s *Subsequence) next(row []uint64, x int32) {
	if int(x) >= len(s.at) || len(s.at[x]) == 0 {
		return // Without a match a row is as the one above.
	}
	for _, j := range s.at[x] {
		s.mask[j>>6] |= 1 << (j & 63)
	}
	var carry uint64
	for i := int(s.at[x][0] >> 6); i < len(row); i++ {
		v, m := row[i], s.mask[i]
		var sum uint64
		sum, carry = bits.Add64(v, v&m, carry)
		row[i] = sum | v&^m
	}
	for _, j := range s.at[x] {
		s.mask[j>>6] = 0
	}
}

// grown counts the places among the first n of a row where the length grows, which
// is the length of the common subsequence there.
func grown(row []uint64, n int) int {
	count := 0
	for i := range n >> 6 {
		count += bits.OnesCount64(^row[i])
	}
	if n&63 > 0 {
		count += bits.OnesCount64(^row[n>>6] & (1<<(n&63) - 1))
	}
	return count
}

// Trace returns the indices in a of one longest common subsequence of a and b, in
// order, and how many moves it took to read it out. The read-out begins at the
// ends: equal elements are taken, and otherwise the last element of b is dropped
// if that leaves a strictly longer subsequence than dropping that of a, else that
// of a. Scores hang on which of several equally long subsequences it is.
func (s *Subsequence) Trace(a []int32) (indices []int, moves int) {
	t := trace{s: s, a: a, j: len(s.b)}
	gap := t.gap()
	tops := t.keep(gap)
	for k := len(tops) - 1; k >= 0 && t.j > 0; k-- {
		t.back(tops[k], k*gap, min((k+1)*gap, len(a)))
	}
	for x, y := 0, len(t.indices)-1; x < y; x, y = x+1, y-1 {
		t.indices[x], t.indices[y] = t.indices[y], t.indices[x]
	}
	return t.indices, t.moves
}

// A trace is a way back through the rows. To hold them all would take memory for
// every pair of elements, so only some are kept, and those between are computed
// again when the way comes there.
type trace struct {
	s       *Subsequence
	a       []int32
	j       int // how much of b is left
	indices []int
	moves   int
}

// gap returns how many rows lie between two that are kept: all of them where they
// are few, else about the root of their number.
func (t *trace) gap() int {
	n, width := len(t.a), len(t.s.mask)
	if n*width <= 1<<16 {
		return max(n, 1)
	}
	gap := 1
	for gap*gap < n {
		gap++
	}
	return gap
}

// keep returns every gap-th row, the first of which is that before a.
func (t *trace) keep(gap int) [][]uint64 {
	var tops [][]uint64
	row := t.s.firstRow()
	for i, x := range t.a {
		if i%gap == 0 {
			tops = append(tops, append([]uint64(nil), row...))
		}
		t.s.next(row, x)
	}
	return tops
}

// back follows the way from row to down to row from, where top is the row from.
func (t *trace) back(top []uint64, from, to int) {
	width := len(top)
	rows := make([]uint64, (to-from+1)*width)
	copy(rows, top)
	for i := from; i < to; i++ {
		below := rows[(i-from+1)*width : (i-from+2)*width]
		copy(below, rows[(i-from)*width:])
		t.s.next(below, t.a[i])
	}
	row := func(i int) []uint64 { return rows[(i-from)*width : (i-from+1)*width] }
	for i := to; i > from && t.j > 0; {
		i = t.up(i, row)
	}
}

// up goes left in row i until the way leaves it, and returns the row above.
func (t *trace) up(i int, row func(int) []uint64) int {
	here, above := row(i), row(i-1)
	now, up := grown(here, t.j), grown(above, t.j)
	for t.j > 0 {
		t.moves++
		last := t.j - 1
		if t.a[i-1] == t.s.b[last] {
			t.indices = append(t.indices, i-1)
			t.j--
			return i - 1
		}
		left := now - grows(here, last)
		if left <= up {
			return i - 1
		}
		now, up = left, up-grows(above, last)
		t.j--
	}
	return i
}

// grows returns 1 if the length grows at place j of the row, else 0.
func grows(row []uint64, j int) int {
	return int(^row[j>>6] >> (j & 63) & 1)
}

// A Number gives each distinct element the next number, from 0.
type Number[T comparable] map[T]int32

// Of returns the numbers of the elements of a list.
func (n Number[T]) Of(list []T) []int32 {
	ids := make([]int32, len(list))
	for i, x := range list {
		id, ok := n[x]
		if !ok {
			id = int32(len(n))
			n[x] = id
		}
		ids[i] = id
	}
	return ids
}
