package judge

import (
	"cmp"
	"index/suffixarray"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// minRun is the minimum length in bytes of unquoted text that counts as copied from the
// response.
const minRun = 20

// masked replaces quotations from the response under test in the reply by spaces, byte for
// byte, so that a response which says "Verdict: CORRECT" cannot vote through the judge. It
// blanks quotations, blockquote lines and fenced blocks whose text occurs in the response,
// and unquoted runs of at least 20 bytes copied from it.
//
// The judge's own bare verdict stays even if the response has the same words: the only
// words on the first or last line, the text after a mark such as "Verdict:", the short
// first clause of the reply, and in JSON everything except free text. A negation is never
// blanked while the word it negates stays.
func masked(reply, response string) string {
	if strings.TrimSpace(response) == "" || terse(reply) {
		return reply
	}
	return mask(reply, response)
}

// mask is masked for any reply.
func mask(reply, response string) string {
	k := &masker{
		reply: reply, blanker: blanker{text: reply},
		// Nested quotes can make the reply's quotations overlap a thousand times; the
		// allowance keeps the work linear.
		quoted: quotation{response: response, allowance: 32*len(reply) + 1<<16},
		marks:  slices.Collect(marks(reply)),
		copied: copies(reply, response),
	}
	for o := range scanObjects(reply, beginning(reply)) {
		if len(o.fields) == 0 {
			continue
		}
		pos := o.start
		for _, f := range o.freeText() {
			k.guards = append(k.guards, span{pos, f.start})
			pos = f.end
		}
		k.guards = append(k.guards, span{pos, o.end})
	}
	// A fence is not three quotes.
	k.open = strings.ReplaceAll(blank(reply, k.guards), "```", "   ")
	pos := 0
	for line := range strings.Lines(reply) {
		if strings.TrimFunc(line, isSpace) != "" {
			k.last = span{pos, pos + len(line)}
			if k.first.end == 0 {
				k.first = k.last
			}
		}
		pos += len(line)
	}
	// Computed once: doing so for every quotation on a long line would take quadratic time.
	for _, s := range []span{k.first, k.last, {0, len(reply)}} {
		inner := strings.TrimLeftFunc(reply[s.start:s.end], isDecoration)
		start := s.end - len(inner)
		k.core = append(k.core, span{start, start + len(strings.TrimRightFunc(inner, isDecoration))})
	}
	k.fences()
	k.blockquotes()
	k.quotes()
	k.runs()
	k.open = ""
	return k.String()
}

// terse reports whether a reply is too short to contain a copy and has no quotes. Most
// replies are one word and need no further work.
func terse(reply string) bool {
	return len(reply) < minRun && !strings.ContainsFunc(reply, func(r rune) bool {
		return !isLatinWord(r) && !strings.ContainsRune(" .:,-", r)
	})
}

// A masker is the state of mask for one reply.
type masker struct {
	blanker
	reply       string
	open        string // the reply with fences and guarded text blanked
	guards      []span // spans that must stay, in order and without overlap
	first, last span   // the first and the last non-blank line
	core        []span // the two lines and the reply, without decoration
	marks       []int  // positions after which verdicts are announced, in order
	quoted      quotation
	copied      []span // runs of the reply that occur in the response
}

// freeText returns the contents of the string values of o in which a judge may quote. A
// short value under a key that does not ask for prose may be the verdict.
func (o *object) freeText() []span {
	var out []span
	for _, f := range o.fields {
		switch v := f.value.(type) {
		case string:
			inner := span{f.start + 1, f.end - 1}
			if inner.start < inner.end && (otherKeys().MatchString(keyOf(f.key)) || len(strings.Fields(v)) > 4) {
				out = append(out, inner)
			}
		case *object:
			out = append(out, v.freeText()...)
		}
	}
	return out
}

// hide blanks the parts of s that are not guarded. A guard inside a quotation is itself
// quoted and does not count; JSON does not use the quotes of such a quotation.
func (k *masker) hide(s span) {
	enclosed := strings.ContainsRune("`“«「『„", lastRune(k.reply[:s.start]))
	pos := s.start
	i, _ := slices.BinarySearchFunc(k.guards, s.start, func(g span, at int) int { return cmp.Compare(g.end, at) })
	for ; i < len(k.guards) && k.guards[i].start < s.end; i++ {
		g := k.guards[i]
		if g.start >= s.start && g.end <= s.end && enclosed {
			continue
		}
		if g.start > pos {
			k.blank(k.tidy(span{pos, g.start}))
		}
		pos = max(pos, g.end)
	}
	if pos < s.end {
		k.blank(k.tidy(span{pos, s.end}))
	}
}

// marked reports whether a verdict is announced right before pos.
func (k *masker) marked(pos int) bool {
	_, ok := slices.BinarySearch(k.marks, pos)
	return ok
}

// wholeRunes shortens s so that it does not split a rune.
func (k *masker) wholeRunes(s span) span {
	for s.start < s.end && !utf8.RuneStart(k.reply[s.start]) {
		s.start++
	}
	for s.end > s.start && s.end < len(k.reply) && !utf8.RuneStart(k.reply[s.end]) {
		s.end--
	}
	return s
}

// tidy shortens s so that it does not split an escape sequence or a rune.
func (k *masker) tidy(s span) span {
	s = k.wholeRunes(s)
	if s.start < s.end && s.start > 0 && k.reply[s.start-1] == '\\' {
		_, n := utf8.DecodeRuneInString(k.reply[s.start:s.end])
		s.start += n
	}
	for s.end > s.start && k.reply[s.end-1] == '\\' {
		s.end--
	}
	return s
}

// bare reports whether the reply's text from i to j, including quotes, is the judge's own
// verdict: short, and alone on the first or last line or announced by a mark.
func (k *masker) bare(i, j int) bool {
	const longest = 60
	if j-i > longest || strings.Contains(k.reply[i:j], "\n") {
		return false
	}
	if k.marked(i) {
		return true
	}
	for n, line := range []span{k.first, k.last} {
		if c := k.core[n]; i >= line.start && j <= line.end && i <= c.start && j >= c.end {
			return true
		}
	}
	return false
}

// fences hides the contents of fenced blocks that occur in the response and are not JSON.
func (k *masker) fences() {
	opened, pos := -1, 0
	for line := range strings.Lines(k.reply) {
		begin := pos
		pos += len(line)
		if !strings.HasPrefix(strings.TrimLeft(line, " \t>"), "```") {
			continue
		}
		if opened < 0 {
			opened = pos
			continue
		}
		s := span{opened, begin}
		opened = -1
		alone := k.core[2].start >= s.start && k.core[2].end <= s.end
		text := strings.TrimLeft(k.reply[s.start:s.end], " \t\r\n")
		pos := s.end - len(text)
		i := sort.Search(len(k.guards), func(i int) bool { return k.guards[i].end > pos })
		guarded := i < len(k.guards) && k.guards[i].start <= pos // its first byte must stay
		if !alone && !guarded && k.quoted.holds(k.reply[s.start:s.end]) {
			k.hide(s)
		}
	}
}

// blockquotes hides the markdown blockquote lines that occur in the response.
func (k *masker) blockquotes() {
	pos := 0
	for line := range strings.Lines(k.reply) {
		only := k.first == k.last && pos == k.first.start
		pos += len(line)
		body := strings.TrimLeft(line, " \t")
		if !strings.HasPrefix(body, ">") {
			continue
		}
		body = strings.TrimLeft(body, "> \t")
		text := strings.TrimRight(body, "\r\n")
		start := pos - len(body)
		if text != "" && !only && k.quoted.holds(text) {
			k.hide(span{start, start + len(text)})
		}
	}
}

// quotePairs maps an opening quote to its closing one.
var quotePairs = map[rune]string{
	'"': `"`, '\'': `'`, '`': "`", '“': "”", '‘': "’", '«': "»", '「': "」", '『': "』", '„': "“", '＂': "＂", '《': "》",
}

// quotes hides the contents of quotations that occur in the response.
func (k *masker) quotes() {
	// The position reached for each kind of closing quote, so that all searches together
	// read the reply once.
	next := map[string]int{}
	for i := 0; i < len(k.open); {
		r, n := utf8.DecodeRuneInString(k.open[i:])
		begin := i + n
		closer, ok := quotePairs[r]
		if !ok || r == '\'' && isLatinWord(lastRune(k.open[:i])) {
			i = begin
			continue
		}
		j, ok := next[closer]
		if !ok || j >= 0 && j < begin {
			j = k.find(closer, begin)
			next[closer] = j
		}
		if j < 0 || k.bare(i, j+len(closer)) || !k.quoted.holds(k.reply[begin:j]) {
			i = begin
			continue
		}
		k.hide(span{begin, j})
		i = j + len(closer)
	}
}

// find returns the first closing quote at or after pos, or -1. An apostrophe within a word
// does not close a quotation.
func (k *masker) find(closer string, pos int) int {
	for {
		i := strings.Index(k.open[pos:], closer)
		if i < 0 {
			return -1
		}
		pos += i
		apostrophe := closer == "'" || closer == "’"
		if !apostrophe || !isLatinWord(firstRune(k.open[pos+len(closer):])) {
			return pos
		}
		pos += len(closer)
	}
}

// A quotation searches the response for quotations.
type quotation struct {
	response  string
	allowance int                // bytes that may still be looked up
	exact     *suffixarray.Index // built on first use
	folded    *suffixarray.Index
}

// holds reports whether the response contains text, ignoring white space, case and the
// punctuation at its ends. A single word must have the same case: the CORRECT of a judge is
// not the correct of a response. If the allowance is spent it returns true, because
// blanking too much is the safe error.
func (q *quotation) holds(text string) bool {
	q.allowance -= len(text)
	if q.allowance < 0 {
		return true
	}
	if len(text) > 2*len(q.response)+64 {
		return false
	}
	clean := strings.Trim(normal(text), `.,;:!?…。，；：！？ \`)
	if clean == "" {
		return false
	}
	if !strings.Contains(clean, " ") {
		if q.exact == nil {
			q.exact = suffixarray.New([]byte(normal(q.response)))
		}
		return foundIn(q.exact, clean)
	}
	if q.folded == nil {
		q.folded = suffixarray.New([]byte(strings.ToLower(normal(q.response))))
	}
	return foundIn(q.folded, strings.ToLower(clean))
}

// normal collapses white space, undoes JSON escapes and straightens quotes.
func normal(s string) string {
	s = unescaper.Replace(s)
	var b strings.Builder
	b.Grow(len(s))
	for word := range strings.FieldsSeq(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

var unescaper = strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, `"`, `\'`, `'`, `\\`, `\`,
	"“", `"`, "”", `"`, "‘", `'`, "’", `'`, "*", "")

// foundIn reports whether the text of index contains s between word boundaries.
func foundIn(index *suffixarray.Index, s string) bool {
	const enough = 32
	text := index.Bytes()
	return slices.ContainsFunc(index.Lookup([]byte(s), enough), func(i int) bool {
		left := isLatinWord(firstRune(s)) && isLatinWord(lastRune(string(text[max(0, i-utf8.UTFMax):i])))
		right := isLatinWord(lastRune(s)) && isLatinWord(firstRune(string(text[i+len(s):min(len(text), i+len(s)+utf8.UTFMax)])))
		return !left && !right
	})
}
