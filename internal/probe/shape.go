package probe

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"deem"
)

// A shape is the type of an answer. Answers of the same shape can replace each other
// without looking odd.
type shape int

const (
	phrase     shape = iota // words
	abstention              // says that there is no answer
	yesNo
	date
	when // a time that is not a complete date
	number
	list
	name
)

// shapeOf returns the shape of a reference. The default is phrase.
func shapeOf(ref string) shape {
	ds, ns := dates(ref), numbers(ref)
	words := strings.Fields(ref)
	switch {
	case abstains(ref):
		return abstention
	case polarity(ref) != "":
		return yesNo
	case len(ds) == 1 && len(words) <= 6:
		return date
	case tellsTime(ref, ns) && len(words) <= 8:
		return when
	case len(ds) == 0 && len(ns)+spelledIn(words) == 1 && len(words) <= 4:
		return number
	case len(parts(ref)) > 1:
		return list
	case len(words) > 0 && len(words) <= 3 && !slices.ContainsFunc(words, func(w string) bool { return !isName(w) }):
		return name
	}
	return phrase
}

// timeWords are words that occur in answers to when something happened.
var timeWords = strings.Fields("ago yesterday today tomorrow week weekend month year before after last next morning evening")

// tellsTime reports whether an answer says when something happened: it contains a year or a
// month, or two time words.
func tellsTime(ref string, ns []numberSpan) bool {
	if slices.ContainsFunc(ns, isYear) {
		return true
	}
	n := 0
	for _, w := range strings.Fields(plain(ref)) {
		if len(w) > 3 && monthOf(w) != 0 && w[0] > '9' {
			return true
		}
		if slices.Contains(timeWords, w) {
			n++
		}
	}
	return n > 1
}

// A subject is an item that a probe is made from.
type subject struct {
	it    deem.Item
	ref   string // the first reference, or ""
	shape shape
	pool  pool
	seed  uint64
	kind  string
}

// firstReference returns the first reference that has text.
func firstReference(it deem.Item) string {
	for _, ref := range it.References {
		if ref = strings.TrimSpace(ref); ref != "" {
			return ref
		}
	}
	return ""
}

// chance returns a random generator for this item and kind.
func (s subject) chance() *rand.Rand { return chance(s.seed, s.it.ID, s.kind) }

// number returns a random number from 0 to n-1.
func (s subject) number(n int) int { return s.chance().IntN(n) }

// unanswerable reports whether the right answer is that there is none.
func (s subject) unanswerable() bool { return s.shape == abstention }

// plain returns the words of a text in lower case, separated by single spaces.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}), " ")
}

// abstentions are phrases with which datasets say in a reference that there is no answer.
var abstentions = []string{
	"not mentioned", "no information", "not enough", "cannot be answered", "can not be answered", "can't be answered",
	"unanswerable", "i don t know", "i do not know", "did not mention", "didn t mention", "not provided", "not specified",
	"no answer", "unknown", "never mentioned", "not mention", "never discussed", "not discussed", "not stated", "does not say", "没有提到", "无法回答", "不知道",
}

func abstains(ref string) bool {
	p := plain(ref)
	return slices.ContainsFunc(abstentions, func(a string) bool { return strings.Contains(p, plain(a)) })
}

// polarity returns "yes" or "no" if a reference begins with it.
func polarity(ref string) string {
	first, _, _ := strings.Cut(plain(ref), " ")
	if first == "yes" || first == "no" {
		return first
	}
	return ""
}

// A span is a part of a text.
type span struct{ from, to int }

func (s span) replace(text, by string) string { return text[:s.from] + by + text[s.to:] }

type numberSpan struct {
	span
	digits string // without thousands separators
	commas bool   // has thousands separators
}

var numberForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`)
})

// numbers returns the numbers in a text that are not part of a date, a time, a range or a
// word.
func numbers(text string) []numberSpan {
	ds := dates(text)
	var found []numberSpan
	for _, at := range numberForm().FindAllStringIndex(text, -1) {
		s := span{at[0], at[1]}
		inDate := slices.ContainsFunc(ds, func(d dateSpan) bool { return d.from <= s.from && s.to <= d.to })
		before, _ := utf8.DecodeLastRuneInString(text[:s.from])
		after, _ := utf8.DecodeRuneInString(text[s.to:])
		// A full stop or a comma after a number ends a sentence or a clause.
		if inDate || joined(before) || joined(after) && after != '.' && after != ',' && after != '\'' {
			continue
		}
		digits := text[s.from:s.to]
		found = append(found, numberSpan{s, strings.ReplaceAll(digits, ",", ""), strings.Contains(digits, ",")})
	}
	return found
}

// joined reports whether a rune next to a number makes it part of something else, such as
// 10:30, B12, 3-4, 1st or 1/2.
func joined(r rune) bool {
	return unicode.IsLetter(r) && r < 0x2e80 || strings.ContainsRune(":/-–'’#_.,", r)
}

// vagueWords next to a number mean that other values satisfy it too.
var vagueWords = []string{"about", "around", "approximately", "roughly", "nearly", "almost", "over", "under", "least", "most", "more", "less", "or", "to", "between", "circa", "several"}

// approximate reports whether an answer is not exact.
func approximate(ref string) bool {
	return strings.ContainsAny(ref, "~≈") || slices.ContainsFunc(strings.Fields(plain(ref)), func(w string) bool { return slices.Contains(vagueWords, w) })
}

// isName reports whether a word looks like a name: a capital, then lower-case letters.
// Words that are capitalised for other reasons do not count.
func isName(w string) bool {
	w = strings.TrimRight(w, ".,;:!?")
	for i, r := range []rune(w) {
		if i == 0 && !unicode.IsUpper(r) || i > 0 && !unicode.IsLower(r) {
			return false
		}
	}
	lower := strings.ToLower(w)
	return len(w) > 2 && !slices.Contains(stopWords, lower) && dictionary[lower] == nil && monthOf(lower) == 0
}

// joints matches the separators of a list.
var joints = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s*[;\n]\s*|,\s+(?:and\s+)?|\s+and\s+|\s*[、，；]\s*`)
})

// sentences are beginnings of texts whose commas do not separate list items.
var sentences = []string{"he", "she", "they", "it", "i", "we", "you", "because", "the user", "when", "after", "before", "since"}

// parts returns the parts of a list, or nil if it may not be one. A comma may separate a
// city from its country, so two parts are a list only if "and" or a semicolon separates
// them.
func parts(ref string) []string {
	p := plain(ref)
	if len(dates(ref)) > 0 || polarity(ref) != "" || strings.ContainsAny(ref, "()?:") || strings.Contains(" "+p+" ", " or ") || strings.Contains(" "+p+" ", " between ") {
		return nil
	}
	if slices.ContainsFunc(sentences, func(s string) bool { return strings.HasPrefix(p+" ", s+" ") }) {
		return nil
	}
	found := joints().Split(strings.TrimRight(ref, ".。 "), -1)
	commasOnly := !strings.Contains(ref, " and ") && !strings.ContainsAny(ref, ";\n、；")
	if len(found) < 2 || len(found) == 2 && commasOnly {
		return nil
	}
	longest := 4
	if len(found) == 2 {
		longest = 3 // two clauses are not a list
	}
	for i, part := range found {
		if n := len(strings.Fields(part)); n == 0 || n > longest || slices.Index(found, part) < i {
			return nil
		}
	}
	return found
}

// enumerate writes parts as a list, in the style of the reference.
func enumerate(list []string, ref string) string {
	if strings.Contains(ref, "、") {
		return strings.Join(list, "、")
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}

// content returns the words of a text that carry its meaning, unchanged.
func content(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' }) {
		if len(w) > 2 && !slices.Contains(stopWords, strings.ToLower(strings.TrimSuffix(w, "'s"))) {
			words = append(words, strings.TrimSuffix(w, "'s"))
		}
	}
	return words
}
