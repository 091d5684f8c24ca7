package judge

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"deem"
)

// between matches the text between a name and its number: markup, a table's bar, "score",
// an aside such as "(0-10)", and a colon, equals sign or "is".
const between = "[\\s*_`\"'“”|]*" +
	`(?:(?:score|rating|points|得分|评分|分数|分)[\s*_` + "`" + `"'“”]*)?` +
	`(?:[(（\[][^()（）\[\]\n]{0,40}[)）\]][\s*_` + "`" + `"'“”]*)?` +
	`(?::|：|=|\||—|–|->|→|\s-\s|\b(?:is|of|was|gets|at)\b|是|为)` +
	"[\\s*_`\"'“”|\\[(（]*"

// aside matches a bracket before a number directly after a name: "Relevance (8/10)".
const aside = "[\\s*_`]*[(（\\[]\\s*"

// labelledNumbers finds "name: number" in prose for each aspect, as in "**Correctness:** 8/10",
// "relevance = 7", "准确性：9分" or the table row "| Correctness | 8 |". Case is ignored in
// names. The last number for a name counts.
//
// The failure is OutOfRange if that number is off its scale, Truncated if the number is at
// the end of JSON that was cut off, and otherwise Unparseable if a name has no number.
func labelledNumbers(text string, aspects map[string]Aspect) (map[string]float64, error) {
	text, err := speech(text)
	if err != nil {
		return nil, err
	}
	cut := cutOff(text)
	out := make(map[string]float64, len(aspects))
	var missing []string
	for _, name := range sortedKeys(aspects) {
		words := strings.FieldsFunc(name, isJoint)
		for i, w := range words {
			words[i] = regexp.QuoteMeta(w)
		}
		last, ok := located{}, false
		if len(words) > 0 {
			last, ok = numberAfter(text, regexp.MustCompile(`(?i)`+strings.Join(words, `[ _-]*`)))
		}
		switch {
		case !ok:
			missing = append(missing, name)
			continue
		case cut && last.end >= len(strings.TrimRight(text, " \t\r\n")):
			return nil, deem.Failf(deem.Truncated, "the number for %s was cut off", name)
		}
		x, err := aspects[name].parse(last.num, last.outOf)
		if err != nil {
			return nil, aboutName(name, err)
		}
		out[name] = x
	}
	if len(missing) > 0 {
		return nil, noVerdict(text, "no number for %s", strings.Join(missing, ", "))
	}
	return out, nil
}

// findAspects finds a number for each aspect, in the last JSON object that has all the names,
// or else in prose like [labelledNumbers].
func findAspects(text string, aspects map[string]Aspect) (map[string]float64, error) {
	t, err := speech(text)
	if err != nil {
		return nil, err
	}
	names := sortedKeys(aspects)
	o, ok := FindObject(t, names...)
	if !ok {
		return labelledNumbers(text, aspects)
	}
	out := make(map[string]float64, len(aspects))
	for _, name := range names {
		if slices.Contains(o.Twice, keyOf(name)) {
			return nil, deem.Failf(deem.Contradictory, "%s has two values", name)
		}
		v, _ := o.Field(name)
		x, err := aspects[name].Number(v)
		if err != nil {
			return nil, aboutName(name, err)
		}
		out[name] = x
	}
	return out, nil
}

// aboutName prefixes the detail of a failure with a name.
func aboutName(name string, err error) error {
	f, ok := errors.AsType[*deem.Failure](err)
	if !ok {
		return err
	}
	return deem.Failf(f.Kind, "%s: %s", name, f.Detail)
}

// A located is a number with its position.
type located struct {
	num, outOf string
	end        int
}

// numberHere matches a number at the beginning of a text.
var numberHere = lazy(`^(?i)` + numberBody)

// betweenHere and asideHere match the text between a name and its number.
var (
	betweenHere = lazy(`^(?i)` + between)
	asideHere   = lazy(`^` + aside)
)

// numberAfter returns the last number for a match of name.
func numberAfter(text string, name *regexp.Regexp) (last located, ok bool) {
	for m := range matches(name, text) {
		if isLatinWord(firstRune(text[m[0]:])) && isLatinWord(lastRune(text[:m[0]])) {
			continue // The name is the end of a longer word.
		}
		rest := head(text[m[1]:])
		for _, way := range []*regexp.Regexp{betweenHere(), asideHere()} {
			if w := way.FindStringIndex(rest); w != nil {
				if l, found := numberAt(text, m[1]+w[1]); found {
					if l.end > last.end {
						last, ok = l, true
					}
					break
				}
			}
		}
	}
	return last, ok
}

// numberAt returns the number at pos.
func numberAt(text string, pos int) (located, bool) {
	rest := head(text[pos:])
	n := numberHere().FindStringSubmatchIndex(rest)
	if n == nil || !numberEnds(rest[n[1]:]) {
		return located{}, false
	}
	l := located{num: rest[n[2]:n[3]], end: pos + n[1]}
	if n[4] >= 0 {
		l.outOf = rest[n[4]:n[5]]
	}
	return l, true
}

// numberEnds reports whether a number may end before rest: not within a word, a longer
// number, or a range such as 7-8.
func numberEnds(rest string) bool {
	r := firstRune(rest)
	after := firstRune(strings.TrimPrefix(rest, string(r)))
	digit := after >= '0' && after <= '9'
	switch r {
	case '.', ',', ':':
		return !digit
	case '-', '–', '—', '~', '～', '/':
		return !digit && !isWord(after)
	case '%':
		return false
	}
	return !isLatinWord(r)
}

// Marks of a rating, in order of trust.
var (
	doubleBrackets = lazy(`\[\[([^\[\]\n]{1,60})\]\]`)
	boxed          = lazy(`\\+boxed\s*\{\s*(?:\\+(?:text|textbf|mathrm|mathbf)\s*\{)?([^{}\n]{1,60})\}`)
	ratingName     = lazy(`(?i)\b(?:rating|score|grade|points)\b|评分|得分|分数|打分|评价|評分`)
	ratingTag      = lazy(`(?i)<(?:rating|score|points|grade|answer)>\s*`)
)

// findRating finds the one number that text gives as its rating: the last [[n]], or else the
// last \boxed{n}, or else the last "Rating: n" or <score>n</score>. The failure is
// OutOfRange if that number is off the scale.
func findRating(text string, a Aspect) (float64, error) {
	text, err := speech(text)
	if err != nil {
		return 0, err
	}
	for _, mark := range []*regexp.Regexp{doubleBrackets(), boxed()} {
		last := ""
		for m := range findAll(mark, text) {
			if in := text[m[2]:m[3]]; strings.ContainsAny(narrow(in), "0123456789") {
				last = in
			}
		}
		if last != "" {
			return a.numberFrom(last)
		}
	}
	last, ok := numberAfter(text, ratingName())
	for m := range findAll(ratingTag(), text) {
		if l, found := numberAt(text, m[1]); found && l.end > last.end {
			last, ok = l, true
		}
	}
	if !ok {
		return 0, noVerdict(text, "no rating")
	}
	if cutOff(text) && last.end >= len(strings.TrimRight(text, " \t\r\n")) {
		return 0, deem.Failf(deem.Truncated, "the rating was cut off")
	}
	return a.parse(last.num, last.outOf)
}
