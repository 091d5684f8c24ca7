package metric

import (
	"strings"

	"deem/internal/text"
)

// A PRF is the overlap of two texts: as a share of the response, as a share of the
// reference, and the harmonic mean of both.
type PRF struct {
	Precision, Recall, F1 float64
}

// Overlap returns the overlap of two lists of words, by the arithmetic of SQuAD. Each word
// counts the minimum of both counts. Two empty lists have no overlap.
func Overlap(response, reference []string) PRF {
	same := matchedGrams(response, reference, 1)[0]
	if same == 0 {
		return PRF{}
	}
	p := float64(same) / float64(len(response))
	r := float64(same) / float64(len(reference))
	// In the order of the original, so that the last bit is the same.
	return PRF{p, r, (2 * p * r) / (p + r)}
}

// F1 returns the word overlap of LongBench and InfiniteBench for English, which is that of
// SQuAD v1.1.
func F1(response, reference string) PRF {
	return Overlap(text.SQuADWords(response), text.SQuADWords(reference))
}

// F1Zh returns the word overlap of LongBench for Chinese: jieba splits the texts into
// words, and each word is stripped of punctuation.
func F1Zh(response, reference string) PRF {
	return Overlap(wordsZh(response), wordsZh(reference))
}

func wordsZh(s string) []string {
	var words []string
	for _, w := range JiebaCut(s) {
		if w = text.LongBenchZh(w); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// F1Chars returns the overlap of InfiniteBench for Chinese: that of characters, without
// punctuation.
func F1Chars(response, reference string) PRF {
	return Overlap(characters(text.LongBenchZh(response)), characters(text.LongBenchZh(reference)))
}

func characters(s string) []string { return strings.Split(s, "") }
