package evidence

import (
	"fmt"
	"slices"
	"strings"
)

// This file says which of the words of a response are claims. A response may have the words
// of the reference and yet deny them, offer them as one guess of several, or name them as
// the loser of a comparison.

// checked is a right finding for the words of a, of which the response has one occurrence at
// s, unless every occurrence is in doubt.
func (c *comparison) checked(a *reading, s span, conf float64, why string) finding {
	if !c.listed && c.listsMore(a) {
		return finding{call: unsure, why: fmt.Sprintf("the response lists others with %q, and does not choose", a.written(span{0, len(a.toks)})), share: .5}.amongOthers()
	}
	if s.len() == 0 {
		return finding{call: right, conf: conf, why: why}
	}
	first, ok := c.doubt(a, s)
	if !ok {
		return finding{call: right, conf: conf, why: why}.marked(s, span{})
	}
	for from := s.from + 1; ; {
		next, found := c.response.findFrom(a.core(), from)
		if !found {
			return first.marked(s, span{})
		}
		if _, ok := c.doubt(a, next); !ok {
			return finding{call: right, conf: min(conf, .9), why: why}.marked(next, span{})
		}
		from = next.from + 1
	}
}

// doubt returns what keeps the words of a at s from being what the response claims.
func (c *comparison) doubt(a *reading, s span) (finding, bool) {
	r := c.response
	plain := !a.negationIn() && !c.question.negationIn()
	said := fmt.Sprintf("%q", r.written(s))
	switch {
	case !c.agreeIn(a, s):
		return c.leaning(finding{call: wrong, conf: .85, why: "the response has the words of the reference with another number"}, brief), true
	case plain && (r.negated(s) || r.deniedAfter(s)):
		return c.leaning(finding{call: wrong, conf: r.denialCounts(), why: "the response denies " + said + ", which the reference says"}, brief), true
	case a.negationIn() && !c.question.negationIn() && !slices.ContainsFunc(r.toks[max(0, s.from-6):s.to], isNegation):
		return c.leaning(finding{call: wrong, conf: r.denialCounts(), why: "the reference denies what the response says"}, brief), true
	case plain && r.excepted(s):
		return finding{call: unsure, why: "the response names " + said + " as an exception", share: .5}.unseen(), true
	}
	if c.rolesSwapped(a, s) {
		return c.leaning(finding{call: wrong, conf: .85, why: "the response has who does it and to whom it is done the other way round", share: .5}, brief), true
	}
	sent := r.sentenceOf(s.from)
	call, why := c.compared(s, sent)
	if call == right {
		call, why = c.acted(s, sent)
	}
	if call != right {
		f := finding{call: call, conf: .88, why: why, share: .5}
		if call == wrong {
			return c.leaning(f, brief), true
		}
		return f.unseen(), true
	}
	switch {
	case r.amongAlternatives(s):
		return finding{call: unsure, why: "the response names " + said + " and an alternative", share: .5}.amongOthers(), true
	case c.guessed(s):
		return finding{call: unsure, why: "the response offers " + said + " as a guess among others", share: .5}.unseen(), true
	case r.outdated(s):
		return finding{call: unsure, why: "the response may name " + said + " as what was so before", share: .5}.amongOthers(), true
	}
	return finding{}, false
}

// findFrom returns where the elements of want follow each other in r, from token i on.
func (r *reading) findFrom(want []elem, i int) (span, bool) {
	for k := range r.elems {
		if r.elems[k].tok >= i && k+len(want) <= len(r.elems) && slices.EqualFunc(r.elems[k:k+len(want)], want, sameKey) {
			return span{r.elems[k].tok, r.elems[k+len(want)-1].tok + 1}, true
		}
	}
	return span{}, false
}

// written returns the tokens of s as they stand in the text.
func (r *reading) written(s span) string { return r.text[r.toks[s.from].from:r.toks[s.to-1].to] }

// sentenceOf returns the tokens of the sentence that token i is in.
func (r *reading) sentenceOf(i int) span {
	s := span{i, i + 1}
	for s.from > 0 && r.toks[s.from].brk != sentence {
		s.from--
	}
	for s.to < len(r.toks) && r.toks[s.to].brk != sentence {
		s.to++
	}
	return s
}

