package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// byDate decides where the reference is a date and nothing else.
func (c *comparison) byDate(_ string, a *reading) (finding, bool) {
	if len(a.dates) != 1 {
		return finding{}, false
	}
	want := a.dates[0]
	if slices.ContainsFunc(a.elems, func(e elem) bool { return !want.has(e.tok) && !dateFillers[a.toks[e.tok].text] }) {
		return finding{}, false
	}
	best, at := unrelated, date{}
	var others []date
	for _, d := range c.response.dates {
		rel := relate(d, want)
		if rel > best && !c.response.negated(d.span) {
			best, at = rel, d
		}
		if rel == conflict && !c.asks(d) {
			others = append(others, d)
		}
	}
	// A bare number as "1998" is met by the number 1998 where no date has been read from it.
	if best != agrees && want.m == 0 && len(a.quants) == 1 {
		for _, q := range c.response.quants {
			if same(a.quants[0], q) && !c.response.negated(q.span) {
				return finding{call: right, conf: .85, why: "the response has the number " + want.String()}.marked(q.span, want.span), true
			}
		}
	}
	if best == unrelated && len(c.response.dates) > 0 {
		at = c.response.dates[0]
	}
	return c.dateFinding(want, best, at, others).marked(at.span, want.span), true
}

// dateFillers may stand beside a date without changing it.
var dateFillers = set("year month day date on since circa ad ce year's")

func (c *comparison) dateFinding(want date, best relation, got date, others []date) finding {
	switch best {
	case agrees:
		if c.listsDates(got, others) {
			return finding{call: unsure, why: fmt.Sprintf("the response lists others with %s, and does not choose", got), share: .5}.amongOthers()
		}
		for _, other := range others {
			if c.offersChoice(got.span, other.span) {
				return finding{call: unsure, why: fmt.Sprintf("the response names both %s and %s", other, got), share: .5}.amongOthers()
			}
		}
		conf := .97
		if len(others) > 0 {
			conf = .9
		}
		said, meant := c.response.words(got.span), want.String()
		why := said + " equals " + meant
		if strings.EqualFold(said, meant) {
			why = "the response has the date " + meant
		}
		return finding{call: right, conf: conf, why: why}
	case coarser:
		return finding{call: unsure, why: fmt.Sprintf("the response says only %s of %s", got, want), share: .6, vague: true}
	case conflict:
		return finding{call: wrong, conf: .92, why: got.describe(want)}
	}
	if len(c.response.dates) > 0 {
		return finding{call: wrong, conf: .8, why: got.describe(want)}
	}
	f := finding{call: unsure, why: "the response has no date, and the reference is " + want.String()}
	if c.response.tellsTime() {
		return f.open()
	}
	return f
}

// listsDates reports whether the response is a bare list of dates, and got is one of them.
func (c *comparison) listsDates(got date, others []date) bool {
	entries, joined := c.response.entries()
	if c.listed || len(entries) < 2 || len(entries) == 2 && !joined {
		return false
	}
	return !slices.ContainsFunc(entries, func(s span) bool {
		other := slices.ContainsFunc(others, func(d date) bool { return s.has(d.from) })
		return !s.has(got.from) && !other && monthNames[c.response.toks[s.from].text] == 0
	})
}

// tellsTime reports whether a text says when by something else than a date: a day of
// the week, or a distance from now.
func (r *reading) tellsTime() bool {
	return slices.ContainsFunc(r.toks, func(t token) bool {
		_, weekday := weekdayNumbers[trimPlural(t.text)]
		return weekday || t.text == "yesterday" || t.text == "today" || t.text == "ago" || t.text == "last" || t.text == "recently"
	})
}

// asks reports whether the question itself names the date.
func (c *comparison) asks(d date) bool {
	return slices.ContainsFunc(c.question.dates, func(q date) bool { return relate(d, q) == agrees && relate(q, d) == agrees })
}

