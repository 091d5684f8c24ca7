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

// A shape is the type of an answer. Answers of one shape can stand for each other
// without looking odd.
type shape int

const (
	phrase     shape = iota // words
	abstention              // says that there is no answer
	yesNo
	date
	when // a time that is not a whole date
	number
	list
	name
)

// shapeOf returns the shape of a reference. What is not clearly anything else is a
// phrase.
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
	case len(words) <= 3 && allNames(words):
		return name
	}
	return phrase
}

// timeWords are words of answers that say when something was.
var timeWords = strings.Fields("ago yesterday today tomorrow week weekend month year before after last next morning evening")

// tellsTime reports whether an answer says when something was: it has a year or a
// month in it, or two words of time.
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
	ref   string // the first reference, "" when there is none
	shape shape
	pool  *pool
	seed  uint64
	kind  Kind
}

func subjectOf(it deem.Item, p *pool, seed uint64) subject {
	ref := firstReference(it)
	return subject{it: it, ref: ref, shape: shapeOf(ref), pool: p, seed: seed}
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

// chance returns random numbers of this item and this kind alone.
func (s subject) chance() *rand.Rand { return chance(s.seed, s.it.ID, string(s.kind)) }

// number returns a number from 0 up to n by chance.
func (s subject) number(n int) int { return s.chance().IntN(n) }

// unanswerable reports whether the right answer is that there is none.
func (s subject) unanswerable() bool { return s.shape == abstention }

// plain returns the words of a text in lower case with one blank between them.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}), " ")
}

// abstentions are the beginnings or parts of references that say that there is no
// answer, as datasets write them.
var abstentions = []string{
	"not mentioned", "no information", "not enough", "cannot be answered", "can not be answered", "can't be answered",
	"unanswerable", "i don t know", "i do not know", "did not mention", "didn t mention", "not provided", "not specified",
	"no answer", "unknown", "never mentioned", "not mention", "never discussed", "not discussed", "not stated", "does not say", "没有提到", "无法回答", "不知道",
}

func abstains(ref string) bool {
	p := plain(ref)
	return slices.ContainsFunc(abstentions, func(a string) bool { return strings.Contains(p, plain(a)) })
}

// polarity returns "yes" or "no" when a reference begins with it.
func polarity(ref string) string {
	first, _, _ := strings.Cut(plain(ref), " ")
	if first == "yes" || first == "no" {
		return first
	}
	return ""
}

// A span is a part of a text.
type span struct{ from, to int }

// cut returns the text with the part replaced.
func (s span) replace(text, by string) string { return text[:s.from] + by + text[s.to:] }

// A numberSpan is a number in a text.
type numberSpan struct {
	span
	digits string // without separators of thousands
	commas bool   // it has them
}

var numberForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`)
})

// numbers returns the numbers of a text that stand alone: no part of a date, of a
// time, of a range or of a word.
func numbers(text string) []numberSpan {
	ds := dates(text)
	var found []numberSpan
	for _, at := range numberForm().FindAllStringIndex(text, -1) {
		s := span{at[0], at[1]}
		inDate := slices.ContainsFunc(ds, func(d dateSpan) bool { return d.from <= s.from && s.to <= d.to })
		if inDate || touches(text, s) {
			continue
		}
		digits := text[s.from:s.to]
		found = append(found, numberSpan{s, strings.ReplaceAll(digits, ",", ""), strings.Contains(digits, ",")})
	}
	return found
}

// touches reports whether a number is a part of something else, as 10:30, B12, 3-4,
// 1st or 1/2.
func touches(text string, s span) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:s.from])
	after, _ := utf8.DecodeRuneInString(text[s.to:])
	joined := func(r rune) bool {
		return unicode.IsLetter(r) && r < 0x2e80 || strings.ContainsRune(":/-–'’#_.,", r)
	}
	// A full stop or a comma after a number ends a sentence or a clause.
	return joined(before) || joined(after) && after != '.' && after != ',' && after != '\''
}

// vagueWords make a number one that its neighbours satisfy too.
var vagueWords = []string{"about", "around", "approximately", "roughly", "nearly", "almost", "over", "under", "least", "most", "more", "less", "or", "to", "between", "circa", "several"}

// approximate reports whether an answer is not meant exactly.
func approximate(ref string) bool {
	return strings.ContainsAny(ref, "~≈") || slices.ContainsFunc(strings.Fields(plain(ref)), func(w string) bool { return slices.Contains(vagueWords, w) })
}

// allNames reports whether all words begin with a capital and are letters.
func allNames(words []string) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !isName(w) })
}

// isName reports whether a word looks like a name: a capital, then small letters. Words
// that are written so for other reasons are none.
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

// joints are what the parts of a list stand between.
var joints = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s*[;\n]\s*|,\s+(?:and\s+)?|\s+and\s+|\s*[、，；]\s*`)
})

// sentences are the beginnings of texts whose commas separate no list.
var sentences = []string{"he", "she", "they", "it", "i", "we", "you", "because", "the user", "when", "after", "before", "since"}

// parts returns the parts of a list, and nil for what is not a list for sure. A comma may
// stand between a city and its country, so two parts are a list only with "and" or a
// semicolon between them.
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

// enumerate writes parts as a list, as the reference is written.
func enumerate(list []string, ref string) string {
	if strings.Contains(ref, "、") {
		return strings.Join(list, "、")
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}

// content returns the words of a text that carry its meaning, as they are written.
func content(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' }) {
		if len(w) > 2 && !slices.Contains(stopWords, strings.ToLower(strings.TrimSuffix(w, "'s"))) {
			words = append(words, strings.TrimSuffix(w, "'s"))
		}
	}
	return words
}