// deniedAfter reports whether s is the subject of a denial: "Anna did not do it".
func (r *reading) deniedAfter(s span) bool {
	for i := s.from - 1; i >= 0 && r.toks[i+1].brk == none; i-- {
		if !stopWords[r.toks[i].text] {
			return false
		}
	}
	for i := s.to; i < len(r.toks) && i <= s.to+1 && r.toks[i].brk == none; i++ {
		t := r.toks[i]
		switch {
		case at(r.toks, i, "is") && at(r.toks, i+1, "far") && at(r.toks, i+2, "from"):
			return true
		case isNegation(t) && t.text != "without" && !r.harmless(i):
			return i == s.to || auxiliaries[r.toks[i-1].text] || t.text != "no" && t.text != "not"
		case !auxiliaries[t.text]:
			return false
		}
	}
	return false
}

// excepted reports whether s is what a rule leaves out: "everyone but Anna". What nobody
// does except Anna, Anna does.
func (r *reading) excepted(s span) bool {
	i := s.from - 1
	for i > 0 && r.toks[i].brk == none && stopWords[r.toks[i].text] {
		i-- // except for, but in the
	}
	if i < 1 || r.toks[s.from].brk != none || !excepting[r.toks[i].text] {
		return false
	}
	for k := i - 1; k >= 0 && k >= i-6 && r.toks[k+1].brk < sentence; k-- {
		if everybody[r.toks[k].text] {
			return true
		}
	}
	return false
}

var (
	excepting = set("but except save besides außer ausser sauf excepto salvo tranne")
	everybody = set("everyone everybody everywhere anywhere all every each any anyone anything everything alle alles jeder tous tout todos todo tutti")
)

// guessed reports whether s is put forward as one guess of several, or after "I don't know".
func (c *comparison) guessed(s span) bool {
	r := c.response
	hedged := false
	for i := s.from - 1; i >= 0 && i >= s.from-5 && r.toks[i+1].brk < sentence; i-- {
		hedged = hedged || r.guessWord(i)
	}
	if !hedged {
		return false
	}
	if c.abstains || c.hedges || r.toks[s.to-1].post == '?' {
		return true
	}
	n := 0
	for i := range r.toks {
		if r.guessWord(i) {
			n++
		}
	}
	return n > 1 && len(r.toks) <= 40
}

var guessWords = set("maybe perhaps possibly might may could vielleicht eventuell womoglich peut quizas forse talvez misschien acaso")

// guessWord reports whether token i makes a guess of what follows. May is also a month.
func (r *reading) guessWord(i int) bool {
	t := r.toks[i]
	if t.kind == han {
		return hanPhrase(r.toks[i:], hanGuesses) > 0
	}
	return guessWords[t.text] && (!t.upper || i == 0 || t.brk == sentence || t.text != "may")
}

var hanGuesses = []string{"可能", "也许", "或许", "大概", "没准", "说不定"}

// listsMore reports whether the response is a bare list in which a is one entry of several,
// with or without commas. A response that names every city has named the right one.
func (c *comparison) listsMore(a *reading) bool {
	own := max(1, len(listEntries(a.text, a)))
	if own == 1 && slices.ContainsFunc(a.toks, func(t token) bool { return joining[t.text] }) {
		return false // "salt and pepper" is one answer
	}
	entries, joined := c.response.entries()
	switch n := len(entries); {
	case n > 6:
		return own < 4
	case own > 1 && n > own && slices.ContainsFunc(c.question.quants, func(q quantity) bool { return q.value == float64(own) && !q.ordinal }):
		return true
	case c.choices > 1 || len(c.question.toks) == 0 || c.question.asksSeveral():
		return false // one of several that are right may be in good company
	case n > 2 || joined && n == 2:
		return own == 1 && c.isEntry(a, entries) || own > 1 && n > 2*own
	}
	return own == 1 && len(a.elems) <= 2 && c.response.namesInARow()
}

// isEntry reports whether a is one whole entry of a list and another has none of it.
func (c *comparison) isEntry(a *reading, entries []span) bool {
	whole, other := false, false
	for _, s := range entries {
		own, all := 0, 0
		for _, e := range c.response.elems {
			if s.has(e.tok) && !c.question.hasElem(e) {
				all++
				if a.hasElem(e) {
					own++
				}
			}
		}
		whole = whole || own > 0 && own == all
		other = other || own < all
	}
	return whole && other
}

