package evidence

import (
	"fmt"
	"slices"
	"strings"
)

// This file is about who does what to whom. "The blue car is faster than the red car" has
// the words "the red car", but not as an answer to what is faster.

// opposites are pairs of adjectives that order two things the other way round.
var opposites = func() map[string]string {
	m := map[string]string{}
	for pair := range strings.FieldsSeq("fast-slow tall-short old-young big-small larg-small high-low long-short heavi-light rich-poor good-bad earli-lat near-far cheap-expensiv warm-cold hot-cold strong-weak more-less more-few schnell-langsam gross-klein alt-jung") {
		a, b, _ := strings.Cut(pair, "-")
		m[a], m[b] = b, a
	}
	return m
}()

// degree returns the adjective of which a word is a comparative or a superlative, "" for
// none: fast of faster and fastest.
func degree(toks []token, i int) string {
	w := toks[i].text
	switch w {
	case "better", "best":
		return "good"
	case "worse", "worst":
		return "bad"
	case "further", "furthest", "farther", "farthest":
		return "far"
	case "fewer", "fewest":
		return "few"
	case "less", "least":
		return "less"
	case "more", "most":
		if i+1 < len(toks) && toks[i+1].kind == word && toks[i+1].brk == none && toks[i+1].text != "than" {
			return strings.TrimSuffix(toks[i+1].text, "e")
		}
		return "more"
	}
	for _, ending := range []string{"ests", "est", "ste", "sten", "er"} {
		if cut, ok := strings.CutSuffix(w, ending); ok && len(cut) >= 3 && !notDegrees[w] {
			if n := len(cut); n > 3 && cut[n-1] == cut[n-2] && cut[n-1] != 'l' && cut[n-1] != 's' {
				return cut[:n-1]
			}
			return cut
		}
	}
	return ""
}

// notDegrees end like comparatives but are not comparatives.
var notDegrees = set("other either neither whether after never number river water father mother brother sister member winner player order paper under over former latter together later letter power corner center letter oder aber unter immer wieder leiter vater mutter")

// compared judges the words at s in a comparison, by the side that they stand on and by what
// the question asks for: right if nothing is wrong with it, and why not otherwise.
func (c *comparison) compared(s, sent span) (call, string) {
	r := c.response
	than, adjective, several := -1, "", false
	for i := sent.from + 1; i < sent.to; i++ {
		if r.toks[i].kind == han && r.toks[i].text == "比" {
			return c.comparedInChinese(s, sent, i)
		}
		if t := r.toks[i].text; t != "than" && t != "als" {
			continue
		}
		found := ""
		for k := i - 1; k >= max(sent.from, i-3) && found == ""; k-- {
			found = degree(r.toks, k)
		}
		if found == "" {
			continue
		}
		several = several || than >= 0
		than, adjective = i, found
	}
	if than < 0 {
		return right, ""
	}
	asked := ""
	for i := range c.question.toks {
		if d := degree(c.question.toks, i); d != "" {
			asked = d
		}
	}
	loser := s.from > than
	other := fmt.Sprintf("%q", r.written(span{max(sent.from, than-2), than + 1}))
	switch turned := opposites[asked] == adjective; {
	case several, r.denies(sent):
		return unsure, "the response compares, and it is not clear which side is the answer"
	case asked == "" && !loser, asked == adjective && !loser, turned && loser:
		return right, ""
	case asked == adjective, turned:
		return wrong, fmt.Sprintf("the response names %q on the other side of %s", r.written(s), other)
	}
	return unsure, fmt.Sprintf("the response names %q in a comparison with %s", r.written(s), other)
}

// denies reports whether a sentence has a negation.
func (r *reading) denies(sent span) bool {
	for i := sent.from; i < sent.to; i++ {
		if isNegation(r.toks[i]) && !r.harmless(i) {
			return true
		}
	}
	return false
}

// comparedInChinese judges 小李比小王高, in which 比 is token than.
func (c *comparison) comparedInChinese(s, sent span, than int) (call, string) {
	said, asked := degreeInChinese(c.response.toks[than:sent.to]), degreeInChinese(c.question.toks)
	if loser := s.from > than; said != 0 && (said == asked || said == -asked) {
		if loser == (said == -asked) {
			return right, ""
		}
		return wrong, fmt.Sprintf("the response names %q on the other side of a comparison", c.response.written(s))
	}
	return unsure, "the response compares, and it is not clear which side is the answer"
}

