package metric

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"deem/internal/text"
)

// ChrF computes the character n-gram F-score like sacreBLEU 2.6. The zero value is chrF2
// with six orders; with WordOrder 2 it is chrF++.
type ChrF struct {
	CharOrder    int     // 0 means 6
	WordOrder    int     // length of the longest word n-gram; 0 means none
	Beta         float64 // weight of recall relative to precision; 0 means 2
	Lowercase    bool    // compare in lower case
	Whitespace   bool    // white space counts as characters
	EpsSmoothing bool    // use the mean of F over all orders, like chrF++.py
}

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
	c.CharOrder, c.Beta = cmp.Or(c.CharOrder, 6), cmp.Or(c.Beta, 2)
	sum := make([]chrfStats, c.CharOrder+c.WordOrder)
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
	return c.score(sum), nil
}

// chrfStats are the counts of one order.
type chrfStats struct{ response, reference, matches int }

// best returns the counts with the reference that has the best score.
func (c ChrF) best(response string, references []string) []chrfStats {
	chars, words := text.NewGrams(c.CharOrder), text.NewGrams(c.WordOrder)
	gotChars, gotWords := c.split(response)
	chars.Add(gotChars)
	words.Add(gotWords)
	var best []chrfStats
	top := -1.0
	for _, ref := range references {
		wantChars, wantWords := c.split(ref)
		stats := chrfOrders(nil, chars.Shared(wantChars), len(gotChars), len(wantChars))
		stats = chrfOrders(stats, words.Shared(wantWords), len(gotWords), len(wantWords))
		if f := c.score(stats); f > top {
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
	if c.Lowercase {
		s = text.Lower(s)
	}
	line := s
	if !c.Whitespace {
		line = strings.Join(text.Split(s), "")
	}
	if c.WordOrder > 0 {
		// At white space, and then one punctuation mark is split off each word: the last
		// character, or else the first.
		list := text.Split(s)
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
	return characters(line), words
}

func (c ChrF) score(stats []chrfStats) float64 {
	const eps = 1e-16
	factor := c.Beta * c.Beta
	var sum, precision, recall float64
	orders := 0
	for _, s := range stats {
		p, r := eps, eps
		if s.response > 0 {
			p = float64(s.matches) / float64(s.response)
		}
		if s.reference > 0 {
			r = float64(s.matches) / float64(s.reference)
		}
		if d := float64(factor*p) + r; d > 0 { // The conversion prevents a fused operation.
			sum += (1 + factor) * p * r / d
		} else {
			sum += eps
		}
		if s.response > 0 && s.reference > 0 {
			precision += p
			recall += r
			orders++
		}
	}
	if c.EpsSmoothing {
		return 100 * sum / float64(len(stats))
	}
	if orders == 0 || precision+recall == 0 {
		return 0
	}
	precision /= float64(orders)
	recall /= float64(orders)
	return 100 * ((1 + factor) * precision * recall / (float64(factor*precision) + recall))
}
