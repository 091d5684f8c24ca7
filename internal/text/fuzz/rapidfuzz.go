package fuzz

import (
	"slices"
	"strings"
	"unicode/utf8"

	"deem/internal/text"
)

// RapidFuzz is rapidfuzz 3.14. It compares texts as they are, by insertions and deletions;
// case, punctuation and accents count.
type RapidFuzz struct{}

// Ratio returns the share of characters that stay when a is turned into b, in per cent.
// Two empty texts are the same.
func (RapidFuzz) Ratio(a, b string) float64 {
	x, y := text.Characters(a, b)
	return 100 * normalized(text.NewSubsequence(y).Len(x), len(x)+len(y))
}

// normalized returns the similarity, from 0 to 1, of two sequences that have together sum
// elements and a common subsequence of the given length. The steps are upstream's, since
// others would give other last digits, and whoever rounds would see them.
func normalized(common, sum int) float64 {
	if sum == 0 {
		return 1
	}
	return 1 - float64(sum-2*common)/float64(sum)
}

// PartialRatio returns the best ratio of the shorter text and a part of the longer one that
// is as long, or that is cut short by the beginning or the end. Two empty texts are the same.
func (RapidFuzz) PartialRatio(a, b string) float64 {
	x, y := text.Characters(a, b)
	if len(x) > len(y) {
		x, y = y, x
	}
	switch {
	case len(y) == 0:
		return 100
	case len(x) == 0:
		return 0
	}
	best := bestPart(x, y)
	if len(x) == len(y) {
		best = max(best, bestPart(y, x))
	}
	return 100 * best
}

// bestPart returns the best similarity of short with a part of long. Upstream tries only
// parts that begin or end with a character of short; the others are never better.
func bestPart(short, long []int32) float64 {
	n := len(short)
	best := 0.0
	seq := text.NewSubsequence(short)
	for i, common := range seq.Lens(long[:n]) {
		best = max(best, normalized(common, n+i))
	}
	best = bestWindow(seq, n, long, best)

	backwards := slices.Clone(short)
	slices.Reverse(backwards)
	tail := slices.Clone(long[len(long)-n:])
	slices.Reverse(tail)
	for i, common := range text.NewSubsequence(backwards).Lens(tail) {
		best = max(best, normalized(common, n+i))
	}
	return best
}

// bestWindow returns the best similarity with a part of long that has n elements, if it is
// better than best. The common subsequence grows by at most one from a window to the next,
// so one that is far from the best leaves no hope for many that follow.
func bestWindow(seq *text.Subsequence, n int, long []int32, best float64) float64 {
	for i := 0; i+n <= len(long); {
		common := seq.Len(long[i : i+n])
		best = max(best, normalized(common, 2*n))
		more := 1
		for common+more <= n && normalized(common+more, 2*n) <= best {
			more++
		}
		i += more
	}
	return best
}

// TokenSortRatio is [RapidFuzz.Ratio] of the sorted words.
func (r RapidFuzz) TokenSortRatio(a, b string) float64 {
	return r.Ratio(sortedWords(a), sortedWords(b))
}

// TokenSetRatio is the best ratio among three texts: the words that a and b share, and these
// followed by the other words of either. It is 100 if one has no other words.
func (RapidFuzz) TokenSetRatio(a, b string) float64 {
	x, y := wordSet(a), wordSet(b)
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	both, onlyA, onlyB := divide(x, y)
	if len(both) > 0 && (len(onlyA) == 0 || len(onlyB) == 0) {
		return 100
	}
	p, q := text.Characters(strings.Join(onlyA, " "), strings.Join(onlyB, " "))
	shared := utf8.RuneCountInString(strings.Join(both, " "))
	changed := len(p) + len(q) - 2*text.NewSubsequence(q).Len(p)
	if shared == 0 {
		return unchanged(changed, len(p)+len(q))
	}
	// What is shared stays; only what follows it, and the space between, is new.
	withP, withQ := shared+1+len(p), shared+1+len(q)
	return max(unchanged(changed, withP+withQ), unchanged(1+len(p), shared+withP), unchanged(1+len(q), shared+withQ))
}

// unchanged returns the share of sum that is not changed, in per cent.
func unchanged(changed, sum int) float64 { return 100 - 100*float64(changed)/float64(sum) }

// TokenRatio is the better of [RapidFuzz.TokenSortRatio] and [RapidFuzz.TokenSetRatio].
func (r RapidFuzz) TokenRatio(a, b string) float64 {
	return max(r.TokenSetRatio(a, b), r.TokenSortRatio(a, b))
}

// PartialTokenSortRatio is [RapidFuzz.PartialRatio] of the sorted words.
func (r RapidFuzz) PartialTokenSortRatio(a, b string) float64 {
	return r.PartialRatio(sortedWords(a), sortedWords(b))
}

// PartialTokenSetRatio is 100 if a and b share a word, and otherwise [RapidFuzz.PartialRatio]
// of their distinct words, sorted.
func (r RapidFuzz) PartialTokenSetRatio(a, b string) float64 {
	x, y := wordSet(a), wordSet(b)
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	if both, _, _ := divide(x, y); len(both) > 0 {
		return 100
	}
	return r.PartialRatio(strings.Join(x, " "), strings.Join(y, " "))
}

// PartialTokenRatio is the better of [RapidFuzz.PartialTokenSortRatio] and
// [RapidFuzz.PartialTokenSetRatio]. Two texts without a word are the same.
func (r RapidFuzz) PartialTokenRatio(a, b string) float64 {
	x, y := wordSet(a), wordSet(b)
	if both, _, _ := divide(x, y); len(both) > 0 {
		return 100
	}
	return max(r.PartialTokenSortRatio(a, b), r.PartialRatio(strings.Join(x, " "), strings.Join(y, " ")))
}

// QRatio is [RapidFuzz.Ratio], but 0 if a text is empty.
func (r RapidFuzz) QRatio(a, b string) float64 {
	if a == "" || b == "" {
		return 0
	}
	return r.Ratio(a, b)
}

// WRatio is the best of several ratios, each with its weight, as [FuzzyWuzzy.WRatio] is.
func (r RapidFuzz) WRatio(a, b string) float64 {
	if a == "" || b == "" {
		return 0
	}
	m, n := float64(utf8.RuneCountInString(a)), float64(utf8.RuneCountInString(b))
	times := max(m, n) / min(m, n)
	base := r.Ratio(a, b)
	words := .95
	if times < 1.5 {
		return max(base, r.TokenRatio(a, b)*words)
	}
	parts := .9
	if times > 8 {
		parts = .6
	}
	return max(base, r.PartialRatio(a, b)*parts, r.PartialTokenRatio(a, b)*words*parts)
}
