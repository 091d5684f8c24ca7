package evidence

import (
	"slices"
	"strings"
)

// abstentions are the ways to say that one has no answer, as runs of folded words
// between spaces. A * stands for up to three words.
var abstentions = patterns(`
	i don't know
	i do not know
	don't know
	i'm not sure
	i am not sure
	not sure
	i have no idea
	no idea
	unknown
	unanswerable
	not answerable
	can't be answered
	cannot be answered
	cannot answer
	can't answer
	unable to answer
	unable to determine
	unable to find
	unable to provide
	unable to tell
	not able to
	cannot determine
	can't determine
	cannot be determined
	can't be determined
	could not be determined
	impossible to
	cannot say
	can't say
	cannot tell
	can't tell
	cannot find
	can't find
	could not find
	couldn't find
	cannot provide
	can't provide
	cannot confirm
	cannot recall
	can't recall
	don't recall
	do not recall
	no information
	no * information
	not enough information
	insufficient information
	information * not enough
	information * not available
	information * not provided
	information * insufficient
	not have * information
	don't have * information
	doesn't have * information
	do not have * information
	does not have * information
	don't have * access
	do not have * access
	don't have any record
	do not have any record
	don't have that memory
	don't have * memories
	not in * memory
	not in * memories
	not in * records
	no * recorded
	no record
	no records
	no mention
	no memory
	no memories
	no data
	no details
	not mentioned
	not mention
	didn't mention
	doesn't mention
	haven't mentioned
	hasn't mentioned
	never mentioned
	not been mentioned
	isn't mentioned
	aren't mentioned
	wasn't mentioned
	not specified
	not specify
	doesn't specify
	didn't specify
	isn't specified
	not stated
	not provided
	not provide
	haven't provided
	not given
	not discussed
	not discuss
	haven't discussed
	not shared
	haven't shared
	haven't told
	not told
	doesn't say
	does not say
	doesn't state
	does not state
	not indicated
	not disclosed
	not recorded
	not available
	not found
	not contain
	doesn't contain
	not applicable
	n a
	none of the above
	no answer
	no relevant
	no specific
	no evidence
	nothing about
	unclear
	unsure
	undetermined
	need more information
	need more context
	please provide
`)

var hanAbstentions = []string{
	"不知道", "不清楚", "无法确定", "无法回答", "无法判断", "没有提到", "没有提及", "未提及", "未提到", "没提到",
	"没有信息", "没有相关", "无相关", "没有足够", "信息不足", "不确定", "未说明", "没有说明", "未知",
}

// A pattern is a run of words, "*" standing for up to three of any kind.
type pattern []string

func patterns(lines string) map[string][]pattern {
	m := map[string][]pattern{}
	for line := range strings.Lines(lines) {
		if p := strings.Fields(line); len(p) > 0 {
			m[p[0]] = append(m[p[0]], p)
		}
	}
	return m
}

// abstains returns the first abstention in a text, and whether there is one.
func (r *reading) abstains() (span, bool) {
	for i, t := range r.toks {
		if t.kind == han {
			if n := hanPhrase(r.toks[i:], hanAbstentions); n > 0 {
				return span{i, i + n}, true
			}
			continue
		}
		// A single word counts only at the beginning of a sentence or after is or remains:
		// "unknown to him" in the middle of a text is not an abstention.
		alone := i == 0 || t.brk >= clause || linking[r.toks[i-1].text]
		for _, p := range abstentions[t.text] {
			if n := p.match(r.toks[i:]); n > 1 || n == 1 && alone {
				return span{i, i + n}, true
			}
		}
	}
	return span{}, false
}

var linking = set("is are was were remains remain it's still answer currently")

// match returns how many tokens p covers at the start of toks, or 0.
func (p pattern) match(toks []token) int {
	n := 0
	for k, w := range p {
		if w == "*" {
			for skip := 0; skip <= 3; skip++ {
				if n+skip > len(toks) {
					return 0
				}
				if m := p[k+1:].match(toks[n+skip:]); m > 0 {
					return n + skip + m
				}
			}
			return 0
		}
		if n >= len(toks) || toks[n].text != w || n > 0 && toks[n].brk == sentence {
			return 0
		}
		n++
	}
	return n
}

// hanPhrase returns how many tokens the first of the phrases has that toks begin with,
// or 0.
func hanPhrase(toks []token, phrases []string) int {
	for _, phrase := range phrases {
		n := 0
		rest := phrase
		for n < len(toks) && rest != "" && strings.HasPrefix(rest, toks[n].text) {
			rest = rest[len(toks[n].text):]
			n++
		}
		if rest == "" {
			return n
		}
	}
	return 0
}

// answersAnyway reports whether a text that abstains goes on to offer an answer:
// "I'm not sure, but it may be Paris".
func (r *reading) answersAnyway(s span) bool {
	for i := s.to; i < len(r.toks); i++ {
		if turns[r.toks[i].text] && i+1 < len(r.toks) {
			return true
		}
	}
	// An answer first and a remark on what is not known after it.
	return s.from > 12 && r.toks[s.from].sent > 0
}

var turns = set("but however although though nevertheless nonetheless still likely probably perhaps maybe possibly guess 但 不过")

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
	}
	for _, p := range retractions[toks[0].text] {
		n := p.match(toks)
		if n > 0 && (p[0] != "turned" || slices.ContainsFunc(r.toks[max(0, i-15):i], func(t token) bool { return doubted[t.text] })) {
			return n
		}
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
			rest := r.toks[i+n : r.sentenceOf(i+n).to]
			if len(rest) <= 5 || t.kind == number || slices.ContainsFunc(rest[1:], func(t token) bool { return t.kind == number || t.upper }) {
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
