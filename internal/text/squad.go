package text

import "strings"

// SQuAD returns s as the scoring program of SQuAD v1.1 compares answers: in lower
// case, without ASCII punctuation, without the words a, an and the, and with
// single spaces. Punctuation goes before the articles, so "a-b" becomes "ab".
func SQuAD(s string) string { return strings.Join(SQuADWords(s), " ") }

// SQuADWords returns the words of [SQuAD].
func SQuADWords(s string) []string {
	return Split(blankWords(dropPunct(Lower(s)), IsWord, isArticle))
}

func isArticle(w string) bool { return w == "a" || w == "an" || w == "the" }

// dropPunct deletes ASCII punctuation. It works on bytes, which is safe because
// no byte of a longer character is ASCII.
func dropPunct(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if !IsPunct(rune(s[i])) {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// blankWords replaces each run of word characters that is one of the words to drop
// by a space, as re.sub does with \b(...)\b. A match begins and ends at a word
// boundary, so it is always such a whole run.
func blankWords(s string, isWord func(rune) bool, drop func(string) bool) string {
	var b strings.Builder
	b.Grow(len(s))
	run, inRun := 0, false // the run of word characters being read
	end := func(i int) {
		if inRun && drop(s[run:i]) {
			b.WriteByte(' ')
		} else {
			b.WriteString(s[run:i])
		}
	}
	for i, r := range s {
		if word := isWord(r); word != inRun {
			end(i)
			run, inRun = i, word
		}
	}
	end(len(s))
	return b.String()
}
