package judge

import (
	"strings"
	"unicode/utf8"
)

// Properties of minRun bytes of the reply.
const (
	inResponse   = 1 << iota // they occur in the response
	beginsAsWord             // there they do not begin within a word
	endsAsWord               // there they do not end within a word
)

// copies returns the runs of at least minRun bytes in reply in which every minRun
// consecutive bytes occur in response. A word that continues in the response, as CORRECT
// does in CORRECTLY, is not part of a run.
func copies(reply, response string) []span {
	if len(reply) < minRun || len(response) < minRun {
		return nil
	}
	// The windows of the shorter text.
	small := reply
	if len(response) < len(small) {
		small = response
	}
	shared := map[string]uint8{} // No size hint: long texts repeat themselves, and only distinct windows need room.
	for i := 0; i+minRun <= len(small); i++ {
		shared[small[i:i+minRun]] = 0
	}
	for i := 0; i+minRun <= len(response); i++ {
		run, after := response[i:i+minRun], response[i+minRun:]
		known, ok := shared[run]
		if !ok {
			continue
		}
		known |= inResponse
		if !isLatinWord(firstRune(run)) || !isLatinWord(lastRune(response[:i])) {
			known |= beginsAsWord
		}
		if !isLatinWord(lastRune(run)) || !isLatinWord(firstRune(after)) {
			known |= endsAsWord
		}
		shared[run] = known
	}
	var out []span
	for i := 0; i+minRun <= len(reply); i++ {
		if shared[reply[i:i+minRun]] == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].end >= i {
			out[n-1].end = i + minRun
		} else {
			out = append(out, span{i, i + minRun})
		}
	}
	for i, s := range out {
		if shared[reply[s.start:s.start+minRun]]&beginsAsWord == 0 {
			out[i].start = skipWord(reply, s)
		}
		if shared[reply[s.end-minRun:s.end]]&endsAsWord == 0 {
			out[i].end = dropWord(reply, span{out[i].start, s.end})
		}
	}
	return out
}

// skipWord returns the start of s without its first word.
func skipWord(text string, s span) int {
	for s.start < s.end {
		r, n := utf8.DecodeRuneInString(text[s.start:])
		if !isLatinWord(r) {
			break
		}
		s.start += n
	}
	return min(s.start, s.end)
}

// dropWord returns the end of s without its last word.
func dropWord(text string, s span) int {
	for s.end > s.start {
		r, n := utf8.DecodeLastRuneInString(text[:s.end])
		if !isLatinWord(r) {
			break
		}
		s.end -= n
	}
	return max(s.start, s.end)
}

// runs hides the copied runs without the parts that must stay.
func (k *masker) runs() {
	for _, s := range k.copied {
		s = k.wholeRunes(s)
		// Only whole words are hidden.
		if isLatinWord(lastRune(k.reply[:s.start])) {
			s.start = skipWord(k.reply, s)
		}
		if isLatinWord(firstRune(k.reply[s.end:])) {
			s.end = dropWord(k.reply, s)
		}
		s = k.keepNegation(k.keepOpening(s))
		if s.end-s.start >= minRun && strings.TrimSpace(k.reply[s.start:s.end]) != "" && !k.ownVerdict(s) {
			k.hide(s)
		}
	}
}

// keepOpening excludes the short first clause of the reply from s: in "Yes, Bob Geldof
// played Pink." the first word is the judge's even if the response, being right, begins
// with it too.
func (k *masker) keepOpening(s span) span {
	if k.core[2].start < s.start {
		return s
	}
	text := k.reply[s.start:s.end]
	lead := len(text) - len(strings.TrimLeftFunc(text, isDecoration))
	i := strings.IndexFunc(text[lead:], isStop)
	if i < 0 || len(strings.Fields(text[:lead+i])) > 2 {
		return s
	}
	return span{s.start + lead + i, s.end}
}

// keepNegation excludes the end of s if the clause continues after it: with "the response
// is not" blanked and CORRECT left, the reply would say the opposite.
func (k *masker) keepNegation(s span) span {
	rest := strings.TrimLeft(k.reply[s.end:], " \t")
	r := firstRune(rest)
	last := lastRune(k.reply[:s.end])
	if rest == "" || isStop(r) || isStop(last) || isMarkup(r) && !strings.ContainsRune("*_`\"'“‘([{（「", r) {
		return s
	}
	text := k.reply[s.start:s.end]
	cut := len(text)
	for range negationReach {
		cut = strings.LastIndexFunc(strings.TrimRight(text[:cut], " \t\n"), isSpace)
		if cut < 0 {
			cut = 0
			break
		}
	}
	// A negation does not extend beyond the end of a clause.
	if i := strings.LastIndexFunc(text, isStop); i >= cut {
		_, n := utf8.DecodeRuneInString(text[i:])
		cut = i + n
	}
	return span{s.start, s.start + cut}
}

// ownVerdict reports whether s is all of the first or last line and announces a verdict
// there: judges end with "Final answer: CORRECT", whatever the response says.
func (k *masker) ownVerdict(s span) bool {
	for n, line := range []span{k.first, k.last} {
		if s.start < line.start || s.end > line.end || s.start > k.core[n].start {
			continue
		}
		for i := s.start + 1; i < s.end; i++ {
			if k.marked(i) && len(strings.Fields(k.reply[i:line.end])) <= 3 {
				return true
			}
		}
	}
	return k.bare(s.start, s.end) && len(strings.Fields(k.reply[s.start:s.end])) <= 4
}
