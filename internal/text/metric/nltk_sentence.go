package metric

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"deem/internal/text"

	"github.com/neurosnap/sentences/data"
)

// NLTKSentences splits a text into sentences like sent_tokenize of NLTK 3.8 for English: by
// Punkt of T. Kiss and J. Strunk, Unsupervised multilingual sentence boundary detection,
// Computational Linguistics 32 (2006). White space between sentences is dropped, and white
// space inside them is kept.
func NLTKSentences(s string) []string {
	p := english()
	var list []span
	from := 0
	for _, e := range endings(s) {
		if p.breaks(s[e.context.from:e.context.to]) {
			list = append(list, span{from, e.at + 1})
			from = e.next
		}
	}
	list = append(list, span{from, len(strings.TrimRightFunc(s, text.IsSpace))})

	// Closing quotes and brackets move to the previous sentence, and sentences that become
	// empty are dropped.
	var out []string
	shift := 0
	for i, sp := range list {
		sp.from += shift
		shift = 0
		closing := 0
		if i+1 < len(list) {
			closing, shift = closers(s[list[i+1].from:max(list[i+1].from, list[i+1].to)])
		}
		switch {
		case shift > 0:
			out = append(out, s[sp.from:list[i+1].from+closing])
		case sp.from < sp.to:
			out = append(out, s[sp.from:sp.to])
		}
	}
	return out
}

// A span is a part of a text.
type span struct{ from, to int }

// An ending is a character that may end a sentence, with its context.
type ending struct {
	at      int  // its position
	next    int  // start of the next sentence
	context span // the word that it ends, and one character or the next word after it
}

// endings returns the positions where a sentence may end. If there are several in one word,
// as in "what?!", the last counts.
func endings(s string) []ending {
	var list []ending
	for i := range len(s) {
		e, ok := endingAt(s, i)
		if !ok {
			continue
		}
		var last ending
		if len(list) > 0 {
			last = list[len(list)-1]
		}
		e.context.from = last.context.from
		// A space in the first position is ignored, as upstream.
		if n := strings.LastIndexAny(s[last.at:i], " \t\n\r\v\f"); n > 0 {
			e.context.from = last.at + n + 1
		}
		if len(list) > 0 && last.at > e.context.from {
			list = list[:len(list)-1]
		}
		list = append(list, e)
	}
	return list
}

// endingAt returns the ending at s[i], if there is one: a period, question mark or
// exclamation mark before punctuation, or before white space and something else. It does
// not set the start of the context.
func endingAt(s string, i int) (ending, bool) {
	if c := s[i]; c != '.' && c != '?' && c != '!' || i+1 == len(s) {
		return ending{}, false
	}
	if isNonWord(s[i+1]) {
		return ending{at: i, next: i + 1, context: span{to: i + 2}}, true
	}
	next := i + 1 + spaces(s[i+1:])
	if next == i+1 || next == len(s) {
		return ending{}, false
	}
	end := strings.IndexFunc(s[next:], text.IsSpace)
	if end < 0 {
		end = len(s) - next
	}
	return ending{at: i, next: next, context: span{to: next + end}}, true
}

// spaces returns the number of bytes of leading white space in s.
func spaces(s string) int {
	return len(s) - len(strings.TrimLeftFunc(s, text.IsSpace))
}

// isNonWord reports whether c cannot be part of a word in Punkt.
func isNonWord(c byte) bool { return strings.IndexByte(`)";}]*:@'({[?!`, c) >= 0 }

// closers returns the number of bytes of closing quotes and brackets at the beginning of s,
// and the number including the white space after them. Both are 0 if they are followed by
// anything except white space, a double dash or the end.
func closers(s string) (closing, all int) {
	for closing < len(s) && strings.IndexByte(`"')]}`, s[closing]) >= 0 {
		closing++
	}
	if closing == 0 {
		return 0, 0
	}
	rest := s[closing:]
	if n := spaces(rest); n > 0 || rest == "" || strings.HasPrefix(rest, "--") {
		return closing, closing + n
	}
	return 0, 0
}

