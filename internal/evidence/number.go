package evidence

import (
	"math"
	"strconv"
	"strings"
)

// A span is a run of tokens, from inclusive, to exclusive.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

func (s span) has(i int) bool { return i >= s.from && i < s.to }

// A quantity is a number with what it counts: "18 days", "$5", "third".
type quantity struct {
	span
	value   float64 // as written, in the unit as written
	step    float64 // half of this is what rounding may have hidden; 0 if the number is exact
	unit    unit    // zero if there is none
	noun    string  // stem of the word that follows where there is no unit
	ordinal bool
	year    bool // a bare number that may be a year
	vague   bool // "about", "over", "a couple"
	weak    bool // "one" or "a", which may not be a number at all
}

// base returns the quantity in the base unit of its dimension.
func (q quantity) base() float64 { return q.value*q.unit.factor() + q.unit.offset }

var units100 = map[string]float64{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
	"seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40,
	"fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}

var multipliers = map[string]float64{
	"hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12,
	"hundreds": 100, "thousands": 1e3, "millions": 1e6, "billions": 1e9, "lakh": 1e5, "crore": 1e7,
}

// gluedMultipliers follow digits without a space, as in 1.2k. A lone m is left
// to the metres.
var gluedMultipliers = map[string]float64{"k": 1e3, "mn": 1e6, "bn": 1e9, "b": 1e9, "tn": 1e12}

var ordinals = map[string]float64{
	"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
	"tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
	"seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30, "fortieth": 40,
	"fiftieth": 50, "sixtieth": 60, "seventieth": 70, "eightieth": 80, "ninetieth": 90, "hundredth": 100,
}

var times = map[string]float64{"once": 1, "twice": 2, "thrice": 3, "couple": 2, "pair": 2, "both": 2}

var vagueWords = set("about around approximately approx roughly nearly almost over under circa some more less least most up estimated")

// numberWords are all the words that a number may begin with.
var numberWords = func() map[string]bool {
	m := set("half")
	for _, table := range []map[string]float64{units100, multipliers, ordinals, times} {
		for w := range table {
			m[w] = true
		}
	}
	for w := range articles {
		m[w] = true
	}
	return m
}()

// A numeral is a number read from tokens, before it is known what it counts.
type numeral struct {
	value, step float64
	to          int // the token after it
	ordinal     bool
	vague, weak bool
	bare        bool // plain digits
}

// readNumeral reads the number that begins at token i, with the name of a fraction after
// it: two thirds, a quarter.
func readNumeral(toks []token, i int) (numeral, bool) {
	n, ok := readWhole(toks, i)
	if !ok || n.to >= len(toks) || n.ordinal || n.value < 1 || n.value > 20 || toks[n.to].brk != none {
		return n, ok
	}
	parts := fractionNames[toks[n.to].text]
	named := parts > 0 && (n.value == 1) != strings.HasSuffix(toks[n.to].text, "s")
	// A quarter to nine is a time, a third man one of several, and a second half the other.
	plain := n.to+1 == len(toks) || toks[n.to+1].brk != none || toks[n.to+1].text == "of"
	if named && plain {
		n = numeral{value: n.value / parts, to: n.to + 1}
		if at(toks, n.to, "of") && (at(toks, n.to+1, "a") || at(toks, n.to+1, "an")) && n.to+2 < len(toks) && unitNames[toks[n.to+2].text].dim != noDimension {
			n.to += 2 // three quarters of an hour
		}
		return n, true
	}
	if toks[i].text == "one" && at(toks, n.to, "in") && n.to+1 < len(toks) {
		if m, ok := readWhole(toks, n.to+1); ok && m.value > 1 && m.value <= 100 && !m.ordinal {
			return numeral{value: 1 / m.value, to: m.to}, true // one in five
		}
	}
	return n, true
}

var fractionNames = map[string]float64{
	"half": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4, "fifth": 5, "fifths": 5,
	"sixth": 6, "sixths": 6, "eighth": 8, "eighths": 8, "tenth": 10, "tenths": 10,
	"drittel": 3, "viertel": 4, "funftel": 5,
}

// readWhole reads a number without the name of a fraction.
func readWhole(toks []token, i int) (numeral, bool) {
	t := toks[i]
	switch {
	case t.kind == number:
		return readDigits(toks, i)
	case t.kind == han:
		return readHan(toks, i)
	}
	if !numberWords[t.text] {
		return numeral{}, false
	}
	if v, ok := times[t.text]; ok {
		return readCount(toks, i, v)
	}
	if v, ok := ordinals[t.text]; ok {
		return numeral{value: v, to: i + 1, ordinal: true, weak: t.text == "second" || t.text == "first"}, true
	}
	if t.text == "half" {
		return readHalfOf(toks, i)
	}
	if articles[t.text] {
		// "A dozen", "a hundred" and "a couple". Other articles are not numbers, save that
		// "a week" is one week.
		if i+1 >= len(toks) || toks[i+1].brk != none {
			return numeral{}, false
		}
		next := toks[i+1].text
		switch {
		case multipliers[next] > 0:
			return readWords(toks, i+1), true
		case next == "couple" || next == "pair":
			return readCount(toks, i+1, 2)
		case next == "half" && at(toks, i+2, "dozen"):
			return numeral{value: 6, to: i + 3}, true
		}
		if fractionNames[next] > 2 && (toks[i].text == "a" || toks[i].text == "one") {
			return numeral{value: 1, to: i + 1, weak: true}, true
		}
		if u, ok := unitNames[next]; ok && u.dim == duration {
			n := readHalf(toks, numeral{value: 1, to: i + 1, weak: true})
			if at(toks, i+2, "and") && at(toks, i+3, "a") && at(toks, i+4, "half") {
				n.value = 1.5 // "a year and a half": the half is read with the unit
			}
			return n, true
		}
		return numeral{}, false
	}
	if _, ok := units100[t.text]; ok || multipliers[t.text] > 0 {
		return readWords(toks, i), true
	}
	return numeral{}, false
}

// readCount reads once, twice, and "a couple of".
func readCount(toks []token, i int, v float64) (numeral, bool) {
	n := numeral{value: v, to: i + 1, vague: toks[i].text == "couple"}
	n.weak = toks[i].text == "both" || toks[i].text == "once"
	if at(toks, n.to, "of") {
		n.to++
	}
	return n, true
}

// readDigits reads digits with a glued or a following multiplier, a fraction
// after them, or the ending of an ordinal.
func readDigits(toks []token, i int) (numeral, bool) {
	v, err := strconv.ParseFloat(toks[i].text, 64)
	if err != nil {
		return numeral{}, false
	}
	n := numeral{value: v, step: stepOf(toks[i].text), to: i + 1, bare: true}
	if n.to >= len(toks) {
		return n, true
	}
	next := toks[n.to]
	switch {
	case glued(next) && (next.text == "st" || next.text == "nd" || next.text == "rd" || next.text == "th"):
		n.ordinal, n.bare = true, false
		n.to++
	case glued(next) && gluedMultipliers[next.text] > 0:
		n.scale(gluedMultipliers[next.text])
	case glued(next) && next.text == "m" && toks[i].pre == '$':
		n.scale(1e6)
	case multipliers[next.text] > 0 && next.brk == none:
		n.scale(multipliers[next.text])
	case next.kind == number:
		dated := n.to+1 < len(toks) && toks[n.to+1].pre == '/' && !toks[n.to+1].gap // 5/20/2023
		n.combine(toks[i], next, dated)
	case next.kind == han:
		if m := hanMultipliers[next.text]; m >= 100 {
			n.scale(m)
		}
	}
	return readHalf(toks, n), true
}

func (n *numeral) scale(by float64) {
	n.value *= by
	n.step *= by
	n.bare = false
	n.to++
}

// combine takes in the number next after the digits t, as in 1/2, 10^6 and 2½.
func (n *numeral) combine(t, next token, dated bool) {
	x, err := strconv.ParseFloat(next.text, 64)
	value, ok := n.value, err == nil
	switch {
	case next.pre == '/' && !next.gap && !dated:
		value, ok = value/x, ok && x != 0
	case next.pre == '^' && next.from == t.to+1:
		value = math.Pow(value, x)
		ok = ok && !math.IsInf(value, 0)
	case strings.HasPrefix(next.text, "0.") && next.brk == none && value == math.Trunc(value):
		value += x
	default:
		return
	}
	if ok {
		n.value, n.step, n.bare = value, 0, false
		n.to++
	}
}

// stepOf returns the place value of the last significant digit: 0.1 of "6.2", 100
// of "1200".
func stepOf(digits string) float64 {
	if dot := strings.IndexByte(digits, '.'); dot >= 0 {
		return math.Pow(10, -float64(len(digits)-dot-1))
	}
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return 1
	}
	return math.Pow(10, float64(len(digits)-len(trimmed)))
}

