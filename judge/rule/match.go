package rule

import (
	"context"

	"deem"
)

// The labels of match.
const (
	Correct   = "correct"
	Incorrect = "incorrect"
)

// match is the judge that understands what it compares.
type match struct {
	name   string
	forced bool
}

var _ deem.Identified = (*match)(nil)

// Match returns the judge "match". It reads numbers, number words, dates,
// durations, units, times, lists, option letters, yes and no, negation and
// abstention in English, and in Chinese where the forms are regular; what is left
// it compares as words, without case, diacritics, articles and plural endings.
//
// Its labels are [Correct] and [Incorrect], with a confidence from 0.5 to 1 and a
// reason. Where the texts do not settle the matter, as a free-text reference of
// which the response shares half the words, it returns a failure of kind unsure:
// the item stays unjudged, for a person or a model to decide.
func Match() deem.Judge { return &match{name: "match"} }

// MatchForced returns the judge "match/forced", which is [Match] except that it
// never is unsure: it then decides by the share of the reference's words that the
// response has, with a confidence near one half.
func MatchForced() deem.Judge { return &match{name: "match/forced", forced: true} }

// Name returns the name of the rule.
func (j *match) Name() string { return j.name }

// Identity returns the name and the version of the rule.
func (j *match) Identity() any {
	return identity{Kind: "rule", Name: j.name, Version: 1}
}

// Judge compares the response with each reference. One that is met suffices; the
// response is wrong only if it is wrong by every one of them.
func (j *match) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ready(ctx, it); err != nil {
		return deem.Verdict{}, err
	}
	f := judgeAll(it)
	if f.call == unsure {
		if !j.forced {
			return deem.Verdict{}, deem.Failf(deem.Unsure, "%s", f.why)
		}
		f = force(f)
	}
	v := deem.Verdict{Label: Incorrect, Reason: f.why, Confidence: &f.conf}
	if f.call == right {
		v.Label, v.Score = Correct, 1
	}
	return v, nil
}

// A call is what a comparison came to.
type call uint8

const (
	unsure call = iota
	right
	wrong
)

// A finding is a call with how sure it is and what decided.
type finding struct {
	call call
	conf float64 // from 0.5 to 1
	why  string  // one sentence, without a full stop
	// share is how much of the reference's content the response has. Only a
	// forced judge looks at it.
	share float64
}

// force decides an unsure finding.
func force(f finding) finding {
	f.conf = .55
	f.call = wrong
	if f.share >= .5 {
		f.call = right
	}
	return f
}

// A comparison holds what all references of one item are compared with.
type comparison struct {
	question *reading
	response *reading
	abstains bool // the response gives no answer
	hedges   bool // the response says that it does not know, but goes on
}

// judgeAll judges the response by its best reference.
func judgeAll(it deem.Item) finding {
	c := &comparison{question: read(it.Question), response: read(it.Response)}
	if s, ok := c.response.abstains(); ok {
		c.hedges = c.response.answersAnyway(s)
		c.abstains = !c.hedges
	}
	var best finding
	for i, ref := range it.References {
		if f := c.reference(ref); i == 0 || better(f, best) {
			best = f
		}
	}
	if best.call == wrong && c.response.cut {
		return finding{call: unsure, why: "the response is too long to be read whole, and what was read does not have the answer"}
	}
	return best
}

// better reports whether f is more favourable than g: right before unsure before
// wrong, then the surer. Of two wrongs the less sure one counts, for the response
// is only as wrong as its nearest reference lets it be.
func better(f, g finding) bool {
	rank := map[call]int{right: 2, unsure: 1, wrong: 0}
	if f.call != g.call {
		return rank[f.call] > rank[g.call]
	}
	switch f.call {
	case wrong:
		return f.conf < g.conf
	case unsure:
		return f.share > g.share
	default:
		return f.conf > g.conf
	}
}

// reference judges the response by one reference.
func (c *comparison) reference(ref string) finding {
	whole := read(ref)
	if s, ok := whole.abstains(); ok && whole.toks[s.from].sent == 0 {
		return c.unanswerable()
	}
	if c.response.empty() {
		return finding{call: wrong, conf: .99, why: "the response is empty"}
	}
	var best finding
	for i, answer := range accepted(ref) {
		if f := c.answer(answer); i == 0 || better(f, best) {
			best = f
		}
	}
	return c.withAbstention(best)
}

