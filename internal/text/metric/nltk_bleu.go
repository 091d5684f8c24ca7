package metric

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"deem/internal/text"
)

// NLTKBLEU computes BLEU like nltk.translate.bleu_score of NLTK 3.8. The zero value has its
// defaults.
//
// Its scores differ from those of sacreBLEU, which has different smoothing and tokenizes
// texts itself.
type NLTKBLEU struct {
	// Weights are the weights of n-grams of one, two and more words. Nil means a quarter
	// for each order up to four.
	Weights []float64

	// Smoothing is the number of a method of SmoothingFunction, from 0 to 7, for orders
	// without a match. 0 means none. The methods 1 to 7 are those of B. Chen and C. Cherry,
	// A systematic comparison of smoothing techniques for sentence-level BLEU, WMT 2014,
	// with NLTK's default parameters.
	Smoothing int

	// AutoReweigh gives a response of fewer than four words as many equal weights as it has
	// words, if the weights are those of the zero value.
	AutoReweigh bool
}

// quarters are the default weights.
var quarters = []float64{.25, .25, .25, .25}

// Sentence returns the score of one response, from 0 to 1, with all references together;
// smoothing methods 5 and 7 can give more than 1. Smoothing method 6 returns an error if a
// response has no three consecutive words in common with a reference.
func (b NLTKBLEU) Sentence(response []string, references [][]string) (float64, error) {
	return b.Corpus([][]string{response}, [][][]string{references})
}

// Corpus returns the score of many responses together, which is not the mean of
// their scores. The i-th list of references belongs to the i-th response; each must
// have at least one.
func (b NLTKBLEU) Corpus(responses [][]string, references [][][]string) (float64, error) {
	weights := b.Weights
	if weights == nil {
		weights = quarters
	}
	if err := b.check(responses, references, weights); err != nil {
		return 0, err
	}
	sum := bleuSums{matches: make([]int, len(weights)), totals: make([]int, len(weights))}
	for i, response := range responses {
		sum.add(response, references[i])
	}
	if sum.matches[0] == 0 {
		return 0, nil
	}
	p, err := sum.smooth(b.Smoothing)
	if err != nil {
		return 0, err
	}
	if b.AutoReweigh && sum.response < 4 && slices.Equal(weights, quarters) {
		weights = slices.Repeat([]float64{1 / float64(sum.response)}, sum.response)
	}
	logs := 0.0
	for i, w := range weights {
		if p[i] > 0 {
			logs += w * math.Log(p[i])
		}
	}
	return sum.brevity() * math.Exp(logs), nil
}

func (b NLTKBLEU) check(responses [][]string, references [][][]string, weights []float64) error {
	switch {
	case len(weights) == 0:
		return errors.New("BLEU without a weight")
	case b.Smoothing < 0 || b.Smoothing > 7:
		return fmt.Errorf("unknown smoothing method %d of BLEU", b.Smoothing)
	case len(responses) == 0:
		return errors.New("no response to score")
	case len(responses) != len(references):
		return fmt.Errorf("%d responses and %d lists of references", len(responses), len(references))
	}
	if i := slices.IndexFunc(references, func(refs [][]string) bool { return len(refs) == 0 }); i >= 0 {
		return fmt.Errorf("response %d has no reference", i+1)
	}
	return nil
}

// bleuSums are the sums from which BLEU is computed.
type bleuSums struct {
	matches, totals     []int // indexed by order minus one
	response, reference int   // lengths in words
	last                []string
	lastReferences      [][]string // of the last response, which some smoothing methods use
}

func (s *bleuSums) add(response []string, references [][]string) {
	matches := matchedGrams(response, references, len(s.matches))
	for i, n := range matches {
		s.matches[i] += n
		// An order for which the response is too short counts as one without a match.
		s.totals[i] += max(1, len(response)-i)
	}
	closest := len(references[0])
	for _, ref := range references[1:] {
		d, best := abs(len(ref)-len(response)), abs(closest-len(response))
		if d < best || d == best && len(ref) < closest {
			closest = len(ref)
		}
	}
	s.response += len(response)
	s.reference += closest
	s.last, s.lastReferences = response, references
}

// brevity returns the penalty for responses shorter than the references.
func (s *bleuSums) brevity() float64 {
	switch {
	case s.response > s.reference:
		return 1
	case s.response == 0:
		return 0
	}
	return math.Exp(1 - float64(s.reference)/float64(s.response))
}

// matchedGrams returns, for each order, how many n-grams the response has in common with
// the references. Each counts at most as many times as in the reference that has most of
// it.
func matchedGrams(response []string, references [][]string, orders int) []int {
	g := text.NewGrams(orders)
	for _, ref := range references {
		g.Add(ref)
	}
	return g.Shared(response)
}