// readHalf reads "and a half" after a number.
func readHalf(toks []token, n numeral) numeral {
	if !at(toks, n.to, "and") || !at(toks, n.to+1, "a") {
		return n
	}
	switch {
	case at(toks, n.to+2, "half"):
		n.value += .5
	case at(toks, n.to+2, "quarter"):
		n.value += .25
	default:
		return n
	}
	n.to += 3
	n.step, n.bare, n.weak = 0, false, false
	if n.to < len(toks) && toks[n.to].brk == none && multipliers[toks[n.to].text] > 0 {
		n.scale(multipliers[toks[n.to].text]) // one and a half million
	}
	return n
}

func readHalfOf(toks []token, i int) (numeral, bool) {
	j := i + 1
	if at(toks, j, "of") {
		j++
	}
	if !at(toks, j, "a") && !at(toks, j, "an") {
		return numeral{}, false
	}
	if at(toks, j+1, "dozen") {
		return numeral{value: 6, to: j + 2}, true
	}
	if j+1 < len(toks) {
		if _, ok := unitNames[toks[j+1].text]; ok {
			return numeral{value: .5, to: j + 1}, true
		}
	}
	return numeral{}, false
}

// readWords reads a number written in words: groups below a hundred, times
// hundred, times a power of a thousand.
func readWords(toks []token, i int) numeral {
	s := sum{last: math.Inf(1)}
	n := numeral{to: i}
	for n.to < len(toks) && !n.ordinal {
		t := toks[n.to]
		if n.to > i && t.brk != none {
			break
		}
		joining := false
		if t.text == "and" && s.total+s.group >= 100 && n.to+1 < len(toks) {
			_, joining = units100[toks[n.to+1].text]
		}
		if !joining && !s.add(t) {
			break
		}
		n.ordinal = ordinals[t.text] > 0
		n.to++
	}
	n.value = s.total + s.group
	n.weak = n.to == i+1 && toks[i].text == "one"
	return readHalf(toks, n)
}

