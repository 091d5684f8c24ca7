package evidence

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"deem/internal/text"
)

// This file is about what words leave out. C, C++ and C# are one word to the
// tokenizer, and so are O+ and O-; 5 > 3 and 5 < 3 have the same numbers. Where texts
// are the same by their words but not by such symbols, match is unsure.

// canonical returns s without white space around it, in Unicode's form in which
// characters that mean the same are the same. That form makes 106 of 10⁶, which here is
// 10^6.
func canonical(s string) string {
	return norm.NFKC.String(raised.Replace(strings.TrimSpace(s)))
}

var raised = func() *strings.Replacer {
	var pairs []string
	for _, r := range superscripts + "⁺⁻" {
		pairs = append(pairs, string(r), "^"+string(r))
	}
	return strings.NewReplacer(pairs...)
}()

// blank reports whether s has no visible character.
func blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && unicode.IsPrint(r) })
}

// narrow returns the ASCII character for a digit of any script and for a letter or a
// symbol of full width. Full-width punctuation stays, for Chinese is written with it.
func narrow(r rune) rune {
	const wide = '！' - '!'
	switch {
	case r < utf8.RuneSelf:
		return r
	case r >= '！' && r <= '～' && (unicode.IsLetter(r) || unicode.IsSymbol(r) || strings.ContainsRune("－％＃", r)):
		return r - wide
	case r == '￥':
		return '¥'
	}
	if d, ok := text.Decimal(r); ok {
		return '0' + rune(d)
	}
	return r
}

// An affix is what the symbols beside a word add to its meaning.
type affix struct {
	lead string // what relates it to what is before: ">" of "> 5", "≠" of "a != b"
	unit string // of a number: "$" of "$5", "%" of "5%"
	tail string // what is part of the word or ends the text: "++" of "C++", "×" of "it is ×"
}

// Symbols that may be an affix. An asterisk is not among them, for Markdown is full of
// it, and neither is a mark of punctuation.
const (
	leadSymbols  = "<>=+-−×÷±≤≥≠"
	tailSymbols  = "+-−#♯♭^⁺⁻" + superscripts
	superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹"
)

func isAffix(r rune) bool {
	return strings.ContainsRune(leadSymbols+tailSymbols+"%‰", r) || isCurrency(r)
}

// spellings make one symbol of those that mean the same.
var spellings = strings.NewReplacer("!=", "≠", "<=", "≤", ">=", "≥", "==", "=", "−", "-", "♯", "#", "⁺", "+", "⁻", "-")

// spelledOut are the words that stand for a tail.
var spelledOut = map[string]map[string]bool{
	"+": set("plus positive"), "-": set("minus negative"), "++": set("plus"), "#": set("sharp"), "♭": set("flat"),
}

// affix returns the symbols of token i, in one spelling.
func (r *reading) affix(i int) affix {
	return affix{lead: spellings.Replace(r.lead(i)), unit: r.unitSymbol(i), tail: spellings.Replace(r.tail(i) + r.ending(i))}
}

// tail returns the symbols that are part of token i, as they are written. A single
// plus or hyphen between two words is none, and a minus at the end is one only after
// a letter or two, as in O- and Cl-; elsewhere it is a dash.
func (r *reading) tail(i int) string {
	t, rest := r.toks[i], r.text[r.toks[i].to:]
	run := rest[:len(rest)-len(strings.TrimLeft(rest, tailSymbols))]
	next, _ := utf8.DecodeRuneInString(rest[len(run):])
	infix := unicode.IsLetter(next) || unicode.IsDigit(next)
	short := utf8.RuneCountInString(t.text) <= 2
	symbols := strings.TrimRight(run, "-−⁻")
	switch {
	case run == "" || drawn(run) || next == '=' || next == '>':
		return ""
	case strings.ContainsRune(run, '^'):
		if infix || next == '(' {
			return run // 10^6
		}
		return ""
	case infix && symbols == "+":
		return ""
	case strings.Trim(symbols, superscripts) == "" && symbols != "" && !short:
		return "" // a footnote
	case infix, symbols != "":
		return symbols
	case short && t.upper:
		return run
	}
	return ""
}

// ending returns the symbols that stand by themselves after the last word, as the × of
// "the sign is ×". After a number a symbol is its unit; a dash is a dash, and a
// superscript a footnote.
func (r *reading) ending(i int) string {
	t := r.toks[i]
	rest := r.text[t.to:]
	if i+1 < len(r.toks) || t.kind == number || !strings.HasPrefix(rest, " ") {
		return ""
	}
	rest = strings.Trim(rest, " \t\n.,;:!?\"'`*()")
	if rest == "-" || drawn(rest) || strings.ContainsAny(rest, superscripts) || strings.TrimFunc(rest, isAffix) != "" {
		return ""
	}
	return rest
}

// drawn reports whether a run of symbols is a line or an ornament and no sign: ---,
// ===, or a dash of two.
func drawn(run string) bool {
	if run == "--" || utf8.RuneCountInString(run) > 4 {
		return true
	}
	_, size := utf8.DecodeRuneInString(run)
	return len(run) > 2*size && strings.Trim(run, run[:size]) == ""
}