// unanswerable judges the response to an item that has no answer.
func (c *comparison) unanswerable() finding {
	switch {
	case c.abstains:
		return finding{call: right, conf: .95, why: "the reference says that there is no answer, and so does the response"}
	case c.hedges:
		return finding{call: right, conf: .7, why: "the reference says that there is no answer, and so does the response before it goes on"}
	case c.response.empty():
		return finding{call: right, conf: .6, why: "the reference says that there is no answer, and the response gives none"}
	case c.response.negationIn():
		return finding{call: unsure, why: "the reference says that there is no answer, and the response denies something"}
	}
	return finding{call: wrong, conf: .85, why: "the reference says that there is no answer, but the response gives one"}
}

// withAbstention takes into account that the response says it does not know.
func (c *comparison) withAbstention(f finding) finding {
	switch {
	case c.abstains && f.call != right:
		return finding{call: wrong, conf: .93, why: "the response gives no answer"}
	case c.abstains || c.hedges && f.call == right:
		f.conf = min(f.conf, .7)
	}
	return f
}

// answer judges the response by one accepted answer. The steps go from the forms
// that can be compared by value to plain words; the first that applies decides.
func (c *comparison) answer(text string) finding {
	a := read(text)
	steps := []func(string, *reading) (finding, bool){
		c.same, c.byChoice, c.byPolarity, c.byOption, c.byDate, c.byQuantity, c.byInitials, c.byList,
	}
	for _, step := range steps {
		if f, ok := step(text, a); ok {
			return f
		}
	}
	return c.byWords(a)
}

// same decides where both texts are the same but for case, marks and spacing.
func (c *comparison) same(_ string, a *reading) (finding, bool) {
	if len(a.toks) == 0 {
		return finding{call: unsure, why: "the reference has no words to compare"}, true
	}
	if len(a.toks) != len(c.response.toks) {
		return finding{}, false
	}
	for i, t := range a.toks {
		u := c.response.toks[i]
		if t.text != u.text || t.pre != u.pre && (i > 0 || isCurrency(t.pre) || isCurrency(u.pre)) {
			return finding{}, false
		}
	}
	return finding{call: right, conf: .99, why: "the response is the reference"}, true
}

// byChoice decides where the reference is an option letter.
func (c *comparison) byChoice(text string, _ *reading) (finding, bool) {
	want := choiceLetter(text)
	if want == "" {
		return finding{}, false
	}
	switch got := c.response.chosen(); {
	case got == want:
		return finding{call: right, conf: .95, why: "the response chooses the option of the reference"}, true
	case got != "":
		return finding{call: wrong, conf: .95, why: "the response chooses option " + upper(got) + ", not " + upper(want)}, true
	case len(text) > 3:
		return finding{}, false // the text of the option may still be there
	}
	return finding{call: unsure, why: "the response names no option"}, true
}

// byPolarity decides where the reference begins with yes or no.
func (c *comparison) byPolarity(_ string, a *reading) (finding, bool) {
	want, to := a.answered()
	if want == noPolarity || !a.answersOnly(to) {
		return finding{}, false
	}
	got, _ := c.response.answered()
	switch {
	case got == want:
		return finding{call: right, conf: .9, why: "both say " + want.String()}, true
	case got != noPolarity:
		return finding{call: wrong, conf: .9, why: "the reference says " + want.String() + " and the response says " + got.String()}, true
	}
	return c.impliedPolarity(want), true
}

// answersOnly reports whether a yes or no at the start of a reference is the
// answer, and what follows at token to explains it.
func (r *reading) answersOnly(to int) bool {
	if t := r.toks[to-1]; t.kind == word && !plainAnswers[t.text] {
		return false
	}
	return to >= len(r.toks) || r.toks[to].brk != none || explains[r.toks[to].text] || len(r.toks)-to > 2
}

// plainAnswers are the words that mean yes or no in a reference. "Right" may be a
// side, and "certainly" is no answer key.
var plainAnswers = set("yes no true false yeah nope")

var explains = set("because since as he she they it i you")

// impliedPolarity judges a response that says neither yes nor no. Sharing the
// words of the question with a negation, or without one, is a hint and no more.
func (c *comparison) impliedPolarity(want polarity) finding {
	if len(c.response.toks) > 40 {
		return finding{call: unsure, why: "the reference says " + want.String() + " and the response does not say which"}
	}
	got := affirmed
	if c.response.negationIn() {
		got = denied
	}
	shared, total := 0, 0
	for _, e := range c.question.elems {
		total++
		if c.response.has(e.key) {
			shared++
		}
	}
	if total == 0 || 2*shared < total {
		return finding{call: unsure, why: "the reference says " + want.String() + " and the response does not say which"}
	}
	if got == want {
		return finding{call: right, conf: .7, why: "the response repeats the question as " + got.String() + ", as the reference says"}
	}
	return finding{call: wrong, conf: .7, why: "the response repeats the question as " + got.String() + ", and the reference says " + want.String()}
}

func upper(letter string) string { return string(letter[0] - 'a' + 'A') }
