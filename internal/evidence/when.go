package evidence

import (
	"fmt"
	"time"
)

// A stretch is a run of days, both ends included, as days since 1970. People say
// when something was by its distance from another day: "the Friday before 15 July
// 2023" is 14 July.
type stretch struct {
	lo, hi int
	span   // the words that say so
}

// overlaps reports whether half of the shorter stretch is in the other. Weeks that
// follow each other may share a day and are not the same.
func (s stretch) overlaps(t stretch) bool {
	shared := min(s.hi, t.hi) - max(s.lo, t.lo) + 1
	return 2*shared >= 1+min(s.hi-s.lo, t.hi-t.lo)
}

// dayNumber returns the days since 1970 of a day. A day beyond the end of a month
// runs into the next, as in package time.
func dayNumber(y, m, d int) int {
	return int(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / day)
}

// plainStretch returns the days of a date; year stands in for one that is not
// said.
func (d date) plainStretch(year int) (stretch, bool) {
	y := d.y
	if y == 0 {
		y = year
	}
	switch {
	case y == 0:
		return stretch{}, false
	case d.years > 0:
		return stretch{dayNumber(y, 1, 1), dayNumber(y+d.years-1, 12, 31), d.span}, true
	case d.m == 0:
		return stretch{dayNumber(y, 1, 1), dayNumber(y, 12, 31), d.span}, true
	case d.d == 0:
		return stretch{dayNumber(y, d.m, 1), dayNumber(y, d.m+1, 0), d.span}, true
	}
	n := dayNumber(y, d.m, d.d)
	return stretch{n, n, d.span}, true
}

// stretchOf returns the days that a date of r stands for with the words before it.
func (r *reading) stretchOf(d date, year int) (stretch, bool) {
	s, ok := d.plainStretch(year)
	if !ok {
		return s, false
	}
	i := d.from - 1
	for i >= 0 && (r.toks[i].text == "the" || r.toks[i].text == "of" && r.toks[i].brk == none && d.d > 0) {
		i--
	}
	if i < 0 || r.toks[d.from].brk > comma {
		return s, true
	}
	switch w := r.toks[i].text; w {
	case "before", "preceding", "prior":
		if at(r.toks, i-1, "or") && at(r.toks, i-2, "on") {
			return stretch{s.lo - 6, s.hi, span{i - 2, d.to}}, true
		}
		return r.beside(s, i, -1), true
	case "after", "following":
		return r.beside(s, i, +1), true
	case "early", "beginning", "start", "late", "end", "mid", "middle":
		return s.part(w, span{i, d.to}), true
	case "of":
		return r.partOf(s, i-1), true
	case "week", "weekend":
		if d.d > 0 { // the week of 5 June may begin or end with it
			return stretch{s.lo - 6, s.hi + 6, span{i, d.to}}, true
		}
	}
	return s, true
}

// beside returns the days that the words up to token i say are before (side -1) or
// after (+1) the days s.
func (r *reading) beside(s stretch, i, side int) stretch {
	at := s.lo
	if side > 0 {
		at = s.hi
	}
	k := i - 1
	if k < 0 {
		return towards(at, side, 1, 31, span{i, s.to})
	}
	from := span{max(0, k-1), s.to}
	if day, ok := weekdayNumbers[trimPlural(r.toks[k].text)]; ok {
		n := at + side
		for (n+4-day)%7 != 0 { // day 0 was a Thursday
			n += side
		}
		return stretch{n, n, span{k, s.to}}
	}
	count, vague := 1, false
	if k > 0 {
		switch r.toks[k-1].text {
		case "few", "couple", "some", "several":
			count, vague = 2, true
		default:
			if num, ok := readNumeral(r.toks, k-1); ok && num.to == k && num.value >= 1 && num.value < 60 {
				count = int(num.value)
			}
		}
	}
	switch trimPlural(r.toks[k].text) {
	case "day":
		if vague {
			return towards(at, side, 1, 6, from)
		}
		return towards(at, side, count, count, from)
	case "week", "weekend":
		return towards(at, side, 7*count-6, 7*count+1, from)
	case "month":
		return towards(at, side, 31*count-30, 31*count, from)
	}
	return towards(at, side, 1, 31, span{i, s.to})
}

