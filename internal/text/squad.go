package text

import "strings"

// SQuAD returns s as the scoring program of SQuAD v1.1 compares answers: in lower
// case, without ASCII punctuation, without the words a, an and the, and with
// single spaces. Punctuation goes before the articles, so "a-b" becomes "ab".
func SQuAD(s string) string { return strings.Join(SQuADWords(s), " ") }

// SQuADWords returns the words of [SQuAD].
func SQuADWords(s string) []string {
	return normalWords(s, isArticle, func(w string) string { return blankWords(dropPunct(Lower(w)), IsWord, isArticle) })
}

func isArticle(w string) bool { return w == "a" || w == "an" || w == "the" }

// normalWords returns the words of s in lower case and without punctuation and
// articles. A word with other characters than letters, digits and punctuation of ASCII
// is left to careful, whose white space separates words. A control character is such
// a one: it is not part of a word, and yet no space.
//
// The programs that it stands for do one thing after the other to the whole text. No
// step looks past white space, so that here a word goes through all of them before the
// next, and almost every word by a table.
func normalWords(s string, article func(string) bool, careful func(string) string) []string {
	words := make([]string, 0, countWords(s))
	var b strings.Builder
	for from, to, seen := nextWord(s, 0); from < to; from, to, seen = nextWord(s, to) {
		if seen&(control|long) != 0 {
			words = append(words, Split(careful(s[from:to]))...)
			continue
		}
		if w := lowerLetters(&b, s[from:to], seen, len(s)-from); w != "" && !article(w) {
			words = append(words, w)
		}
	}
	return words
}

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
