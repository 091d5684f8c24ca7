package metric

import (
	"errors"
	"slices"
	"strings"

	"deem/internal/text"
)

// ROUGEN returns ROUGE-N as computed by rouge_score 0.1.2, for n-grams of n words. With
// stem, words of more than three letters are compared by their Porter stems.
func ROUGEN(response, reference string, n int, stem bool) PRF {
	n = max(n, 1)
	got, want := text.ROUGEWords(response, stem), text.ROUGEWords(reference, stem)
	return ratios(matchedGrams(got, want, n)[n-1], gramsOf(len(got), n), gramsOf(len(want), n))
}

// gramsOf returns the number of n-grams of a text with the given number of words.
func gramsOf(words, n int) int { return max(words-n+1, 0) }

// ratios returns the overlap of texts of the given lengths with same elements in common.
func ratios(same, response, reference int) PRF {
	p := float64(same) / float64(max(response, 1))
	r := float64(same) / float64(max(reference, 1))
	if p+r == 0 {
		return PRF{}
	}
	return PRF{p, r, 2 * p * r / (p + r)}
}

// ROUGEL returns ROUGE-L as computed by rouge_score 0.1.2: by the longest common
// subsequence of the words of both texts, ignoring lines.
func ROUGEL(response, reference string, stem bool) PRF {
	words := text.Number[string]{}
	got, want := words.Of(text.ROUGEWords(response, stem)), words.Of(text.ROUGEWords(reference, stem))
	return ratios(text.NewSubsequence(want).Len(got), len(got), len(want))
}

// ROUGELsum returns the summary-level ROUGE-L of rouge_score 0.1.2. Each line is a
// sentence. A word of a reference sentence is matched if it is in the longest common
// subsequence with any sentence of the response, but no word counts more times than it
// occurs in either text.
func ROUGELsum(response, reference string, stem bool) PRF {
	words := text.Number[string]{}
	got, n := sentences(words, response, stem)
	want, m := sentences(words, reference, stem)
	if n == 0 || m == 0 {
		return PRF{}
	}
	met := make([][]bool, len(want))
	for i, sentence := range want {
		met[i] = make([]bool, len(sentence))
	}
	for _, sentence := range got {
		s := text.NewSubsequence(sentence)
		for i, w := range want {
			indices, _ := s.Trace(w)
			for _, j := range indices {
				met[i][j] = true
			}
		}
	}
	// Each word counts at most as many times as it is left in the response. The reference
	// needs no such limit: each of its words is matched once.
	left, hits := text.Count(slices.Concat(got...), len(words)), 0
	for i, sentence := range want {
		for j, w := range sentence {
			if met[i][j] && left[w] > 0 {
				left[w]--
				hits++
			}
		}
	}
	return ratios(hits, n, m)
}

// sentences returns the words of each line of s, and the total number of words.
func sentences(words text.Number[string], s string, stem bool) (list [][]int32, total int) {
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" {
			continue
		}
		ids := words.Of(text.ROUGEWords(line, stem))
		list = append(list, ids)
		total += len(ids)
	}
	return list, total
}

// A PyRouge is the score rouge-l of the Python package rouge 1.0.1, which is not
// rouge_score: it is case-sensitive, ends a sentence at every period, splits words at
// single spaces, and adds 1e-8 to the denominator of F, so that equal texts score
// 0.999999995.
type PyRouge struct {
	L PRF

	// Depth is the recursion depth of the original when it reads out a longest common
	// subsequence. Python stops at about a thousand.
	Depth int
}

// errEmpty is returned for a text without sentences, as in the package rouge.
var errEmpty = errors.New("text has no sentence")

// NewPyRouge compares a response with a reference. It counts distinct words, as the package
// does by default. A text of nothing but periods is an error.
func NewPyRouge(response, reference string) (PyRouge, error) {
	words := text.Number[string]{}
	got, want := newPyText(words, response), newPyText(words, reference)
	if len(got.ids) == 0 || len(want.ids) == 0 {
		return PyRouge{}, errEmpty
	}
	var r PyRouge
	// The summary-level ROUGE-L is what any sentence of the response has in common with any
	// sentence of the reference. It matters which of several equally long subsequences is
	// used, because their union is taken.
	union := map[int32]bool{}
	for _, w := range want.ids {
		s := text.NewSubsequence(w)
		for _, g := range got.ids {
			indices, moves := s.Trace(g)
			r.Depth = max(r.Depth, moves+1)
			for _, i := range indices {
				union[g[i]] = true
			}
		}
	}
	// In the arithmetic of the package, so that the last bit is the same.
	if n := len(distinct(got.all)); n > 0 {
		r.L.Precision = float64(len(union)) / float64(n)
	}
	if n := len(distinct(want.all)); n > 0 {
		r.L.Recall = float64(len(union)) / float64(n)
	}
	r.L.F1 = 2 * ((r.L.Precision * r.L.Recall) / (r.L.Precision + r.L.Recall + 1e-8))
	return r, nil
}

// A pyText is the numbers of the words of a text, by sentence and in all.
type pyText struct {
	ids [][]int32
	all []int32
}

// newPyText splits at periods. Only empty pieces are dropped, so a space after the last
// period is a sentence of one empty word.
func newPyText(numbers text.Number[string], s string) pyText {
	var t pyText
	for piece := range strings.SplitSeq(s, ".") {
		if piece == "" {
			continue
		}
		words := text.Split(piece)
		if len(words) == 0 {
			words = []string{""}
		}
		ids := numbers.Of(words)
		t.ids, t.all = append(t.ids, ids), append(t.all, ids...)
	}
	return t
}

// distinct returns each number once.
func distinct(ids []int32) []int32 { return slices.Compact(slices.Sorted(slices.Values(ids))) }
