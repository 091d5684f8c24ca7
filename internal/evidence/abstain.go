package evidence

import "strings"

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
		for _, p := range abstentions[t.text] {
			if n := p.match(r.toks[i:]); n > 0 && !r.disarmed(span{i, i + n}) {
				return span{i, i + n}, true
			}
		}
	}
	return span{}, false
}

// disarmed tells "unknown to him" and "not sure why" in the middle of a text from
// an abstention: a single word counts only at the beginning of a sentence or
// after is or remains.
func (r *reading) disarmed(s span) bool {
	if s.len() > 1 {
		return false
	}
	i := s.from
	return i > 0 && r.toks[i].brk < clause && !linking[r.toks[i-1].text]
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
