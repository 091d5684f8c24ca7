package text_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/text"
)

// shortTexts generates texts of few different characters, so that much is equal.
var shortTexts = rapid.StringOfN(rapid.RuneFrom([]rune("abcé")), 0, 90, -1)

// levenshteinBlocks fills the whole table of distances and follows it back as
// [text.LevenshteinBlocks] says, one cell after the other.
func levenshteinBlocks(a, b []int32) []text.Block {
	front := 0
	for front < min(len(a), len(b)) && a[front] == b[front] {
		front++
	}
	m, n := len(a), len(b)
	for m > front && n > front && a[m-1] == b[n-1] {
		m, n = m-1, n-1
	}
	kept := make([]int, len(a)) // where an element goes, or -1
	for i := range kept {
		kept[i] = -1
		if i < front {
			kept[i] = i
		} else if i >= m {
			kept[i] = i - m + n
		}
	}
	walk(a[front:m], b[front:n], func(i, j int) { kept[front+i] = front + j })
	var list []text.Block
	for i, j := range kept {
		if j < 0 {
			continue
		}
		if k := len(list); k > 0 && list[k-1].A+list[k-1].N == i && list[k-1].B+list[k-1].N == j {
			list[k-1].N++
		} else {
			list = append(list, text.Block{A: i, B: j, N: 1})
		}
	}
	return list
}

func walk(a, b []int32, keep func(i, j int)) {
	d := distances(a, b)
	run := 0
	for i, j := len(a), len(b); i > 0 || j > 0; {
		insertion := j > 0 && d[i][j] == d[i][max(j-1, 0)]+1
		deletion := i > 0 && d[i][j] == d[max(i-1, 0)][j]+1
		switch {
		case run < 0 && insertion:
			j--
		case run > 0 && deletion:
			i--
		case i > 0 && j > 0 && a[i-1] == b[j-1]:
			i, j, run = i-1, j-1, 0
			keep(i, j)
		case i > 0 && j > 0 && d[i][j] == d[i-1][j-1]+1:
			i, j, run = i-1, j-1, 0
		case run == 0 && insertion:
			j, run = j-1, -1
		case run == 0 && deletion:
			i, run = i-1, 1
		}
	}
}

func distances(a, b []int32) [][]int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
		}
	}
	return d
}

func TestLevenshteinBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := shortTexts.Draw(t, "a"), shortTexts.Draw(t, "b")
		x, y := text.Characters(a, b)
		got, want := text.LevenshteinBlocks(x, y), levenshteinBlocks(x, y)
		if !slices.Equal(got, want) {
			t.Errorf("LevenshteinBlocks(%q, %q) = %v, want %v", a, b, got, want)
		}
	})
}

// A table that is too large to be kept is computed twice, in parts.
func TestLevenshteinBlocksOfLongTexts(t *testing.T) {
	var x, y []int32
	for i := range 1900 {
		x = append(x, int32(i*i%7))
		y = append(y, int32(i*(i+3)%5))
	}
	for _, n := range []int{1, 2, 63, 64, 65, 1089, 1900} {
		got, want := text.LevenshteinBlocks(x[:n], y), levenshteinBlocks(x[:n], y)
		if !slices.Equal(got, want) {
			t.Errorf("LevenshteinBlocks of %d and %d = %d blocks, want %d", n, len(y), len(got), len(want))
		}
	}
}

func TestDifflibBlocks(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want []text.Block
	}{
		{"", "", nil},
		{"abc", "xyz", nil},
		{"qabxcd", "abycdf", []text.Block{{A: 1, B: 0, N: 2}, {A: 4, B: 3, N: 2}}},
		{"abcd", "XXXbcdeEEE", []text.Block{{A: 1, B: 3, N: 3}}},
	} {
		if got := text.DifflibBlocks(text.Characters(tt.a, tt.b)); !slices.Equal(got, tt.want) {
			t.Errorf("DifflibBlocks(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestBlocksAreEqual: whichever way they are found, blocks are equal, in order, apart, and
// as long as there are characters to take.
func TestBlocksAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := text.Characters(shortTexts.Draw(t, "a"), shortTexts.Draw(t, "b"))
		for name, list := range map[string][]text.Block{
			"difflib": text.DifflibBlocks(x, y), "levenshtein": text.LevenshteinBlocks(x, y),
		} {
			i, j := 0, 0
			for _, m := range list {
				if m.N == 0 || m.A < i || m.B < j || !slices.Equal(x[m.A:m.A+m.N], y[m.B:m.B+m.N]) {
					t.Errorf("%s: %v is not a block after %d, %d", name, m, i, j)
				}
				i, j = m.A+m.N, m.B+m.N
			}
		}
	})
}

func TestLens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := text.Characters(shortTexts.Draw(t, "a"), shortTexts.Draw(t, "b"))
		seq := text.NewSubsequence(y)
		for n, got := range seq.Lens(x) {
			if want := text.NewSubsequence(y).Len(x[:n]); got != want {
				t.Errorf("Lens()[%d] = %d, want %d", n, got, want)
			}
		}
	})
}

func TestJaroWinkler(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want float64
	}{ // The names are those of Winkler's own tables, with one more digit.
		{"", "", 1},
		{"a", "", 0},
		{"a", "a", 1},
		{"a", "b", 0},
		{"MARTHA", "MARHTA", 0.9611111111111111},
		{"DIXON", "DICKSONX", 0.8133333333333332},
		{"DWAYNE", "DUANE", 0.84},
		{"é", "é", 1},
	} {
		if got := text.JaroWinkler(tt.a, tt.b); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("JaroWinkler(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestJaroWinklerByHand looks for each match among all characters in reach.
func TestJaroWinklerByHand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := shortTexts.Draw(t, "a"), shortTexts.Draw(t, "b")
		if got, want := text.JaroWinkler(a, b), jaroWinkler([]rune(a), []rune(b)); math.Abs(got-want) > 1e-12 {
			t.Errorf("JaroWinkler(%q, %q) = %v, want %v", a, b, got, want)
		}
	})
}

func jaroWinkler(a, b []rune) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	reach := max(max(len(a), len(b))/2-1, 0)
	taken := map[int]bool{}
	var inA, inB []rune
	for i, r := range a {
		for j := max(i-reach, 0); j <= min(i+reach, len(b)-1); j++ {
			if !taken[j] && b[j] == r {
				taken[j], inA = true, append(inA, r)
				break
			}
		}
	}
	for j, r := range b {
		if taken[j] {
			inB = append(inB, r)
		}
	}
	if len(inA) == 0 {
		return 0
	}
	moved := 0
	for i := range inA {
		if inA[i] != inB[i] {
			moved++
		}
	}
	n := float64(len(inA))
	s := (n/float64(len(a)) + n/float64(len(b)) + (n-float64(moved/2))/n) / 3
	front := 0
	for front < min(4, len(a), len(b)) && a[front] == b[front] {
		front++
	}
	if s > .7 {
		s += float64(front) / 10 * (1 - s)
	}
	return s
}
