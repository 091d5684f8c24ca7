package evidence

import "slices"

// retractions are the ways to take back what was said before, as runs of folded words
// between spaces. A * stands for up to three words. "That's" is folded to "that".
var retractions = patterns(`
	that is not true
	that not true
	that is not right
	that not right
	that is not correct
	that not correct
	that is wrong
	that wrong
	that was wrong
	that is incorrect
	that incorrect
	that is false
	that false
	this is not true
	this is wrong
	this is incorrect
	i was wrong
	i was mistaken
	i misspoke
	i take that back
	i stand corrected
	scratch that
	strike that
	my mistake
	on second thought
	on second thoughts
	actually no
	no actually
	no wait
	wait no
	i meant
	i mean
	or rather
	let me correct
	i correct myself
	turned out to be
	nein moment
	nein warte
	ich meinte
	ich meine
	mejor dicho
	quiero decir
	je veux dire
	non attends
	volevo dire
`)

// slips take back what was said before where they stand by themselves, as in "Hmm, no:" or
// "Ach nein,", among no other words than those of interjections.
var (
	slips         = set("no nope correction mistake wrong bad sorry wait oops update edit nein korrektur falsch verzeihung entschuldigung moment quatsch warte non pardon perdon scusa anzi mal 不 错 等 抱 歉")
	interjections = set("hmm hm oh ah uh er well my that was a i it is sorry think actually ach oh je das war eh ben 哦 啊 噢 哎 我 记 说 了 对 一 下 这 是")
)

// doubted are the words that "turned out to be" answers.
var doubted = set("thought believed assumed supposed first initially originally")

var hanRetractions = []string{"这不对", "那不对", "这是错的", "那是错的", "这不是真的", "那不是真的", "我说错了", "说错了", "更正", "不对", "我是说"}

// retracted returns what a text says after it has taken back what it said before, and what
// it said before: of "Pico. No, that is not true: the answer is Holme" it is "the answer is
// Holme". It returns the text itself and nil when nothing is taken back, or nothing is said
// instead: "No, that is not true" is an answer too.
func (r *reading) retracted() (after, before *reading) {
	after = r
	for i := 1; i < len(r.toks)-1; i++ {
		n := r.retraction(i)
		if n == 0 || i+n >= len(r.toks) {
			continue
		}
		rest := readTokens(r.text, r.toks[i+n:], r.cut)
		if _, abstains := rest.abstains(); len(rest.elems) > 0 && len(r.elems) > 0 && r.elems[0].tok < i && !abstains {
			after, before = rest, readTokens(r.text, r.toks[:i], r.cut)
		}
	}
	return after, before
}

// retraction returns how many tokens a retraction at token i has, or 0.
func (r *reading) retraction(i int) int {
	toks := r.toks[i:]
	if toks[0].kind == han {
		if r.toks[i].brk == none && toks[0].text != "说" && toks[0].text != "我" {
			return 0 // 绝对不对 takes nothing back
		}
		if n := hanPhrase(toks, hanRetractions); n > 0 {
			return n
		}
		return r.slip(i)
	}
	for _, p := range retractions[toks[0].text] {
		n := p.match(toks)
		if n == 0 || p[0] == "turned" && !slices.ContainsFunc(r.toks[max(0, i-15):i], func(t token) bool { return doubted[t.text] }) {
			continue
		}
		return n
	}
	return r.slip(i)
}

// slip returns how many tokens an interjection at token i has that takes back what was said,
// or 0. What follows has to be as short as what it replaces, or name something.
func (r *reading) slip(i int) int {
	if r.toks[i].brk == none {
		return 0
	}
	found := false
	for n := 0; i+n < len(r.toks) && n < 6; n++ {
		t := r.toks[i+n]
		if n > 0 && t.brk != none && found {
			if r.names(i + n) {
				return n
			}
			return 0
		}
		if !slips[t.text] && !interjections[t.text] {
			return 0
		}
		found = found || slips[t.text]
	}
	return 0
}

// names reports whether the sentence at token i is short, or has a number or a name.
func (r *reading) names(i int) bool {
	s := r.sentenceOf(i)
	for k := i; k < s.to; k++ {
		if r.toks[k].kind == number || r.toks[k].upper && k > i {
			return true
		}
	}
	return s.to-i <= 5
}
