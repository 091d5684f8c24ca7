package metric

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"deem/internal/text"
)

// ChrF computes the character n-gram F-score chrF2 like sacreBLEU 2.6. With WordOrder 2 it
// is chrF++.
type ChrF struct {
	WordOrder int // length of the longest word n-gram; 0 means none
}

// charOrders is the length of the longest character n-gram in chrF.
const charOrders = 6

// Sentence returns the score of one response, from 0 to 100, with the best reference.
func (c ChrF) Sentence(response string, references []string) (float64, error) {
	return c.Corpus([]string{response}, [][]string{references})
}

// Corpus returns the score of many responses together, from 0 to 100. The i-th list
// of references belongs to the i-th response; each must have at least one.
func (c ChrF) Corpus(responses []string, references [][]string) (float64, error) {
	if len(responses) == 0 {
		return 0, errNoResponse
	}
	if len(responses) != len(references) {
		return 0, fmt.Errorf("%d responses and %d lists of references", len(responses), len(references))
	}
	sum := make([]chrfStats, charOrders+c.WordOrder)
	for i, response := range responses {
		if len(references[i]) == 0 {
			return 0, fmt.Errorf("response %d has no reference", i+1)
		}
		for n, s := range c.best(response, references[i]) {
			sum[n].response += s.response
			sum[n].reference += s.reference
			sum[n].matches += s.matches
		}
	}
	return chrfScore(sum), nil
}

// chrfStats are the counts of one order.
type chrfStats struct{ response, reference, matches int }

// best returns the counts with the reference that has the best score.
func (c ChrF) best(response string, references []string) []chrfStats {
	chars, words := text.NewGrams(charOrders), text.NewGrams(c.WordOrder)
	gotChars, gotWords := c.split(response)
	chars.Add(gotChars)
	words.Add(gotWords)
	var best []chrfStats
	top := -1.0
	for _, ref := range references {
		wantChars, wantWords := c.split(ref)
		stats := chrfOrders(nil, chars.Shared(wantChars), len(gotChars), len(wantChars))
		stats = chrfOrders(stats, words.Shared(wantWords), len(gotWords), len(wantWords))
		if f := chrfScore(stats); f > top {
			top, best = f, stats
		}
	}
	return best
}

// chrfOrders adds the counts of each order to stats. Orders for which the reference is too
// short do not count.
func chrfOrders(stats []chrfStats, same []int, response, reference int) []chrfStats {
	for i, n := range same {
		s := chrfStats{gramsOf(response, i+1), gramsOf(reference, i+1), n}
		if s.reference == 0 {
			s = chrfStats{}
		}
		stats = append(stats, s)
	}
	return stats
}

// split returns the characters of a text, and its words if they count.
func (c ChrF) split(s string) (chars, words []string) {
	list := text.Split(s)
	if c.WordOrder > 0 {
		// One punctuation mark is split off each word: the last character, or else the
		// first.
		words = make([]string, 0, len(list)+len(list)/4)
		for _, w := range list {
			last := len(w) - 1
			switch {
			case utf8.RuneCountInString(w) == 1:
				words = append(words, w)
			case text.IsPunct(rune(w[last])):
				words = append(words, w[:last], w[last:])
			case text.IsPunct(rune(w[0])):
				words = append(words, w[:1], w[1:])
			default:
				words = append(words, w)
			}
		}
	}
	return characters(strings.Join(list, "")), words
}

// chrfScore returns the F-score of the mean precision and the mean recall, in which recall
// has twice the weight.
func chrfScore(stats []chrfStats) float64 {
	const factor = 2 * 2
	var precision, recall float64
	orders := 0
	for _, s := range stats {
		if s.response > 0 && s.reference > 0 {
			precision += float64(s.matches) / float64(s.response)
			recall += float64(s.matches) / float64(s.reference)
			orders++
		}
	}
	if orders == 0 || precision+recall == 0 {
		return 0
	}
	precision /= float64(orders)
	recall /= float64(orders)
	return 100 * ((1 + factor) * precision * recall / (float64(factor*precision) + recall)) // The conversion prevents a fused operation.
}