// degreeInChinese returns which adjective orders two things: the same number for those that
// order alike, its negative for their opposites, and 0 for none.
func degreeInChinese(toks []token) int {
	for _, t := range slices.Backward(toks) {
		for k, pair := range strings.Fields("高/矮低 大/小 多/少 快/慢 长/短 重/轻 老/幼 贵/便 远/近 强/弱 好/差坏 热/冷 新/旧 先早/晚后迟 深/浅 宽/窄 胖/瘦") {
			up, down, _ := strings.Cut(pair, "/")
			switch {
			case t.kind != han:
			case strings.Contains(up, t.text):
				return k + 1
			case strings.Contains(down, t.text):
				return -k - 1
			}
		}
	}
	return 0
}

// forms lists verbs whose participle does not look like the rest of them, and for a defeat
// the words that ask for the winner.
var forms = func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(`
		written wrote write writes
		bitten bit bite bites biting
		bought buy buys buying acquired
		acquired bought buy acquire
		sold sell sells
		taken took take
		given gave give
		built build builds
		sung sang sing
		drawn drew draw
		thrown threw throw
		driven drove drive
		stolen stole steal
		broken broke break
		chosen chose choose
		eaten ate eat
		sent send sends
		caught catch catches
		taught teach teaches
		paid pay pays
		led lead leads
		made make makes
		found find finds
		beaten beat won win wins winner champion
		defeated defeat beat won win wins winner champion
		killed kill shot murdered
		hit hits
	`) {
		if list := strings.Fields(line); len(list) > 1 {
			m[list[0]] = list[1:]
		}
	}
	return m
}()

// defeats go before the one who loses.
var defeats = set("beat beats beating defeated defeats outran overtook outplayed outscored")

// losing goes after the one who loses.
var losing = set("lost loses verlor perdió perdu 输")

// acted judges words in a sentence about a deed, where the question asks who did it.
func (c *comparison) acted(s, sent span) (call, string) {
	r := c.response
	if c.question.passive(span{0, len(c.question.toks)}, false) >= 0 {
		return right, ""
	}
	for i := sent.from; i < sent.to; i++ {
		t := r.toks[i]
		switch {
		case t.text == "被" && t.kind == han && s.to <= i && c.question.asked() == 1:
			return unsure, fmt.Sprintf("the response says that something was done to %q", r.written(s))
		case defeats[t.text] && c.asksFor("beaten") && s.from > i && s.from <= i+2:
			return wrong, fmt.Sprintf("the response says that %q lost", r.written(s))
		case losing[t.text] && c.asksFor("beaten") && s.to <= i && i <= s.to+1:
			return wrong, fmt.Sprintf("the response says that %q lost", r.written(s))
		case (t.text == "wurde" || t.text == "wird") && c.question.has("wer") && s.to <= i && r.hasIn(span{i, sent.to}, "von"):
			return unsure, fmt.Sprintf("the response says that something was done to %q", r.written(s))
		}
	}
	if c.isObject(s, sent) {
		return unsure, fmt.Sprintf("the response says that something was done to %q", r.written(s))
	}
	done := r.passive(sent, true)
	if done < 0 || c.question.asked() != 1 && !c.question.hasIn(span{0, len(c.question.toks)}, "which") {
		return right, ""
	}
	by := done
	for by < sent.to && r.toks[by].text != "by" {
		by++
	}
	if s.from > by || !c.asksFor(r.toks[done].text) {
		return right, ""
	}
	return wrong, fmt.Sprintf("the response says that it was %s by %q, and names %q otherwise", r.toks[done].text, r.written(span{by + 1, min(sent.to, by+3)}), r.written(s))
}

