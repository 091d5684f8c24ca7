package metric

import (
	"slices"
	"unicode"

	"deem/internal/text"

	"golang.org/x/text/unicode/norm"
)

// LoCoMoHasAnswer reports whether one of the references occurs in a text, word for
// word. LoCoMo asks this of what a system retrieved. A reference without a word
// occurs everywhere.
func LoCoMoHasAnswer(s string, references []string) bool {
	words := LoCoMoTokens(s)
	return slices.ContainsFunc(references, func(ref string) bool {
		want := LoCoMoTokens(ref)
		for i := range len(words) - len(want) + 1 {
			if slices.Equal(words[i:i+len(want)], want) {
				return true
			}
		}
		return false
	})
}

// LoCoMoTokens returns the words that [LoCoMoHasAnswer] compares: runs of letters,
// numbers and marks, and each other visible character by itself, in lower case and
// with accents as characters of their own.
func LoCoMoTokens(s string) []string {
	var words []string
	s = norm.NFD.String(s)
	from := -1 // where the run begins that is being read
	for i, r := range s {
		run := unicode.In(r, unicode.L, unicode.N, unicode.M)
		if !run && from >= 0 {
			words = append(words, text.Lower(s[from:i]))
			from = -1
		}
		switch {
		case run && from < 0:
			from = i
		case unicode.In(r, unicode.P, unicode.S): // Whatever else there is cannot be seen.
			words = append(words, string(r))
		}
	}
	if from >= 0 {
		words = append(words, text.Lower(s[from:]))
	}
	return words
}
