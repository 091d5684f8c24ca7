package evidence

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A reading is a text with everything in it that can be compared.
type reading struct {
	text   string // what the tokens stand in
	toks   []token
	dates  []date
	quants []quantity
	elems  []elem // the content, in order
	roots  map[string]bool
	cut    bool // the text was too long to be read whole
}

// An elem is one content word or number in a form that can be compared by ==.
type elem struct {
	key  string // stem of a word; "#" and the value of a number
	root string // what it has in common with words derived from it
	tok  int    // its first token
}

func newElem(key string, tok int) elem { return elem{key, root(key), tok} }

// maxRead is how much of a text is read: a megabyte is more than any answer. Of a
// longer text the beginning and the end are read, for there answers stand.
const maxRead = 1 << 20

// clip returns s, or the beginning and the end of it, and whether it was cut.
func clip(s string) (string, bool) {
	if len(s) <= maxRead {
		return s, false
	}
	head, tail := maxRead/2, len(s)-maxRead/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "\n" + s[tail:], true
}

// read reads s, or as much of it as [clip] leaves. It is linear in that length.
func read(s string) *reading {
	s, cut := clip(s)
	s = strings.Map(narrow, s)
	return readTokens(s, joinSplitNumbers(oneName(tokenize(s))), cut)
}

// joinSplitNumbers joins what a point or a comma has cut in two in the languages that write 3. Oktober
// and 2,5 Kilometer, and writes hundertzwanzig and a Roman numeral that stands alone in digits.
func joinSplitNumbers(toks []token) []token {
	if len(toks) == 1 {
		if v, ok := roman(toks[0]); ok {
			toks[0].text, toks[0].kind = v, number
		}
	}
	for i, t := range toks {
		if v, ok := germanNumber(t.text); ok && t.kind == word {
			toks[i].text, toks[i].kind = strconv.Itoa(v), number
		}
	}
	for i := 0; i+1 < len(toks); i++ {
		t, next := toks[i], &toks[i+1]
		if t.kind != number {
			continue
		}
		switch {
		case t.post == '.' && len(t.text) <= 2 && next.brk == sentence && next.gap && monthNames[next.text] > 0 && next.upper:
			next.brk = none
		case next.kind == number && next.pre == ',' && !next.gap && len(next.text) <= 2 && next.post == 0 && i+2 < len(toks) && unitNames[toks[i+2].text].dim != noDimension && (t.pre != ',' || t.gap):
			toks[i].text, toks[i].post = t.text+"."+next.text, next.post
			toks[i].to = next.to
			toks = append(toks[:i+1:i+1], toks[i+2:]...)
		}
	}
	return toks
}

func readTokens(text string, toks []token, cut bool) *reading {
	r := &reading{text: text, toks: toks, cut: cut, elems: make([]elem, 0, len(toks))}
	for i := 0; i < len(toks); {
		from, to := i, i+1 // what is content word by word
		if d, ok := readDate(toks, i); ok {
			r.dates = append(r.dates, d)
			to = d.to
		} else if q, ok := readClock(toks, i); ok {
			r.quants = append(r.quants, q)
			to = q.to
		} else if n, ok := readNumeral(toks, i); ok && n.to > i {
			from, to = n.to, r.addQuantity(i, n)
		}
		r.addTokens(from, to)
		i = to
	}
	return r
}

// addTokens adds tokens to the content one by one, stop words left out.
func (r *reading) addTokens(from, to int) {
	for i := from; i < to; i++ {
		if key := r.key(i); key != "" {
			r.elems = append(r.elems, newElem(key, i))
		}
	}
}

func (r *reading) key(i int) string {
	t := r.toks[i]
	switch {
	case t.kind == number:
		if v, err := strconv.ParseFloat(t.text, 64); err == nil {
			return numberKey(v)
		}
		return t.text
	case stopWords[t.text]:
		return ""
	}
	if v, ok := roman(t); ok && i > 0 && r.toks[i-1].upper {
		return "#" + v
	}
	if v, ok := ordinals[t.text]; ok {
		return numberKey(v)
	}
	return stem(t.text)
}

func numberKey(v float64) string { return "#" + strconv.FormatFloat(v, 'g', -1, 64) }

