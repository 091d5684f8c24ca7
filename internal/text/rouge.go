package text

import "strings"

// ROUGEWords returns the words of s as defined by rouge_score 0.1.2: runs of a to z and 0
// to 9 in the lower-cased text. Text in other scripts is dropped, and "café" becomes "caf".
// With stem, words of more than three letters are stemmed.
func ROUGEWords(s string, stem bool) []string {
	words := strings.FieldsFunc(Lower(s), func(r rune) bool { return (r < 'a' || r > 'z') && !isDigit(r) })
	for i, w := range words {
		if stem && len(w) > 3 {
			words[i] = Stem(w)
		}
	}
	return words
}
