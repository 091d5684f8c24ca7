package text

import (
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// A Subsequence finds the longest common subsequences of one sequence with others. The
// elements are small numbers, as returned by [Number].
//
// The textbook table has a cell for each pair of elements. Here a row of it is a bit
// vector, in which a zero marks the positions where the length grows, and one machine word
// is 64 cells (H. Hyyrö, Bit-parallel LCS-length computation revisited, AWOCA 2004). A
// Subsequence is not safe for concurrent use.
type Subsequence struct {
	b      []int32
	places map[int32][]int32 // positions of each number in b
	mask   []uint64          // scratch: all zero between calls
}

// NewSubsequence returns a Subsequence of b.
func NewSubsequence(b []int32) *Subsequence {
	s := &Subsequence{b: b, places: map[int32][]int32{}, mask: make([]uint64, (len(b)+63)/64)}
	for i, x := range b {
		s.places[x] = append(s.places[x], int32(i))
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

// firstRow returns the row above all elements.
func (s *Subsequence) firstRow() []uint64 {
	return slices.Repeat([]uint64{^uint64(0)}, len(s.mask))
}

// next turns a row into the row below it, for the element x.
func (s *Subsequence) next(row []uint64, x int32) {
	places := s.places[x]
	if len(places) == 0 {
		return // Without a match, a row equals the one above.
	}
	for _, j := range places {
		s.mask[j>>6] |= 1 << (j & 63)
	}
	var carry uint64
	for i := int(places[0] >> 6); i < len(row); i++ {
		v, m := row[i], s.mask[i]
		var sum uint64
		sum, carry = bits.Add64(v, v&m, carry)
		row[i] = sum | v&^m
	}
	for _, j := range places {
		s.mask[j>>6] = 0
	}
}

// grown counts the positions among the first n of a row where the length grows, which is
// the length of the common subsequence there.
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

// Trace returns the indices in a of one longest common subsequence of a and b, in order,
// and the number of moves of the traceback. The traceback begins at the ends: equal
// elements are taken; otherwise it drops the last element of b if that leaves a strictly
// longer subsequence than dropping the last element of a, else that of a. Scores depend on
// which of several equally long subsequences it is.
func (s *Subsequence) Trace(a []int32) (indices []int, moves int) {
	j := len(s.b) // how much of b is left
	// Keeping all rows would need memory for every pair of elements. Keep about the square
	// root of them, and recompute those between when the traceback reaches them.
	gap := int(math.Sqrt(float64(len(a)))) + 1
	row := s.firstRow()
	kept := [][]uint64{}
	for i, x := range a {
		if i%gap == 0 {
			kept = append(kept, slices.Clone(row))
		}
		s.next(row, x)
	}
	for k := len(kept) - 1; k >= 0 && j > 0; k-- {
		from, to := k*gap, min((k+1)*gap, len(a))
		rows := [][]uint64{kept[k]}
		for _, x := range a[from:to] {
			row := slices.Clone(rows[len(rows)-1])
			s.next(row, x)
			rows = append(rows, row)
		}
		for i := to; i > from && j > 0; i-- {
			// Move left in row i until the path leaves it.
			here, above := rows[i-from], rows[i-from-1]
			now, up := grown(here, j), grown(above, j)
			for ; j > 0; j-- {
				moves++
				left := now - grows(here, j-1)
				if a[i-1] == s.b[j-1] || left <= up {
					break
				}
				now, up = left, up-grows(above, j-1)
			}
			if j > 0 && a[i-1] == s.b[j-1] {
				indices = append(indices, i-1)
				j--
			}
		}
	}
	slices.Reverse(indices)
	return indices, moves
}

// grows returns 1 if the length grows at position j of the row, else 0.
func grows(row []uint64, j int) int {
	return int(^row[j>>6] >> (j & 63) & 1)
}

// chars returns the characters of s. A byte that is not UTF-8 is a separate character, the
// negative of the byte, so that [join] can restore it.
func chars(s string) []rune {
	list := make([]rune, 0, len(s))
	for i, r := range s {
		if r == utf8.RuneError && len(invalid(s, i)) == 1 {
			r = -rune(s[i])
		}
		list = append(list, r)
	}
	return list
}

// Characters returns the characters of a and b as numbers, equal numbers for equal
// characters. ASCII characters keep their codes; others get consecutive numbers after
// those, so that the numbers are small.
func Characters(a, b string) (x, y []int32) {
	others := Number[rune]{}
	number := func(s string) []int32 {
		list := chars(s)
		for i, r := range list {
			if r < 0 || r >= utf8.RuneSelf {
				list[i] = utf8.RuneSelf + others.Add(r)
			}
		}
		return list
	}
	return number(a), number(b)
}

// InDelRatio returns the similarity of a and b from 0 to 1, by the number of insertions and
// deletions: the share of characters that stay. It is the ratio of python-Levenshtein. Two
// empty texts are equal.
func InDelRatio(a, b string) float64 {
	x, y := Characters(a, b)
	sum := len(x) + len(y)
	if sum == 0 {
		return 1
	}
	return float64(2*NewSubsequence(y).Len(x)) / float64(sum)
}

// Closest returns the candidate that is most similar to a mistyped word, or "" if none is
// similar: at most one typo per three characters, where a typo is a missing, added, wrong,
// or transposed character.
func Closest(word string, candidates []string) string {
	best, least := "", len([]rune(word))/3+1
	for _, c := range candidates {
		if d := distance([]rune(Lower(word)), []rune(Lower(c))); d < least || d == least && best == "" {
			best, least = c, d
		}
	}
	return best
}

// distance returns the optimal string alignment distance of a and b.
func distance(a, b []rune) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
