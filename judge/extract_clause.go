package judge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deem/internal/text"
)

// Kinds of text that may follow a mention.
const (
	endFollows      = iota // the end of the line
	stopFollows            // punctuation
	questionFollows        // a question mark
	wordFollows            // another word
)

// A following is the text after a mention.
type following struct {
	kind         int
	stop         rune   // the punctuation
	word         string // the word, in lower case
	after        string // the text starting at that word
	closesMarkup bool   // markup closes between the mention and the following text
}

// follows returns the text after the mention.
func (r *labelReading) follows(mt mention) following {
	var f following
	rest := r.text[mt.end:]
	spaced := false
	for rest != "" {
		c, n := utf8.DecodeRuneInString(rest)
		switch {
		case c == '\n' || c == '\r':
			return f
		case c == '?' || c == '？':
			f.kind = questionFollows
			return f
		case c == ')' && isLetterLabel(mt.label), isStop(c), spaced && (c == '(' || c == '（'), c == '-' && (spaced || strings.HasPrefix(rest[n:], " ")):
			f.kind, f.stop = stopFollows, c
			return f
		case isSpace(c):
			spaced = true
		case isMarkup(c) && !spaced && c != '(' && c != '（':
			f.closesMarkup = f.closesMarkup || strings.ContainsRune("*`]}\"”」", c)
		case isMarkup(c):
		default:
			f.kind, f.after = wordFollows, rest
			f.word = strings.ToLower(leadingWord(rest))
			return f
		}
		rest = rest[n:]
	}
	return f
}

// leadingWord returns the first word of s, or its first rune.
func leadingWord(s string) string {
	const longest = 40
	end := strings.IndexFunc(s, func(r rune) bool { return !isWord(r) && r != '\'' && r != '’' })
	if end < 0 {
		end = len(s)
	}
	if end == 0 {
		_, end = utf8.DecodeRuneInString(s)
	}
	return s[:min(end, longest)]
}

// goesOnWords may follow a verdict in the same clause. A noun may not: the verdict would be
// its adjective.
var goesOnWords = wordSet(`because since as given based according for in and but so with by due when although
	though however which that here overall on per considering despite regardless while after under at to from about`)

// mayFollowShort are the words that may follow yes or no.
var mayFollowShort = wordSet(`because since as but given based`)

// mayFollow reports whether a verdict may be followed by the word in f.
func (r *labelReading) mayFollow(f following, label string) bool {
	switch c := firstRune(f.after); {
	case ordinary(label):
		return mayFollowShort[f.word]
	case text.Unspaced(c) && text.Unspaced(lastRune(label)):
		return predicateDe(f.after) || strings.HasPrefix(f.after, "因") || strings.HasPrefix(f.after, "，")
	case text.Unspaced(c):
		return true
	}
	return goesOnWords[f.word]
}

// predicateDe reports whether s begins with a particle that ends a predicate, as in 是正确的。
// and not with one before a noun, as in 正确的答案.
func predicateDe(s string) bool {
	for _, particle := range []string{"的", "です", "である", "だ", "了", "입니다"} {
		if rest, ok := strings.CutPrefix(s, particle); ok {
			c := firstRune(rest)
			return c == 0 || isStop(c) || isSpace(c) || isMarkup(c)
		}
	}
	return false
}

// ordinary reports whether label is so common that it is a verdict only as a clause by
// itself: yes, no, a single letter.
func ordinary(label string) bool {
	switch strings.ToLower(label) {
	case "yes", "no", "true", "false", "是", "否", "对", "错", "不", "pass", "good", "bad":
		return true
	}
	return isLetterLabel(label)
}

// votes reports whether the mention states its label as a verdict in running text.
func (r *labelReading) votes(i int) bool {
	mt := r.mention(i)
	if r.echo(i) || strings.HasSuffix(r.text[:mt.start], "~~") { // struck through
		return false
	}
	c := r.clause(mt)
	if c.negated() || c.hedged() || c.reported() || c.graded() {
		return false
	}
	f := r.follows(mt)
	switch {
	case f.kind == questionFollows:
		return false
	case prefers().MatchString(r.text[mt.end:min(len(r.text), mt.end+120)]):
		return true
	case f.kind == wordFollows && !r.mayFollow(f, mt.label):
		return false
	case isLetterLabel(mt.label) && !r.spelt(mt):
		return false
	case ordinary(mt.label):
		if c.predicate() && !c.foreign() {
			return true
		}
		ends := f.kind == endFollows || strings.ContainsRune(".!。！", f.stop)
		return !isLetterLabel(mt.label) && ends && aloneBefore().MatchString(tail(r.text[:mt.start]))
	}
	return shouted(mt.label) && r.spelt(mt) || c.predicate() || c.announced
}

