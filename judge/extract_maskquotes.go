package judge

import (
	"index/suffixarray"
	"slices"
	"strings"
	"unicode/utf8"
)

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
