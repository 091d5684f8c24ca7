package metric

import (
	"slices"
	"strings"

	"deem/internal/text"
)

// ROUGEN returns ROUGE-N as rouge_score 0.1.2 computes it, for n-grams of n words.
// With stem, words of more than three letters count by their Porter stems.
func ROUGEN(response, reference string, n int, stem bool) PRF {
	n = max(n, 1)
	got, want := text.ROUGEWords(response, stem), text.ROUGEWords(reference, stem)
	return ratios(shared(got, want, n)[n-1], gramsOf(len(got), n), gramsOf(len(want), n))
}

// shared returns how many n-grams of each order two texts have in common.
func shared(a, b []string, orders int) []int {
	g := text.NewGrams(orders)
	g.Add(b)
	return g.Shared(a)
}

// gramsOf returns how many n-grams a text of so many words has.
func gramsOf(words, n int) int { return max(words-n+1, 0) }

// ratios returns what same elements in common mean for texts of so many.
func ratios(same, response, reference int) PRF {
	p := float64(same) / float64(max(response, 1))
	r := float64(same) / float64(max(reference, 1))
	if p+r == 0 {
		return PRF{}
	}
	return PRF{p, r, 2 * p * r / (p + r)}
}

// ROUGEL returns ROUGE-L as rouge_score 0.1.2 computes it: by the longest common
// subsequence of the words of both texts, whatever their lines.
func ROUGEL(response, reference string, stem bool) PRF {
	words := text.Number[string]{}
	got, want := words.Of(text.ROUGEWords(response, stem)), words.Of(text.ROUGEWords(reference, stem))
	return ratios(text.NewSubsequence(want).Len(got), len(got), len(want))
}

// ROUGELsum returns the summary-level ROUGE-L of rouge_score 0.1.2. Each line is a
// sentence. A word of a reference sentence is met if it is in the longest common
// subsequence with any sentence of the response, but no word counts more often
// than it is in either text.
func ROUGELsum(response, reference string, stem bool) PRF {
	words := text.Number[string]{}
	got, n := sentences(words, response, stem)
	want, m := sentences(words, reference, stem)
	if n == 0 || m == 0 {
		return PRF{}
	}
	return ratios(unionHits(got, want, len(words)), n, m)
}

// sentences returns the words of each line of s, and how many there are in all.
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

func unionHits(got, want [][]int32, words int) int {
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
	return clip(met, want, text.Count(slices.Concat(got...), words))
}

// clip counts the words that are met, each at most as often as it is left in the
// response. The reference needs no such limit: each of its words is met once.
func clip(met [][]bool, want [][]int32, left []int) int {
	hits := 0
	for i, sentence := range want {
		for j, w := range sentence {
			if met[i][j] && left[w] > 0 {
				left[w]--
				hits++
			}
		}
	}
	return hits
}