// aloneBefore matches the text before a label that is a sentence by itself, or the
// consequence at the end of one: "The town is right. Yes." and "..., so no."
var aloneBefore = lazy(`(?i)(?:(?:^|[.!?。！？\n])[\s*_]*(?:(?:so|therefore|thus|hence|overall|in conclusion|因此|所以)[,，\s]+)?|[,;，；]\s*(?:so|therefore|thus|hence|所以)[,，\s]+)$`)

// prefers matches the text after the better of two labels that name candidates.
var prefers = lazy(`^(?i)[\s*_"')\]]*(?:is|was|are)\s+(?:(?:\w+ly|much|far|the|a|also|still|thus|therefore|overall)\s+)*(?:better|best|superior|preferable|preferred|winner)\b`)

// spelt reports whether the mention has exactly the spelling of the label.
func (r *labelReading) spelt(mt mention) bool { return r.text[mt.start:mt.end] == mt.label }

// shouted reports whether label cannot be mistaken for an ordinary word: it is in capitals,
// or in a script without them.
func shouted(label string) bool {
	letters := 0
	for _, c := range label {
		if unicode.IsLower(c) || c == ' ' {
			return false
		}
		if unicode.IsLetter(c) {
			letters++
		}
	}
	return letters > 1
}

// A clause is the part of a clause before a mention.
type clause struct {
	words     []string // in lower case, at most twelve, nearest last
	raw       string   // the clause as written
	sentence  string   // the sentence up to the mention
	announced bool     // a colon or an arrow precedes the mention
}

// clause returns the clause before the mention.
func (r *labelReading) clause(mt mention) clause {
	const far = 160
	lo := max(0, mt.start-far)
	for lo > 0 && !utf8.RuneStart(r.text[lo]) {
		lo--
	}
	before := r.text[lo:mt.start]
	var c clause
	t := strings.TrimRightFunc(before, func(r rune) bool { return isSpace(r) || isMarkup(r) && r != '>' })
	c.announced = strings.ContainsRune(":：=→⇒", lastRune(t))
	c.sentence = strings.TrimLeftFunc(before[strings.LastIndexAny(before, ".!?\n")+1:], isDecoration)
	if i := strings.LastIndexFunc(before, isStop); i >= 0 {
		_, n := utf8.DecodeRuneInString(before[i:])
		before = before[i+n:]
	}
	c.raw = before
	c.words = strings.FieldsFunc(strings.ToLower(before), func(r rune) bool {
		return !isWord(r) && r != '\'' && r != '’'
	})
	if n := len(c.words); n > 12 {
		c.words = c.words[n-12:]
	}
	return c
}

// nearest returns the last n words.
func (c clause) nearest(n int) []string { return c.words[max(0, len(c.words)-n):] }

// negationReach is the maximum number of words between "not" and what it negates. Mask uses
// it too: it keeps that many words before text that it does not blank.
const negationReach = 4

var (
	negators = wordSet(`not never no neither nor cannot hardly without non isn't aren't wasn't weren't
		isnt rather instead anything far than`)
	hedges = wordSet(`if whether would could might may unless either can possibly perhaps
		supposing assuming choose between respond output reply options labels`)
	reporters = wordSet(`says said claims claimed states stated wrote writes asks asked instructs instructed told
		tells demands requests requested claiming saying stating asking insists asserts`)
	copulas = wordSet(`is are was were be being as seems appears considered deemed judged marked labeled labelled
		rated graded classified remains find found it's that's answer's say choose prefer pick select favor favour
		therefore thus hence mark label grade judge rate deem consider`)
	// opinions may precede "to be": "it seems to be CORRECT" states something, "to be
	// CORRECT it must" does not.
	opinions   = wordSet(`seems appears consider considered judge judged find found deem deemed believe`)
	conditions = wordSet(`if unless when suppose supposing assuming should had were whenever to 如果 若 假如`)
	others     = wordSet(`reference gold golden expected correct response candidate model system generated predicted
		truth question user ground actual right real true prediction assistant assistant's`)
)

