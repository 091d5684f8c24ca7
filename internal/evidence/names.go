package evidence

import (
	"embed"
	"slices"
	"strings"
	"sync"

	"deem/internal/text"
)

//go:embed data
var tables embed.FS

// A name is one way to write something that has several names.
type name struct {
	words []string // folded
	as    []token  // what stands in its place
	caps  bool     // it counts only in capitals
	alone bool     // it counts only by itself or after a comma
}

// nameTable has the names of data/names.txt, data/calendar.txt and data/numbers.txt by
// their first word, the longest first.
var nameTable = sync.OnceValue(func() map[string][]name {
	m := map[string][]name{}
	for _, file := range []string{"names", "calendar", "numbers"} {
		for line := range tableLines(file) {
			first, rest, _ := strings.Cut(line, " = ")
			as := tokenize(first)
			for i := range as {
				as[i].upper = true
			}
			for other := range strings.SplitSeq(rest, " = ") {
				short := strings.TrimLeft(other, "^")
				n := name{as: as, caps: len(short) < len(other), alone: len(other)-len(short) == 2}
				for _, t := range tokenize(short) {
					n.words = append(n.words, t.text)
				}
				key := n.words[0]
				at := 0
				for at < len(m[key]) && len(m[key][at].words) >= len(n.words) {
					at++
				}
				m[key] = append(m[key][:at:at], append([]name{n}, m[key][at:]...)...)
			}
		}
	}
	return m
})

// tableLines yields the lines of a table without comments.
func tableLines(file string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		raw, err := tables.ReadFile("data/" + file + ".txt")
		if err != nil {
			panic(err) // our own file
		}
		for line := range strings.Lines(string(raw)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !yield(line) {
				return
			}
		}
	}
}

// oneName puts the first name of a line of the tables in the place of all others, so that
// Peking and 北京 are Beijing and drei is 3.
func oneName(toks []token) []token {
	table := nameTable()
	var out []token // nil while nothing is replaced
	for i := 0; i < len(toks); {
		list := table[toks[i].text]
		at := slices.IndexFunc(list, func(n name) bool { return n.stands(toks, i) })
		if at < 0 {
			if out != nil {
				out = append(out, toks[i])
			}
			i++
			continue
		}
		if out == nil {
			out = append(make([]token, 0, len(toks)+8), toks[:i]...)
		}
		n := list[at]
		first, last := toks[i], toks[i+len(n.words)-1]
		put := make([]token, len(n.as))
		for k, t := range n.as {
			t.span, t.sent, t.bold, t.brk, t.gap = span{first.from, last.to}, first.sent, first.bold, none, true
			put[k] = t
		}
		put[0].gap, put[0].brk, put[0].pre = first.gap, first.brk, first.pre
		put[len(put)-1].post = last.post
		out = append(out, put...)
		i += len(n.words)
	}
	if out == nil {
		return toks
	}
	return out
}

// stands reports whether n stands at token i, as a name of its own: Holland is the
// Netherlands, but Tom Holland is not.
func (n *name) stands(toks []token, i int) bool {
	end := i + len(n.words)
	if end > len(toks) || n.caps && !toks[i].caps {
		return false
	}
	for k, w := range n.words {
		if t := toks[i+k]; t.text != w || k > 0 && t.brk != none {
			return false
		}
	}
	switch {
	case n.alone:
		return len(toks) == 1 || toks[i].brk == comma
	case n.caps || len(n.words) > 1 || toks[i].kind == han || n.as[0].kind == number:
		return true
	}
	before := i > 0 && toks[i].brk == none && toks[i-1].upper && !stopWords[toks[i-1].text]
	after := end < len(toks) && toks[end].brk == none && toks[end].upper
	return !before && !after
}

// smallWords has the languages of the small words in data/languages.txt.
var smallWords = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range tableLines("languages") {
		name, words, _ := strings.Cut(line, ":")
		for _, t := range tokenize(words) {
			m[t.text] = append(m[t.text], name)
		}
	}
	return m
})

// unspacedLanguage is the language of a text in a script without spaces.
const unspacedLanguage = "Chinese or Japanese"

// inLetters reports whether a text has words, and none in a script without spaces.
func (r *reading) inLetters() bool {
	return len(r.elems) > 0 && !strings.ContainsFunc(r.text, text.Unspaced)
}

// language returns the language of a text: by its script, or by its small words if one
// language has more of them than any other. One small word is enough in a short text only. It
// is "" where match cannot tell.
func (r *reading) language() string {
	unspaced, letters := 0, 0
	votes := map[string]int{}
	for _, t := range r.toks[:min(200, len(r.toks))] {
		switch {
		case t.kind == han:
			unspaced++
		case t.kind == word:
			letters++
			if t.upper && t.brk != sentence && t.span.from > 0 {
				continue // part of a name
			}
			for _, l := range smallWords()[t.text] {
				votes[l]++
			}
		}
	}
	if unspaced > 0 && unspaced >= 2*letters {
		return unspacedLanguage
	}
	best, most, second := "", 0, 0
	for l, n := range votes {
		switch {
		case n > most:
			best, most, second = l, n, most
		default:
			second = max(second, n)
		}
	}
	if most == second || most == 1 && letters > 4 || 8*most < letters {
		return ""
	}
	return best
}
