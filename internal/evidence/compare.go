// Package evidence compares a response with its references by what they say, and weighs what
// it finds. It is the inside of the judge [deem/judge/match]: tools/match fits the model, and
// pages show the spans that decided.
package evidence

import (
	"fmt"
	"slices"
	"strings"

	"deem"
)

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
	// share is how much of the reference's content the response has, where the
	// words are what was compared.
	share float64

	named   bool     // the response names the reference, as one of two alternatives
	by      step     // what decided
	most    float64  // the largest probability of being right that the comparison allows, 0 for any
	least   float64  // the smallest
	vague   bool     // the response is not to be accepted for it: the words are there, but perhaps not as the answer
	spared  bool     // the response is not to be rejected for it
	against *reading // the accepted answer that was compared
	ref     int      // the reference that it is in
	at      span     // what decided in the response
	want    span     // what decided in the accepted answer
	recall  float64  // how much of that answer the response has; only set if not right
}

// marked adds what decided to a finding: tokens of the response and of the accepted answer.
func (f finding) marked(at, want span) finding {
	f.at, f.want = at, want
	return f
}

// The largest probability where the model does not see what is doubtful: in general, and where
// the response has the answer among others.
const (
	doubtMost = .69
	amongMost = .9
)

// settled bounds the probability by what the finding says: numbers, dates and
// options are compared by value, and what the model learned about words does not
// overrule that.
func (f finding) settled() finding {
	switch f.call {
	case right:
		f.least = f.conf
	case wrong:
		f.most = 1 - f.conf
	}
	return f
}

// leaning bounds the probability to one side: the comparison read a sentence, and may have
// misread it. Then the judge decides only if the model is sure of the same, unless the
// response is so short that there is nothing else to read.
func (c *comparison) leaning(f finding, short int) finding {
	switch {
	case len(c.response.toks) <= short:
		return f.settled()
	case f.call == right:
		f.least = .51
	case f.call == wrong:
		f.most = .49
	}
	return f
}

// unseen is vague where the model sees no reason for doubt: it knows neither symbols nor who
// does what.
func (f finding) unseen() finding {
	f.vague, f.most = true, doubtMost
	return f
}

// valueMost is by how much more often people accept another value than the comparison allows.
const valueMost = 1.75

// amongOthers is unseen where the response has the answer and something else that may be its
// answer. People accept nine in ten of such answers, so the probability stays high.
func (f finding) amongOthers() finding {
	f.vague, f.most = true, amongMost
	return f
}

// open leaves the matter to somebody else.
func (f finding) open() finding {
	f.least, f.most, f.vague, f.spared = 0, doubtMost, true, true
	return f
}

// brief is how many words a response may have for one denial in it to concern the
// whole.
const brief = 12

// A step is one way to compare, in the order in which they are tried.
type step uint8

const (
	bySame step = iota
	byChoice
	byPolarity
	byOption
	byTime
	byDate
	byQuantity
	byInitials
	byList
	byWords
	byNoAnswer // the reference says that there is none
	byNothing  // the response has no words
)

// A comparison holds what all references of one item are compared with.
type comparison struct {
	question *reading
	response *reading
	whole    string // the response as it is
	blank    bool   // the response has no visible character
	abstains bool   // the response gives no answer
	hedges   bool   // the response says that it does not know, but goes on

	before *reading // what the response said and then took back
	echo   bool     // the response only repeats the question
	listed bool     // what is compared is one entry of the reference's list

	choices int // how many references there are
}

// compare reads the question and the response of an item.
func compare(it deem.Item) *comparison {
	c := &comparison{question: read(it.Question)}
	c.response, c.before = read(it.Response).retracted()
	c.response, c.echo = c.response.withoutEcho(c.question)
	c.whole, c.blank = strings.TrimSpace(it.Response), blank(it.Response)
	if s, ok := c.response.abstains(); ok {
		c.hedges = c.response.answersAnyway(s)
		c.abstains = !c.hedges
	}
	return c
}

