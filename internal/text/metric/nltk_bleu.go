package metric

import (
	"errors"
	"fmt"
	"math"

	"deem/internal/text"
)

// NLTKBLEU computes BLEU like nltk.translate.bleu_score of NLTK 3.8 with smoothing method 1,
// which gives an order without a match a tenth of a match. The zero value has NLTK's
// weights.
//
// Its scores differ from those of sacreBLEU, which has different smoothing and tokenizes
// texts itself.
type NLTKBLEU struct {
	// Weights are the weights of n-grams of one, two and more words. Nil means a quarter
	// for each order up to four.
	Weights []float64
}

// Sentence returns the score of one response, from 0 to 1, with all references together.
func (b NLTKBLEU) Sentence(response []string, references [][]string) (float64, error) {
	return b.Corpus([][]string{response}, [][][]string{references})
}

// Corpus returns the score of many responses together, which is not the mean of
// their scores. The i-th list of references belongs to the i-th response; each must
// have at least one.
func (b NLTKBLEU) Corpus(responses [][]string, references [][][]string) (float64, error) {
	weights := b.Weights
	if weights == nil {
		weights = []float64{.25, .25, .25, .25}
	}
	switch {
	case len(weights) == 0:
		return 0, errors.New("BLEU without a weight")
	case len(responses) == 0:
		return 0, errNoResponse
	case len(responses) != len(references):
		return 0, fmt.Errorf("%d responses and %d lists of references", len(responses), len(references))
	}
	matches, totals := make([]int, len(weights)), make([]int, len(weights)) // indexed by order minus one
	words, closestWords := 0, 0
	for i, response := range responses {
		if len(references[i]) == 0 {
			return 0, fmt.Errorf("response %d has no reference", i+1)
		}
		for order, n := range matchedGrams(response, references[i], len(weights)) {
			matches[order] += n
			// An order for which the response is too short counts as one without a match.
			totals[order] += max(1, len(response)-order)
		}
		closest := len(references[i][0])
		for _, ref := range references[i][1:] {
			d, best := abs(len(ref)-len(response)), abs(closest-len(response))
			if d < best || d == best && len(ref) < closest {
				closest = len(ref)
			}
		}
		words += len(response)
		closestWords += closest
	}
	if matches[0] == 0 {
		return 0, nil
	}
	logs := 0.0
	for i, w := range weights {
		p := float64(matches[i]) / float64(totals[i])
		if matches[i] == 0 {
			p = .1 / float64(totals[i])
		}
		logs += w * math.Log(p)
	}
	brevity := 1.0
	if words <= closestWords { // Some word matches, so there is a response.
		brevity = math.Exp(1 - float64(closestWords)/float64(words))
	}
	return brevity * math.Exp(logs), nil
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
