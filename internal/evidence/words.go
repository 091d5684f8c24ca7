package evidence

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// longest is how many content words a reference may have to be compared as a
// phrase; more are a text.
const longest = 8

// byWords decides by the words of the reference.
func (c *comparison) byWords(a *reading) finding {
	if len(a.elems) == 0 {
		return c.byStopWords(a)
	}
	if len(a.elems) > longest {
		return c.byText(a)
	}
	if s, ok := c.response.findFrom(a.core(), 0); ok {
		return c.checked(a, s, .97, "the response has the words of the reference")
	}
	want := c.informative(a)
	have, missing := c.split(want)
	share := float64(len(have)) / float64(len(want))
	if other := c.otherDay(a); other != "" && len(missing) > 0 {
		return c.leaning(finding{call: wrong, conf: .85, why: other, share: share}, brief)
	}
	switch {
	case len(missing) == 0:
		s, ok := c.response.window(want)
		if !ok {
			if len(want) == 1 {
				return c.checked(a, s, .85, "the response has the word of the reference")
			}
			return finding{call: unsure, why: "the response has the words of the reference far apart", share: .8}
		}
		conf := .93
		if len(want) < len(a.elems) {
			conf = .9
		}
		return c.checked(a, s, conf, "the response has the words of the reference in another order or form")
	case c.joined(a):
		return finding{call: right, conf: .95, why: "the response has the reference in another spacing"}
	case share == 0:
		// A name, a number or a single word that is not there is evidence; a description may
		// have been said in other words.
		why := fmt.Sprintf("the response has no word of %q", a.words(span{0, len(a.toks)}))
		for _, e := range want {
			if len(want) == 1 && c.response.transliterates(e.key) {
				return finding{call: right, conf: .9, why: fmt.Sprintf("the response has %q in another spelling", e.key)}.settled()
			}
			if c.response.akin(e.key) {
				return finding{call: unsure, why: fmt.Sprintf("the response has a word much like %q", e.key), share: .5, vague: true}
			}
		}
		switch {
		case a.isName():
			return finding{call: wrong, conf: .9, why: why}
		case len(want) <= 1:
			return finding{call: wrong, conf: .7, why: why}
		case len(want) == 2:
			return finding{call: unsure, why: why}
		}
		return finding{call: unsure, why: why, spared: true} // may have been said in other words
	}
	if f, ok := c.byName(a, have, missing); ok {
		return f
	}
	why := fmt.Sprintf("the response has %d of %d words of the reference and lacks %q", len(want)-len(missing), len(want), a.toks[missing[0].tok].text)
	f := finding{call: unsure, why: why, share: share}
	isFigure := func(e elem) bool { return e.key[0] == '#' } // the First World War has most words of the Second
	// France is not an answer where "Paris (France)" is.
	leads := missing[0] == a.elems[0] && slices.ContainsFunc(a.toks[missing[0].tok+1:], func(t token) bool { return t.brk == comma || t.brk == clause })
	if leads || slices.ContainsFunc(missing, isFigure) || a.isName() && len(a.elems) == 2 && missing[0] == a.elems[1] {
		f.vague = true
	}
	return f
}

// byStopWords decides where the reference has nothing but stop words, as "you" or
// "from him".
func (c *comparison) byStopWords(a *reading) finding {
	texts := map[string]bool{}
	for _, t := range c.response.toks {
		texts[t.text] = true
	}
	for _, t := range a.toks {
		if !texts[t.text] {
			return finding{call: unsure, why: "the reference is made of words that carry no content"}
		}
	}
	if len(c.response.toks) <= len(a.toks)+3 {
		return finding{call: right, conf: .7, why: "the response has the words of the reference"}
	}
	return finding{call: unsure, why: "the reference is made of words that carry no content", share: .5}
}

func sameKey(a, b elem) bool { return a.key == b.key }

