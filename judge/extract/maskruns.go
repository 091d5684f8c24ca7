package extract

import (
	"strings"
	"unicode/utf8"
)

// copies returns the runs of at least minRun bytes in reply in which every minRun
// bytes in a row stand in response.
func copies(reply, response string) []span {
	if len(reply) < minRun || len(response) < minRun {
		return nil
	}
	shared := make(map[string]bool, len(reply)-minRun+1)
	for i := 0; i+minRun <= len(reply); i++ {
		shared[reply[i:i+minRun]] = false
	}
	for i := 0; i+minRun <= len(response); i++ {
		if _, ok := shared[response[i:i+minRun]]; ok {
			shared[response[i:i+minRun]] = true
		}
	}
	var out []span
	for i := 0; i+minRun <= len(reply); i++ {
		if !shared[reply[i:i+minRun]] {
			continue
		}
		if n := len(out); n > 0 && out[n-1].end >= i {
			out[n-1].end = i + minRun
		} else {
			out = append(out, span{i, i + minRun})
		}
	}
	return out
}

// runs returns the copied runs without what must stay.
func (k *masker) runs() []span {
	var out []span
	for _, s := range k.copied {
		s = k.trimWords(s)
		s = k.keepOpening(s)
		s = k.keepNegation(s)
		if s.end-s.start >= minRun && strings.TrimSpace(k.reply[s.start:s.end]) != "" && !k.ownVerdict(s) {
			out = append(out, s)
		}
	}
	return out
}

// trimWords shortens s to whole words.
func (k *masker) trimWords(s span) span {
	for s.start < s.end && !utf8.RuneStart(k.reply[s.start]) {
		s.start++
	}
	for s.end > s.start && s.end < len(k.reply) && !utf8.RuneStart(k.reply[s.end]) {
		s.end--
	}
	if isLatinWord(lastRune(k.reply[:s.start])) {
		for s.start < s.end {
			r, n := utf8.DecodeRuneInString(k.reply[s.start:])
			if !isLatinWord(r) {
				break
			}
			s.start += n
		}
	}
	if isLatinWord(firstRune(k.reply[s.end:])) {
		for s.end > s.start {
			r, n := utf8.DecodeLastRuneInString(k.reply[:s.end])
			if !isLatinWord(r) {
				break
			}
			s.end -= n
		}
	}
	return s
}

// keepOpening leaves the short first clause of the reply alone: in "Yes, Bob Geldof
// played Pink." the first word is the judge's even where the response, being right,
// begins alike.
func (k *masker) keepOpening(s span) span {
	if k.core[2].start < s.start {
		return s
	}
	text := k.reply[s.start:s.end]
	lead := len(text) - len(strings.TrimLeftFunc(text, undress))
	i := strings.IndexFunc(text[lead:], isStop)
	if i < 0 || len(strings.Fields(text[:lead+i])) > 2 {
		return s
	}
	return span{s.start + lead + i, s.end}
}

// keepNegation leaves the end of s alone when the clause goes on behind it: with
// "the response is not" blanked and CORRECT left, the reply would say the opposite.
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
	// No negation reaches across the end of a clause.
	if i := strings.LastIndexFunc(text, isStop); i >= cut {
		_, n := utf8.DecodeRuneInString(text[i:])
		cut = i + n
	}
	return span{s.start, s.start + cut}
}

// ownVerdict says whether s is all of the first or last line and announces a
// verdict there: "Final answer: CORRECT" is how judges end, whatever responses say.
func (k *masker) ownVerdict(s span) bool {
	for n, line := range []span{k.first, k.last} {
		if s.start < line.start || s.end > line.end || s.start > k.core[n].start {
			continue
		}
		for i := s.start + 1; i < s.end; i++ {
			if k.marks[i] && len(strings.Fields(k.reply[i:line.end])) <= 3 {
				return true
			}
		}
	}
	return k.bare(s.start, s.end) && len(strings.Fields(k.reply[s.start:s.end])) <= 4
}