// byQuantity decides where the reference is a number with what it counts.
func (c *comparison) byQuantity(_ string, a *reading) (finding, bool) {
	want, ok := c.soleQuantity(a)
	if !ok {
		return finding{}, false
	}
	t, meant := c.tally(want), a.words(want.span)
	switch {
	case len(t.hits) > 0:
		return c.hitFinding(a, want, t).marked(t.hits[0].span, want.span), true
	case want.value == 0 && slices.ContainsFunc(c.response.toks, func(t token) bool { return denyingAny[t.text] || strings.HasSuffix(t.text, "n't") }):
		return finding{call: right, conf: .8, why: "the reference is zero and the response says that there is none"}, true
	case t.denied:
		return finding{call: wrong, conf: .85, why: "the response denies the number " + meant}, true
	case len(t.near) > 0:
		return finding{call: unsure, why: fmt.Sprintf("the response has about %s, the reference %s", c.response.words(t.near[0].span), meant), share: .5}.open().marked(t.near[0].span, want.span), true
	case addsUp(want, t.rivals) || addsUp(want, t.others):
		return finding{call: unsure, why: "the numbers of the response add up to " + meant + ", which it does not say", share: .6, vague: true}, true
	case len(t.rivals) > 0:
		return finding{call: wrong, conf: .9, why: c.differs(a, want, t.rivals[0])}.marked(t.rivals[0].span, want.span), true
	case len(t.others) > 0:
		return finding{call: wrong, conf: .83, why: c.differs(a, want, t.others[0])}.marked(t.others[0].span, want.span), true
	case c.response.listLength() > 1:
		return finding{call: unsure, why: "the response lists instead of giving the number " + meant, vague: true}, true
	}
	why := "the response has no number, and the reference is " + meant
	if len(t.foreign) > 0 {
		why = c.differs(a, want, t.foreign[0])
	}
	return finding{call: wrong, conf: .83, why: why}, true
}

// denyingAny words say that there is none.
var denyingAny = set("no none never nothing not 没 无")

// soleQuantity returns the quantity that a reference consists of: one number, and
// beside it at most three words, or only words that the question has too.
func (c *comparison) soleQuantity(a *reading) (quantity, bool) {
	if len(a.quants) != 1 || len(a.dates) > 0 && !a.quants[0].year {
		return quantity{}, false
	}
	q := a.quants[0]
	if q.weak && len(a.toks) > 1 && q.unit.dim == noDimension {
		return quantity{}, false
	}
	if q.from > 0 && q.unit.dim == noDimension && a.toks[q.from-1].upper && !vagueWords[a.toks[q.from-1].text] && !stopWords[a.toks[q.from-1].text] {
		return quantity{}, false // Apollo 11, Galaxy S22
	}
	if slices.ContainsFunc(a.toks[q.to:], func(t token) bool { return t.text == "and" || t.brk == comma }) {
		return quantity{}, false // two cats and a dog
	}
	extra, proper := 0, false
	for _, e := range a.elems {
		if q.has(e.tok) || c.question.hasElem(e) {
			continue
		}
		extra++
		proper = proper || a.toks[e.tok].upper && e.tok > 0 || isNegation(a.toks[e.tok])
	}
	// A number before a name, as in "21 Jump Street", is part of the name; a year
	// with a season is a date of its own kind.
	return q, extra <= 3 && !proper && (q.from <= 3 || extra == 0) && (!q.year || extra == 0)
}

// A tally sorts the numbers of a response by how they stand to the one wanted.
type tally struct {
	hits   []quantity // the same size
	rivals []quantity // another size of the same kind
	near   []quantity // within rounding, where either is vague
	others []quantity // of no known kind
	denied bool       // the right number, but denied

	foreign []quantity // of another kind: euros where dollars are wanted
}

func (c *comparison) tally(want quantity) tally {
	var t tally
	for _, q := range c.response.quants {
		switch {
		case same(want, q):
			if c.response.negated(q.span) {
				t.denied = true
			} else {
				t.hits = append(t.hits, q)
			}
		case c.noise(q, want) || c.response.negated(q.span):
		case closeTo(want, q):
			t.near = append(t.near, q)
		case rivals(want, q):
			t.rivals = append(t.rivals, q)
		case commensurable(want, q):
			t.others = append(t.others, q)
		default:
			t.foreign = append(t.foreign, q)
		}
	}
	return t
}

