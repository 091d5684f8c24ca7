package text

import "strings"

// SQuAD returns s as the scoring program of SQuAD v1.1 compares answers: in lower
// case, without ASCII punctuation, without the words a, an and the, and with
// single spaces. Punctuation goes before the articles, so "a-b" becomes "ab".
func SQuAD(s string) string {
	return strings.Join(Split(blankArticles(dropPunct(Lower(s)))), " ")
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

// blankArticles replaces each a, an and the by a space, as re.sub does with
// \b(a|an|the)\b. A match begins and ends at a word boundary, so it is always a
// whole run of word characters.
func blankArticles(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	run, inRun := 0, false // the run of word characters being read
	end := func(i int) {
		switch s[run:i] {
		case "a", "an", "the":
			b.WriteByte(' ')
		default:
			b.WriteString(s[run:i])
		}
	}
	for i, r := range s {
		if word := IsWord(r); word != inRun {
			if inRun {
				end(i)
			} else {
				b.WriteString(s[run:i])
			}
			run, inRun = i, word
		}
	}
	if inRun {
		end(len(s))
	} else {
		b.WriteString(s[run:])
	}
	return b.String()
}
