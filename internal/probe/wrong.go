package probe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// wrong returns an answer that is specific, of the right type, and wrong. It does not
// depend on the kind of probe, so that all kinds based on a wrong answer use the same one.
func (s subject) wrong() string {
	begin := mix(s.seed, "other", s.it.ID)
	switch s.shape {
	case yesNo:
		// The rest of the reference is left out, because it would contradict the answer.
		if polarity(s.ref) == "yes" {
			return "No"
		}
		return "Yes"
	case abstention:
		return s.invented(begin)
	}
	other := s.pool.other(s.it, s.shape, begin)
	// If 18 days is right, 46 becomes 46 days: an answer in other units would be
	// recognisably wrong without looking at the number.
	if theirs := numbers(other); s.shape == number && len(theirs) == 1 {
		return withNumber(s.ref, theirs[0].digits)
	}
	return other
}

// withNumber returns an answer with its only number, in digits or words, replaced.
func withNumber(ref, by string) string {
	if mine := numbers(ref); len(mine) == 1 {
		return mine[0].replace(ref, by)
	}
	words := strings.Fields(ref)
	for i, w := range words {
		if _, ok := spelled(w); ok {
			words[i] = by + punctuation(w)
		}
	}
	return strings.Join(words, " ")
}

// invented returns a fact of the type that the question asks for.
func (s subject) invented(begin uint64) string {
	order := []shape{name, phrase, date, when, number, list}
	switch q := " " + plain(s.it.Question) + " "; {
	case strings.Contains(q, " when ") || strings.Contains(q, " date "):
		order = []shape{date, when, number, name, phrase, list}
	case strings.Contains(q, " how many ") || strings.Contains(q, " how much ") || strings.Contains(q, " how long "):
		order = []shape{number, date, when, name, phrase, list}
	}
	for _, sh := range order {
		if answer := s.pool.other(s.it, sh, begin); answer != "" {
			return answer
		}
	}
	return ""
}

func makeWrong(s subject) (response string, ok bool) {
	answer := s.wrong()
	return answer, answer != ""
}

func makeInvented(s subject) (response string, ok bool) {
	if !s.unanswerable() {
		return "", false
	}
	return makeWrong(s)
}

func makePadded(s subject) (response string, ok bool) {
	answer, ok := makeWrong(s)
	if !ok {
		return "", false
	}
	return s.bury(answer), true
}

func makeContradicted(s subject) (response string, ok bool) {
	answer, ok := makeWrong(s)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%s. No, that is not true: the right answer is %s.", bare(s.ref), bare(answer)), true
}

// bare returns an answer without the full stop at its end.
func bare(s string) string { return strings.TrimRight(s, ".。!? ") }

func makeNumber(s subject) (response string, ok bool) {
	ns := numbers(s.ref)
	if len(ns) != 1 {
		return "", false
	}
	n := ns[0]
	value, err := strconv.ParseFloat(n.digits, 64)
	if err != nil || value > 1e12 {
		return "", false
	}
	r := s.chance()
	if isYear(n) {
		return n.replace(s.ref, strconv.Itoa(int(value)+sign(r)*(3+r.IntN(9)))), true
	}
	// Too far off to be a rounding error or a slip, close enough to be plausible.
	shifted := value + 2 + float64(r.IntN(5))
	if value >= 10 {
		shifted = value * (1.3 + float64(r.IntN(50))/100)
	}
	return n.replace(s.ref, n.like(shifted)), true
}

// sign returns 1 or -1.
func sign(r *rand.Rand) int { return 2*r.IntN(2) - 1 }

// isYear reports whether a number is likely a year.
func isYear(n numberSpan) bool {
	return len(n.digits) == 4 && !n.commas && (strings.HasPrefix(n.digits, "19") || strings.HasPrefix(n.digits, "20"))
}

// like formats a number like n.
func (n numberSpan) like(value float64) string {
	decimals := 0
	if _, fraction, ok := strings.Cut(n.digits, "."); ok {
		decimals = len(fraction)
	}
	text := strconv.FormatFloat(value, 'f', decimals, 64)
	if !n.commas {
		return text
	}
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}

func makeDate(s subject) (response string, ok bool) {
	ds := dates(s.ref)
	if len(ds) != 1 {
		return "", false
	}
	d := ds[0]
	// The day is kept if every month has it: only the month or the year changes.
	r := s.chance()
	t := d.AddDate(0, 0, -max(0, d.Day()-28)).AddDate(r.IntN(3)-1, 2+r.IntN(8), 0)
	return d.replace(s.ref, d.style.write(t)), true
}

func makeOffByOne(s subject) (response string, ok bool) {
	ds, ns := dates(s.ref), numbers(s.ref)
	switch {
	case approximate(s.ref) || len(ds)+len(ns) != 1:
		return "", false
	case len(ds) == 1 && strings.TrimSpace(ds[0].replace(s.ref, "")) != "":
		return "", false // the week before a day is also the week before the next day
	case len(ds) == 1:
		d := ds[0]
		return d.style.write(d.AddDate(0, 0, sign(s.chance()))), true
	}
	value, err := strconv.Atoi(ns[0].digits)
	if err != nil || value > 1e9 {
		return "", false
	}
	step := sign(s.chance())
	if value <= 1 {
		step = 1 // 0 of something would sound odd
	}
	return ns[0].replace(s.ref, ns[0].like(float64(value+step))), true
}

