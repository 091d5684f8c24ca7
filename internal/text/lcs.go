package text

import (
	"math/bits"
	"slices"
)

// A Subsequence finds the longest common subsequences of one sequence with others.
// The elements are small numbers, as [Number] gives them.
//
// The table that textbooks fill has a cell for each pair of elements. Here a row of
// it is a bit vector, in which a zero marks the places where the length grows, and
// one machine word is 64 cells (H. Hyyrö, Bit-parallel LCS-length computation
// revisited, AWOCA 2004). A Subsequence may be used by one goroutine at a time.
type Subsequence struct {
	b    []int32
	last []int32            // by number: its last place in b, or -1
	prev []int32            // by place: the place before with the same number, or -1
	mask []uint64           // scratch: all zero between calls
	rows []uint64           // scratch of Len and Trace
	full map[int32][]uint64 // the masks of numbers that are too frequent to mark each time
}

// NewSubsequence returns a Subsequence of b.
func NewSubsequence(b []int32) *Subsequence {
	s := &Subsequence{}
	s.Reset(b)
	return s
}

// Reset makes s the Subsequence of b, and keeps its memory. That pays where a text of
// many sentences is compared sentence by sentence.
func (s *Subsequence) Reset(b []int32) {
	for _, x := range s.b {
		s.last[x] = -1
	}
	s.b = b
	s.know(b)
	s.prev = slices.Grow(s.prev[:0], len(b))
	for i, x := range b {
		s.prev = append(s.prev, s.last[x])
		s.last[x] = int32(i)
	}
	if n := (len(b) + 63) / 64; n <= cap(s.mask) {
		s.mask = s.mask[:n]
	} else {
		s.mask = make([]uint64, n)
	}
	s.fill()
}

// know makes room for the numbers of b.
func (s *Subsequence) know(b []int32) {
	if len(b) == 0 {
		return
	}
	known := len(s.last)
	most := int(slices.Max(b))
	s.last = slices.Grow(s.last, max(most+1-known, 0))
	for range most + 1 - known {
		s.last = append(s.last, -1)
	}
}

// fill makes the masks of the frequent numbers of a long sequence: those with more
// places than the mask has words. There are fewer than 64 of them, so that they take
// no more memory than the sequence.
func (s *Subsequence) fill() {
	clear(s.full)
	width := len(s.mask)
	if width < 16 {
		return
	}
	count := make(map[int32]int)
	for _, x := range s.b {
		count[x]++
	}
	for x, n := range count {
		if n <= width {
			continue
		}
		if s.full == nil {
			s.full = map[int32][]uint64{}
		}
		mask := make([]uint64, width)
		for j := s.last[x]; j >= 0; j = s.prev[j] {
			mask[j>>6] |= 1 << (j & 63)
		}
		s.full[x] = mask
	}
}

// places returns the mask of x, in which a bit is set for each of its places in b, and
// the first word of it that may have one; nil if there is no place. It must be given
// back before the next.
func (s *Subsequence) places(x int32) (mask []uint64, first int) {
	if int(x) >= len(s.last) || s.last[x] < 0 {
		return nil, 0
	}
	if full, ok := s.full[x]; ok {
		return full, 0
	}
	for j := s.last[x]; j >= 0; j = s.prev[j] {
		first = int(j >> 6)
		s.mask[first] |= 1 << (j & 63)
	}
	return s.mask, first
}

// giveBack clears the mask of x.
func (s *Subsequence) giveBack(x int32) {
	if _, ok := s.full[x]; ok {
		return
	}
	for j := s.last[x]; j >= 0; j = s.prev[j] {
		s.mask[j>>6] = 0
	}
}

// Len returns the length of the longest common subsequence of a and b.
func (s *Subsequence) Len(a []int32) int {
	row := firstRow(s.scratch(1))
	for _, x := range a {
		s.next(row, x)
	}
	return grown(row, len(s.b))
}

// firstRow makes row the one above all elements.
func firstRow(row []uint64) []uint64 {
	for i := range row {
		row[i] = ^uint64(0)
	}
	return row
}

// scratch returns room for n rows, which the next call takes back.
func (s *Subsequence) scratch(n int) []uint64 {
	if n *= len(s.mask); n > cap(s.rows) {
		s.rows = make([]uint64, n)
	}
	return s.rows[:n]
}

// next turns a row into the one below it, that of the element x.
func (s *Subsequence) next(row []uint64, x int32) {
	mask, first := s.places(x)
	if mask == nil {
		return // Without a match a row is as the one above.
	}
	var carry uint64
	for i := first; i < len(row); i++ {
		v, m := row[i], mask[i]
		var sum uint64
		sum, carry = bits.Add64(v, v&m, carry)
		row[i] = sum | v&^m
	}
	s.giveBack(x)
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
	slices.Reverse(t.indices)
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
	row := firstRow(make([]uint64, len(t.s.mask)))
	tops := [][]uint64{row}
	for i := 0; i+gap < len(t.a); i += gap {
		row = slices.Clone(row)
		for _, x := range t.a[i : i+gap] {
			t.s.next(row, x)
		}
		tops = append(tops, row)
	}
	return tops
}

// back follows the way from row to down to row from, where top is the row from.
func (t *trace) back(top []uint64, from, to int) {
	width := len(top)
	rows := t.s.scratch(to - from + 1)
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