// noise reports whether q is a number that no one would take for the answer: one
// of the question, the number of a list item, a year beside a count, a "one".
func (c *comparison) noise(q, want quantity) bool {
	r := c.response
	if q.weak && q.unit.dim != clock && len(r.toks) > 3 && (q.noun == "" || q.noun != want.noun) {
		return true
	}
	listNumber := r.toks[q.from].brk == sentence && (r.toks[q.from].post == '.' || r.toks[q.from].post == ')') && len(r.toks) > 6
	if q.year && !want.year || q.ordinal && !want.ordinal || listNumber {
		return true
	}
	return slices.ContainsFunc(c.question.quants, func(asked quantity) bool {
		return asked.value == q.value && asked.unit.dim == q.unit.dim
	})
}

// rivals reports whether q would be another answer to what want answers: the same
// dimension, the same noun, or no noun at all.
func rivals(want, q quantity) bool {
	if want.unit.dim != noDimension {
		return q.unit.dim == want.unit.dim
	}
	return q.unit.dim == noDimension && (q.noun == want.noun || q.noun == "" || want.noun == "")
}

// addsUp reports whether a few numbers come to the one wanted.
func addsUp(want quantity, parts []quantity) bool {
	if len(parts) < 2 || len(parts) > 6 {
		return false
	}
	sum := 0.0
	for _, q := range parts {
		sum += q.base()
	}
	return near(sum, want.base(), 1e-9)
}

// closeTo reports whether two sizes differ only as rounding or "about" allows.
func closeTo(want, q quantity) bool {
	if !commensurable(want, q) || want.unit.dim == clock || want.ordinal || q.ordinal {
		return false
	}
	x, y := want.value, q.value
	if want.unit.dim != noDimension && q.unit.dim != noDimension {
		x, y = want.base(), q.base()
	}
	if (want.vague || q.vague) && near(x, y, .1) {
		return true
	}
	// 4.2 million for 4,212,345: the shorter number is the longer one, rounded.
	// Small numbers are counted, not rounded.
	if min(want.value, q.value) < 1000 {
		return false
	}
	diff := max(x-y, y-x)
	step := max(want.step*want.unit.factor(), q.step*q.unit.factor())
	return diff <= step/2 && near(x, y, .05)
}

// hitFinding judges a response that has the right number.
func (c *comparison) hitFinding(a *reading, want quantity, t tally) finding {
	hit := t.hits[0]
	for _, rival := range t.rivals {
		for _, h := range neighbours(t.hits, rival.from) {
			if c.offersChoice(h.span, rival.span) {
				return finding{call: unsure, why: fmt.Sprintf("the response has both %s and %s", c.response.words(rival.span), c.response.words(h.span)), share: .5, named: true}.unseen()
			}
		}
	}
	said, meant := c.response.words(hit.span), a.words(want.span)
	if other, ok := c.hedgedWith(t); ok {
		return finding{call: unsure, why: fmt.Sprintf("the response has %s as an alternative to %s", c.response.words(other.span), said), share: .5, named: true}.unseen()
	}
	if other, ok := c.countsOther(a, want, t.hits); ok {
		return finding{call: unsure, why: fmt.Sprintf("the response counts %s where the reference counts %s", other, want.noun), share: .5, vague: true}
	}
	why := said + " equals " + meant
	if hit.unit.dim == noDimension || strings.Contains(said, meant) || strings.Contains(meant, said) {
		why = "the response has the number " + meant
	}
	switch {
	case len(t.rivals) == 0 && hit.vague && !want.vague:
		return finding{call: right, conf: .85, why: why + ", not quite as exact"}
	case len(t.rivals) == 0:
		return finding{call: right, conf: .96, why: why}
	case addsUp(want, t.rivals) || c.stands(t.hits, t.rivals):
		return finding{call: right, conf: .9, why: why + ", among others that lead to it"}
	}
	return finding{call: unsure, why: fmt.Sprintf("the response has %s and also %s", said, c.response.words(t.rivals[0].span)), share: .6}.amongOthers()
}

