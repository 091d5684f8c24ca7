package metric

import (
	"strings"

	"deem/internal/text"
	"deem/internal/text/nltk"
)

// A Mem0Score is what the evaluation program of Mem0 says of a response, and so do the
// programs of the many memory systems that began with a copy of it.
type Mem0Score struct {
	Exact bool       // equal but for case and white space around
	F1    float64    // over the sets of words: a word counts once, however often it occurs
	BLEU  [4]float64 // BLEU-1 to BLEU-4
}

// Mem0 returns the score of a response. BLEU is that of NLTK over the words of
// word_tokenize in lower case, with smoothing method 1.
func Mem0(response, reference string) Mem0Score {
	var s Mem0Score
	if response == "" || reference == "" {
		return s // Two empty texts are not equal here, and two of white space are.
	}
	response, reference = text.Strip(response), text.Strip(reference)
	s.Exact = text.Lower(response) == text.Lower(reference)
	s.F1 = Mem0F1(response, reference)
	got, want := mem0Tokens(response), mem0Tokens(reference)
	for i := range s.BLEU {
		s.BLEU[i] = mem0BLEU(got, want, i)
	}
	return s
}

// Mem0F1 returns the F1 of [Mem0].
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

// Mem0BLEU1 returns the BLEU-1 of [Mem0], the one that is published.
func Mem0BLEU1(response, reference string) float64 {
	return mem0BLEU(mem0Tokens(response), mem0Tokens(reference), 0)
}

// mem0Weights are those of BLEU-1 to BLEU-4. The third really sums to .99.
var mem0Weights = [4][]float64{{1, 0, 0, 0}, {.5, .5, 0, 0}, {.33, .33, .33, 0}, {.25, .25, .25, .25}}

func mem0BLEU(got, want []string, i int) float64 {
	s, err := nltk.BLEU{Weights: mem0Weights[i], Smoothing: 1}.Sentence(got, [][]string{want})
	if err != nil {
		panic("metric: " + err.Error()) // There is a reference, and the settings are ours.
	}
	return s
}

func mem0Tokens(s string) []string { return nltk.Words(text.Lower(s)) }

// mem0Spaces takes the punctuation that separates words.
var mem0Spaces = strings.NewReplacer(".", " ", ",", " ", "!", " ", "?", " ")

func mem0Words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range text.Split(mem0Spaces.Replace(text.Lower(s))) {
		set[w] = true
	}
	return set
}