// judge judges the response by its best reference.
func (c *comparison) judge(references []string) finding {
	c.choices = len(references)
	var best finding
	for i, ref := range references {
		if f := c.reference(ref); i == 0 || better(f, best) {
			best = f
			best.ref = i
		}
	}
	if best.call != right && c.before != nil {
		// What the response said last counts; if that says little, the reference may still hold
		// of what it took back.
		earlier := *c
		earlier.response, earlier.before = c.before, nil
		held := slices.ContainsFunc(references, func(ref string) bool { return earlier.reference(ref).call == right })
		if held {
			best.why = "the response takes back what it said before; " + best.why
		}
		switch {
		case held && (best.call == unsure || len(c.response.elems) > brief):
			best = best.open()
		case held:
			best = c.leaning(best, brief)
		}
	}
	if best.call == wrong && c.response.cut {
		best.call, best.why = unsure, "the response is too long to be read whole, and what was read does not have the answer"
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
	switch {
	case f.call == right:
		return f.conf > g.conf
	case f.call == wrong && f.conf != g.conf:
		return f.conf < g.conf
	case f.call == unsure && f.share != g.share:
		return f.share > g.share
	}
	return f.recall > g.recall
}

// reference judges the response by one reference.
func (c *comparison) reference(ref string) finding {
	whole := read(ref)
	// The canonical form has at least a byte for four, so a response that is far longer is not
	// put into it.
	if form := canonical(ref); !c.blank && len(c.whole) <= 4*len(form) && canonical(c.whole) == form {
		return finding{call: right, conf: .99, why: "the response is the reference", by: bySame, against: whole}.settled()
	}
	if s, ok := whole.abstains(); ok && whole.toks[s.from].sent == 0 {
		f := c.unanswerable()
		f.by, f.against = byNoAnswer, whole
		if f.call == right {
			return f.settled()
		}
		return c.leaning(f, brief)
	}
	if c.blank {
		return finding{call: wrong, conf: .99, why: "the response is empty", by: byNothing, against: whole}.settled()
	}
	if len(c.response.toks) == 0 {
		return finding{call: unsure, why: unreadable, by: byNothing, against: whole}.open()
	}
	if c.echo {
		return finding{call: wrong, conf: .85, why: "the response only repeats the question", by: byNothing, against: whole}.settled()
	}
	var best finding
	answers := accepted(ref)
	if c.question.asked() == 4 && len(c.response.toks) <= brief {
		for _, end := range []string{". ", ": ", " ("} {
			if first, _, several := strings.Cut(ref, end); several {
				answers = append(answers, first) // the number that was asked for, before the details
			}
		}
	}
	for i, answer := range answers {
		if f := c.answer(answer); i == 0 || better(f, best) {
			best = f
		}
	}
	if best.call != right {
		best = c.beyond(best, whole)
	}
	switch {
	case c.abstains && best.named:
		return best.open() // "18 or 19, I am not sure" is an answer, if half of one
	case c.abstains && best.call != right:
		best.call, best.conf, best.why = wrong, .93, "the response gives no answer"
		best.least = 0
		best = best.settled()
	case c.abstains || c.hedges && best.call == right:
		best.conf = min(best.conf, .7)
		best.least = min(best.least, best.conf)
	}
	return best
}

// beyond leaves open what match cannot compare: a reference that describes a good answer
// instead of giving one, and a response in another language, unless values decide.
func (c *comparison) beyond(f finding, whole *reading) finding {
	if whole.describesAnswer() {
		f.call, f.why = unsure, "the reference describes what a good answer does, which takes a reader to judge"
		return f.open()
	}
	if f.by < byList && (f.by != byQuantity || len(c.response.quants) > 0) && (f.by != byDate || len(c.response.dates) > 0) {
		return f
	}
	theirs, ours := c.response.language(), c.question.language()
	if ours == "" {
		ours = whole.language()
	}
	// Without small words a text still has a script.
	switch {
	case theirs == "" && whole.language() == unspacedLanguage && c.response.inLetters():
		theirs = "Latin letters"
	case ours == "" && theirs == unspacedLanguage && whole.inLetters():
		ours = "Latin letters"
	}
	if theirs == "" || ours == "" || theirs == ours || c.abstains {
		return f
	}
	f.call, f.why = unsure, fmt.Sprintf("the response is in %s and the reference in %s", theirs, ours)
	return f.open()
}

// describesAnswer reports whether a reference is a wish or a rubric and not an answer: "The
// user would prefer ...", "The response should mention ...".
func (r *reading) describesAnswer() bool {
	if len(r.toks) < 8 {
		return false
	}
	subject := false
	for i, t := range r.toks[:min(12, len(r.toks))] {
		switch t.text {
		case "user", "response", "answer", "assistant", "reply", "they":
			subject = true
		case "should", "must", "prefer", "prefers", "needs":
			if subject {
				return true
			}
		case "would":
			if subject && (at(r.toks, i+1, "prefer") || at(r.toks, i+1, "like") || at(r.toks, i+1, "want") || at(r.toks, i+1, "appreciate")) {
				return true
			}
		}
	}
	return false
}

// unreadable says why a response as "👍" is left to somebody else.
const unreadable = "the response has no words to compare"

// unanswerable judges the response to an item that has no answer.
func (c *comparison) unanswerable() finding {
	switch {
	case c.abstains:
		return finding{call: right, conf: .95, why: "the reference says that there is no answer, and so does the response"}
	case c.hedges:
		return finding{call: right, conf: .7, why: "the reference says that there is no answer, and so does the response before it goes on"}
	case c.blank:
		return finding{call: right, conf: .8, why: "the reference says that there is no answer, and the response gives none"}
	case len(c.response.toks) == 0:
		return finding{call: unsure, why: unreadable}.open()
	case c.response.negationIn():
		f := finding{call: unsure, why: "the reference says that there is no answer, and the response denies something"}.open()
		f.least = .6 // most likely that it has one
		return f
	}
	return finding{call: wrong, conf: .85, why: "the reference says that there is no answer, but the response gives one"}
}

// answer judges the response by one accepted answer. The steps go from the forms
// that can be compared by value to plain words; the first that applies decides.
func (c *comparison) answer(text string) finding {
	a := read(text)
	steps := []func(string, *reading) (finding, bool){
		c.same, c.byChoice, c.byPolarity, c.byOption, c.byTime, c.byDate, c.byQuantity, c.byInitials, c.byList,
	}
	for i, try := range steps {
		if f, ok := try(text, a); ok {
			return c.withSymbols(c.noted(f, step(i), a), a)
		}
	}
	return c.withSymbols(c.noted(c.byWords(a), byWords, a), a)
}

// noted adds to a finding what was compared. Values that are equal or differ settle
// the matter; so does an option or a yes that was not found, in that it leaves it
// open.
func (c *comparison) noted(f finding, by step, a *reading) finding {
	f.by, f.against = by, a
	switch by {
	case byChoice, byPolarity, byOption:
		if f.call == unsure {
			f = f.open()
		}
		f = f.settled()
	case byTime, byDate, byQuantity, byInitials:
		f = f.settled()
		if f.call == wrong {
			f.most = min(valueMost*(1-f.conf), .39)
		}
	}
	if f.call != right && len(a.elems) > 0 {
		want := c.informative(a)
		have, _ := c.split(want)
		f.recall = float64(len(have)) / float64(len(want))
	}
	return f
}

// same decides where both texts are the same but for case, marks and spacing. The
// marks that count are seen to by [comparison.withSymbols].
func (c *comparison) same(_ string, a *reading) (finding, bool) {
	if len(a.toks) == 0 {
		return finding{call: unsure, why: "the reference has no words to compare"}.open(), true
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
		return finding{call: wrong, conf: .95, why: "the response chooses option " + strings.ToUpper(got) + ", not " + strings.ToUpper(want)}, true
	case len(text) > 3:
		return finding{}, false // the text of the option may still be there
	}
	return finding{call: unsure, why: "the response names no option"}, true
}
