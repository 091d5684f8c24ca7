package infinitebench

import (
	"regexp"
	"slices"
	"strings"

	"deem/internal/text"
)

// The forms in which a response names an option. An A followed by a lower-case letter is
// the article.
var (
	// aLetter matches a response, or a first line, that is only a letter.
	aLetter = regexp.MustCompile("^[\\s(*:\"'`]*([A-D])[ )*.\"'`]*(?:\n|$)")

	// announced matches a letter after words that announce it.
	announced = regexp.MustCompile("(?i:\\b(?:is|answer):?[\\s*]*(?:option|choice)?)[\\s*(\"'`:]*" +
		`(?:([B-D])(?:\W|$)|(A)(?:[^\w\s]|\s*$|\s*\n|\s+[^a-z\s]))`)

	// marked matches a letter before the text of its option.
	marked = regexp.MustCompile("^[\\s(*:\"'`-]*([A-D])[).:,]")

	// listed matches the same at the beginning of any line.
	listed = regexp.MustCompile("(?m)^[\\s(*\"'`-]*([A-D])[).:]")

	announces = regexp.MustCompile(`(?i:\b(?:is|answer)\b:?)`)
)

// settlesOn reports whether a response decides on the option whose letter or text is the
// reference.
func settlesOn(response, ref string) bool {
	// A base model may continue with the next question.
	response, _, _ = strings.Cut(response, "\nQuestion:")
	letter := option(response)
	switch {
	case len(ref) == 1 && ref[0] >= 'A' && ref[0] <= 'D':
		return letter == ref
	case letter != "":
		return false // The letter counts, whatever text follows it.
	case begins(response, ref):
		return true
	}
	places := announces.FindAllStringIndex(response, -1)
	return len(places) > 0 && begins(response[places[len(places)-1][1]:], ref)
}

// option returns the letter that a response decides on, or "". A letter alone decides; then
// the last one that is announced; then one before its text, unless the response lists other
// options too.
func option(response string) string {
	if m := aLetter.FindStringSubmatch(response); m != nil {
		return m[1]
	}
	if all := announced.FindAllStringSubmatch(response, -1); len(all) > 0 {
		last := all[len(all)-1]
		return last[1] + last[2]
	}
	m := marked.FindStringSubmatch(response)
	if m == nil {
		return ""
	}
	for _, other := range listed.FindAllStringSubmatch(response, -1) {
		if other[1] != m[1] {
			return ""
		}
	}
	return m[1]
}

// begins reports whether a text begins with the words of another, ignoring case and
// punctuation.
func begins(s, with string) bool {
	got, want := plainWords(s), plainWords(with)
	return len(want) > 0 && len(got) >= len(want) && slices.Equal(got[:len(want)], want)
}

// plainWords returns the words of a text in lower case, without leading and trailing
// punctuation.
func plainWords(s string) []string {
	var list []string
	for _, w := range splitWords(text.Lower(s)) {
		if w = strings.TrimFunc(w, text.IsPunct); w != "" {
			list = append(list, w)
		}
	}
	return list
}
