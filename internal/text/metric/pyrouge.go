package metric

import (
	"errors"
	"slices"
	"strings"

	"deem/internal/text"
)

// A PyRouge is the three scores of the Python package rouge 1.0.1, which is not
// rouge_score: it is case-sensitive, ends a sentence at every period, splits words at
// single spaces, and adds 1e-8 to the denominator of F, so that equal texts score
// 0.999999995.
type PyRouge struct {
	One, Two, L PRF

	// Depth is the recursion depth of the original when it reads out a longest common
	// subsequence. Python stops at about a thousand.
	Depth int
}

// errEmpty is returned for a text without sentences, as in the package rouge.
var errEmpty = errors.New("text has no sentence")

// NewPyRouge compares a response with a reference. With exclusive, the default upstream, it
// counts sets of distinct words, otherwise lists. A text of nothing but periods is an
// error.
func NewPyRouge(response, reference string, exclusive bool) (PyRouge, error) {
	words := text.Number[string]{}
	got, want := newPyText(words, response), newPyText(words, reference)
	if len(got.ids) == 0 || len(want.ids) == 0 {
		return PyRouge{}, errEmpty
	}
	var r PyRouge
	r.One = pyGrams(got.all, want.all, len(words), exclusive)
	bigrams := text.Number[[2]int32]{}
	gotTwo, wantTwo := bigrams.Of(pairsOf(got.all)), bigrams.Of(pairsOf(want.all))
	r.Two = pyGrams(gotTwo, wantTwo, len(bigrams), exclusive)
	r.L, r.Depth = pyUnion(got, want, exclusive)
	return r, nil
}

// A pyText is the numbers of the words of a text, by sentence and in all.
type pyText struct {
	ids [][]int32
	all []int32
}

// newPyText splits at periods. Only empty pieces are dropped, so a space after the last
// period is a sentence of one empty word.
func newPyText(numbers text.Number[string], s string) pyText {
	var t pyText
	for piece := range strings.SplitSeq(s, ".") {
		if piece == "" {
			continue
		}
		words := text.Split(piece)
		if len(words) == 0 {
			words = []string{""}
		}
		ids := numbers.Of(words)
		t.ids, t.all = append(t.ids, ids), append(t.all, ids...)
	}
	return t
}

func pairsOf(ids []int32) [][2]int32 {
	list := make([][2]int32, 0, len(ids))
	for i := 0; i+1 < len(ids); i++ {
		list = append(list, [2]int32{ids[i], ids[i+1]})
	}
	return list
}

// pyRatios is the arithmetic of the package rouge.
func pyRatios(same, response, reference int) PRF {
	var s PRF
	if response > 0 {
		s.Precision = float64(same) / float64(response)
	}
	if reference > 0 {
		s.Recall = float64(same) / float64(reference)
	}
	s.F1 = 2 * ((s.Precision * s.Recall) / (s.Precision + s.Recall + 1e-8))
	return s
}

// pyGrams compares two lists of numbers less than n.
func pyGrams(got, want []int32, n int, exclusive bool) PRF {
	if exclusive {
		got, want = distinct(got), distinct(want)
	}
	same, left := 0, text.Count(want, n)
	for _, id := range got {
		if left[id] > 0 {
			left[id]--
			same++
		}
	}
	return pyRatios(same, len(got), len(want))
}

// distinct returns each number once.
func distinct(ids []int32) []int32 { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// pyUnion is the summary-level ROUGE-L: what any sentence of the response has in common
// with any sentence of the reference. It matters which of several equally long subsequences
// is used, because their union is taken.
func pyUnion(got, want pyText, exclusive bool) (PRF, int) {
	union := map[int32]bool{}
	sum, depth := 0, 0
	for _, w := range want.ids {
		s := text.NewSubsequence(w)
		for _, g := range got.ids {
			indices, moves := s.Trace(g)
			depth = max(depth, moves+1)
			sum += len(indices)
			for _, i := range indices {
				union[g[i]] = true
			}
		}
	}
	if exclusive {
		return pyRatios(len(union), len(distinct(got.all)), len(distinct(want.all))), depth
	}
	return pyRatios(sum, len(got.all), len(want.all)), depth
}