// breaks reports whether a sentence ends inside the context of an ending.
func (p *params) breaks(context string) bool {
	tokens := p.tokens(context)
	for i := range len(tokens) - 1 {
		if p.reconsider(&tokens[i], &tokens[i+1]); tokens[i].breaks {
			return true
		}
	}
	return false
}

// A token is a word in Punkt.
type token struct {
	text     string
	kind     string // in lower case, and the same for all numbers
	breaks   bool   // it ends a sentence
	short    bool   // it is an abbreviation
	ellipsis bool
}

// number is the kind of all numbers.
const number = "##number##"

// tokens returns the words of s with their properties by form alone.
func (p *params) tokens(s string) []token {
	var list []token
	for line := range strings.SplitSeq(s, "\n") {
		for line != "" {
			if n := spaces(line); n > 0 {
				line = line[n:]
				continue
			}
			n := wordLen(line)
			list = append(list, p.newToken(line[:n]))
			line = line[n:]
		}
	}
	return list
}

func (p *params) newToken(s string) token {
	t := token{text: s, kind: text.Lower(s)}
	if isNumber.MatchString(t.kind) {
		t.kind = number
	}
	switch {
	case s == "." || s == "?" || s == "!":
		t.breaks = true
	case len(s) > 1 && strings.Trim(s, ".") == "":
		t.ellipsis = true
	case strings.HasSuffix(s, ".") && !strings.HasSuffix(s, ".."):
		stem := text.Lower(s[:len(s)-1])
		t.short = p.abbreviations[stem] || p.abbreviations[stem[strings.LastIndexByte(stem, '-')+1:]]
		t.breaks = !t.short
	}
	return t
}

// isNumber matches a number, with an optional sign, separators and final period.
var isNumber = regexp.MustCompile(`^-?[.,]?\p{Nd}[\p{Nd},.-]*$`)

// bare returns the kind without its final period.
func (t *token) bare() string {
	if len(t.kind) > 1 {
		return strings.TrimSuffix(t.kind, ".")
	}
	return t.kind
}

// unbroken returns the kind, without its period if that ends a sentence.
func (t *token) unbroken() string {
	if t.breaks {
		return t.bare()
	}
	return t.kind
}

func (t *token) upper() bool {
	r, _ := utf8.DecodeRuneInString(t.text)
	return unicode.In(r, unicode.Lu, unicode.Other_Uppercase)
}

// reconsider revises the properties of a word with a final period by the word that follows.
// The numbers in brackets are the sections of the paper.
func (p *params) reconsider(t, next *token) {
	if !strings.HasSuffix(t.text, ".") {
		return
	}
	kind, nextKind := t.bare(), next.unbroken()
	if p.collocations[pair{kind, nextKind}] { // [4.1.2]
		t.breaks, t.short = false, true
		return
	}
	r, size := utf8.DecodeRuneInString(t.text)
	initial := text.IsWord(r) && !unicode.IsDigit(r) && t.text[size:] == "." // one letter and a period
	starts := p.starts(next)                                                 // [4.1.1]
	if (t.short || t.ellipsis) && !initial {
		if starts == yes || next.upper() && p.starters[nextKind] { // [4.1.3]
			t.breaks = true
			return
		}
	}
	if !initial && kind != number { // [4.3]
		return
	}
	// J. Bach: a name is always capitalized.
	name := initial && next.upper() && p.context[nextKind]&anyLower == 0
	if starts == no || starts == unsure && name {
		t.breaks, t.short = false, true
	}
}

// An answer is yes, no or unsure.
type answer int

const (
	unsure answer = iota
	yes
	no
)

// starts estimates whether a sentence starts with the token, from the recorded case of its
// first letter.
func (p *params) starts(t *token) answer {
	if len(t.text) == 1 && strings.IndexByte(";:,.!?", t.text[0]) >= 0 {
		return no
	}
	seen := p.context[t.unbroken()]
	first, _ := utf8.DecodeRuneInString(t.text)
	switch {
	case t.upper() && seen&anyLower != 0 && seen&insideUpper == 0:
		return yes
	case unicode.In(first, unicode.Ll, unicode.Other_Lowercase) && (seen&anyUpper != 0 || seen&beginsLower == 0):
		return no
	}
	return unsure
}

