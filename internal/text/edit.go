package text

import "unicode/utf8"

// chars returns the characters of s. A byte that is not UTF-8 is a character of its
// own: the negative of it, so that [join] can undo it.
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

// Characters returns the characters of a and b as numbers, equal ones for equal
// characters. Those of ASCII are numbers already; others have the next ones, so that
// the numbers are small.
func Characters(a, b string) (x, y []int32) {
	var others Number[rune]
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

// LCSLength returns the number of characters in the longest common subsequence of a
// and b.
func LCSLength(a, b string) int {
	x, y := Characters(a, b)
	return NewSubsequence(y).Len(x)
}

// InDel returns how many characters must be inserted or deleted to turn a into b.
func InDel(a, b string) int {
	x, y := Characters(a, b)
	return len(x) + len(y) - 2*NewSubsequence(y).Len(x)
}

// InDelRatio returns the similarity of a and b from 0 to 1 by [InDel]: the share of
// characters that stay. It is what python-Levenshtein calls ratio. Two empty texts
// are the same.
func InDelRatio(a, b string) float64 { return InDelRatioOf(Characters(a, b)) }

// InDelRatioOf is [InDelRatio] of two sequences of small numbers, as [Characters] gives
// them.
func InDelRatioOf(a, b []int32) float64 {
	sum := len(a) + len(b)
	if sum == 0 {
		return 1
	}
	distance := sum - 2*NewSubsequence(b).Len(a)
	return float64(sum-distance) / float64(sum)
}

// Levenshtein returns how many characters must be inserted, deleted or replaced to
// turn a into b.
func Levenshtein(a, b string) int {
	x, y := Characters(a, b)
	if len(x) == 0 || len(y) == 0 {
		return len(x) + len(y)
	}
	return newColumns(y).distance(x)
}

// LevenshteinRatio returns the similarity of a and b from 0 to 1 by [Levenshtein]:
// one less the share of the longer text that changes. Two empty texts are the same.
func LevenshteinRatio(a, b string) float64 {
	longest := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	if longest == 0 {
		return 1
	}
	return 1 - float64(Levenshtein(a, b))/float64(longest)
}

// columns computes edit distances with bit vectors, 64 cells of the table at a time
// (H. Hyyrö, A bit-vector algorithm for computing Levenshtein and Damerau edit
// distances, Nordic Journal of Computing 10, 2003).
type columns struct {
	b        []int32
	at       *Subsequence
	up, down []uint64 // where the distance grows and shrinks down a column
}

func newColumns(b []int32) *columns {
	c := &columns{b: b, at: NewSubsequence(b)}
	c.up, c.down = firstRow(make([]uint64, len(c.at.mask))), make([]uint64, len(c.at.mask))
	return c
}

func (c *columns) distance(a []int32) int {
	d := len(c.b)
	for _, x := range a {
		d += c.next(x)
	}
	return d
}

// next moves one column to the right, to that of x, and returns by how much the
// distance in the last row changes.
func (c *columns) next(x int32) int {
	mask, _ := c.at.places(x)
	change := 1 // The first row of the table grows by one in each column.
	for i := range c.up {
		last := uint(63)
		if i == len(c.up)-1 {
			last = uint(len(c.b)-1) & 63
		}
		var match uint64
		if mask != nil {
			match = mask[i]
		}
		change = c.block(i, match, change, last)
	}
	if mask != nil {
		c.at.giveBack(x)
	}
	return change
}

// block moves the i-th 64 rows to the next column. It takes the change of the
// distance in the row above them and returns that in their last row.
func (c *columns) block(i int, match uint64, above int, last uint) int {
	up, down := c.up[i], c.down[i]
	vertical := match | down
	if above < 0 {
		match |= 1
	}
	horizontal := (((match & up) + up) ^ up) | match
	grow := down | ^(horizontal | up)
	shrink := up & horizontal
	change := int(grow>>last&1) - int(shrink>>last&1)
	grow, shrink = grow<<1, shrink<<1
	if above < 0 {
		shrink |= 1
	} else if above > 0 {
		grow |= 1
	}
	c.up[i] = shrink | ^(vertical | grow)
	c.down[i] = grow & vertical
	return change
}