// informative returns the elements of a that the question does not give away. If
// the question has them all, they all count: it asks to choose.
func (c *comparison) informative(a *reading) []elem {
	var list []elem
	elems := a.core()
	for i, e := range elems {
		if !c.question.hasElem(e) && (i > 0 || !titles[e.key]) {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return elems
	}
	return list
}

// core returns the content without its negations, which are compared by what they
// deny and not as words. A text of nothing else is its own core.
func (r *reading) core() []elem {
	var list []elem
	for _, e := range r.elems {
		if !isNegation(r.toks[e.tok]) {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return r.elems
	}
	return list
}

// titles go before a name and may be left out.
var titles = set("mr mrs ms dr prof professor sir dame lord lady king queen prince princess president saint st captain general senator judge minister prime chancellor pope emperor empress duke duchess count countess earl baron bishop archbishop cardinal colonel major lieutenant sergeant admiral governor mayor chief justice coach herr frau")

// split sorts elements by whether the response has them.
func (c *comparison) split(want []elem) (have, missing []elem) {
	for _, e := range want {
		if c.response.hasElem(e) {
			have = append(have, e)
		} else {
			missing = append(missing, e)
		}
	}
	return have, missing
}

// window returns the shortest-ending stretch of r that holds every element of
// want, if it is not much longer than they are.
func (r *reading) window(want []elem) (span, bool) {
	last := map[string]int{}
	for _, e := range want {
		last[e.root] = -1
	}
	size := 3*len(want) + 6
	for i, e := range r.elems {
		k := e.root
		if _, ok := last[k]; !ok {
			continue
		}
		last[k] = i
		first := i
		for _, at := range last {
			first = min(first, at)
		}
		if first >= 0 && i-first < size {
			return span{r.elems[first].tok, e.tok + 1}, true
		}
	}
	return span{}, false
}

// joined reports whether the reference stands in the response in another spacing:
// "Tin Tin" as "Tintin", "web site" as "website".
func (c *comparison) joined(a *reading) bool {
	want := glue(a.toks)
	return len(want) >= 6 && len(c.response.toks) < 5000 && strings.Contains(glue(c.response.toks), want)
}

func glue(toks []token) string {
	var b strings.Builder
	for _, t := range toks {
		if t.text != "the" && t.text != "a" && t.text != "an" {
			b.WriteString(t.text)
		}
	}
	return b.String()
}

// denialCounts is how sure a denial is. In a long response it may be of something
// else.
func (r *reading) denialCounts() float64 {
	if len(r.toks) <= brief {
		return .85
	}
	return .75
}

// agreeIn reports whether each measured quantity of a has its like at s in the
// response: "two weeks before" has the words of "a week before", but not its size.
func (c *comparison) agreeIn(a *reading, s span) bool {
	for _, want := range a.quants {
		if want.unit.dim == noDimension {
			continue
		}
		found, rival := false, false
		for _, q := range c.response.quants {
			if q.to < s.from || q.from > s.to || !commensurable(want, q) || q.unit.dim == noDimension {
				continue
			}
			found = found || same(want, q)
			rival = rival || !same(want, q)
		}
		if rival && !found {
			return false
		}
	}
	return true
}

// amongAlternatives reports whether "or" joins the words at s to something else.
func (r *reading) amongAlternatives(s span) bool {
	for i := s.to; i+1 < len(r.toks) && i < s.to+2; i++ {
		t, next := r.toks[i].text, r.toks[i+1].text
		if alternatively[t] || t == "还" && next == "是" || t == "otherwise" || t == "if" && (next == "not" || next == "that") {
			return true
		}
	}
	sent := r.sentenceOf(s.from)
	for i := s.to; i+1 < sent.to; i++ {
		if t := r.toks[i].text; hedgedBut[t] && r.hasGuess(span{i + 1, min(sent.to, i+4)}) || t == "都" && hanPhrase(r.toks[i+1:], allPossible) > 0 {
			return true
		}
	}
	if conditional[r.toks[sent.from].text] && sent.from < s.from && r.denies(span{sent.from, s.from}) {
		return true // if it was not Lyon, it was Paris
	}
	for i := s.from - 1; i >= 0 && i >= s.from-5 && r.toks[i+1].brk < sentence; i-- {
		if alternatively[r.toks[i].text] && (i >= s.from-2 || r.toks[i].brk == comma) {
			return true
		}
	}
	return false
}

// hasGuess reports whether one of the tokens of s makes a guess.
func (r *reading) hasGuess(s span) bool {
	for i := s.from; i < s.to; i++ {
		if r.guessWord(i) {
			return true
		}
	}
	return false
}

var (
	hedgedBut   = set("but although though however aber mais pero ma 但")
	conditional = set("if unless wenn falls si se")
	allPossible = []string{"有可能", "可能"}
)

var alternatively = set("or either oder entweder ou 或 alternatively")

// outdated reports whether the words at s are what was so before something else:
// "used to be", "from Paris to London", "Paris, later London".
func (r *reading) outdated(s span) bool {
	for i := s.from - 1; i >= 0 && i >= s.from-4 && r.toks[i+1].brk < clause; i-- {
		switch t := r.toks[i].text; {
		case t == "previously" || t == "formerly" || t == "originally" || t == "initially" || t == "used" && at(r.toks, i+1, "to"):
			return true
		case t == "from" && i == s.from-1 && at(r.toks, s.to, "to"):
			return true
		}
	}
	for i := s.to; i < len(r.toks) && i < s.to+2 && r.toks[i].brk < sentence; i++ {
		switch r.toks[i].text {
		case "later", "then", "now":
			return i+1 < len(r.toks) && r.toks[i+1].brk == none && r.toks[i+1].upper
		}
	}
	return false
}

// isName reports whether every content word of a short text has a capital, or is
// a number.
func (r *reading) isName() bool {
	for _, e := range r.elems {
		if t := r.toks[e.tok]; !t.upper && t.kind == word {
			return false
		}
	}
	return len(r.elems) > 0
}

// byName judges where the reference is a name of several words and the response
// has some of them. A family name alone, or with the first name, names the same
// person; a first name alone may not.
func (c *comparison) byName(a *reading, have, missing []elem) (finding, bool) {
	if !a.isName() || len(a.elems) < 2 {
		return finding{}, false
	}
	if len(missing) == 1 && len(have) > 0 && c.response.misspelt(missing[0].key) {
		return finding{call: right, conf: .8, why: fmt.Sprintf("the response has the name, %q in another spelling", missing[0].key)}.settled(), true
	}
	first, last := a.elems[0].key, a.elems[len(a.elems)-1].key
	hasFirst, hasLast := false, false
	for _, e := range have {
		hasFirst = hasFirst || e.key == first
		hasLast = hasLast || e.key == last
	}
	switch other, same := c.givenName(a); {
	case other != "" && same:
		return finding{call: right, conf: .8, why: fmt.Sprintf("%q and %q are forms of one name", other, a.toks[a.elems[0].tok].text)}.settled(), true
	case other != "" && !hasFirst:
		return c.leaning(finding{call: wrong, conf: .85, why: fmt.Sprintf("the response names another %s, %q", a.words(span{a.elems[len(a.elems)-1].tok, len(a.toks)}), other)}, brief), true
	}
	switch {
	case hasFirst && hasLast && c.together(a.elems[0], a.elems[len(a.elems)-1]):
		return finding{call: right, conf: .95, why: "the response has the first and the last part of the name"}, true
	case hasLast && len(a.elems) == 2 && a.toks[a.elems[1].tok].brk == none && c.bareSurname(last, first):
		return finding{call: right, conf: .75, why: "the response has the last part of the name"}, true
	}
	return finding{}, false
}

// givenName returns what stands in the response where the name a has its first word, "" if
// nothing does, and whether it is a form of it: an initial, or Bill for William. It looks at
// the first place that has the last word of the name.
func (c *comparison) givenName(a *reading) (other string, same bool) {
	r, last := c.response, a.elems[len(a.elems)-1]
	first := a.toks[a.elems[0].tok]
	if first.kind != word || a.toks[last.tok].kind != word || titles[first.text] {
		return "", false
	}
	for _, e := range r.elems {
		if e.key != last.key || !r.toks[e.tok].upper {
			continue
		}
		if r.nameContinues(e.tok) {
			return "", false
		}
		for i := e.tok - 1; i >= 0 && i >= e.tok-4; i-- {
			t := r.toks[i]
			if r.toks[i+1].brk != none && (t.post != '.' || len(t.text) > 1) || !t.upper || t.kind != word || stopWords[t.text] || c.question.has(stem(t.text)) {
				break
			}
			if titles[t.text] || distance(t.text, first.text, 2) <= 2 {
				return "", false
			}
			switch {
			case shortFor(t.text, first.text) || shortFor(first.text, t.text):
				return t.text, true
			case len(t.text) > 1 && !a.has(stem(t.text)):
				other = t.text
			}
		}
		return other, false
	}
	return "", false
}

// shortFor reports whether a given name is a form of another: its beginning, or a form that
// data/given.txt lists.
func shortFor(short, full string) bool {
	return strings.HasPrefix(full, short) || slices.Contains(givenNames()[short], full)
}

// givenNames has the full names of the short forms in data/given.txt.
var givenNames = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range tableLines("given") {
		forms := strings.Fields(line)
		for _, short := range forms[1:] {
			m[short] = append(m[short], forms[0])
		}
	}
	return m
})

