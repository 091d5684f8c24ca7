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
	for from, to, seen := nextRun(s, 0); from < to; from, to, seen = nextRun(s, to) {
		w := lowerLetters(&b, s[from:to], seen, len(s)-from)
		if stem && len(w) > 3 {
			w = Stem(w)
		}
		words = append(words, w)
	}
	return words
}

// nextRun returns where the first run of letters and digits of s[i:] begins and ends,
// and whether it has capitals.
func nextRun(s string, i int) (from, to int, seen kind) {
	for from = i; from < len(s) && kinds[s[from]]&^capital != 0; {
		from++
	}
	for to = from; to < len(s) && kinds[s[to]]&^capital == 0; to++ {
		seen |= kinds[s[to]]
	}
	return from, to, seen
}
