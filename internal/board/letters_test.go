package board

import (
	"testing"

	"pgregory.net/rapid"
)

// Two rows share a letter if and only if they do not differ, whatever differs.
func TestLetters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		differ := map[[2]int]bool{}
		for i := range n {
			for j := i + 1; j < n; j++ {
				differ[[2]int{i, j}] = rapid.Bool().Draw(t, "differ")
			}
		}
		got := letters(n, func(i, j int) bool { return differ[[2]int{i, j}] })
		for pair, want := range differ {
			if share := shareLetter(got[pair[0]], got[pair[1]]); share == want {
				t.Errorf("%d has %q and %d has %q, and they differ: %v", pair[0], got[pair[0]], pair[1], got[pair[1]], want)
			}
		}
	})
}

func shareLetter(a, b string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}
