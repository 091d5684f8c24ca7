package metric

import (
	"math"
	"slices"
	"testing"
)

// The numbers are those of dict.txt, whose SHA-256 begins with 7197c3211ddd9896.
func TestDictionary(t *testing.T) {
	d := load()
	if n := len(d.ends); n != 349045 { // One of the 349,046 lines repeats a word.
		t.Errorf("%d words, want 349045", n)
	}
	if got := math.Round(math.Exp(d.total)); got != 60101967 {
		t.Errorf("sum of frequencies = %.0f, want 60101967", got)
	}
	words := make([]string, len(d.ends))
	for i := range words {
		words[i] = d.word(i)
	}
	if !slices.IsSorted(words) {
		t.Error("the words are not sorted")
	}
	if got := d.logs[d.class[slices.Index(words, "的")]]; got != math.Log(318825) {
		t.Errorf("frequency of 的 = %.0f, want 318825", math.Exp(got))
	}
	for _, w := range []string{words[0], words[len(words)-1], "清华大学", "C++"} {
		if !d.has(w) {
			t.Errorf("has(%q) = false", w)
		}
	}
	for _, w := range []string{"", "不在字典", "~", "龥龥"} {
		if d.has(w) {
			t.Errorf("has(%q) = true", w)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		unpack()
	}
}