// negated reports whether the clause negates what follows.
func (c clause) negated() bool {
	for _, w := range c.nearest(negationReach) {
		if negators[w] || strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t") {
			return true
		}
	}
	return strings.ContainsAny(lastRunes(c.raw, 5), "不非未没無无別别")
}

// compares reports whether the clause compares something with what follows, as in "not as
// helpful as" or "no better than". That neither states nor negates what follows. A single
// "as" does not compare ("not labelled as"), and "rather than" negates.
func (c clause) compares() bool {
	words := c.words
	if n := len(words); n >= 2 && (words[n-2] == "that" || words[n-2] == "those") && words[n-1] == "of" {
		words = words[:n-2]
	}
	if len(words) < 2 {
		return false
	}
	n := len(words) - 1
	switch before := words[n-1]; words[n] {
	case "than":
		return before != "rather" && before != "other"
	case "to", "with":
		return before == "compared"
	case "as":
		return slices.ContainsFunc(words[max(0, n-5):n], func(w string) bool { return w == "as" || w == "so" || w == "same" })
	}
	return false
}

// hedged reports whether the clause, or the first clause of its sentence, makes what
// follows hypothetical.
func (c clause) hedged() bool {
	near := c.nearest(8)
	for i, w := range near {
		// "I would mark this INCORRECT" is polite, not hypothetical.
		if hedges[w] && !(i > 0 && near[i-1] == "i") {
			return true
		}
	}
	if n := len(c.words); n >= 2 && c.words[n-2] == "to" && c.words[n-1] == "be" {
		return !slices.ContainsFunc(c.words, func(w string) bool { return opinions[w] })
	}
	for _, w := range []string{"如果", "是否", "可能", "或许", "假如", "若"} {
		if strings.Contains(lastRunes(c.raw, 12), w) {
			return true
		}
	}
	return conditions[strings.ToLower(leadingWord(c.sentence))]
}

// degrees are words that qualify a label, which then no longer applies as such.
var degrees = wordSet(`partially partly half mostly mainly largely nearly almost somewhat semi quasi roughly
	broadly essentially barely sort kind`)

// graded reports whether the clause qualifies the label: "partially CORRECT" is neither
// CORRECT nor INCORRECT.
func (c clause) graded() bool {
	tail := lastRunes(c.raw, 4)
	return slices.ContainsFunc(c.nearest(2), func(w string) bool { return degrees[w] }) ||
		slices.ContainsFunc([]string{"部分", "基本", "大致", "几乎", "幾乎", "半"}, func(w string) bool { return strings.Contains(tail, w) })
}

// reported reports whether the clause quotes someone else.
func (c clause) reported() bool {
	return slices.ContainsFunc(c.words, func(w string) bool { return reporters[w] })
}

// foreign reports whether the clause is about another answer, such as the reference or the
// response.
func (c clause) foreign() bool {
	return slices.ContainsFunc(c.words, func(w string) bool { return others[strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")] })
}

// predicate reports whether what follows is a predicate: it comes after "is", "is clearly",
// "is labelled as".
func (c clause) predicate() bool {
	for _, w := range slices.Backward(c.words) {
		if copulas[w] {
			return true
		}
		if !strings.HasSuffix(w, "ly") && w != "also" && w != "quite" && w != "indeed" && w != "a" && w != "an" && w != "the" && w != "very" && w != "still" {
			break
		}
	}
	tail := lastRunes(strings.TrimRightFunc(c.raw, func(r rune) bool { return isSpace(r) || isMarkup(r) }), 3)
	return strings.ContainsAny(tail, "是为為")
}

// lastRunes returns the last n runes of s.
func lastRunes(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, w := utf8.DecodeLastRuneInString(s[:i])
		i -= w
	}
	return s[i:]
}

// wordSet returns the set of the words in s.
func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
