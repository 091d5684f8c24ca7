package text

import "strings"

// ROUGEWords returns the words of s as rouge_score 0.1.2 sees them: runs of a to z
// and 0 to 9 in the lower-cased text. Nothing is left of a text in another script,
// and "café" becomes "caf". With stem, words of more than three letters are cut to
// their stems.
func ROUGEWords(s string, stem bool) []string {
	if !isASCII(s) {
		s = Lower(s) // It may give letters of ASCII, as k for the sign of kelvin.
	}
	words := make([]string, 0, countWords(s))
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		from := i
		for i < len(s) && isLetterOrDigit[s[i]] {
			i++
		}
		if from == i {
			continue
		}
		w, _ := plainWord(&b, s[from:i], len(s)-from)
		if stem && len(w) > 3 {
			w = Stem(w)
		}
		words = append(words, w)
	}
	return words
}

// isLetterOrDigit says which bytes are letters and digits of ASCII.
var isLetterOrDigit = func() (table [256]bool) {
	for c, left := range plainBytes {
		table[c] = left != 0 && left != notPlain
	}
	return table
}()
