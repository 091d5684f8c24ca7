package metric

import (
	"slices"
	"strings"

	"deem/internal/text"
)

// ROUGEN returns ROUGE-N as computed by rouge_score 0.1.2, for n-grams of n words. With
// stem, words of more than three letters are compared by their Porter stems.
func ROUGEN(response, reference string, n int, stem bool) PRF {
	n = max(n, 1)
	got, want := text.ROUGEWords(response, stem), text.ROUGEWords(reference, stem)
	return ratios(shared(got, want, n)[n-1], gramsOf(len(got), n), gramsOf(len(want), n))
}

// shared returns, for each order, how many n-grams two texts have in common.
func shared(a, b []string, orders int) []int {
	g := text.NewGrams(orders)
	g.Add(b)
	return g.Shared(a)
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
