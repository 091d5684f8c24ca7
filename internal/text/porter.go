package text

import (
	"strings"
	"unicode/utf8"
)

// Stem returns the stem of a word by Porter's algorithm with the extensions of NLTK 3.8,
// like PorterStemmer().stem: "dying" becomes "die" and not "dy", "flies" becomes "fli" but
// "dies" becomes "die", and words of one or two characters only change their case.
//
// The algorithm is that of M. F. Porter, An algorithm for suffix stripping, Program 14
// (1980); the steps below have the numbers of that paper.
func Stem(word string) string {
	// The table is case-sensitive, as upstream, so "Dying" goes through the steps.
	if stem, ok := irregular[word]; ok {
		return stem
	}
	lower := Lower(word)
	if len(word) <= 2*utf8.UTFMax && utf8.RuneCountInString(word) <= 2 {
		return lower
	}
	w := step1c(step1b(step1a(lower)))
	w = firstRule(step2(w), rules3)
	return step5b(step5a(step4(w)))
}

// irregular has the stems of irregular words.
var irregular = map[string]string{
	"sky": "sky", "skies": "sky",
	"dying": "die", "lying": "lie", "tying": "tie",
	"innings": "inning", "inning": "inning",
	"outings": "outing", "outing": "outing",
	"cannings": "canning", "canning": "canning",
	"news": "news", "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}

// A suffixRule replaces a suffix if the measure of the stem is large enough.
type suffixRule struct {
	suffix, replacement string
}

// rules2 are the rules of step 2, all with m > 0.
var rules2 = []suffixRule{
	{"ational", "ate"},
	{"tional", "tion"},
	{"enci", "ence"},
	{"anci", "ance"},
	{"izer", "ize"},
	{"bli", "ble"},
	{"alli", "al"},
	{"entli", "ent"},
	{"eli", "e"},
	{"ousli", "ous"},
	{"ization", "ize"},
	{"ation", "ate"},
	{"ator", "ate"},
	{"alism", "al"},
	{"iveness", "ive"},
	{"fulness", "ful"},
	{"ousness", "ous"},
	{"aliti", "al"},
	{"iviti", "ive"},
	{"biliti", "ble"},
	{"fulli", "ful"},
}

// rules3 are the rules of step 3, all with m > 0.
var rules3 = []suffixRule{
	{"icate", "ic"},
	{"ative", ""},
	{"alize", "al"},
	{"iciti", "ic"},
	{"ical", "ic"},
	{"ful", ""},
	{"ness", ""},
}

// suffixes4 are those that step 4 drops, all with m > 1. The order matters: "ement" is tried
// before "ment" and that before "ent".
var suffixes4 = []string{
	"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment",
	"ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
}

// firstRule applies the first rule whose suffix the word has. If the measure is too small
// the word stays unchanged: no later rule is tried.
func firstRule(w string, rules []suffixRule) string {
	for _, r := range rules {
		if stem, ok := strings.CutSuffix(w, r.suffix); ok {
			if measure(stem) > 0 {
				return stem + r.replacement
			}
			return w
		}
	}
	return w
}

func step1a(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && utf8.RuneCountInString(w) == 4:
		return w[:len(w)-1]
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"):
		return w
	}
	return strings.TrimSuffix(w, "s")
}

func step1b(w string) string {
	if stem, ok := strings.CutSuffix(w, "ied"); ok {
		if utf8.RuneCountInString(w) == 4 {
			return stem + "ie"
		}
		return stem + "i"
	}
	if stem, ok := strings.CutSuffix(w, "eed"); ok {
		if measure(stem) > 0 {
			return stem + "ee"
		}
		return w
	}
	for _, suffix := range []string{"ed", "ing"} {
		if stem, ok := strings.CutSuffix(w, suffix); ok && classify(stem).vowel {
			return fixStem(stem)
		}
	}
	return w
}

