package text

import "slices"

// DifflibRatio returns SequenceMatcher(None, a, b).ratio() of Python's difflib: twice the
// number of characters in the matching blocks, divided by the total number of characters.
// From 200 characters on, difflib does not begin a block at a character that makes up more
// than 1% of b, so the ratio is not that of a shortest edit, and not symmetric in a and b.
func DifflibRatio(a, b string) float64 {
	x, y := Characters(a, b)
	if len(x)+len(y) == 0 {
		return 1
	}
	m := &matcher{a: x, b: y, now: make([]int32, len(y)+1), before: make([]int32, len(y)+1)}
	for i, c := range y {
		for int(c) >= len(m.at) {
			m.at = append(m.at, nil)
		}
		m.at[c] = append(m.at[c], int32(i))
	}
	if n := len(y); n >= 200 {
		for c := range m.at {
			if len(m.at[c]) > n/100+1 {
				m.at[c] = nil
			}
		}
	}
	matches := 0
	queue := []region{{0, len(x), 0, len(y)}}
	for len(queue) > 0 {
		r := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		i, j, n := m.longest(r)
		if n == 0 {
			continue
		}
		matches += n
		if r.aLo < i && r.bLo < j {
			queue = append(queue, region{r.aLo, i, r.bLo, j})
		}
		if i+n < r.aHi && j+n < r.bHi {
			queue = append(queue, region{i + n, r.aHi, j + n, r.bHi})
		}
	}
	return 2 * float64(matches) / float64(len(x)+len(y))
}

// A matcher finds the matching blocks of two sequences.
type matcher struct {
	a, b []int32
	at   [][]int32 // positions in b of each element that is not popular
	// For each position in b, shifted by one, the length of the match that ends there and
	// at the current (now) or previous (before) element of a.
	now, before []int32
}

// A region is a part of a and a part of b.
type region struct{ aLo, aHi, bLo, bHi int }

// longest returns the start of the longest match in a region and its length: the first in
// a, and of those the first in b. It is searched among elements that are not popular and
// then extended by any equal elements.
func (m *matcher) longest(r region) (i, j, n int) {
	i, j = r.aLo, r.bLo
	var last []int32 // positions of the previous element of a
	for x := r.aLo; x < r.aHi; x++ {
		var places []int32 // positions of the element in the region's part of b
		if is := int(m.a[x]); is < len(m.at) {
			lo, _ := slices.BinarySearch(m.at[is], int32(r.bLo))
			hi, _ := slices.BinarySearch(m.at[is], int32(r.bHi))
			places = m.at[is][lo:hi]
		}
		for _, y := range places {
			k := m.before[y] + 1
			m.now[y+1] = k
			if int(k) > n {
				i, j, n = x-int(k)+1, int(y)-int(k)+1, int(k)
			}
		}
		for _, y := range last {
			m.before[y+1] = 0
		}
		m.before, m.now = m.now, m.before
		last = places
	}
	for _, y := range last {
		m.before[y+1] = 0
	}
	for i > r.aLo && j > r.bLo && m.a[i-1] == m.b[j-1] {
		i, j, n = i-1, j-1, n+1
	}
	for i+n < r.aHi && j+n < r.bHi && m.a[i+n] == m.b[j+n] {
		n++
	}
	return i, j, n
}
