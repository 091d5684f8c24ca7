package fuzz

import (
	"strings"
	"unicode/utf8"

	"deem/internal/text"
)

// FuzzyWuzzy is fuzzywuzzy 0.18. The zero value compares by difflib, as the library does by
// itself.
type FuzzyWuzzy struct {
	// Levenshtein means that python-Levenshtein 0.12 is installed, which the library then
	// uses. The two differ in all functions.
	Levenshtein bool
}

// Ratio returns how alike a and b are. Equal texts are, even if they are empty.
func (f FuzzyWuzzy) Ratio(a, b string) int {
	if n, plain := trivial(a, b); plain {
		return n
	}
	x, y := text.Characters(a, b)
	return round(100 * f.similarity(x, y))
}

// trivial returns the ratio of texts that are equal, or one of which is empty.
func trivial(a, b string) (n int, plain bool) {
	switch {
	case a == b:
		return 100, true
	case a == "" || b == "":
		return 0, true
	}
	return 0, false
}

// similarity returns how alike two sequences are that are not both empty, from 0 to 1.
func (f FuzzyWuzzy) similarity(a, b []int32) float64 {
	if f.Levenshtein {
		return text.InDelRatioOf(a, b)
	}
	return text.DifflibRatioOf(a, b)
}

// PartialRatio returns how alike the shorter text and a part of the longer one are. Only
// parts are tried that line up with a block which both have in common, or with the end, so
// the best may be missed.
func (f FuzzyWuzzy) PartialRatio(a, b string) int {
	if n, plain := trivial(a, b); plain {
		return n
	}
	short, long := text.Characters(a, b)
	if len(short) > len(long) {
		short, long = long, short
	}
	best := 0.0
	tried := map[int]bool{}
	for _, m := range append(f.blocks(short, long), text.Block{A: len(short), B: len(long)}) {
		start := max(m.B-m.A, 0)
		if tried[start] {
			continue
		}
		tried[start] = true
		best = max(best, f.similarity(short, long[start:min(start+len(short), len(long))]))
		if best > .995 {
			return 100
		}
	}
	return round(100 * best)
}

func (f FuzzyWuzzy) blocks(a, b []int32) []text.Block {
	if f.Levenshtein {
		return text.LevenshteinBlocks(a, b)
	}
	return text.DifflibBlocks(a, b)
}

// TokenSortRatio is [FuzzyWuzzy.Ratio] of the sorted words, in lower case and without
// punctuation.
func (f FuzzyWuzzy) TokenSortRatio(a, b string) int {
	return f.tokenSort(processed(a, true), processed(b, true), f.Ratio)
}

// PartialTokenSortRatio is [FuzzyWuzzy.PartialRatio] of the sorted words.
func (f FuzzyWuzzy) PartialTokenSortRatio(a, b string) int {
	return f.tokenSort(processed(a, true), processed(b, true), f.PartialRatio)
}

func (FuzzyWuzzy) tokenSort(a, b string, ratio func(a, b string) int) int {
	return ratio(sortedWords(a), sortedWords(b))
}

// TokenSetRatio is the best [FuzzyWuzzy.Ratio] among three texts: the words that a and b
// share, and these followed by the other words of either.
func (f FuzzyWuzzy) TokenSetRatio(a, b string) int {
	return f.tokenSet(processed(a, true), processed(b, true), f.Ratio)
}

// PartialTokenSetRatio is [FuzzyWuzzy.TokenSetRatio] by partial ratios. It is 100 as soon as
// a and b share a word.
func (f FuzzyWuzzy) PartialTokenSetRatio(a, b string) int {
	return f.tokenSet(processed(a, true), processed(b, true), f.PartialRatio)
}

func (FuzzyWuzzy) tokenSet(a, b string, ratio func(a, b string) int) int {
	if a == "" || b == "" {
		return 0
	}
	both, onlyA, onlyB := divide(wordSet(a), wordSet(b))
	shared := strings.Join(both, " ")
	withA := text.Strip(shared + " " + strings.Join(onlyA, " "))
	withB := text.Strip(shared + " " + strings.Join(onlyB, " "))
	return max(ratio(shared, withA), ratio(shared, withB), ratio(withA, withB))
}

// QRatio is [FuzzyWuzzy.Ratio] of the texts in lower case and without punctuation, and 0 if
// that leaves one of them empty.
func (f FuzzyWuzzy) QRatio(a, b string) int { return f.quick(a, b, true) }

// UQRatio is [FuzzyWuzzy.QRatio] without dropping the characters of Latin-1 that are no
// ASCII.
func (f FuzzyWuzzy) UQRatio(a, b string) int { return f.quick(a, b, false) }

func (f FuzzyWuzzy) quick(a, b string, ascii bool) int {
	a, b = processed(a, ascii), processed(b, ascii)
	if a == "" || b == "" {
		return 0
	}
	return f.Ratio(a, b)
}

// WRatio is the best of several ratios, each with its weight: the plain one counts in full
// and those of words less. Where one text is one and a half times as long as the other or
// more, partial ratios take part, and count less the more the lengths differ.
func (f FuzzyWuzzy) WRatio(a, b string) int { return f.weighted(a, b, true) }

// UWRatio is [FuzzyWuzzy.WRatio] without dropping the characters of Latin-1 that are no
// ASCII.
func (f FuzzyWuzzy) UWRatio(a, b string) int { return f.weighted(a, b, false) }

func (f FuzzyWuzzy) weighted(a, b string, ascii bool) int {
	a, b = processed(a, ascii), processed(b, ascii)
	if a == "" || b == "" {
		return 0
	}
	m, n := float64(utf8.RuneCountInString(a)), float64(utf8.RuneCountInString(b))
	times := max(m, n) / min(m, n)
	base := float64(f.Ratio(a, b))
	words := .95
	if times < 1.5 {
		return round(max(base, float64(f.tokenSort(a, b, f.Ratio))*words, float64(f.tokenSet(a, b, f.Ratio))*words))
	}
	parts := .9
	if times > 8 {
		parts = .6
	}
	return round(max(base, float64(f.PartialRatio(a, b))*parts,
		float64(f.tokenSort(a, b, f.PartialRatio))*words*parts,
		float64(f.tokenSet(a, b, f.PartialRatio))*words*parts))
}
