package metric

import (
	"errors"
	"slices"

	"deem/internal/text"
)

// METEOR returns the METEOR score with the best reference, from 0 to 1, like meteor_score
// of NLTK 3.8 with its defaults. Words that are equal except for case are matched first,
// then words with the same Porter stem, then synonyms. The score is a mean of precision and
// recall in which recall has nine times the weight, reduced by up to a half for scattered
// matches. See A. Lavie and A. Agarwal, METEOR: An automatic metric for MT evaluation with
// high levels of correlation with human judgments, WMT 2007.
//
// The function synonyms returns the synonyms of a word, like [WordNet.Synonyms]; it is
// called with the stems of the words that have no match yet, as upstream. If it is nil no
// synonyms are matched.
func METEOR(response []string, references [][]string, synonyms func(word string) []string) (float64, error) {
	if len(references) == 0 {
		return 0, errors.New("no reference to compare with")
	}
	best := 0.0
	for _, ref := range references {
		best = max(best, meteor(response, ref, synonyms))
	}
	return best, nil
}

// meteor returns the score with one reference.
func meteor(response, reference []string, synonyms func(word string) []string) float64 {
	a := alignment{got: enumerate(response), want: enumerate(reference)}
	a.matchEqual()
	// The remaining words stay stems: synonyms are looked up for stems too.
	for _, list := range [][]place{a.got, a.want} {
		for i := range list {
			list[i].word = text.Stem(list[i].word)
		}
	}
	a.matchEqual()
	if synonyms != nil {
		// A word is matched with its last synonym in the reference.
		a.match(func(word string, where stacks) string {
			best := word
			for _, s := range synonyms(word) {
				if where.last(s) > where.last(best) {
					best = s
				}
			}
			return best
		})
	}
	if len(a.matches) == 0 {
		return 0
	}
	alpha, gamma := .9, .5
	n := float64(len(a.matches))
	precision, recall := n/float64(len(response)), n/float64(len(reference))
	mean := precision * recall / (alpha*precision + (1-alpha)*recall)
	scattered := float64(a.chunks()) / n
	return (1 - gamma*(scattered*scattered*scattered)) * mean
}

// An alignment is the matching of words of a response and a reference.
type alignment struct {
	got, want []place // words without a match
	matches   []match
}

// A place is a word of a text with its position.
type place struct {
	at   int
	word string
}

// A match is a pair of matching words, given by their positions.
type match struct{ got, want int }

func enumerate(words []string) []place {
	list := make([]place, len(words))
	for i, w := range words {
		list[i] = place{i, text.Lower(w)}
	}
	return list
}

// matchEqual matches equal words. It goes through both texts from the end, so that of
// several equal words the last ones are matched.
func (a *alignment) matchEqual() {
	a.match(func(word string, _ stacks) string { return word })
}

// match matches each word of the response, from the last to the first, with the last word
// of the reference that equals the result of find.
func (a *alignment) match(find func(word string, where stacks) string) {
	if len(a.got) == 0 || len(a.want) == 0 {
		return
	}
	where := make(stacks, len(a.want))
	for j, w := range a.want {
		where[w.word] = append(where[w.word], j)
	}
	taken := make([]bool, len(a.want))
	left := a.got[:0:0]
	for _, g := range slices.Backward(a.got) {
		word := find(g.word, where)
		j := where.last(word)
		if j < 0 {
			left = append(left, g)
			continue
		}
		where[word] = where[word][:len(where[word])-1]
		taken[j] = true
		a.matches = append(a.matches, match{g.at, a.want[j].at})
	}
	slices.Reverse(left)
	a.got = left
	rest := a.want[:0:0]
	for j, w := range a.want {
		if !taken[j] {
			rest = append(rest, w)
		}
	}
	a.want = rest
}

// stacks maps words to their positions in a list, the last position on top.
type stacks map[string][]int

// last returns the last position of a word, or -1.
func (s stacks) last(word string) int {
	if list := s[word]; len(list) > 0 {
		return list[len(list)-1]
	}
	return -1
}

// chunks returns the number of runs of matches that are consecutive in both texts.
func (a *alignment) chunks() int {
	slices.SortFunc(a.matches, func(x, y match) int { return x.got - y.got })
	n := 1
	for i := 1; i < len(a.matches); i++ {
		last, m := a.matches[i-1], a.matches[i]
		if m.got != last.got+1 || m.want != last.want+1 {
			n++
		}
	}
	return n
}
