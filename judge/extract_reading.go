package judge

import (
	"regexp"
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

func newReading(m *menu, text string) labelReading {
	return labelReading{menu: m, text: text, mentions: m.mentions(text)}
}

// mention returns the i-th mention.
func (r *labelReading) mention(i int) mention { return r.unpack(r.text, r.mentions[i]) }

// markTag matches an element that contains a verdict.
var markTag = lazy(`(?i)<(?:answer|final_answer|verdict|label|judge?ment|decision|grade|result|conclusion|choice|rating|score|evaluation|classification|判断|结论)>([^<]{1,80})</`)

// marked returns the last verdict that is announced by a mark.
func (r *labelReading) marked() *Found {
	var best *Found
	for _, re := range []*regexp.Regexp{doubleBrackets(), boxed(), markTag()} {
		for m := range findAll(re, r.text) {
			if label, ok := r.inside(r.text[m[2]:m[3]]); ok {
				best = later(best, &Found{label, "marked", m[2], m[3]})
			}
		}
	}
	for end := range marks(r.text) {
		if i, ok := r.mentionFrom(end); ok && !r.echo(i) && r.standsAlone(r.mention(i)) {
			mt := r.mention(i)
			best = later(best, &Found{mt.label, "marked", mt.start, mt.end})
		}
	}
	return best
}

// inside returns s, the text between two marks, as a label. In some protocols the brackets
// are part of the label.
func (r *labelReading) inside(s string) (string, bool) {
	if label, ok := r.equal("[[" + strings.TrimSpace(s) + "]]"); ok {
		return label, true
	}
	return r.value(s)
}

// mentionFrom returns the index of the mention at pos, ignoring decoration. The mark may
// have consumed the first runes of a label that itself begins with decoration.
func (r *labelReading) mentionFrom(pos int) (int, bool) {
	for i := r.mentionAfter(pos - 4); i < len(r.mentions); i++ {
		mt := r.mention(i)
		switch {
		case mt.start < pos:
			if mt.end <= pos || isLatinWord(firstRune(mt.label)) {
				continue
			}
			return i, true
		case strings.TrimFunc(r.text[pos:mt.start], isDecoration) == "":
			return i, true
		default:
			return 0, false
		}
	}
	return 0, false
}

// mentionAfter returns the index of the first mention that starts at or after pos.
func (r *labelReading) mentionAfter(pos int) int {
	lo, hi := 0, len(r.mentions)
	for lo < hi {
		mid := (lo + hi) / 2
		if int(r.mentions[mid].start) < pos {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// standsAlone reports whether nothing after the mention makes it part of a phrase:
// "Verdict: correct answer given" does not say correct.
func (r *labelReading) standsAlone(mt mention) bool {
	f := r.follows(mt)
	return f.kind != wordFollows || f.closesMarkup || r.mayFollow(f, mt.label)
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
			if bareAround(around) && !r.echo(first) {
				best = &Found{mt.label, "line", mt.start, mt.end}
			}
		}
		pos = end
	}
	return best
}

// bareAround reports whether the text around a label on its line is only decoration. A
// question mark is not.
func bareAround(s string) bool {
	return strings.TrimFunc(s, isDecoration) == "" && !strings.ContainsAny(s, "?？")
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
	if isLetterLabel(mt.label) && r.enumerates(mt, f) {
		return nil
	}
	return &Found{mt.label, "first", mt.start, mt.end}
}

// enumerates reports whether the letter or digit at the beginning of the text is a list
// number instead of a verdict.
func (r *labelReading) enumerates(mt mention, f following) bool {
	digit := mt.label[0] >= '0' && mt.label[0] <= '9'
	if digit && f.kind == stopFollows && (f.stop == '.' || f.stop == ')') {
		return true
	}
	for i := 1; i < len(r.mentions); i++ {
		if other := r.mention(i); other.label != mt.label && beginsLine(r.text, other.start) && r.follows(other).kind == stopFollows {
			return true
		}
	}
	return false
}

// beginsLine reports whether only a little space precedes pos on its line.
func beginsLine(text string, pos int) bool {
	const indent = 16
	before := strings.TrimRight(text[max(0, pos-indent):pos], " \t")
	return before == "" && pos <= indent || strings.HasSuffix(before, "\n")
}

// prose looks for a verdict in running text: the only label that is stated, or the label in
// a concluding last sentence. whole is the text including its JSON.
func (r *labelReading) prose(whole string) (Found, error) {
	if cutOff(whole) {
		return Found{}, noVerdict(whole, "")
	}
	var last mention
	distinct := map[string]bool{}
	for i := range r.mentions {
		if r.votes(i) {
			last = r.mention(i)
			distinct[last.label] = true
		}
	}
	if len(distinct) == 1 {
		if r.alsoDenied(last.label) {
			return Found{}, deem.Failf(deem.Contradictory, "the reply says %q and denies it", last.label)
		}
		return Found{last.label, "only", last.start, last.end}, nil
	}
	if f := r.conclusion(); f != nil {
		return *f, nil
	}
	if named := r.named(); len(distinct) > 1 || len(named) > 1 {
		return Found{}, deem.Failf(deem.Contradictory, "the reply names several labels and settles on none")
	}
	return Found{}, noVerdict(whole, "the reply says none of the labels")
}

// alsoDenied reports whether the text also negates the label.
func (r *labelReading) alsoDenied(label string) bool {
	for i := range r.mentions {
		mt := r.mention(i)
		if mt.label != label || !r.spelt(mt) || r.echo(i) {
			continue
		}
		if c := r.clause(mt); c.negated() && !c.compares() {
			return true
		}
	}
	return false
}

// named returns the labels that the text names, whether or not it states them.
func (r *labelReading) named() map[string]bool {
	out := map[string]bool{}
	for i := range r.mentions {
		mt := r.mention(i)
		if r.echo(i) || r.spelt(mt) && !ordinary(mt.label) {
			out[mt.label] = true
		}
	}
	return out
}

// concluding matches the beginning of a sentence that draws a conclusion.
var concluding = lazy(`(?i)^[\s*_#>"'-]*(?:therefore|thus|hence|so|overall|in (?:conclusion|summary|short|total)|to (?:conclude|sum up|summari[sz]e)|consequently|finally|accordingly|as a result|based on|given (?:this|that|the above)|all in all|因此|所以|综上|总之|总的来说|总体|故|由此)`)

// conclusion returns the label of the last sentence if it draws a conclusion and states
// exactly one label.
func (r *labelReading) conclusion() *Found {
	start := lastSentence(r.text)
	if !concluding().MatchString(head(r.text[start:])) {
		return nil
	}
	var found *Found
	for i := r.mentionAfter(start); i < len(r.mentions); i++ {
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

// closing returns the one label that the last sentence states, if that sentence begins
// after pos, or "".
func (r *labelReading) closing(pos int) string {
	start := lastSentence(r.text)
	if start < pos {
		return ""
	}
	label := ""
	for i := r.mentionAfter(start); i < len(r.mentions); i++ {
		if !r.votes(i) {
			continue
		}
		stated := r.mention(i).label
		if label != "" && label != stated {
			return ""
		}
		label = stated
	}
	return label
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
