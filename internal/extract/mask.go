package extract

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// minRun is the length in bytes from which words that stand in the response
// verbatim are taken to be copied from it, quotes or not.
const minRun = 20

// Mask replaces what the reply quotes from the response under test by spaces, byte
// for byte, so that a response which says "Verdict: CORRECT" cannot vote through
// the judge's mouth. Blanked are quotations, blockquote lines and fenced blocks
// whose text occurs in the response, and unquoted runs of at least 20 bytes copied
// from it.
//
// The judge's own bare verdict stays even where the response has the same words:
// the only words on the first or last line, what a mark such as "Verdict:"
// announces, the short first clause of the reply, and in JSON all but the free
// text. Nor is a negation blanked while the word it negates stays.
func Mask(reply, response string) string {
	if strings.TrimSpace(response) == "" || terse(reply) {
		return reply
	}
	return mask(reply, response)
}

// mask is Mask for any reply.
func mask(reply, response string) string {
	k := newMasker(reply, response)
	b := blanker{text: reply}
	for _, spans := range []iter.Seq[span]{k.fences(), k.blockquotes(), k.quotes(), k.runs()} {
		for s := range spans {
			k.unguarded(s, b.blank)
		}
	}
	k.open = ""
	return b.String()
}

// terse says whether a reply is too short to copy anything and has nothing to quote
// with. Most replies are one word, and need not be looked at any closer.
func terse(reply string) bool {
	return len(reply) < minRun && !strings.ContainsFunc(reply, func(r rune) bool {
		return !isLatinWord(r) && !strings.ContainsRune(" .:,-", r)
	})
}

// A masker holds what Mask knows about one reply.
type masker struct {
	reply       string
	open        string // the reply with fences and everything guarded blanked
	guards      []span // what must stay, in order and apart
	first, last span   // the first and the last line that are not blank
	core        []span // what is left of the two lines and of the reply, undressed
	marks       []int  // where verdicts are announced, in order
	quoted      *quoted
	copied      []span // runs of the reply that stand in the response
}

func newMasker(reply, response string) *masker {
	k := &masker{reply: reply, quoted: newQuoted(reply, response)}
	for o := range scanObjects(reply, beginning(reply)) {
		if len(o.fields) > 0 {
			k.guards = append(k.guards, o.skeleton()...)
		}
	}
	// A fence is not three quotes.
	k.open = strings.ReplaceAll(blank(reply, k.guards), "```", "   ")
	k.first, k.last = outerLines(reply)
	for _, s := range []span{k.first, k.last, {0, len(reply)}} {
		k.core = append(k.core, core(reply, s))
	}
	k.marks = slices.Collect(marks(reply))
	k.copied = copies(reply, response)
	return k
}

// skeleton returns the spans of o that are not free text.
func (o *object) skeleton() []span {
	out, pos := []span{}, o.start
	for _, f := range o.freeText() {
		out = append(out, span{pos, f.start})
		pos = f.end
	}
	return append(out, span{pos, o.end})
}

// freeText returns the insides of the string values of o in which a judge may
// quote. A short value under a key that does not ask for words may be the verdict.
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

// outerLines returns the first and the last line of s that are not blank.
func outerLines(s string) (first, last span) {
	pos, found := 0, false
	for line := range strings.Lines(s) {
		if strings.TrimFunc(line, isSpace) != "" {
			last = span{pos, pos + len(line)}
			if !found {
				first, found = last, true
			}
		}
		pos += len(line)
	}
	return first, last
}

// unguarded hands the parts of s that are not guarded to do. A guard that lies within a
// quotation is quoted too and does not hold.
func (k *masker) unguarded(s span, do func(span)) {
	pos := s.start
	i, _ := slices.BinarySearchFunc(k.guards, s.start, func(g span, at int) int { return cmp.Compare(g.end, at) })
	for ; i < len(k.guards) && k.guards[i].start < s.end; i++ {
		if g := k.guards[i]; g.start >= s.start && g.end <= s.end && k.enclosed(s) {
			continue
		}
		if k.guards[i].start > pos {
			do(k.tidy(span{pos, k.guards[i].start}))
		}
		pos = max(pos, k.guards[i].end)
	}
	if pos < s.end {
		do(k.tidy(span{pos, s.end}))
	}
}

// marked says whether a verdict is announced right before pos.
func (k *masker) marked(pos int) bool {
	_, ok := slices.BinarySearch(k.marks, pos)
	return ok
}

// enclosed says whether s stands between quotes that JSON does not use.
func (k *masker) enclosed(s span) bool {
	switch lastRune(k.reply[:s.start]) {
	case '`', '“', '«', '「', '『', '„':
		return true
	}
	return false
}

// tidy keeps the edges of s from splitting an escape sequence or a rune.
func (k *masker) tidy(s span) span {
	for s.start < s.end && !utf8.RuneStart(k.reply[s.start]) {
		s.start++
	}
	for s.end > s.start && s.end < len(k.reply) && !utf8.RuneStart(k.reply[s.end]) {
		s.end--
	}
	if s.start < s.end && s.start > 0 && k.reply[s.start-1] == '\\' {
		_, n := utf8.DecodeRuneInString(k.reply[s.start:s.end])
		s.start += n
	}
	for s.end > s.start && k.reply[s.end-1] == '\\' {
		s.end--
	}
	return s
}

// bare says whether the reply's text from i to j, quotes and all, is the judge's
// own verdict: short, and alone on the first or last line or announced by a mark.
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

// core returns s without the dress at both ends. It is worked out once: doing so
// for every quotation on a long line would take quadratic time.
func core(text string, s span) span {
	inner := strings.TrimLeftFunc(text[s.start:s.end], undress)
	start := s.end - len(inner)
	return span{start, start + len(strings.TrimRightFunc(inner, undress))}
}

// fences yields the insides of fenced blocks that the response contains and that
// are not JSON.
func (k *masker) fences() iter.Seq[span] {
	return func(yield func(span) bool) {
		opened := -1
		pos := 0
		for line := range strings.Lines(k.reply) {
			end := pos + len(line)
			if strings.HasPrefix(strings.TrimLeft(line, " \t>"), "```") {
				if opened < 0 {
					opened = end
				} else {
					s := span{opened, pos}
					opened = -1
					alone := k.core[2].start >= s.start && k.core[2].end <= s.end
					if !alone && !within(k.guards, s.start+leading(k.reply[s.start:s.end])) && k.quoted.holds(k.reply[s.start:s.end]) && !yield(s) {
						return
					}
				}
			}
			pos = end
		}
	}
}

// leading returns the length of the white space that s begins with.
func leading(s string) int { return len(s) - len(strings.TrimLeft(s, " \t\r\n")) }

// blockquotes yields the lines that markdown quotes and the response contains.
func (k *masker) blockquotes() iter.Seq[span] {
	return func(yield func(span) bool) {
		pos := 0
		for line := range strings.Lines(k.reply) {
			end := pos + len(line)
			body := strings.TrimLeft(line, " \t")
			if strings.HasPrefix(body, ">") {
				body = strings.TrimLeft(body, "> \t")
				text := strings.TrimRight(body, "\r\n")
				start := end - len(body)
				only := k.first == k.last && pos == k.first.start
				if text != "" && !only && k.quoted.holds(text) && !yield(span{start, start + len(text)}) {
					return
				}
			}
			pos = end
		}
	}
}