// fixStem fixes a stem that has just lost its -ed or -ing.
func fixStem(stem string) string {
	for _, end := range []string{"at", "bl", "iz"} {
		if strings.HasSuffix(stem, end) {
			return stem + "e"
		}
	}
	last, size := utf8.DecodeLastRuneInString(stem)
	switch {
	case endsDouble(stem):
		if last == 'l' || last == 's' || last == 'z' {
			return stem
		}
		return stem[:len(stem)-size]
	case strings.HasSuffix(stem, "*d"):
		// Upstream names the rule for double consonants "*d", and treats that name as a
		// suffix for a stem that really ends so.
		return stem[:len(stem)-2] + "d"
	case measure(stem) == 1 && endsCVC(stem):
		return stem + "e"
	}
	return stem
}

// step1c replaces a final y by i after a consonant that is not the first letter.
func step1c(w string) string {
	stem, ok := strings.CutSuffix(w, "y")
	if !ok {
		return w
	}
	c := classify(stem)
	if c.n > 1 && c.last[0] {
		return stem + "i"
	}
	return w
}

func step2(w string) string {
	if stem, ok := strings.CutSuffix(w, "alli"); ok && measure(stem) > 0 {
		return step2(stem + "al")
	}
	if strings.HasSuffix(w, "logi") {
		// The l counts as part of the stem, so that "geologi" has a measure.
		if measure(w[:len(w)-3]) > 0 {
			return w[:len(w)-1]
		}
		return w
	}
	return firstRule(w, rules2)
}

func step4(w string) string {
	for _, suffix := range suffixes4 {
		stem, ok := strings.CutSuffix(w, suffix)
		if !ok {
			continue
		}
		keepsIon := suffix == "ion" && !strings.HasSuffix(stem, "s") && !strings.HasSuffix(stem, "t")
		if measure(stem) > 1 && !keepsIon {
			return stem
		}
		return w
	}
	return w
}

func step5a(w string) string {
	stem, ok := strings.CutSuffix(w, "e")
	if !ok {
		return w
	}
	if m := measure(stem); m > 1 || m == 1 && !endsCVC(stem) {
		return stem
	}
	return w
}

func step5b(w string) string {
	if strings.HasSuffix(w, "ll") && measure(w[:len(w)-1]) > 1 {
		return w[:len(w)-1]
	}
	return w
}

// classes classifies the letters of a word as consonants and vowels. A y is a consonant at
// the beginning of the word and after a vowel; every character except a, e, i, o, u and y
// is a consonant.
type classes struct {
	n       int     // number of characters
	m       int     // how many times a vowel is followed by a consonant
	vowel   bool    // whether there is a vowel
	last    [3]bool // whether the last characters are consonants, last first
	letters [2]rune // the last characters, last first
}

func classify(w string) (c classes) {
	for _, r := range w {
		consonant := true
		switch r {
		case 'a', 'e', 'i', 'o', 'u':
			consonant = false
		case 'y':
			consonant = c.n == 0 || !c.last[0]
		}
		if consonant && c.n > 0 && !c.last[0] {
			c.m++
		}
		c.vowel = c.vowel || !consonant
		c.last = [3]bool{consonant, c.last[0], c.last[1]}
		c.letters = [2]rune{r, c.letters[0]}
		c.n++
	}
	return c
}

// measure returns Porter's m: how many times a run of vowels is followed by a run of
// consonants.
func measure(w string) int {
	return classify(w).m
}

// endsDouble is Porter's *d: the word ends with a double consonant.
func endsDouble(w string) bool {
	c := classify(w)
	return c.n >= 2 && c.letters[0] == c.letters[1] && c.last[0]
}

// endsCVC is Porter's *o: the word ends with consonant, vowel, consonant, and the last one
// is not w, x or y. NLTK also accepts a word of a vowel and a consonant.
func endsCVC(w string) bool {
	c := classify(w)
	if c.n == 2 {
		return !c.last[1] && c.last[0]
	}
	l := c.letters[0]
	return c.n >= 3 && c.last[2] && !c.last[1] && c.last[0] && l != 'w' && l != 'x' && l != 'y'
}