// towards returns the days from near to far away from a day.
func towards(at, side, near, far int, s span) stretch {
	if side < 0 {
		return stretch{at - far, at - near, s}
	}
	return stretch{at + near, at + far, s}
}

// partOf returns the days of "first week of May" and the like: token i is the word
// before of.
func (r *reading) partOf(s stretch, i int) stretch {
	if i < 0 {
		return s
	}
	w := trimPlural(r.toks[i].text)
	if (w == "week" || w == "weekend") && i > 0 {
		if n, ok := ordinals[r.toks[i-1].text]; ok && n <= 5 {
			lo := s.lo + 7*(int(n)-1)
			return stretch{max(s.lo, lo-1), min(s.hi, lo+8), span{i - 1, s.to}}
		}
		if r.toks[i-1].text == "last" {
			return stretch{s.hi - 8, s.hi, span{i - 1, s.to}}
		}
	}
	return s.part(w, span{i, s.to})
}

// part returns the beginning, the middle or the end of a stretch, generously.
func (s stretch) part(name string, at span) stretch {
	n := s.hi - s.lo + 1
	switch name {
	case "early", "beginning", "start":
		return stretch{s.lo, s.lo + n*2/5, at}
	case "late", "end":
		return stretch{s.hi - n*2/5, s.hi, at}
	case "mid", "middle":
		return stretch{s.lo + n/4, s.hi - n/4, at}
	}
	return s
}

func trimPlural(w string) string {
	if len(w) > 3 && w[len(w)-1] == 's' {
		return w[:len(w)-1]
	}
	return w
}

var weekdayNumbers = map[string]int{
	"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6,
}

// byTime decides where the answer is a day told by its distance from a date, or the
// response tells it so.
func (c *comparison) byTime(_ string, a *reading) (finding, bool) {
	if len(a.dates) != 1 || !c.onlyTime(a) {
		return finding{}, false
	}
	want, ok := a.stretchOf(a.dates[0], 0)
	if !ok {
		return finding{}, false
	}
	best, found := finding{}, false
	for _, d := range c.response.dates {
		got, ok := c.response.stretchOf(d, a.dates[0].y)
		if !ok || c.response.negated(d.span) || want.len() == a.dates[0].len() && got.len() == d.len() {
			continue // two plain dates are compared as such
		}
		if f := c.timeFinding(a, want, got).marked(got.span, want.span); !found || better(f, best) {
			best, found = f, true
		}
	}
	return best, found
}

func (c *comparison) timeFinding(a *reading, want, got stretch) finding {
	said, meant := c.response.words(got.span), a.words(want.span)
	switch {
	case got.lo >= want.lo && got.hi <= want.hi && (got.hi-got.lo <= 10 || got == want):
		return finding{call: right, conf: .9, why: fmt.Sprintf("%q equals %q", said, meant)}
	case got.overlaps(want):
		return finding{call: unsure, why: fmt.Sprintf("%q may be %q", said, meant), share: .6}
	}
	f := finding{call: wrong, conf: .88, why: fmt.Sprintf("%q is not %q", said, meant)}
	if a.mayMean(got, want) {
		f.call, f.share, f.least, f.spared = unsure, .5, mayMeanLeast, true
	}
	return f
}

// mayMeanLeast is the least probability where a day may be what some people mean. Three in four labellers
// accept it.
const mayMeanLeast = .6

// mayMean reports whether a day may be what some people mean by words as "the Friday before 15
// July": the Friday of the week before, or about that day.
func (r *reading) mayMean(got, want stretch) bool {
	anchor, ok := r.dates[0].plainStretch(0)
	switch {
	case !ok || got.len() > 4:
		return false
	case want.hi < anchor.lo:
		return got.lo >= want.lo-7 && got.hi <= anchor.hi
	case want.lo > anchor.hi:
		return got.lo >= anchor.lo && got.hi <= want.hi+7
	}
	return false
}

// onlyTime reports whether an answer says nothing but when.
func (c *comparison) onlyTime(a *reading) bool {
	for _, e := range a.elems {
		text := trimPlural(a.toks[e.tok].text)
		_, weekday := weekdayNumbers[text]
		if !a.dates[0].has(e.tok) && !weekday && !timeWords[text] && e.key[0] != '#' && !c.question.hasElem(e) {
			return false
		}
	}
	return true
}

var timeWords = set("before after preceding prior following early beginning start late end mid middle week weekend month day few couple last next several some few around")
