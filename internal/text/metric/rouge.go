package metric

import (
	"slices"
	"strings"
	"sync"

	"deem/internal/text"
)

// ROUGEN returns ROUGE-N as rouge_score 0.1.2 computes it, for n-grams of n words.
// With stem, words of more than three letters count by their Porter stems.
func ROUGEN(response, reference string, n int, stem bool) PRF {
	n = max(n, 1)
	g := newGrams(n)
	defer g.free()
	got, want := text.ROUGEWords(response, stem), text.ROUGEWords(reference, stem)
	g.add(want)
	return ratios(g.shared(got)[n-1], gramsOf(len(got), n), gramsOf(len(want), n))
}

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
	c, ok := freeCommon.Get().(*commonWords)
	if !ok {
		panic("metric: pool of common words holds something else")
	}
	defer c.free()
	got, want := text.ROUGEWords(response, stem), text.ROUGEWords(reference, stem)
	return ratios(c.length(got, want), len(got), len(want))
}

// commonWords finds the longest common subsequence of two lists of words. Texts are
// short and many, so its memory is used again.
type commonWords struct {
	words     text.Number[string]
	sequence  text.Subsequence
	got, want []int32
}

var freeCommon = sync.Pool{New: func() any { return &commonWords{} }}

// length returns how many words the lists have in common, in order.
func (c *commonWords) length(got, want []string) int {
	c.want = c.words.AppendOf(c.want[:0], want)
	c.got = c.words.AppendOf(c.got[:0], got)
	c.sequence.Reset(c.want)
	return c.sequence.Len(c.got)
}

// free takes the memory of c back.
func (c *commonWords) free() {
	c.sequence.Reset(nil) // It must forget the list before that is written anew.
	c.words.Reset()
	freeCommon.Put(c)
}

// ROUGELsum returns the summary-level ROUGE-L of rouge_score 0.1.2. Each line is a
// sentence. A word of a reference sentence is met if it is in the longest common
// subsequence with any sentence of the response, but no word counts more often
// than it is in either text.
func ROUGELsum(response, reference string, stem bool) PRF {
	var words text.Number[string]
	got, n := sentences(&words, response, stem)
	want, m := sentences(&words, reference, stem)
	if n == 0 || m == 0 {
		return PRF{}
	}
	return ratios(unionHits(got, want), n, m)
}

// sentences returns the words of each line of s, and how many there are in all.
func sentences(words *text.Number[string], s string, stem bool) (list [][]int32, total int) {
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

func unionHits(got, want [][]int32) int {
	met := make([][]bool, len(want))
	for i, sentence := range want {
		met[i] = make([]bool, len(sentence))
	}
	s := text.NewSubsequence(nil)
	for _, sentence := range got {
		s.Reset(sentence)
		for i, w := range want {
			indices, _ := s.Trace(w)
			for _, j := range indices {
				met[i][j] = true
			}
		}
	}
	return clip(met, want, count(slices.Concat(got...)))
}

// clip counts the words that are met, each at most as often as it is left in the
// response. The reference needs no such limit: each of its words is met once.
func clip(met [][]bool, want [][]int32, left tally) int {
	hits := 0
	for i, sentence := range want {
		for j, w := range sentence {
			if met[i][j] && left.has(w) {
				left[w]--
				hits++
			}
		}
	}
	return hits
}
