package text

import "strings"

// SQuAD normalizes s as the scoring program of SQuAD v1.1 does: in lower case, without
// ASCII punctuation, without the words a, an and the, and with single spaces. Punctuation
// is removed before articles, so "a-b" becomes "ab".
func SQuAD(s string) string { return strings.Join(SQuADWords(s), " ") }

// SQuADWords returns the words of [SQuAD].
func SQuADWords(s string) []string {
	return Split(blankWords(dropPunct(Lower(s)), IsWord, isArticle))
}

func isArticle(w string) bool { return w == "a" || w == "an" || w == "the" }

// dropPunct deletes ASCII punctuation. It works on bytes, which is safe because multi-byte
// characters contain no ASCII bytes.
func dropPunct(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if !IsPunct(rune(s[i])) {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// blankWords replaces each run of word characters that drop selects by a space, like re.sub
// with \b(...)\b. A match begins and ends at a word boundary, so it is always a whole run.
func blankWords(s string, isWord func(rune) bool, drop func(string) bool) string {
	var b strings.Builder
	b.Grow(len(s))
	run, inRun := 0, false // the current run of word characters
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