// isObject reports whether the question asks who does something, and s stands behind the verb
// with another name before it: "Brandt called Keller" for "Who called?".
func (c *comparison) isObject(s, sent span) bool {
	r, q := c.response, c.question
	all := span{0, len(q.toks)}
	if len(q.toks) == 0 || q.toks[0].text != "who" && q.toks[0].text != "wer" || q.hasIn(all, "did") || q.hasIn(all, "does") {
		return false
	}
	for i := sent.from + 1; i < s.from && i < sent.to; i++ {
		name, t := r.toks[i-1], r.toks[i]
		verb := q.toks[0].text == "who" && t.kind == word && !stopWords[t.text] && q.hasForm(t.text) || q.toks[0].text == "wer" && (t.text == "hat" || t.text == "hatte")
		if verb && !t.upper && name.upper && !stopWords[name.text] && name.kind == word && !q.has(stem(name.text)) && t.brk == none && s.from <= i+3 && !r.hasIn(span{i, s.from}, "by") && !r.hasIn(span{i, s.from}, "with") {
			return true
		}
	}
	return false
}

// hasForm reports whether a text has a word, in the same form but for a plural.
func (r *reading) hasForm(w string) bool {
	return slices.ContainsFunc(r.toks, func(t token) bool { return stem(t.text) == stem(w) })
}

// rolesSwapped reports whether both texts have the same words, and the first and the last of the
// reference have changed sides: "the dog was bitten by the man" for "the man was bitten by the
// dog". A passive sentence has the sides the other way round than an active one.
func (c *comparison) rolesSwapped(a *reading, s span) bool {
	r := c.response
	want := a.core()
	n := len(want)
	if n < 3 || a.isName() || s.len() == 0 {
		return false
	}
	at := map[string]int{}
	for _, e := range r.elems {
		if _, seen := at[e.root]; !seen && s.has(e.tok) {
			at[e.root] = e.tok
		}
	}
	roots := map[string]bool{}
	for _, e := range want {
		roots[e.root] = true
	}
	if len(roots) < n {
		return false
	}
	ours, theirs := a.passive(span{0, len(a.toks)}, true), r.passive(r.sentenceOf(s.from), true)
	first, ok := at[want[0].root]
	last, both := at[want[n-1].root]
	if !ok || !both || first == last {
		return false
	}
	if (ours >= 0) != (theirs >= 0) {
		verb := r.toks
		k := theirs
		if ours >= 0 {
			verb, k = a.toks, ours
		}
		_, shared := at[root(verb[k].text)]
		return first < last && shared && root(verb[k].text) != want[0].root
	}
	if first < last {
		return false
	}
	for _, e := range want[1 : n-1] {
		if p, ok := at[e.root]; !ok || p < last || p > first {
			return false
		}
	}
	return true
}

// passive returns the participle in a sentence that says what was done, or -1; with agent
// it also has to say by whom.
func (r *reading) passive(sent span, agent bool) int {
	for i := sent.from; i < sent.to; i++ {
		switch r.toks[i].text {
		case "was", "were", "is", "are", "been", "being", "got":
		default:
			continue
		}
		for k := i + 1; k < min(sent.to, i+4); k++ {
			t := r.toks[k]
			regular := len(t.text) > 4 && (strings.HasSuffix(t.text, "ed") || strings.HasSuffix(t.text, "en"))
			participle := t.kind == word && !t.upper && (regular || forms[t.text] != nil)
			if participle && (!agent || r.hasIn(span{k, min(sent.to, k+8)}, "by")) {
				return k
			}
		}
	}
	return -1
}

func (r *reading) hasIn(s span, word string) bool {
	for i := s.from; i < s.to && i < len(r.toks)-1; i++ {
		if r.toks[i].text == word {
			return true
		}
	}
	return false
}

// asksFor reports whether the question asks who did what a participle says was done.
func (c *comparison) asksFor(participle string) bool {
	if c.question.hasIn(span{0, len(c.question.toks)}, "did") || c.question.hasIn(span{0, len(c.question.toks)}, "does") {
		return false // it asks to whom something was done
	}
	return slices.ContainsFunc(c.question.toks, func(t token) bool {
		return alikeVerbs(t.text, participle) || root(t.text) == root(participle) || slices.Contains(forms[participle], t.text)
	})
}

// alikeVerbs reports whether two words begin alike, as overtook and overtaken.
func alikeVerbs(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= 4 && n >= len(b)-4 && n >= len(a)-4
}
