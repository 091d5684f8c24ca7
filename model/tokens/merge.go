package tokens

import "slices"

// A merger finds how many tokens a piece of text has: it begins with its bytes and joins
// the two neighbours whose union has the lowest rank, the leftmost first, until no union
// is a token. That is byte-pair encoding. Open pairs wait in a heap, since a piece can be
// a whole text, as in Chinese. Its memory serves one piece after the other.
type merger struct {
	*table
	parts []part
	heap  []uint64 // rank << 32 | where the left part begins
}

// A part begins at the byte that is its index.
type part struct {
	before, next int32  // where its neighbours begin
	rank         uint32 // of its union with the next, noRank if there is none
}

// count returns the tokens of a piece that is not empty.
func (m *merger) count(piece string) int {
	if m.rank(piece) != noRank {
		return 1
	}
	m.begin(piece)
	left := len(piece)
	for len(m.heap) > 0 {
		best := m.pop()
		at := int32(best & noRank) //nolint:gosec // a place in the piece
		if uint64(m.parts[at].rank) != best>>32 {
			continue // One of the two was joined to another meanwhile.
		}
		m.join(piece, at)
		left--
	}
	return left
}

// begin makes every byte a part, and every pair of bytes that is a token an open pair.
func (m *merger) begin(piece string) {
	m.parts = slices.Grow(m.parts[:0], len(piece)+1)[:len(piece)+1]
	m.heap = m.heap[:0]
	for i := range int32(len(m.parts)) { //nolint:gosec // No text of 2 GB gets here.
		m.parts[i] = part{before: i - 1, next: i + 1, rank: noRank}
	}
	for i := range int32(len(piece) - 1) { //nolint:gosec // as above
		m.open(piece, i)
	}
}

// open notes the union of the part at and the next, if it is a token.
func (m *merger) open(piece string, at int32) {
	next := m.parts[at].next
	m.parts[at].rank = noRank
	if int(next) == len(piece) {
		return
	}
	if rank := m.rank(piece[at:m.parts[next].next]); rank != noRank {
		m.parts[at].rank = rank
		m.push(uint64(rank)<<32 | uint64(at)) //nolint:gosec // at is a place in the piece.
	}
}

// join makes one part of the part at and the next.
func (m *merger) join(piece string, at int32) {
	gone := m.parts[at].next
	next := m.parts[gone].next
	m.parts[gone].rank = noRank
	m.parts[at].next, m.parts[next].before = next, at
	m.open(piece, at)
	if before := m.parts[at].before; before >= 0 {
		m.open(piece, before)
	}
}

func (m *merger) push(x uint64) {
	m.heap = append(m.heap, x)
	for i := len(m.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if m.heap[up] <= m.heap[i] {
			return
		}
		m.heap[up], m.heap[i] = m.heap[i], m.heap[up]
		i = up
	}
}

func (m *merger) pop() uint64 {
	top, end := m.heap[0], len(m.heap)-1
	m.heap[0] = m.heap[end]
	m.heap = m.heap[:end]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < end; child++ {
			if m.heap[child] < m.heap[least] {
				least = child
			}
		}
		if least == i {
			return top
		}
		m.heap[least], m.heap[i] = m.heap[i], m.heap[least]
		i = least
	}
}
