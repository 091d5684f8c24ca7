package evidence

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A date is a day, a month or a year; what is not said is 0.
type date struct {
	span
	y, m, d int

	// swap marks 5/6/2023, which may be May or June. It is read as May.
	swap bool

	// years is how many years from y are meant: 10 for the 1990s, 100 for a century.
	years int
}

var monthNames = func() map[string]int {
	m := map[string]int{"sept": 9}
	for i := 1; i <= 12; i++ {
		name := strings.ToLower(time.Month(i).String())
		m[name], m[name[:3]] = i, i
	}
	return m
}()

// String returns the date as 2023-05-20 with what is known of it.
func (d date) String() string {
	var parts []string
	if d.d > 0 {
		parts = append(parts, strconv.Itoa(d.d))
	}
	if d.m > 0 {
		parts = append(parts, time.Month(d.m).String())
	}
	switch {
	case d.years == 100:
		parts = append(parts, fmt.Sprintf("century from %d", d.y))
	case d.years > 0:
		parts = append(parts, fmt.Sprintf("%ds", d.y))
	case d.y > 0:
		parts = append(parts, strconv.Itoa(d.y))
	}
	return strings.Join(parts, " ")
}

// readDate reads the date that begins at token i.
func readDate(toks []token, i int) (date, bool) {
	if t := toks[i]; t.kind == word && monthNames[t.text] == 0 && ordinals[t.text] == 0 {
		return date{}, false // most words, for speed
	}
	for _, read := range []func([]token, int) (date, bool){readNumericDate, readHanDate, readMonthFirst, readDayFirst, readYears} {
		if d, ok := read(toks, i); ok && d.m >= 0 && d.m <= 12 && d.d >= 0 && d.d <= 31 && d.y >= 0 && d.y <= 2999 {
			d.from = i
			return d, true
		}
	}
	return date{}, false
}

// readNumericDate reads 2023/05/20, 2023-05-20, 2023.05.20, 5/20/2023 and
// 20/5/2023. A month and a day alone, 5/20, would be a fraction; in German, 24.12. with both
// points is a day.
func readNumericDate(toks []token, i int) (date, bool) {
	if t := toks[i]; t.post == '.' && (len(toks) == 1 || i > 0 && t.brk == none && germanOn[toks[i-1].text]) {
		if day, month, ok := strings.Cut(t.text, "."); ok && len(day) <= 2 && len(month) <= 2 {
			d, _ := strconv.Atoi(day)
			m, _ := strconv.Atoi(month)
			return date{span: span{i, i + 1}, d: d, m: m}, d > 0 && m > 0
		}
	}
	if i+2 >= len(toks) {
		return date{}, false
	}
	sep := toks[i+1].pre
	if sep != '/' && sep != '-' && sep != '.' || toks[i+2].pre != sep || toks[i+1].gap || toks[i+2].gap {
		return date{}, false
	}
	a, b, c := small(toks[i]), small(toks[i+1]), small(toks[i+2])
	to := span{i, i + 3}
	switch {
	case a < 0 || b <= 0 || c < 0:
		return date{}, false
	case len(toks[i].text) == 4 && c > 0:
		return date{span: to, y: a, m: b, d: c}, true
	case len(toks[i+2].text) != 4 || a == 0:
		return date{}, false
	case a > 12 || sep == '.':
		return date{span: to, y: c, m: b, d: a}, true
	default:
		return date{span: to, y: c, m: a, d: b, swap: b <= 12 && a != b}, true
	}
}

// germanOn goes before a day in German: am 24.12.
var germanOn = set("am vom zum dem den ab bis seit")

// small returns the value of a token of one to four digits, or -1.
func small(t token) int {
	if t.kind != number || len(t.text) > 4 {
		return -1
	}
	n, err := strconv.Atoi(t.text)
	if err != nil {
		return -1
	}
	return n
}

// readHanDate reads 2023年5月20日, 5月20日, 2023年5月 and 2023年, in digits or in
// characters.
func readHanDate(toks []token, i int) (date, bool) {
	d := date{}
	d.y, d.to = readHanPart(toks, i, "年", 1000)
	d.m, d.to = readHanPart(toks, d.to, "月", 1)
	if d.m > 0 {
		before := d.to
		if d.d, d.to = readHanPart(toks, d.to, "日", 1); d.to == before {
			d.d, d.to = readHanPart(toks, d.to, "号", 1)
		}
	}
	return d, d.y > 0 || d.m > 0
}

func readHanPart(toks []token, i int, mark string, least int) (value, to int) {
	if i >= len(toks) || toks[i].kind == word {
		return 0, i
	}
	n, ok := readNumeral(toks, i)
	v := int(n.value)
	if !ok || !at(toks, n.to, mark) || v < least || v > 2999 {
		return 0, i
	}
	return v, n.to + 1
}

