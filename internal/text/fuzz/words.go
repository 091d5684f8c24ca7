package fuzz

import (
	"math"
	"slices"
	"strings"

	"deem/internal/text"
)

// processed returns what the libraries compare unless told otherwise: letters, numbers and
// underscores in lower case, everything else as spaces. With ascii, characters from U+0080
// to U+00FF are dropped first, though none above; the name is upstream's.
func processed(s string, ascii bool) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case ascii && r >= 0x80 && r <= 0xff:
			return -1
		case text.IsWord(r):
			return r
		}
		return ' '
	}, s)
	return text.Strip(text.Lower(s))
}

// sortedWords returns the words of s in order, with one space between them.
func sortedWords(s string) string {
	words := text.Split(s)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// wordSet returns the distinct words of s in order.
func wordSet(s string) []string {
	words := text.Split(s)
	slices.Sort(words)
	return slices.Compact(words)
}

// divide returns the words that two sets share, and those that only one has.
func divide(a, b []string) (both, onlyA, onlyB []string) {
	for _, w := range a {
		if _, ok := slices.BinarySearch(b, w); ok {
			both = append(both, w)
		} else {
			onlyA = append(onlyA, w)
		}
	}
	for _, w := range b {
		if _, ok := slices.BinarySearch(both, w); !ok {
			onlyB = append(onlyB, w)
		}
	}
	return both, onlyA, onlyB
}

// round returns a whole number as Python rounds: halves go to the even one.
func round(f float64) int { return int(math.RoundToEven(f)) }