// hedgedWith returns the bare number that a response offers in place of the right one:
// the 19 of "18 days, or 19 perhaps". Alone it may measure anything, but beside a hedge
// it measures what the number before it does.
func (c *comparison) hedgedWith(t tally) (quantity, bool) {
	for _, q := range t.others {
		if q.unit.dim != noDimension || q.ordinal || q.noun != "" && !(q.span.to < len(c.response.toks) && hedging[c.response.toks[q.span.to].text]) {
			continue
		}
		for _, h := range neighbours(t.hits, q.from) {
			near := h.to <= q.from && q.from <= h.to+5
			if near && slices.ContainsFunc(c.response.toks[h.to:q.from], func(t token) bool { return hedging[t.text] }) {
				return q, true
			}
		}
	}
	return quantity{}, false
}

// hedging are the words that put something forward without standing by it.
var hedging = set("or maybe perhaps possibly probably alternatively 或 或者 也许 可能")

// neighbours returns the quantities of an ordered list on either side of token i.
// Looking at all pairs would be quadratic in a long table of numbers.
func neighbours(list []quantity, i int) []quantity {
	k, _ := slices.BinarySearchFunc(list, i, func(q quantity, i int) int { return cmp.Compare(q.from, i) })
	return list[max(0, k-1):min(len(list), k+1)]
}

// countsOther returns what the response counts where it is not what the reference
// counts. A noun of the question or one that both texts share is not a difference.
func (c *comparison) countsOther(a *reading, want quantity, hits []quantity) (string, bool) {
	if want.noun == "" || c.question.has(want.noun) {
		return "", false
	}
	for _, h := range hits {
		if h.noun == "" || h.noun == want.noun || a.has(h.noun) || c.question.has(h.noun) {
			return "", false
		}
	}
	return hits[0].noun, true
}

// stands reports whether one of the hits is what a response comes to: it is in
// bold or in the first or last sentence, and no rival is in the same sentence, or
// it follows a word of conclusion.
func (c *comparison) stands(hits, rivals []quantity) bool {
	r := c.response
	last := r.toks[len(r.toks)-1].sent
	busy := map[int]bool{}
	for _, q := range rivals {
		busy[r.toks[q.from].sent] = true
	}
	for _, h := range hits {
		t := r.toks[h.from]
		if t.bold || t.pre == '=' || !busy[t.sent] && (t.sent == 0 || t.sent == last) {
			return true
		}
		for i := max(0, h.from-6); i < len(r.toks) && i < h.to+3; i++ {
			if concluding[r.toks[i].text] && r.toks[i].sent == t.sent {
				return true
			}
		}
	}
	return false
}

var concluding = set("total altogether overall therefore thus hence answer totaling totalling sum combined equals 共 总共 一共")

// offersChoice reports whether two spans stand side by side as alternatives: "18 or
// 19", "18, maybe 19".
func (c *comparison) offersChoice(a, b span) bool {
	if b.from < a.from {
		a, b = b, a
	}
	if b.from-a.to > 5 || a.to > b.from {
		return false
	}
	between := c.response.toks[a.to:b.from]
	return c.response.toks[b.from].pre == '/' || slices.ContainsFunc(between, func(t token) bool { return choosing[t.text] })
}

var choosing = set("or maybe perhaps possibly alternatively 或 later then")

func (c *comparison) differs(a *reading, want, got quantity) string {
	return fmt.Sprintf("the number %s of the reference is %s in the response", a.words(want.span), c.response.words(got.span))
}

func isCurrency(r rune) bool {
	return r == '$' || r == '€' || r == '£' || r == '¥' || r == '₹'
}

// words returns the tokens of s as text, for a reason.
func (r *reading) words(s span) string {
	var b strings.Builder
	for i := s.from; i < s.to && i < len(r.toks); i++ {
		t := r.toks[i]
		switch {
		case i == s.from:
		case t.gap:
			b.WriteByte(' ')
		case t.pre == '-' || t.pre == '/' || t.pre == ':' || t.pre == '^':
			b.WriteRune(t.pre)
		}
		if isCurrency(t.pre) {
			b.WriteRune(t.pre)
		}
		b.WriteString(t.text)
	}
	if post := r.toks[max(0, s.to-1)].post; post == '%' || isCurrency(post) && s.to == len(r.toks) {
		b.WriteRune(post)
	}
	return b.String()
}
