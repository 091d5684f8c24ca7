package judge

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"deem"
)

// A reading is a text in which a label is searched.
type labelReading struct {
	*menu
	text     string
	mentions []packed
	echoed   bool // the mentions that only repeat the menu are marked
}

// newReading finds all occurrences of labels in text as separate words or phrases, in order
// and without overlap. It counts them first, to allocate exactly as many.
func newReading(m *menu, text string) labelReading {
	n := 0
	for range m.eachMention(text) {
		n++
	}
	r := labelReading{menu: m, text: text}
	if n > 0 {
		r.mentions = slices.AppendSeq(make([]packed, 0, n), m.eachMention(text))
	}
	return r
}

// mention returns the i-th mention.
func (r *labelReading) mention(i int) mention {
	label, start := r.labels[r.mentions[i].label&^echoBit], int(r.mentions[i].start)
	n, _ := foldPrefix(r.text[start:], label)
	return mention{label, start, start + n}
}

// echo reports whether the i-th mention only repeats the menu: another label is next to it
// with at most "or" between them. The first call marks all such mentions. It goes
// backwards, because the "or" before the last label makes "A, B or C" a list.
func (r *labelReading) echo(i int) bool {
	if !r.echoed {
		r.echoed = true
		for i := len(r.mentions) - 1; i > 0; i-- {
			a, b := r.mention(i-1), r.mention(i)
			if a.label != b.label && r.enumerated(a, b, r.mentions[i].label&echoBit != 0) {
				r.mentions[i-1].label |= echoBit
				r.mentions[i].label |= echoBit
			}
		}
	}
	return r.mentions[i].label&echoBit != 0
}

// enumerated reports whether the neighbouring mentions a and b are listed side by side. If
// listed is set, b is known to be in a list.
func (r *labelReading) enumerated(a, b mention, listed bool) bool {
	const longest = 40
	gap := r.text[a.end:b.start]
	if len(gap) > longest {
		return false
	}
	core := strings.ToLower(strings.TrimFunc(gap, func(r rune) bool {
		return isSpace(r) || isMarkup(r) || strings.ContainsRune("-•,，、.;", r)
	}))
	switch core {
	case "or", "and", "/", "and/or", "vs", "versus", "nor", "&", "或", "或者", "还是", "還是", "和", "与", "또는", "or a", "oder", "ou", "o":
		return true
	case "":
		// Side by side, or on adjacent lines. "Yes, no doubt" is not a list, and neither is
		// "Yes. No ...", where a sentence has ended.
		return !strings.ContainsAny(gap, ".;") && (listed || r.follows(b).kind != wordFollows)
	}
	return false
}

// markTag matches an element that contains a verdict.
var markTag = lazy(`(?i)<(?:answer|final_answer|verdict|label|judge?ment|decision|grade|result|conclusion|choice|rating|score|evaluation|classification|判断|结论)>([^<]{1,80})</`)

// marked returns the last verdict that is announced by a mark.
func (r *labelReading) marked() *Found {
	var best *Found
	for _, re := range []*regexp.Regexp{doubleBrackets(), boxed(), markTag()} {
		for m := range findAll(re, r.text) {
			in := r.text[m[2]:m[3]]
			// In some protocols the brackets are part of the label.
			label, ok := r.equal("[[" + strings.TrimSpace(in) + "]]")
			if !ok {
				label, ok = r.value(in)
			}
			if ok {
				best = later(best, &Found{label, "marked", m[2], m[3]})
			}
		}
	}
	for end := range marks(r.text) {
		i, ok := r.mentionFrom(end)
		if !ok || r.echo(i) {
			continue
		}
		mt := r.mention(i)
		// "Verdict: correct answer given" does not say correct.
		if f := r.follows(mt); f.kind != wordFollows || f.closesMarkup || r.mayFollow(f, mt.label) {
			best = later(best, &Found{mt.label, "marked", mt.start, mt.end})
		}
	}
	return best
}

// mentionFrom returns the index of the mention at pos, ignoring decoration. The mark may
// have consumed the first runes of a label that itself begins with decoration.
func (r *labelReading) mentionFrom(pos int) (int, bool) {
	for i := r.mentionAfter(pos - 4); i < len(r.mentions); i++ {
		mt := r.mention(i)
		if mt.start < pos && (mt.end <= pos || isLatinWord(firstRune(mt.label))) {
			continue
		}
		return i, mt.start < pos || strings.TrimFunc(r.text[pos:mt.start], isDecoration) == ""
	}
	return 0, false
}

// mentionAfter returns the index of the first mention that starts at or after pos.
func (r *labelReading) mentionAfter(pos int) int {
	return sort.Search(len(r.mentions), func(i int) bool { return int(r.mentions[i].start) >= pos })
}

