package server

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"deem"
	"deem/judge/match"
)

// What becomes of a word of a reference or a response when the two are compared.
const (
	wordFound   = "found"   // The other text has it too.
	wordMissing = "missing" // The response lacks this word of the reference.
	wordAgainst = "against" // A figure of the response that neither reference nor question has.
)

// maxHighlight is how long texts may be for their words to be compared, in bytes.
const maxHighlight = 32 << 10

// wordPattern finds words and figures, as 1,450, 12:30 and well-known.
var wordPattern = regexp.MustCompile(`[\pL\pM\pN]+(?:[.,:'’/-][\pL\pM\pN]+)*`)

// rootsOf returns what a word counts as when texts are compared: the roots under which the
// judge match knows it, and a figure without the signs within it.
func rootsOf(word string) []string {
	roots := match.ContentWords(word)
	if hasDigit(word) {
		roots = append(roots, strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, word))
	}
	return roots
}

func hasDigit(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }

// wordsOf returns the roots of all words in texts.
func wordsOf(texts ...string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		for _, word := range wordPattern.FindAllString(text, -1) {
			for _, root := range rootsOf(word) {
				set[root] = true
			}
		}
	}
	return set
}

// piecesBy cuts a text into words and what stands between them, each with the class that a
// function gives the word.
func piecesBy(text string, class func(word string, roots []string) string) []piece {
	var list []piece
	add := func(text, class string) {
		if n := len(list); n > 0 && list[n-1].Class == class {
			list[n-1].Text += text
		} else if text != "" {
			list = append(list, piece{text, class})
		}
	}
	end := 0
	for _, at := range wordPattern.FindAllStringIndex(text, -1) {
		add(text[end:at[0]], "")
		word := text[at[0]:at[1]]
		add(word, class(word, rootsOf(word)))
		end = at[1]
	}
	add(text[end:], "")
	return list
}

// highlight marks in the texts of an item what speaks for and against the response: the
// words of the reference that it has, those that it lacks, and figures that it has instead.
func (v *itemView) highlight() {
	size := len(v.Response.Text)
	var refs []string
	for _, ref := range v.References {
		size += len(ref.Text)
		refs = append(refs, ref.Text)
	}
	if len(refs) == 0 || size > maxHighlight {
		return
	}
	wanted, given, asked := wordsOf(refs...), wordsOf(v.Response.Text), wordsOf(v.Question.Text)
	figures := slices.ContainsFunc(slices.Collect(maps.Keys(wanted)), hasDigit)
	in := func(set map[string]bool, roots []string) bool {
		return slices.ContainsFunc(roots, func(root string) bool { return set[root] })
	}
	v.Response.Pieces = piecesBy(v.Response.Text, func(word string, roots []string) string {
		switch {
		case in(wanted, roots):
			return wordFound
		case figures && hasDigit(word) && !in(asked, roots):
			return wordAgainst
		}
		return ""
	})
	for i := range v.References {
		v.References[i].Pieces = piecesBy(v.References[i].Text, func(_ string, roots []string) string {
			switch {
			case len(roots) == 0:
				return ""
			case in(given, roots):
				return wordFound
			}
			return wordMissing
		})
	}
}

// slots marks in a prompt what was filled in from the item. A text of the item may occur
// by chance, so that very short ones are not looked for.
func slots(prompt string, it deem.Item) []piece {
	type span struct{ from, to int }
	var spans []span
	texts := append([]string{it.Response, it.Question}, it.References...)
	for _, name := range slices.Sorted(maps.Keys(it.Fields)) {
		texts = append(texts, it.Fields[name])
	}
	for _, text := range texts {
		if len(strings.TrimSpace(text)) < 3 || len(text) > len(prompt) {
			continue
		}
		from := strings.Index(prompt, text)
		if from < 0 || slices.ContainsFunc(spans, func(s span) bool { return from < s.to && s.from < from+len(text) }) {
			continue
		}
		spans = append(spans, span{from, from + len(text)})
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var list []piece
	end := 0
	for _, s := range spans {
		list = append(list, piece{prompt[end:s.from], ""}, piece{prompt[s.from:s.to], "slot"})
		end = s.to
	}
	return append(list, piece{prompt[end:], ""})
}

// pretty returns JSON with a line for each value, and other texts as they are.
func pretty(text string) string {
	var b bytes.Buffer
	if t := strings.TrimSpace(text); len(t) > 1 && (t[0] == '{' || t[0] == '[') && json.Indent(&b, []byte(t), "", "  ") == nil {
		return b.String()
	}
	return text
}