// asksSeveral reports whether a question asks for more than one thing: "which books", "who
// are the".
func (r *reading) asksSeveral() bool {
	for i, t := range r.toks {
		switch t.text {
		case "what", "which", "who", "where", "name", "list", "welche", "quels", "quelles", "cuáles", "哪", "有":
		default:
			continue
		}
		for k := i + 1; k < min(len(r.toks), i+4); k++ {
			w := r.toks[k].text
			if w == "are" || w == "were" || w == "some" || w == "all" || w == "些" || len(w) > 3 && w[len(w)-1] == 's' && stem(w) != w && !r.toks[k].upper && !stopWords[w] {
				return true
			}
		}
	}
	return false
}

// entries returns the entries that the whole text lists, none if it is not a bare list, and
// whether a conjunction, a semicolon or a new line joins them.
func (r *reading) entries() (list []span, joined bool) {
	from, small := 0, false
	for i, t := range r.toks {
		join := joining[t.text]
		split := t.brk == comma || t.brk == sentence || strings.ContainsRune(";；&/", t.pre)
		if i > 0 && (join || split) {
			joined = joined || join || t.brk != comma
			if i > from {
				list = append(list, span{from, i})
			}
			from = i
		}
		if join {
			from = i + 1
			continue
		}
		small = small || i == from && !t.upper && t.kind == word
		if auxiliaries[t.text] || t.kind == word && t.brk == none && stopWords[t.text] && !articles[t.text] && t.text != "the" || t.text == "between" || t.text == "both" || t.pre == '(' {
			return nil, false
		}
		if size := i - from + 1; size > 4 && t.kind != han || size > 8 {
			return nil, false
		}
	}
	if len(r.toks) > from {
		list = append(list, span{from, len(r.toks)})
	}
	return list, joined && (len(list) > 2 || !small)
}

var joining = set("and or & und oder et ou y 和 或 与 及 还")

// namesInARow reports whether a text is nothing but five or more words with a capital, or
// as many numbers, without anything between.
func (r *reading) namesInARow() bool {
	names, figures := 0, 0
	for i, t := range r.toks {
		switch {
		case i > 0 && t.brk != none || t.kind == han:
			return false
		case t.kind == number:
			figures++
		case t.upper && !stopWords[t.text]:
			names++
		}
	}
	return names == len(r.toks) && names >= 5 || figures == len(r.toks) && figures >= 4
}

// withoutEcho returns a response without the sentences that repeat the question, and whether
// nothing else is said.
func (r *reading) withoutEcho(question *reading) (*reading, bool) {
	if len(question.elems) == 0 {
		return r, false
	}
	var kept []token
	for i := 0; i < len(r.toks); {
		s := r.sentenceOf(i)
		if !r.echoes(s, question) {
			kept = append(kept, r.toks[s.from:s.to]...)
		}
		i = s.to
	}
	switch len(kept) {
	case len(r.toks):
		return r, false
	case 0:
		return r, true
	}
	return readTokens(r.text, kept, r.cut), false
}

// echoes reports whether the sentence s asks what the question asks, or says that it was
// asked.
func (r *reading) echoes(s span, question *reading) bool {
	asks := r.toks[s.to-1].post == '?' || r.toks[s.to-1].post == '？'
	mentionsAsking := false
	for _, p := range [][2]string{{"you", "asked"}, {"question", "is"}, {"question", "was"}, {"你", "问"}, {"您", "问"}} {
		for i := s.from; i+1 < s.to && i < s.from+3; i++ {
			mentionsAsking = mentionsAsking || at(r.toks, i, p[0]) && at(r.toks, i+1, p[1])
		}
	}
	if !asks && !mentionsAsking {
		return false
	}
	shared, all := 0, 0
	for _, e := range r.elems {
		if !s.has(e.tok) {
			continue
		}
		all++
		if question.hasElem(e) {
			shared++
		}
	}
	return 2*shared >= all && (asks && 5*shared >= 4*all || mentionsAsking)
}
