package evidence

import "strings"

// A polarity is yes, no or neither.
type polarity int8

const (
	noPolarity polarity = iota
	affirmed
	denied
)

func (p polarity) String() string {
	return [...]string{"neither yes nor no", "yes", "no"}[p]
}

var (
	yesWords = set("yes yeah yep yup true correct right affirmative absolutely definitely certainly indeed")
	noWords  = set("no nope nah false incorrect wrong negative")

	// Words that may stand before the answer without changing it.
	leadWords = set("well oh answer the is it's its it would be likely probably most very i think believe that's that so , final response short simply my")
)

// answered returns the yes or no that a text begins with, and the token after it.
func (r *reading) answered() (polarity, int) {
	for i, t := range r.toks {
		switch {
		case t.kind == han:
			return hanAnswer(r.toks, i)
		case yesWords[t.text] && !r.partOfPhrase(i):
			return affirmed, i + 1
		case noWords[t.text] && !r.partOfPhrase(i):
			return denied, i + 1
		case i > 8 || !leadWords[t.text]:
			return noPolarity, 0
		}
	}
	return noPolarity, 0
}

// partOfPhrase tells "no one knows" and "right hand" from an answer: an answer is
// the whole text or is followed by a boundary, or is a plain yes or no that does
// not begin a noun phrase.
func (r *reading) partOfPhrase(i int) bool {
	if i+1 >= len(r.toks) || r.toks[i+1].brk != none || r.toks[i].post != 0 {
		return false
	}
	next := r.toks[i+1].text
	if t := r.toks[i].text; t == "yes" || t == "yeah" || t == "nope" {
		return false
	}
	return r.toks[i].text != "no" || !answerFollowers[next]
}

// answerFollowers are words that go on after an answering no without a comma.
var answerFollowers = set("he she they it i you we there that this because since the not but his her")

func hanAnswer(toks []token, i int) (polarity, int) {
	next := ""
	if i+1 < len(toks) {
		next = toks[i+1].text
	}
	whole := i+1 == len(toks) || toks[i+1].brk != none
	switch toks[i].text {
	case "不", "没", "否", "未":
		if whole || next == "是" || next == "有" || next == "会" || next == "对" || next == "能" || next == "可" {
			return denied, min(i+2, len(toks))
		}
	case "是", "对", "有", "会", "能":
		if whole || next == "的" {
			return affirmed, i + 1
		}
	}
	return noPolarity, 0
}

// isNegation reports whether the word turns what follows into its opposite.
func isNegation(t token) bool {
	return negations[t.text] || strings.HasSuffix(t.text, "n't")
}

var negations = set("not no never without neither nor none cannot cant dont doesnt didnt isnt wasnt arent werent wont nicht kein keine keinen keinem keiner nie niemals pas jamais nunca 不 没 未 无 非")

// negated reports whether the tokens of s are denied: a negation goes before them
// in the same clause, at most reach tokens away. "not only" denies nothing, and
// two negations in a row cancel out.
func (r *reading) negated(s span) bool {
	const reach = 4
	count := 0
	for i := s.from - 1; i >= 0 && i >= s.from-reach; i-- {
		if r.toks[i+1].brk != none {
			break
		}
		t := r.toks[i]
		if contrasts[t.text] {
			break
		}
		if isNegation(t) && !r.harmless(i) {
			count++
		}
		if t.text == "statt" || t.text == "anstatt" {
			return true
		}
		if t.text == "instead" || t.text == "rather" {
			return at(r.toks, i+1, "of") || at(r.toks, i+1, "than")
		}
	}
	return count%2 == 1
}

// contrasts end the reach of a negation: "not Lyon but Paris", "not until 1998",
// "no less than five".
var contrasts = set("but however although though yet because and until till less fewer later sondern aber mais sino pero")

// harmless reports whether the negation at token i denies nothing: "not only", 不过.
func (r *reading) harmless(i int) bool {
	if i+1 >= len(r.toks) {
		return false
	}
	next := r.toks[i+1].text
	if r.toks[i].text == "不" {
		return next == "过" || next == "仅" || next == "但" || next == "久" || next == "同"
	}
	switch next {
	case "only", "just", "doubt", "question":
		return true
	case "a", "any":
		return at(r.toks, i+2, "doubt") || at(r.toks, i+2, "question")
	}
	return false
}

// negationIn reports whether a short text as a whole is a denial.
func (r *reading) negationIn() bool {
	n := 0
	for i, t := range r.toks {
		if isNegation(t) && !r.harmless(i) {
			n++
		}
	}
	return n%2 == 1
}

// byPolarity decides where the reference begins with yes or no.
func (c *comparison) byPolarity(_ string, a *reading) (finding, bool) {
	want, to := a.answered()
	if want == noPolarity || a.toks[to-1].kind == word && !plainAnswers[a.toks[to-1].text] {
		return finding{}, false
	}
	// What follows the answer has to explain it.
	if to < len(a.toks) && a.toks[to].brk == none && !explains[a.toks[to].text] && len(a.toks)-to <= 2 {
		return finding{}, false
	}
	got, to := c.response.answered()
	switch {
	case got == want && c.response.turns(to):
		return finding{call: unsure, why: "both say " + want.String() + ", but the response goes on to say something else", share: .5}, true
	case got == want:
		return finding{call: right, conf: .9, why: "both say " + want.String()}, true
	case got != noPolarity:
		return finding{call: wrong, conf: .9, why: "the reference says " + want.String() + " and the response says " + got.String()}, true
	}
	return c.impliedPolarity(want), true
}

// turns reports whether a text that has answered up to token i goes on with a "but" and a
// denial: "Yes, but it is actually closed".
func (r *reading) turns(i int) bool {
	if i >= len(r.toks) || r.toks[i].text != "but" && r.toks[i].text != "however" && r.toks[i].text != "aber" && r.toks[i].text != "但" {
		return false
	}
	for ; i < len(r.toks) && r.toks[i].brk != sentence; i++ {
		if t := r.toks[i]; isNegation(t) || t.text == "actually" || t.text == "eigentlich" {
			return true
		}
	}
	return false
}

// plainAnswers are the words that mean yes or no in a reference. "Right" may be a
// side, and "certainly" is not an answer key.
var plainAnswers = set("yes no true false yeah nope")

var explains = set("because since as he she they it i you")

// impliedPolarity judges a response that says neither yes nor no. Sharing the
// words of the question with a negation, or without one, is a hint and no more.
func (c *comparison) impliedPolarity(want polarity) finding {
	shared, missing := c.split(c.question.elems)
	if len(c.response.toks) > 40 || len(shared) == 0 || len(shared) < len(missing) {
		return finding{call: unsure, why: "the reference says " + want.String() + " and the response does not say which"}
	}
	got := affirmed
	if c.response.negationIn() {
		got = denied
	}
	conf := .7
	if len(c.response.toks) <= brief {
		conf = .8
	}
	if got == want {
		return finding{call: right, conf: conf, why: "the response repeats the question as " + got.String() + ", as the reference says"}
	}
	return finding{call: wrong, conf: conf, why: "the response repeats the question as " + got.String() + ", and the reference says " + want.String()}
}
