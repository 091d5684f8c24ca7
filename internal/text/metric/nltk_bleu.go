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
	switch {
	case len(weights) == 0:
		return 0, errors.New("BLEU without a weight")
	case b.Smoothing < 0 || b.Smoothing > 7:
		return 0, fmt.Errorf("unknown smoothing method %d of BLEU", b.Smoothing)
	case len(responses) == 0:
		return 0, errNoResponse
	case len(responses) != len(references):
		return 0, fmt.Errorf("%d responses and %d lists of references", len(responses), len(references))
	}
	if i := slices.IndexFunc(references, func(refs [][]string) bool { return len(refs) == 0 }); i >= 0 {
		return 0, fmt.Errorf("response %d has no reference", i+1)
	}
	sum := bleuSums{matches: make([]int, len(weights)), totals: make([]int, len(weights))}
	for i, response := range responses {
		refs := references[i]
		matches := matchedGrams(response, refs, len(sum.matches))
		for order, n := range matches {
			sum.matches[order] += n
			// An order for which the response is too short counts as one without a match.
			sum.totals[order] += max(1, len(response)-order)
		}
		closest := len(refs[0])
		for _, ref := range refs[1:] {
			d, best := abs(len(ref)-len(response)), abs(closest-len(response))
			if d < best || d == best && len(ref) < closest {
				closest = len(ref)
			}
		}
		sum.response += len(response)
		sum.reference += closest
		sum.last, sum.lastReferences = response, refs
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
	brevity := 1.0
	if sum.response <= sum.reference { // Some word matches, so there is a response.
		brevity = math.Exp(1 - float64(sum.reference)/float64(sum.response))
	}
	return brevity * math.Exp(logs), nil
}

// bleuSums are the sums from which BLEU is computed.
type bleuSums struct {
	matches, totals     []int // indexed by order minus one
	response, reference int   // lengths in words
	last                []string
	lastReferences      [][]string // of the last response, which some smoothing methods use
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

// NLTK's default parameters.
const (
	smoothEpsilon = .1
	smoothK       = 5
	smoothAlpha   = 5
)

// smallest is Python's sys.float_info.min, which replaces a precision of 0 without
// smoothing: its logarithm is finite.
const smallest = 0x1p-1022

// smooth returns the precision of each order, smoothed by the given method.
func (s *bleuSums) smooth(method int) ([]float64, error) {
	p := make([]float64, len(s.matches))
	for i, m := range s.matches {
		p[i] = float64(m) / float64(s.totals[i])
	}
	switch method {
	case 0:
		s.fillZeroMatches(p, func(i, _ int) float64 { return smallest })
	case 1:
		s.fillZeroMatches(p, func(i, _ int) float64 { return smoothEpsilon / float64(s.totals[i]) })
	case 2:
		for i := 1; i < len(p); i++ {
			p[i] = float64(s.matches[i]+1) / float64(s.totals[i]+1)
		}
	case 3:
		s.fillZeroMatches(p, func(i, k int) float64 { return 1 / (math.Exp2(float64(k)) * float64(s.totals[i])) })
	case 4:
		s.byLength(p)
	case 5:
		s.average(p)
	case 6:
		return p, s.interpolate(p)
	case 7:
		s.byLength(p)
		s.average(p)
	}
	return p, nil
}

// fillZeroMatches sets the precision of each order i without a match to f(i, k); k counts these
// orders from 1.
func (s *bleuSums) fillZeroMatches(p []float64, f func(i, k int) float64) {
	k := 0
	for i, m := range s.matches {
		if m == 0 {
			k++
			p[i] = f(i, k)
		}
	}
}

// byLength is method 4: the shorter a response, the less an order without a match counts.
func (s *bleuSums) byLength(p []float64) {
	if s.response <= 1 {
		return
	}
	s.fillZeroMatches(p, func(i, k int) float64 {
		return 1 / (math.Exp2(float64(k)) * smoothK / math.Log(float64(s.response))) / float64(s.totals[i])
	})
}

// average is method 5: the mean with the neighbouring orders. After the last order upstream
// uses the order of five words, whatever the last order is, and only of the last response.
func (s *bleuSums) average(p []float64) {
	const order = 5
	matches := matchedGrams(s.last, s.lastReferences, order)
	above := float64(matches[order-1]) / float64(max(1, len(s.last)-order+1))
	below := p[0] + 1
	for i := range p {
		next := above
		if i+1 < len(p) {
			next = p[i+1]
		}
		p[i] = (below + p[i] + next) / 3
		below = p[i]
	}
}

// interpolate is method 6: the precision is interpolated with the value expected from the
// two lower orders.
func (s *bleuSums) interpolate(p []float64) error {
	if len(p) < 3 || p[2] == 0 {
		return errors.New("smoothing method 6 of BLEU needs three words in a row in common")
	}
	for i := 2; i < len(p); i++ {
		expected := 0.0
		if p[i-2] != 0 {
			expected = p[i-1] * p[i-1] / p[i-2]
		}
		grams := max(0, len(s.last)-i)
		p[i] = (float64(s.matches[i]) + smoothAlpha*expected) / float64(grams+smoothAlpha)
	}
	return nil
}