// readMonthFirst reads May 20th, 2023 and May 2023 and May. The names that are
// also words need a capital or a number beside them.
func readMonthFirst(toks []token, i int) (date, bool) {
	m := monthNames[toks[i].text]
	if m == 0 || !toks[i].upper {
		return date{}, false
	}
	d := date{m: m, span: span{i, i + 1}}
	j := i + 1
	if at(toks, j, "the") {
		j++
	}
	if n, to := dayOfMonth(toks, j); n > 0 {
		d.d, d.to = n, to
	}
	j = d.to
	if at(toks, j, "of") {
		j++
	}
	if y := yearAt(toks, j); y > 0 {
		d.y, d.to = y, j+1
	}
	alsoWord := toks[i].text == "march" || len(toks[i].text) == 3
	afterIn := toks[i].brk == none && (at(toks, i-1, "in") || at(toks, i-1, "of") || at(toks, i-1, "last") || at(toks, i-1, "next"))
	return d, d.d > 0 || d.y > 0 || !alsoWord || len(toks) == 1 || afterIn
}

// dayOfMonth reads 20, 20th or "twentieth" at token i.
func dayOfMonth(toks []token, i int) (day, to int) {
	if i >= len(toks) || toks[i].brk == sentence || toks[i].pre == '\'' || toks[i].pre == '’' {
		return 0, i
	}
	n, ok := readNumeral(toks, i)
	if !ok || n.value < 1 || n.value > 31 || n.value != float64(int(n.value)) || toks[i].kind == word && !n.ordinal {
		return 0, i
	}
	if n.to < len(toks) && toks[n.to].pre == ':' && !toks[n.to].gap {
		return 0, i // a time of day
	}
	return int(n.value), n.to
}

// yearAt returns the year at token i, or 0.
func yearAt(toks []token, i int) int {
	if i >= len(toks) || toks[i].kind != number || toks[i].brk > comma {
		return 0
	}
	y := small(toks[i])
	if len(toks[i].text) == 2 && (toks[i].pre == '\'' || toks[i].pre == '’') { // May '98
		if y += 1900; y < 1940 {
			y += 100
		}
		return y
	}
	if len(toks[i].text) != 4 || y < 1000 || y > 2999 {
		return 0
	}
	return y
}

// readDayFirst reads 20 May 2023, 20th of May and "the twentieth of May".
func readDayFirst(toks []token, i int) (date, bool) {
	n, j := dayOfMonth(toks, i)
	if n == 0 {
		return date{}, false
	}
	if at(toks, j, "of") {
		j++
	}
	if j >= len(toks) || monthNames[toks[j].text] == 0 || !toks[j].upper || toks[j].brk > comma {
		return date{}, false
	}
	d := date{m: monthNames[toks[j].text], d: n, span: span{i, j + 1}}
	if y := yearAt(toks, j+1); y > 0 {
		d.y, d.to = y, j+2
	}
	return d, true
}

// readYears reads a decade or a century: the 1990s, the 19th century, 19世纪.
func readYears(toks []token, i int) (date, bool) {
	n, ok := readNumeral(toks, i)
	if !ok || n.to >= len(toks) || toks[n.to].brk != none {
		return date{}, false
	}
	v := int(n.value)
	next := toks[n.to]
	switch {
	case toks[i].kind == number && len(toks[i].text) == 4 && v%10 == 0 && v >= 1000 && next.text == "s" && !next.gap:
		years := 10
		if v%100 == 0 && v != 2000 {
			years = 100 // the 1800s
		}
		return date{span: span{i, i + 2}, y: v, years: years}, true
	case n.ordinal && next.text == "century", !n.ordinal && next.text == "世" && at(toks, n.to+1, "纪"):
		to := n.to + 1
		if next.kind == han {
			to++
		}
		return date{span: span{i, to}, y: (v - 1) * 100, years: 100}, v > 1 && v < 30
	}
	return date{}, false
}

// A relation says how a date in the response stands to one in the reference.
type relation uint8

const (
	unrelated relation = iota // they share no part
	conflict                  // a part differs
	coarser                   // what is said agrees, but the response says less
	agrees                    // the response says as much or more
)

// relate compares the date of a response with the date of a reference.
func relate(response, reference date) relation {
	r := relateParts(response, reference)
	if r != agrees && response.swap {
		response.m, response.d = response.d, response.m
		r = max(r, relateParts(response, reference))
	}
	if r != agrees && reference.swap {
		reference.m, reference.d = reference.d, reference.m
		r = max(r, relateParts(response, reference))
	}
	return r
}

func relateParts(response, reference date) relation {
	if response.years+reference.years > 0 {
		if response.y == 0 || reference.y == 0 {
			return unrelated
		}
		from, to := response.y, response.y+max(1, response.years)
		lo, hi := reference.y, reference.y+max(1, reference.years)
		switch {
		case from >= lo && to <= hi:
			return agrees
		case lo >= from && hi <= to:
			return coarser
		}
		return conflict
	}
	shared, missing := 0, 0
	for _, p := range [][2]int{{response.y, reference.y}, {response.m, reference.m}, {response.d, reference.d}} {
		switch {
		case p[1] == 0:
		case p[0] == 0:
			missing++
		case p[0] != p[1]:
			return conflict
		default:
			shared++
		}
	}
	switch {
	case shared == 0:
		return unrelated
	case missing == 0:
		return agrees
	case response.y == 0 && response.m > 0 && (response.d > 0) == (reference.d > 0):
		return agrees // only the year is left unsaid
	default:
		return coarser
	}
}

// describe names the dates for a reason.
func (d date) describe(reference date) string {
	return fmt.Sprintf("the date %s of the reference is %s in the response", reference, d)
}