func makeName(s subject) (response string, ok bool) {
	words := strings.Fields(s.ref)
	if slices.Contains(words, "or") {
		return "", false // the other of two alternatives would still be right
	}
	for i, w := range words {
		// The first word of an answer is capitalised even if it is not a name.
		if !isName(w) || i == 0 && !s.asksName() && !(len(words) > 1 && s.shape == name) {
			continue
		}
		other := inventedNames[s.number(len(inventedNames))]
		if strings.Contains(plain(strings.Join(s.it.References, " ")), strings.ToLower(other)) {
			continue
		}
		end := i + 1 // a name may have several words
		for end < len(words) && isName(words[end]) && punctuation(words[end-1]) == "" {
			end++
		}
		tail := punctuation(words[end-1])
		return strings.Join(slices.Concat(words[:i], []string{other + tail}, words[end:]), " "), true
	}
	return "", false
}

// asksName reports whether the question asks for a person or a thing by name.
func (s subject) asksName() bool {
	words := strings.Fields(plain(s.it.Question))
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"who", "whom", "whose", "where", "which", "name", "named", "called", "city", "country", "countries", "cities"}, w)
	})
}

// punctuation returns the punctuation at the end of a word.
func punctuation(word string) string {
	return word[len(strings.TrimRight(word, ".,;:!?")):]
}

func makeStale(s subject) (response string, ok bool) {
	for _, field := range StaleFields {
		first, _, _ := strings.Cut(strings.TrimSpace(s.it.Fields[field]), "\n")
		if first != "" && differs(first, s.it.References) {
			return first, true
		}
	}
	return "", false
}

func makePartial(s subject) (response string, ok bool) {
	list := parts(s.ref)
	if list == nil {
		return "", false
	}
	gone := s.number(len(list))
	return enumerate(slices.Delete(slices.Clone(list), gone, gone+1), s.ref), true
}

func makeUnknown(s subject) (response string, ok bool) {
	phrases := []string{
		"I don't know.", "I'm sorry, I don't have that information.", "There is no mention of that in our conversations.",
		"I am not sure about that.", "That was never discussed.",
	}
	return phrases[s.number(len(phrases))], true
}

func makeEmpty(subject) (response string, ok bool) { return "", true }

// makeVague says something on the topic that does not answer the question. If possible it
// keeps a word of the reference, as vague answers do.
func makeVague(s subject) (response string, ok bool) {
	if s.shape == yesNo {
		return "", false
	}
	if slices.Contains(strings.Fields(s.ref), "or") {
		return "", false // a word of it may be a whole answer
	}
	if ds := dates(s.ref); len(ds) == 1 {
		return fmt.Sprintf("That was sometime in %d, as far as I remember.", ds[0].Year()), true
	}
	ns := numbers(s.ref)
	if s.shape == when && len(ns) == 1 && isYear(ns[0]) {
		if plain(s.ref) == ns[0].digits {
			return "That was a few years ago, I think.", true
		}
		return fmt.Sprintf("That was sometime around %s, as far as I remember.", ns[0].digits), true
	}
	words := content(s.ref)
	switch {
	case s.shape == number && len(words) > 0:
		return fmt.Sprintf("It was some %s, more than just a few.", strings.ToLower(words[len(words)-1])), true
	case len(words) > 1 && s.shape != name:
		longest := slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
		return fmt.Sprintf("It was something to do with %s, along with related things.", longest), true
	}
	topic := content(s.it.Question)
	if len(topic) == 0 {
		return "", false
	}
	topic = topic[max(0, len(topic)-2):]
	return fmt.Sprintf("It was something that came up several times when you talked about %s.", strings.Join(topic, " ")), true
}

// makeShotgun puts the right answer among three others of its type, so that a judge that
// only searches for it finds it.
func makeShotgun(s subject) (response string, ok bool) {
	if s.shape == yesNo {
		return "", false
	}
	list := []string{bare(s.ref)}
	for i := range uint64(20) {
		other := bare(s.pool.other(s.it, s.shape, mix(s.seed, "shotgun", s.it.ID)+i))
		if theirs := numbers(other); s.shape == number && len(theirs) == 1 {
			other = withNumber(bare(s.ref), theirs[0].digits)
		}
		if other != "" && !slices.Contains(list, other) {
			list = append(list, other)
		}
		if len(list) == 4 {
			break
		}
	}
	if len(list) < 3 {
		return "", false
	}
	at := s.number(len(list))
	list[0], list[at] = list[at], list[0]
	return "One of these: " + strings.Join(list, "; ") + ".", true
}

// directed are words between two names for which the order of the names matters.
var directed = []string{"to", "from", "than", "by", "before", "after", "gave", "beat", "taught", "told", "asked", "sold", "lent", "hired", "invited", "helped", "called", "visited"}

// makeSwappedRoles exchanges two names where that changes the meaning.
func makeSwappedRoles(s subject) (response string, ok bool) {
	words := strings.Fields(s.ref)
	var at []int
	for i, w := range words {
		if isName(w) {
			at = append(at, i)
		}
	}
	if len(at) != 2 || at[1] == at[0]+1 {
		return "", false
	}
	between := words[at[0]+1 : at[1]]
	joined := func(w string) bool { return w == "and" || w == "or" || w == "with" }
	if !slices.ContainsFunc(between, func(w string) bool { return slices.Contains(directed, w) }) || slices.ContainsFunc(between, joined) {
		return "", false
	}
	first, second := strings.TrimRight(words[at[0]], ".,;:!?"), strings.TrimRight(words[at[1]], ".,;:!?")
	words[at[0]], words[at[1]] = second+punctuation(words[at[0]]), first+punctuation(words[at[1]])
	return strings.Join(words, " "), true
}