// A sum is a number in words, read so far.
type sum struct {
	total, group float64 // what is multiplied out, and what may still be
	last         float64 // the last word below a hundred, +Inf for none
}

// add takes one more word, and reports whether it can go on the number.
func (s *sum) add(t token) bool {
	if v, ok := units100[t.text]; ok && s.fits(v) {
		s.group += v
		s.last = v
		return true
	}
	if v, ok := ordinals[t.text]; ok && t.pre == '-' && s.last < 100 && s.fits(v) {
		s.group += v // twenty-first
		return true
	}
	m := multipliers[t.text]
	if m == 0 || m == 12 && s.total > 0 {
		return false
	}
	if s.group == 0 {
		s.group = 1
	}
	s.group *= m
	if m != 100 { // what stands before a hundred may still be thousands
		s.total += s.group
		s.group = 0
	}
	s.last = math.Inf(1)
	return true
}

// fits reports whether a word of value v may follow the last one: nothing but a
// digit follows a ten.
func (s *sum) fits(v float64) bool {
	return math.IsInf(s.last, 1) || s.last >= 20 && v > 0 && v < 10
}

var hanDigits = map[string]float64{
	"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}

var hanMultipliers = map[string]float64{"十": 10, "百": 100, "千": 1000, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8}

// readHan reads a number in Chinese characters: 二十一, 三百零五, 两万. Digits in a
// row, as 二〇二三, are read as digits.
func readHan(toks []token, i int) (numeral, bool) {
	total, group, digit := 0.0, 0.0, -1.0
	run := 0
	n := numeral{to: i}
	for ; n.to < len(toks) && toks[n.to].kind == han && (n.to == i || toks[n.to].brk == none && !toks[n.to].gap); n.to++ {
		text := toks[n.to].text
		if v, ok := hanDigits[text]; ok {
			if digit > 0 && run > 0 {
				v += digit * 10
			}
			digit = v
			run++
			continue
		}
		m := hanMultipliers[text]
		if m == 0 {
			break
		}
		if digit < 0 {
			digit = 1 // 十 alone is ten
		}
		if m < 1e4 {
			group += digit * m
		} else {
			total += (group + max(digit, 0)) * m
			group = 0
		}
		digit, run = 0, 0
	}
	if n.to == i {
		return numeral{value: .5, to: i + 1}, halfOf(toks, i) // 半小时
	}
	n.value = total + group + max(digit, 0)
	if at(toks, n.to, "个") && halfOf(toks, n.to+1) {
		return numeral{value: n.value + .5, to: n.to + 2}, true // 一个半小时
	}
	if at(toks, n.to, "分") && at(toks, n.to+1, "之") && n.to+2 < len(toks) && n.value > 0 {
		if m, ok := readWhole(toks, n.to+2); ok {
			return numeral{value: m.value / n.value, to: m.to}, true // 四分之一
		}
	}
	// A lone digit that counts nothing is as often part of a name, as in 阿四, and
	// 一 part of a word.
	n.weak = n.to == i+1 && (toks[i].text == "一" || insideName(toks, i))
	return n, true
}

// halfOf reports whether token i is 半 before a unit.
func halfOf(toks []token, i int) bool {
	if !at(toks, i, "半") || i+1 >= len(toks) || toks[i+1].kind != han || toks[i+1].brk != none {
		return false
	}
	u, _ := readHanUnit(toks, i+1)
	return u.dim != noDimension
}

// insideName reports whether the single digit at token i goes on from or to another
// character and counts nothing.
func insideName(toks []token, i int) bool {
	if i+1 < len(toks) {
		return !measures[toks[i+1].text] && (i > 0 || toks[1].kind == han && toks[1].brk == none) // 四川
	}
	return i > 0 && toks[i].brk == none && toks[i-1].kind == han
}

// measures follow a number that counts.
var measures = set("个 位 名 只 本 条 张 件 次 天 年 月 日 周 小 分 元 块 岁 人 斤 公 千 米 度 号 点 种 家 台 部 辆 层 杯")

// at reports whether token i is the given word.
func at(toks []token, i int, text string) bool {
	return i >= 0 && i < len(toks) && toks[i].text == text
}

// glued reports whether t follows its neighbour without anything between.
func glued(t token) bool { return !t.gap && t.pre == 0 }

// roman returns the value of a Roman numeral in capitals of at least two letters,
// up to 39, which covers kings, wars and sequels.
func roman(t token) (string, bool) {
	if !t.caps || len(t.text) < 2 {
		return "", false
	}
	v, ok := romans[t.text]
	return v, ok
}

var romans = func() map[string]string {
	m := map[string]string{}
	tens := []string{"", "x", "xx", "xxx"}
	ones := []string{"", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"}
	for t, ten := range tens {
		for o, one := range ones {
			if r := ten + one; len(r) >= 2 {
				m[r] = strconv.Itoa(10*t + o)
			}
		}
	}
	return m
}()

// germanNumber reads a German number above ninety-nine, which is written as one word.
func germanNumber(w string) (int, bool) {
	for _, m := range []struct {
		name  string
		value int
	}{{"tausend", 1000}, {"hundert", 100}} {
		before, after, ok := strings.Cut(w, m.name)
		if !ok {
			continue
		}
		n, rest := 1, 0
		if before != "" && before != "ein" {
			n, ok = germanNumber(before)
		}
		if after = strings.TrimPrefix(after, "und"); ok && after != "" {
			rest, ok = germanNumber(after)
		}
		return n*m.value + rest, ok && n < 1000 && rest < m.value
	}
	for _, n := range nameTable()[w] {
		if v, err := strconv.Atoi(n.as[0].text); err == nil && len(n.words) == 1 {
			return v, true
		}
	}
	return 0, false
}
