package evidence

import "slices"

// byOption decides where the question offers two options, "the workshop or the
// webinar?", and the reference is one of them. Then having the words of the
// reference is not evidence, for a wrong response has them too; what counts is
// which option the response settles on.
func (c *comparison) byOption(_ string, a *reading) (finding, bool) {
	one, other := c.question.options()
	if len(one) == 0 || len(other) == 0 || len(a.elems) == 0 || slices.ContainsFunc(a.elems, func(e elem) bool { return !c.question.hasElem(e) }) {
		return finding{}, false
	}
	inOne, inOther := overlapping(a, one), overlapping(a, other)
	switch {
	case inOne > 0 && inOther == 0:
		return c.settled(one, other)
	case inOther > 0 && inOne == 0:
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
	right = r.keysBetween(or+1, r.sentenceOf(or).to)
	left = r.keysBetween(r.optionStart(or), or)
	for k := range left {
		if right[k] {
			delete(left, k)
			delete(right, k)
		}
	}
	return left, right
}

// optionStart returns where the option that ends at token or begins: after a
// comma or a colon, or else with the one word before the "or". The words before
// that belong to the question as often as to the option.
func (r *reading) optionStart(or int) int {
	for i := or - 1; i > 0; i-- {
		if r.toks[i].brk != none {
			return i
		}
	}
	return or - 1
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

func overlapping(a *reading, keys map[string]bool) int {
	n := 0
	for _, e := range a.elems {
		if keys[e.root] {
			n++
		}
	}
	return n
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
	first := min(our, their)
	if c.response.toks[our].sent == c.response.toks[their].sent && c.response.reverses(first, max(our, their)) {
		return finding{call: unsure, why: "the response names both options", share: .5}, true
	}
	if first == our {
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

// reverses reports whether the words around two options in one sentence keep one
// from telling which is meant: "after", "between", "both".
func (r *reading) reverses(from, to int) bool {
	return slices.ContainsFunc(r.toks[max(0, from-6):to], func(t token) bool { return reversing[t.text] || isNegation(t) })
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