// wordLen returns the length in bytes of the first word of s, as defined by Punkt: a run of
// dashes or periods, or the text up to white space or punctuation, or else one character.
// The text does not begin with white space.
func wordLen(s string) int {
	if n := multiLen(s); n > 0 {
		return n
	}
	_, n := utf8.DecodeRuneInString(s)
	if strings.IndexByte("(\"`{[:;&#*@)}]-,", s[0]) >= 0 {
		return n // No word begins with these.
	}
	// A comma ends the word only if the text after the comma would end it too, so that 1,000
	// is one word.
	for n < len(s) && !endsWord(s[n:]) && (s[n] != ',' || n+1 < len(s) && !endsWord(s[n+1:])) {
		_, size := utf8.DecodeRuneInString(s[n:])
		n += size
	}
	return n
}

// endsWord reports whether the word before s ends there, unless s begins with a comma.
func endsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isNonWord(s[0]) || text.IsSpace(r) || multiLen(s) > 0
}

// multiLen returns the length in bytes of the multi-character punctuation at the beginning
// of s: "--", "...", or ". . .".
func multiLen(s string) int {
	for _, c := range []string{"-", "."} {
		if n := len(s) - len(strings.TrimLeft(s, c)); n > 1 {
			return n
		}
	}
	n, last := 0, 0
	for periods := 1; n < len(s) && s[n] == '.'; periods++ {
		n++
		if periods > 2 {
			last = n
		}
		r, size := utf8.DecodeRuneInString(s[n:])
		if !text.IsSpace(r) || n == len(s) {
			break
		}
		n += size
	}
	return last
}

// params are the parameters of Punkt, trained on English newspapers.
type params struct {
	abbreviations map[string]bool  // without the final period
	collocations  map[pair]bool    // pairs of words before and after a period that belong together
	starters      map[string]bool  // words that often begin a sentence
	context       map[string]ortho // where a word was seen, and with which case of its first letter
}

// A pair is two consecutive words.
type pair struct{ first, second string }

// ortho is the set of positions in which a word was seen, by case of its first letter, one
// bit for each. The values are those of NLTK.
type ortho uint8

const (
	beginsUpper  ortho = 1 << (iota + 1) // at the beginning of a sentence, in upper case
	insideUpper                          // inside a sentence
	unknownUpper                         // position unknown
	beginsLower                          // the same in lower case
	insideLower                          //
	unknownLower                         //
	anyUpper     = beginsUpper | insideUpper | unknownUpper
	anyLower     = beginsLower | insideLower | unknownLower
)

// english returns the parameters for English. They are read on first use, because that
// takes a moment.
var english = sync.OnceValue(func() *params {
	raw, err := data.Asset("data/english.json")
	if err != nil {
		panic("nltk: " + err.Error()) // Cannot happen: the file is embedded.
	}
	var file struct {
		AbbrevTypes, Collocations, SentStarters map[string]int
		OrthoContext                            map[string]ortho
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		panic("nltk: english.json: " + err.Error())
	}
	p := &params{
		abbreviations: keys(file.AbbrevTypes),
		collocations:  map[pair]bool{},
		starters:      keys(file.SentStarters),
		context:       file.OrthoContext,
	}
	// The module has one word more than the files punkt_tab, in which NLTK ships the
	// parameters. Otherwise abbreviations, collocations and starters are equal, and the
	// contexts have the same number of bytes.
	delete(p.starters, "she")
	for c := range file.Collocations {
		first, second, _ := strings.Cut(c, ",")
		p.collocations[pair{first, second}] = true
	}
	return p
})

func keys(m map[string]int) map[string]bool {
	set := make(map[string]bool, len(m))
	for k := range m {
		set[k] = true
	}
	return set
}
