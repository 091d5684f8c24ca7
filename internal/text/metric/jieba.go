package metric

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

//go:generate go run jieba_gen.go /usr/lib/python3/dist-packages/jieba

// JiebaCut splits Chinese text into words exactly like jieba 0.42.1. Punctuation and white
// space are words too, and the concatenation of the words is s.
//
// The Chinese scores of LongBench depend on jieba's word boundaries, so a segmenter that is
// better, or only nearly the same, gives different numbers. JiebaCut is jieba.cut in its
// precise mode with the hidden Markov model, over jieba's own dictionary: the most likely
// path through the words of the dictionary, and for runs of single characters a guess at
// unknown words.
//
// The dictionary is unpacked at the first call, which takes tens of milliseconds and about
// ten megabytes. It and the tables of the model come from jieba, under the licence in the
// file jieba/LICENSE.
func JiebaCut(s string) []string {
	words := make([]string, 0, len(s)/4+1)
	for s != "" {
		n := jiebaSpan(s, inBlock)
		if n > 0 {
			words = cutBlock(words, s[:n])
		} else {
			n = jiebaSpan(s, func(r rune) bool { return !inBlock(r) })
			words = splitChars(words, s[:n])
		}
		s = s[n:]
	}
	return words
}

// inBlock reports whether r belongs to text that is split into words: the Chinese
// characters of Unicode 8, and the characters of words and numbers in Latin script.
func inBlock(r rune) bool {
	if r >= utf8.RuneSelf {
		return isHan(r)
	}
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+#&._%-", r)
}

func isHan(r rune) bool { return r >= firstHan && r <= lastHan }

// jiebaSpan returns the length of the longest prefix of s whose characters all satisfy in.
func jiebaSpan(s string, in func(rune) bool) int {
	return len(s) - len(strings.TrimLeftFunc(s, in))
}

// splitChars appends each character of s as a separate word. Only a two-character line end
// stays together.
func splitChars(words []string, s string) []string {
	for s != "" {
		_, n := utf8.DecodeRuneInString(s)
		if strings.HasPrefix(s, "\r\n") {
			n = 2
		}
		words = append(words, s[:n])
		s = s[n:]
	}
	return words
}

// cutBlock appends the words on the most likely path through s. Runs of single characters
// are collected and examined again by the model.
func cutBlock(words []string, s string) []string {
	d := load()
	b := newBlock(s)
	next := d.route(b)
	run := -1 // start of the current run of single characters
	for i := 0; i < b.len(); i = int(next[i]) {
		switch {
		case int(next[i]) == i+1:
			if run < 0 {
				run = i
			}
			continue
		case run >= 0:
			words = d.cutSingles(words, b.part(run, i))
			run = -1
		}
		words = append(words, b.part(i, int(next[i])))
	}
	if run >= 0 {
		words = d.cutSingles(words, b.part(run, b.len()))
	}
	return words
}

// cutSingles appends the words of a run of single characters. A run that is itself in the
// dictionary was not chosen because its parts are more likely, and stays split.
func (d *dictionary) cutSingles(words []string, s string) []string {
	if utf8.RuneCountInString(s) == 1 || d.has(s) {
		return splitChars(words, s)
	}
	for s != "" {
		n := jiebaSpan(s, isHan)
		if n > 0 {
			words = d.guess(words, s[:n])
		} else {
			n = jiebaSpan(s, func(r rune) bool { return !isHan(r) })
			words = append(words, latin.FindAllString(s[:n], -1)...)
		}
		s = s[n:]
	}
	return words
}

// latin matches a number or a Latin word, and the text between them.
var latin = regexp.MustCompile(`[a-zA-Z0-9]+(?:\.[0-9]+)?%?|[^a-zA-Z0-9]+`)

// A block is a text with the positions of its characters.
type block struct {
	s  string
	at []int32 // one more than there are characters
}

func newBlock(s string) block {
	at := make([]int32, 0, len(s)/2+2)
	for i := range s {
		at = append(at, int32(i))
	}
	return block{s, append(at, int32(len(s)))}
}

func (b block) len() int { return len(b.at) - 1 }

func (b block) part(i, j int) string { return b.s[b.at[i]:b.at[j]] }
