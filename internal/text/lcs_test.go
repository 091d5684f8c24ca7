package text_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deem/internal/text"

	"pgregory.net/rapid"
)

// table fills the textbook table of the longest common subsequence.
func table(a, b []int32) [][]int {
	t := [][]int{make([]int, len(b)+1)}
	for i, x := range a {
		row := make([]int, len(b)+1)
		for j, y := range b {
			if x == y {
				row[j+1] = t[i][j] + 1
			} else {
				row[j+1] = max(t[i][j+1], row[j])
			}
		}
		t = append(t, row)
	}
	return t
}

// traceTable reads the subsequence from the whole table.
func traceTable(a, b []int32) (indices []int, moves int) {
	t := table(a, b)
	for i, j := len(a), len(b); i > 0 && j > 0; moves++ {
		switch {
		case a[i-1] == b[j-1]:
			indices = append(indices, i-1)
			i, j = i-1, j-1
		case t[i][j-1] > t[i-1][j]:
			j--
		default:
			i--
		}
	}
	slices.Reverse(indices)
	return indices, moves
}

func drawPair(t *rapid.T) (a, b []int32) {
	letters := rapid.Int32Range(1, 40).Draw(t, "letters")
	n := rapid.SampledFrom([]int{10, 70, 300, 1500}).Draw(t, "n")
	seed := rapid.IntRange(0, n).Draw(t, "seed")
	return sequence(rapid.IntRange(0, n).Draw(t, "a"), int(letters)), sequence(seed, int(letters)+1)
}

func TestSubsequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPair(t)
		s := text.NewSubsequence(b)
		if got, want := s.Len(a), table(a, b)[len(a)][len(b)]; got != want {
			t.Fatalf("Len(%v, %v) = %d, want %d", a, b, got, want)
		}
		got, moves := s.Trace(a)
		want, wantMoves := traceTable(a, b)
		if !slices.Equal(got, want) || moves != wantMoves {
			t.Fatalf("Trace(%v, %v) = %v in %d moves, want %v in %d", a, b, got, moves, want, wantMoves)
		}
	})
}

// TestSubsequenceLong is long enough that not all rows are kept.
func TestSubsequenceLong(t *testing.T) {
	a, b := sequence(3000, 97), sequence(2500, 89)
	got, moves := text.NewSubsequence(b).Trace(a)
	want, wantMoves := traceTable(a, b)
	if !slices.Equal(got, want) || moves != wantMoves {
		t.Errorf("Trace has %d indices in %d moves, want %d in %d", len(got), moves, len(want), wantMoves)
	}
}

// sequence returns n numbers without an obvious pattern.
func sequence(n, letters int) []int32 {
	list := make([]int32, n)
	x := uint32(n)
	for i := range list {
		x = x*1664525 + 1013904223
		list[i] = int32(x>>16) % int32(letters)
	}
	return list
}

func TestRatios(t *testing.T) {
	for _, tt := range []struct {
		a, b           string
		difflib, indel float64
	}{
		{"", "", 1, 1},
		{"a", "", 0, 0},
		{"abcd", "bcde", .75, .75},
		// difflib uses the first longest block, here the a, and what is left around it,
		// which is less than the longest common subsequence.
		{"aba", "bca", 1. / 3, 2. / 3},
	} {
		if got := text.DifflibRatio(tt.a, tt.b); !near(got, tt.difflib) {
			t.Errorf("DifflibRatio(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.difflib)
		}
		if got := text.InDelRatio(tt.a, tt.b); !near(got, tt.indel) {
			t.Errorf("InDelRatio(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.indel)
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }

// A character that makes up more than 1% of a long text begins no block.
func TestDifflibPopular(t *testing.T) {
	a, b := strings.Repeat("a", 150), strings.Repeat("a", 200)
	if got := text.DifflibRatio("y"+a, b); got != 0 {
		t.Errorf("DifflibRatio of popular characters = %v, want 0", got)
	}
	if got, want := text.DifflibRatio(a+"x", b[1:]+"x"), 2*151./351; got != want {
		t.Errorf("DifflibRatio with one rare character = %v, want %v", got, want)
	}
}

func FuzzRatios(f *testing.F) {
	f.Add("", "")
	f.Add("a\xffb", "\xffab")
	f.Add(strings.Repeat("ab", 120), strings.Repeat("ba", 130))
	f.Fuzz(func(t *testing.T, a, b string) {
		for name, got := range map[string]float64{
			"DifflibRatio": text.DifflibRatio(a, b),
			"InDelRatio":   text.InDelRatio(a, b),
		} {
			if !(got >= 0 && got <= 1) || (a == b) && len(a) < 200 && got != 1 {
				t.Errorf("%s(%q, %q) = %v", name, a, b, got)
			}
		}
	})
}

func FuzzTokenizers(f *testing.F) {
	for _, s := range []string{"", "1,000.5-3", "&amp;lt;", "\xff.\xff", "《中》2.", "a..b,,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if tokens := strings.Join(text.BLEU13aWords(s), " "); strings.Join(text.Split(tokens), " ") != tokens {
			t.Errorf("BLEU13aWords(%q) = %q has spare white space", s, tokens)
		}
		text.ROUGEWords(s, true)
		text.LoCoMoWords(s)
		text.LongBenchZh(s)
	})
}

// TestLongTexts limits the time for texts that make naive code slow.
func TestLongTexts(t *testing.T) {
	const limit = 10 * time.Second // much more than needed
	a, b := strings.Repeat("the quick brown fox ", 500), strings.Repeat("a lazy dog jumps over ", 500)
	for name, f := range map[string]func(a, b string){
		"DifflibRatio": func(a, b string) { text.DifflibRatio(a, b) },
		"InDelRatio":   func(a, b string) { text.InDelRatio(a, b) },
		"BLEU13aWords": func(a, _ string) { text.BLEU13aWords(a) },
	} {
		start := time.Now()
		f(a, b)
		took := time.Since(start)
		t.Logf("%s: %v", name, took.Round(time.Millisecond))
		if took > limit {
			t.Errorf("%s took %v, want less than %v", name, took, limit)
		}
	}
}

func BenchmarkSubsequenceTrace(b *testing.B) {
	x, y := sequence(10000, 1000), sequence(10000, 900)
	b.ReportAllocs()
	for b.Loop() {
		text.NewSubsequence(y).Trace(x)
	}
}

func BenchmarkRatios(b *testing.B) {
	x := strings.Repeat("func (s *Subsequence) Len(a []int32) int {\n", 5)
	y := strings.Repeat("func (t *trace) keep(gap int) [][]uint64 {\n", 5)
	for name, f := range map[string]func(a, b string) float64{
		"difflib": text.DifflibRatio, "indel": text.InDelRatio,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f(x, y)
			}
		})
	}
}

func BenchmarkTokenizers(b *testing.B) {
	s := strings.Repeat("The U.S. paid $1,000.50 (in 2-3 parts), she said; 《中文》 too. ", 20)
	for name, f := range map[string]func(string){
		"13a":    func(s string) { text.BLEU13aWords(s) },
		"locomo": func(s string) { text.LoCoMoWords(s) }, "longbench_zh": func(s string) { text.LongBenchZh(s) },
		"squad": func(s string) { text.SQuAD(s) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				f(s)
			}
		})
	}
}
