package match

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
`)

var hanRetractions = []string{"这不对", "那不对", "这是错的", "那是错的", "这不是真的", "那不是真的", "我说错了", "更正"}

// retracted returns what a text says after it has taken back what it said before: of
// "Pico. No, that is not true: the answer is Holme" it is "the answer is Holme". It
// returns the text itself when nothing is taken back, or nothing is said instead: "No,
// that is not true" is an answer too.
func (r *reading) retracted() *reading {
	rest := r
	for i := 1; i < len(r.toks)-1; i++ {
		n := retraction(r.toks[i:])
		if n == 0 || i+n >= len(r.toks) {
			continue
		}
		if after := readTokens(r.text, r.toks[i+n:], r.cut); len(after.elems) > 0 && r.says(i) {
			rest = after
		}
	}
	return rest
}

// retraction returns how many tokens a retraction at the start of toks has, or 0.
func retraction(toks []token) int {
	if toks[0].kind == han {
		return hanPhrase(toks, hanRetractions)
	}
	for _, p := range retractions[toks[0].text] {
		if n := p.match(toks); n > 0 {
			return n
		}
	}
	return 0
}

// says reports whether there is any content before token i.
func (r *reading) says(i int) bool {
	return len(r.elems) > 0 && r.elems[0].tok < i
}