// addQuantity adds the number n at token i with its unit or its noun, and returns
// the token after both.
func (r *reading) addQuantity(i int, n numeral) int {
	q := quantity{
		span: span{i, n.to}, value: n.value, step: n.step,
		ordinal: n.ordinal, vague: n.vague, weak: n.weak,
	}
	if i > 0 && r.toks[i].brk == none && vagueWords[r.toks[i-1].text] ||
		i > 1 && r.toks[i].brk == none && r.toks[i-1].text == "than" && vagueWords[r.toks[i-2].text] {
		q.vague = true
	}
	if !n.ordinal { // the first year is not a duration
		q.unit, q.to = r.unitAround(i, n.to)
	}
	if q.unit.dim == noDimension {
		q.year = n.bare && n.value >= 1000 && n.value <= 2999 && n.value == math.Trunc(n.value) && len(r.toks[i].text) == 4 && !r.toks[i].grouped
		q.noun = r.nounAt(n.to)
	}
	if q.year {
		r.dates = append(r.dates, date{span: span{i, n.to}, y: int(n.value)})
	}
	if n.to > i+1 || !articles[r.toks[i].text] { // The article of "a week" is not content.
		r.elems = append(r.elems, newElem(numberKey(n.value), i)) // "twenty-one" equals 21
	}
	if last := len(r.quants) - 1; last >= 0 && r.joins(r.quants[last], q) {
		before := r.quants[last]
		q.value += before.value * before.unit.scale / q.unit.scale // in the smaller unit
		q.from = before.from
		q.unit.calendar = before.unit.calendar || q.unit.calendar
		q.vague = before.vague || q.vague
		r.quants[last] = q
		return q.to
	}
	r.quants = append(r.quants, q)
	return q.to
}

// articles may mean one: "a week", "every week".
var articles = set("a an every each per ein eine einen einer une una")

// unitAround returns the currency before a number or the unit after it, and the
// token after both.
func (r *reading) unitAround(i, to int) (u unit, end int) {
	if pre := r.toks[i].pre; isCurrency(pre) {
		return unitNames[string(pre)], to
	}
	if i > 0 && r.toks[i].brk == none {
		if u := unitNames[r.toks[i-1].text]; u.dim >= dollars && u.dim <= rupees && len(r.toks[i-1].text) == 3 {
			return u, to // USD 500
		}
	}
	return readUnit(r.toks, to)
}

// nounAt returns the stem of the first word at token i that is not a stop word.
func (r *reading) nounAt(i int) string {
	for ; i < len(r.toks) && r.toks[i].brk == none && r.toks[i].kind == word; i++ {
		if text := r.toks[i].text; !stopWords[text] {
			return stem(text)
		} else if text != "of" && text != "the" {
			break
		}
	}
	return ""
}

// joins reports whether b goes on with a: "2 weeks and 4 days", "5 feet 6 inches".
func (r *reading) joins(a, b quantity) bool {
	if a.unit.dim != b.unit.dim || a.unit.scale <= b.unit.scale || a.unit.dim != duration && a.unit.dim != length && a.unit.dim != mass {
		return false
	}
	between := r.toks[a.to:b.from]
	return len(between) == 0 && r.toks[b.from].brk <= comma || len(between) == 1 && between[0].text == "and" && r.toks[b.from].brk == none
}

// rootSet returns the roots of all content, made once.
func (r *reading) rootSet() map[string]bool {
	if r.roots == nil {
		r.roots = make(map[string]bool, len(r.elems))
		for _, e := range r.elems {
			r.roots[e.root] = true
		}
	}
	return r.roots
}

// has reports whether the content holds key or a word of the same root.
func (r *reading) has(key string) bool { return r.rootSet()[root(key)] }

// hasElem reports whether the content holds e or a word of the same root.
func (r *reading) hasElem(e elem) bool { return r.rootSet()[e.root] }

// stopWords carry no content. Negations, yes and no, and words of order as
// before and after are not among them: they decide.
var stopWords = set(`a an the of in on at to for and is was were are be been being by with from it its this that these those as
	his her hers their theirs your yours my mine our ours he she they you we i me him them us do does did has have had will would
	there which who whom what when where how so also then than into about approximately around roughly just very such both each
	's s 的 了 是 在 有 个 位 名 您 你 我 他 她 它 们 那 这 呢 吗 啊 和 与`)
