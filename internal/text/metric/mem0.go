package metric

import (
	"strings"

	"deem/internal/text"
)

// Mem0F1 returns the F1 of Mem0's evaluation program, which many memory systems copied:
// over the sets of words, so that a word counts once, however many times it occurs.
func Mem0F1(response, reference string) float64 {
	got, want := mem0Words(response), mem0Words(reference)
	if len(got) == 0 || len(want) == 0 {
		return 0
	}
	same := 0
	for w := range got {
		if want[w] {
			same++
		}
	}
	p, r := float64(same)/float64(len(got)), float64(same)/float64(len(want))
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

// Mem0BLEU1 returns the BLEU-1 of the same program, which is the published one: that of
// NLTK over the words of word_tokenize in lower case, with smoothing method 1.
func Mem0BLEU1(response, reference string) float64 {
	got, want := NLTKWords(text.Lower(response)), NLTKWords(text.Lower(reference))
	s, err := NLTKBLEU{Weights: []float64{1, 0, 0, 0}, Smoothing: 1}.Sentence(got, [][]string{want})
	if err != nil {
		panic("metric: " + err.Error()) // Cannot happen: there is a reference, and the settings are ours.
	}
	return s
}

// mem0Spaces replaces the punctuation that separates words.
var mem0Spaces = strings.NewReplacer(".", " ", ",", " ", "!", " ", "?", " ")

func mem0Words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range text.Split(mem0Spaces.Replace(text.Lower(s))) {
		set[w] = true
	}
	return set
}
