package evidence

import (
	"slices"
	"strings"
)

// byOption decides where the question offers two options, "the workshop or the
// webinar?", and the reference is one of them. Then having the words of the
// reference is not evidence, for a wrong response has them too; what counts is
// which option the response settles on.
func (c *comparison) byOption(_ string, a *reading) (finding, bool) {
	one, other := c.question.options()
	if len(one) == 0 || len(other) == 0 || len(a.elems) == 0 || slices.ContainsFunc(a.elems, func(e elem) bool { return !c.question.hasElem(e) }) {
		return finding{}, false
	}
	inOne, inOther := a.firstOf(one) >= 0, a.firstOf(other) >= 0
	switch {
	case inOne && !inOther:
		return c.settled(one, other)
	case inOther && !inOne:
		return c.settled(other, one)
	}
	return finding{}, false
}

// options returns the words of the two options that an "or" in a question joins,
// without those that both have.
func (r *reading) options() (left, right map[string]bool) {
	or := -1
	for i, t := range r.toks {
		if t.text == "or" || t.text == "还" && at(r.toks, i+1, "是") {
			if or >= 0 {
				return nil, nil // three options are another question
			}
			or = i
		}
	}
	if or <= 0 {
		return nil, nil
	}
	// The left option begins after a comma or a colon, or else with the one word before the
	// "or". The words before that belong to the question as often as to the option.
	from := or - 1
	for i := or - 1; i > 0; i-- {
		if r.toks[i].brk != none {
			from = i
			break
		}
	}
	right = r.keysBetween(or+1, r.sentenceOf(or).to)
	left = r.keysBetween(from, or)
	for k := range left {
		if right[k] {
			delete(left, k)
			delete(right, k)
		}
	}
	return left, right
}

func (r *reading) keysBetween(from, to int) map[string]bool {
	keys := map[string]bool{}
	for _, e := range r.elems {
		if e.tok >= from && e.tok < to {
			keys[e.root] = true
		}
	}
	return keys
}

// settled judges which of two options the response settles on.
func (c *comparison) settled(ours, theirs map[string]bool) (finding, bool) {
	our, their := c.response.firstOf(ours), c.response.firstOf(theirs)
	switch {
	case our < 0 && their < 0:
		return finding{}, false
	case their < 0:
		if c.response.negated(span{our, our + 1}) {
			return finding{call: unsure, why: "the response denies the option of the reference", share: .3}, true
		}
		return finding{call: right, conf: .93, why: "of the two options the response names that of the reference"}, true
	case our < 0:
		return finding{call: wrong, conf: .9, why: "of the two options the response names the other"}, true
	}
	// In one sentence the words around both may keep one from telling which is meant.
	around := c.response.toks[max(0, min(our, their)-6):max(our, their)]
	if c.response.toks[our].sent == c.response.toks[their].sent && slices.ContainsFunc(around, func(t token) bool { return reversing[t.text] || isNegation(t) }) {
		return finding{call: unsure, why: "the response names both options", share: .5}, true
	}
	if our <= their {
		return finding{call: right, conf: .85, why: "the response names the option of the reference first"}, true
	}
	return finding{call: unsure, why: "the response names the other option first", share: .3}, true
}

// firstOf returns the first token whose root is in keys, or -1.
func (r *reading) firstOf(keys map[string]bool) int {
	for _, e := range r.elems {
		if keys[e.root] {
			return e.tok
		}
	}
	return -1
}

var reversing = set("after following between both whether if or neither same later than")

// inOrder reports whether the words that a and the response share come in the
// same order, a few aside.
func (c *comparison) inOrder(a *reading) bool {
	first := map[string]int{}
	for i, e := range c.response.elems {
		if _, ok := first[e.root]; !ok {
			first[e.root] = i
		}
	}
	var places []int
	seen := map[string]bool{}
	for _, e := range a.elems {
		k := e.root
		if at, ok := first[k]; ok && !seen[k] && len(places) < 64 {
			places = append(places, at)
		}
		seen[k] = true
	}
	swapped, pairs := 0, 0
	for i := range places {
		for j := range i {
			pairs++
			if places[j] > places[i] {
				swapped++
			}
		}
	}
	return swapped*5 <= pairs
}

// choiceLetter returns the option that a reference names: "B", "(B)", "B.", "B)
// Paris". It is "" where the reference is not an option.
func choiceLetter(ref string) string {
	ref = strings.TrimSpace(ref)
	bare := strings.Trim(ref, "()[].: ")
	if len(bare) == 1 && isOption(bare[0]) {
		return strings.ToLower(bare)
	}
	if len(ref) > 2 && ref[0] == '(' && isOption(ref[1]) && ref[2] == ')' {
		return strings.ToLower(ref[1:2])
	}
	if len(ref) > 2 && isOption(ref[0]) && (ref[1] == ')' || ref[1] == '.' || ref[1] == ':') && ref[2] == ' ' {
		return strings.ToLower(ref[:1])
	}
	return ""
}

func isOption(b byte) bool { return b >= 'A' && b <= 'J' }

// chosen returns the option that a response settles on, or "". The last "answer is
// X" counts; without one, a letter that begins the response; without that, the
// only letter that stands alone.
func (r *reading) chosen() string {
	last, only, several := "", "", false
	for i, t := range r.toks {
		if !r.isOptionToken(i) {
			continue
		}
		if slices.ContainsFunc(r.toks[max(0, i-3):i], func(t token) bool { return announcing[t.text] }) {
			last = t.text
		}
		if only != "" && only != t.text {
			several = true
		}
		only = t.text
	}
	switch {
	case last != "":
		return last
	case len(r.toks) > 0 && r.isOptionToken(0) && (len(r.toks) == 1 || r.toks[0].post != 0):
		return r.toks[0].text
	case !several:
		return only
	}
	return ""
}

// isOptionToken reports whether token i is a capital from A to J by itself, or a
// small one that is the whole text or in parentheses. The article A and the
// pronoun I are told apart by what follows.
func (r *reading) isOptionToken(i int) bool {
	t := r.toks[i]
	if t.kind != word || len(t.text) != 1 || t.text > "j" {
		return false
	}
	if !t.upper {
		return len(r.toks) == 1 || t.pre == '('
	}
	ends := i+1 == len(r.toks) || t.post != 0 || r.toks[i+1].brk != none
	return ends || t.text != "a" && t.text != "i"
}

// announcing words go before an option, as in "answer is B".
var announcing = set("answer option choice choose select pick 选 案")