// together reports whether two elements stand within a name of each other.
func (c *comparison) together(x, y elem) bool {
	_, ok := c.response.window([]elem{x, y})
	return ok
}

// bareSurname reports whether a family name stands in the response with a capital
// and without another first name before it.
func (c *comparison) bareSurname(key, first string) bool {
	r := c.response
	for _, e := range r.elems {
		if e.key != key {
			continue
		}
		if e.tok > 0 && r.toks[e.tok].brk == none {
			t := r.toks[e.tok-1]
			if t.upper && !stopWords[t.text] && !titles[t.text] && t.text != first {
				return false
			}
		}
		return r.toks[e.tok].upper && !r.nameContinues(e.tok)
	}
	return false
}

// nameContinues reports whether a capital word directly follows token i.
func (r *reading) nameContinues(i int) bool {
	return i+1 < len(r.toks) && r.toks[i+1].upper && r.toks[i+1].brk == none
}

// byText judges by a reference of many words. Nearly all of them in the same order
// are evidence; few or none are not, for a text can be said in other words.
func (c *comparison) byText(a *reading) finding {
	want := c.informative(a)
	have, _ := c.split(want)
	share := float64(len(have)) / float64(len(want))
	why := fmt.Sprintf("the response has %d of %d words of the reference", len(have), len(want))
	if share >= .8 && a.negationIn() == c.response.negationIn() && c.inOrder(a) {
		return finding{call: right, conf: .85, why: why, share: share}
	}
	return finding{call: unsure, why: why, share: share, spared: share < .3}
}
