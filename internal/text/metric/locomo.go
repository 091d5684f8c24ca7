package metric

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"deem/internal/text"
)

// LoCoMoStems returns the overlap of LoCoMo: that of Porter stems, without articles and
// "and".
func LoCoMoStems(response, reference string) PRF {
	return Overlap(stems(response), stems(reference))
}

// LoCoMoF1 returns the F1 of LoCoMo, that of [LoCoMoStems].
func LoCoMoF1(response, reference string) float64 { return LoCoMoStems(response, reference).F1 }

func stems(s string) []string {
	words := text.LoCoMoWords(s)
	for i, w := range words {
		words[i] = text.Stem(w)
	}
	return words
}

// LoCoMoF1Multi returns the F1 of LoCoMo for answers with several parts. Both texts are
// split at commas; each part of the reference is compared with the best matching part of
// the response, and the result is the mean over the parts of the reference.
func LoCoMoF1Multi(response, reference string) float64 {
	var scores []float64
	parts := strings.Split(response, ",")
	for want := range strings.SplitSeq(reference, ",") {
		best := 0.0
		for _, got := range parts {
			best = max(best, LoCoMoF1(text.Strip(got), text.Strip(want)))
		}
		scores = append(scores, best)
	}
	return text.NumpyMean(scores)
}

// LoCoMo returns the score of a response by the category of its question: 1 needs several
// parts, 2 is about time, 3 is open, 4 is about a single fact, and 5 asks for something
// that was never said.
func LoCoMo(category int, response, reference string) (float64, error) {
	switch category {
	case 1:
		return LoCoMoF1Multi(response, reference), nil
	case 2, 4:
		return LoCoMoF1(response, reference), nil
	case 3:
		// The text after the semicolon is a remark.
		reference, _, _ = strings.Cut(reference, ";")
		return LoCoMoF1(response, text.Strip(reference)), nil
	case 5:
		return LoCoMoAbstains(response), nil
	}
	return 0, fmt.Errorf("unknown category %d of LoCoMo", category)
}

// LoCoMoAbstains returns 1 if the response contains one of two phrases for an unanswerable
// question, else 0.
func LoCoMoAbstains(response string) float64 {
	lower := text.Lower(response)
	if strings.Contains(lower, "no information available") || strings.Contains(lower, "not mentioned") {
		return 1
	}
	return 0
}

// LoCoMoRecall returns the share of the evidence that is in the retrieved context. If the
// context names sessions, such as "S3", the session of the evidence "D3:5" counts. It is 1
// without evidence, or if the context was not recorded and is nil, as upstream. If the
// context was recorded and is empty, upstream fails; here nothing was found.
func LoCoMoRecall(evidence, context []string) float64 {
	if len(evidence) == 0 || context == nil {
		return 1
	}
	sessions := len(context) > 0 && strings.HasPrefix(context[0], "S")
	found := 0
	for _, e := range evidence {
		if sessions {
			e, _, _ = strings.Cut(e, ":")
		}
		if slices.ContainsFunc(context, func(c string) bool { return c == e || sessions && tail(c) == tail(e) }) {
			found++
		}
	}
	return float64(found) / float64(len(evidence))
}

// tail returns s without its first character.
func tail(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[n:]
}

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
// NLTK over the words of word_tokenize in lower case.
func Mem0BLEU1(response, reference string) float64 {
	got, want := NLTKWords(text.Lower(response)), NLTKWords(text.Lower(reference))
	same := matchedGrams(got, want, 1)[0]
	if same == 0 {
		return 0
	}
	brevity := 1.0
	if len(got) <= len(want) {
		brevity = math.Exp(1 - float64(len(want))/float64(len(got)))
	}
	// NLTK adds logarithms, which matters for the last bit.
	return brevity * math.Exp(math.Log(float64(same)/float64(len(got))))
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