// line returns the last line that consists only of a label.
func (r *labelReading) line() *Found {
	var best *Found
	pos, next := 0, 0
	for line := range strings.Lines(r.text) {
		end := pos + len(line)
		first := next
		for next < len(r.mentions) && r.mention(next).end <= end {
			next++
		}
		if next-first == 1 {
			mt := r.mention(first)
			around := r.text[pos:mt.start] + r.text[mt.end:end]
			if strings.TrimFunc(around, isDecoration) == "" && !strings.ContainsAny(around, "?？") && !r.echo(first) {
				best = &Found{mt.label, "line", mt.start, mt.end}
			}
		}
		pos = end
	}
	return best
}

// first returns the label at the beginning of the text, if punctuation follows.
func (r *labelReading) first() *Found {
	start := len(r.text) - len(strings.TrimLeftFunc(r.text, isDecoration))
	if len(r.mentions) == 0 || int(r.mentions[0].start) > start {
		return nil
	}
	mt := r.mention(0)
	f := r.follows(mt)
	if r.echo(0) || f.kind == wordFollows && !f.closesMarkup && !predicateDe(f.after) || f.kind == questionFollows {
		return nil
	}
	found := &Found{mt.label, "first", mt.start, mt.end}
	if !isLetterLabel(mt.label) {
		return found
	}
	// The letter or digit may be the number of an entry in a list.
	digit := mt.label[0] >= '0' && mt.label[0] <= '9'
	if digit && f.kind == stopFollows && (f.stop == '.' || f.stop == ')') {
		return nil
	}
	const indent = 16
	for i := 1; i < len(r.mentions); i++ {
		other := r.mention(i)
		before := strings.TrimRight(r.text[max(0, other.start-indent):other.start], " \t")
		beginsLine := before == "" && other.start <= indent || strings.HasSuffix(before, "\n")
		if other.label != mt.label && beginsLine && r.follows(other).kind == stopFollows {
			return nil
		}
	}
	return found
}

// prose looks for a verdict in running text: the only label that is stated, or the label in
// a concluding last sentence. whole is the text including its JSON.
func (r *labelReading) prose(whole string) (Found, error) {
	if cutOff(whole) {
		return Found{}, noVerdict(whole, "")
	}
	var last mention
	stated, named := map[string]bool{}, map[string]bool{}
	for i := range r.mentions {
		mt := r.mention(i)
		if r.votes(i) {
			last = mt
			stated[mt.label] = true
		}
		if r.echo(i) || r.spelt(mt) && !ordinary(mt.label) {
			named[mt.label] = true
		}
	}
	if len(stated) == 1 {
		for i := range r.mentions {
			mt := r.mention(i)
			if mt.label != last.label || !r.spelt(mt) || r.echo(i) {
				continue
			}
			if c := r.clause(mt); c.negated() && !c.compares() {
				return Found{}, deem.Failf(deem.Contradictory, "the reply says %q and denies it", last.label)
			}
		}
		return Found{last.label, "only", last.start, last.end}, nil
	}
	if start := lastSentence(r.text); concluding().MatchString(head(r.text[start:])) {
		if f := r.statedFrom(start); f != nil {
			return *f, nil
		}
	}
	if len(stated) > 1 || len(named) > 1 {
		return Found{}, deem.Failf(deem.Contradictory, "the reply names several labels and settles on none")
	}
	return Found{}, noVerdict(whole, "the reply says none of the labels")
}

// concluding matches the beginning of a sentence that draws a conclusion.
var concluding = lazy(`(?i)^[\s*_#>"'-]*(?:therefore|thus|hence|so|overall|in (?:conclusion|summary|short|total)|to (?:conclude|sum up|summari[sz]e)|consequently|finally|accordingly|as a result|based on|given (?:this|that|the above)|all in all|因此|所以|综上|总之|总的来说|总体|故|由此)`)

// statedFrom returns the label that the text states from pos on, if it is exactly one.
func (r *labelReading) statedFrom(pos int) *Found {
	var found *Found
	for i := r.mentionAfter(pos); i < len(r.mentions); i++ {
		if !r.votes(i) {
			continue
		}
		mt := r.mention(i)
		if found != nil && found.Label != mt.label {
			return nil
		}
		found = &Found{mt.label, "last", mt.start, mt.end}
	}
	return found
}

// lastSentence returns the start of the last sentence of text.
func lastSentence(text string) int {
	end := len(strings.TrimRightFunc(text, isDecoration))
	start := 0
	for i, r := range text[:end] {
		switch r {
		case '.', '!', '?', ';':
			if next := firstRune(text[i+1:]); isSpace(next) || isMarkup(next) {
				start = i + 1
			}
		case '。', '！', '？', '；':
			start = i + len(string(r))
		case '\n':
			start = i + 1
		}
	}
	return start
}