// lead returns the symbols that stand between token i and what is before it, as they
// are written. It is "" for the bullets and quotation marks of Markdown, for arrows and
// for tags.
func (r *reading) lead(i int) string {
	from, t := 0, r.toks[i]
	if i > 0 {
		from = r.toks[i-1].to + len(r.tail(i-1))
	}
	before := r.text[min(from, t.from):t.from]
	if t.kind == number {
		before = strings.TrimRightFunc(before, isCurrency)
		if strings.HasPrefix(t.text, "-") {
			before = strings.TrimSuffix(strings.TrimSuffix(before, "-"), "−")
		}
	}
	before, glued := strings.TrimRight(before, " \t"), !strings.HasSuffix(before, " ")
	head := strings.TrimRight(before, leadSymbols+" ")
	run := strings.ReplaceAll(before[len(head):], " ", "")
	if strings.HasPrefix(before[len(head):], "=") && strings.HasSuffix(head, "!") {
		run = "!" + run
	}
	lineStart := head == "" && i == 0 || strings.HasSuffix(head, "\n")
	switch {
	case run == "" || drawn(run) || r.inTag(i):
		return ""
	case strings.Contains(run, "->") || strings.Contains(run, "=>") || strings.Contains(run, "<-"):
		return ""
	case lineStart && (run == "+" || run == "-" || run == ">" && !glued):
		return ""
	}
	return run
}

// inTag reports whether what is before token i opens or closes a tag, as <b>.
func (r *reading) inTag(i int) bool {
	const longest = 64
	from := r.toks[i].from
	before, after := r.text[max(0, from-longest):from], r.text[from:min(len(r.text), from+longest)]
	if strings.HasSuffix(before, "<") || strings.HasSuffix(before, "</") {
		end := strings.IndexAny(after, "<>\n")
		return end >= 0 && after[end] == '>'
	}
	open := strings.LastIndexAny(strings.TrimRight(before, "> "), "<>\n")
	if open < 0 || before[open] != '<' || !strings.Contains(before[open:], ">") {
		return false
	}
	return letterAt(before, open+1) || strings.HasPrefix(before[open+1:], "/")
}

// unitSymbol returns the currency or the percent sign of a number.
func (r *reading) unitSymbol(i int) string {
	t := r.toks[i]
	if t.kind != number {
		return ""
	}
	if before, _ := utf8.DecodeLastRuneInString(r.text[:t.from]); isCurrency(before) {
		return string(before)
	}
	if after, _ := utf8.DecodeRuneInString(r.text[t.to:]); isCurrency(after) || after == '%' || after == '‰' {
		return string(after)
	}
	return ""
}

// withSymbols keeps match from accepting a response that has a word of the reference
// only with other symbols.
func (c *comparison) withSymbols(f finding, a *reading) finding {
	if f.call == wrong || !strings.ContainsFunc(a.text, isAffix) && !strings.ContainsFunc(c.response.text, isAffix) {
		return f // nearly always, and soon told
	}
	places := map[string][]int{} // where the response has the words of the reference
	for _, t := range a.toks {
		places[t.text] = nil
	}
	for i, t := range c.response.toks {
		if list, ok := places[t.text]; ok {
			places[t.text] = append(list, i)
		}
	}
	type symbolised struct {
		text string
		affix
	}
	seen := map[symbolised]bool{}
	for i, t := range a.toks {
		s := symbolised{t.text, a.affix(i)}
		if seen[s] || len(places[t.text]) == 0 {
			continue
		}
		seen[s] = true
		if slices.ContainsFunc(places[t.text], func(k int) bool { return sameSymbols(a, i, c.response, k) }) {
			continue
		}
		f.why = fmt.Sprintf("the reference has %q and the response has %q", a.withAffix(i), c.response.withAffix(places[t.text][0]))
		if f.call == right {
			f.call, f.share = unsure, .5
			return f.open()
		}
		return f.unseen()
	}
	return f
}

// sameSymbols reports whether token i of a and token k of b mean the same by their
// symbols. A unit may be left out or be written as a word.
func sameSymbols(a *reading, i int, b *reading, k int) bool {
	x, y := a.affix(i), b.affix(k)
	if x.unit != y.unit && x.unit != "" && y.unit != "" || !sameLead(x.lead, y.lead) {
		return false
	}
	return x.tail == y.tail || x.tail == "" && a.spells(i, y.tail) || y.tail == "" && b.spells(k, x.tail)
}

// sameLead reports whether two leads mean the same. A plus, an equals sign and a dash
// may be left out, for they say "and" and "is" and nothing; but a plus is not a dash.
func sameLead(x, y string) bool {
	if x == y || x == "" && softLeads[y] || y == "" && softLeads[x] {
		return true
	}
	return x != "+" && y != "+" && softLeads[x] && softLeads[y]
}

var softLeads = set("+ - =")

// spells reports whether the word after token i stands for a tail.
func (r *reading) spells(i int, tail string) bool {
	return i+1 < len(r.toks) && r.toks[i+1].brk == none && spelledOut[tail][r.toks[i+1].text]
}

// withAffix returns token i as it is written, with its symbols.
func (r *reading) withAffix(i int) string {
	t := r.toks[i]
	lead, unit, word := r.lead(i), r.unitSymbol(i), r.text[t.from:t.to]
	if strings.HasPrefix(r.text[t.to:], unit) {
		word += unit
	} else {
		word = unit + word
	}
	return strings.TrimSpace(lead + " " + word + r.tail(i) + " " + r.ending(i))
}
