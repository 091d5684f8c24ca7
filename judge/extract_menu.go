package judge

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A menu is the set of labels that a protocol offers.
type menu struct {
	labels []string  // longest first, so that a label is not found inside a longer one
	begins [128]bool // the ASCII characters with which a label may begin
}

// A mention is an occurrence of a label in a text.
type mention struct {
	label      string
	start, end int
}

// A packed is a compact mention: a reply may consist of nothing but labels.
type packed struct {
	start uint32
	label uint32 // its index, plus echoBit
}

// echoBit marks a mention that only repeats the menu.
const echoBit = 1 << 31

// newMenu returns the menu of labels. Blank labels and labels that differ from an earlier
// one only in case are omitted, because texts cannot distinguish them.
func newMenu(labels []string) *menu {
	m := &menu{}
	for _, l := range labels {
		if _, ok := m.equal(l); !ok && strings.TrimSpace(l) != "" {
			m.labels = append(m.labels, l)
		}
	}
	slices.SortStableFunc(m.labels, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, l := range m.labels {
		for c := range m.begins {
			m.begins[c] = m.begins[c] || unicode.ToLower(rune(c)) == unicode.ToLower(firstRune(l))
		}
	}
	return m
}

// equal returns the label that s spells.
func (m *menu) equal(s string) (string, bool) {
	for _, l := range m.labels {
		if n, ok := foldPrefix(s, l); ok && n == len(s) {
			return l, true
		}
	}
	return "", false
}

// eachMention yields the mentions in the first 4 GB of text.
func (m *menu) eachMention(text string) iter.Seq[packed] {
	return func(yield func(packed) bool) {
	next:
		for i := 0; i < len(text) && i <= math.MaxUint32; {
			if c := text[i]; c < utf8.RuneSelf && !m.begins[c] {
				i++
				continue
			}
			for k, l := range m.labels {
				n, ok := foldPrefix(text[i:], l)
				if !ok || !bounded(text, i, i+n, l) {
					continue
				}
				if !yield(packed{start: uint32(i), label: uint32(k)}) { //nolint:gosec // Both are in range.
					return
				}
				i += n
				continue next
			}
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
		}
	}
}

// foldPrefix reports whether text begins with label, ignoring case and how the words of the
// label are joined. It returns the length of that prefix.
func foldPrefix(text, label string) (int, bool) {
	pos := 0
	for i, r := range label {
		// A joint at the end, as in the grade A-, is part of the label.
		if isJoint(r) && i > 0 && i+1 < len(label) {
			if isJoint(lastRune(label[:i])) {
				continue
			}
			// At most two bytes: a line of dashes is a rule, not a joint.
			n := 0
			for n < 2 && pos+n < len(text) && isJoint(rune(text[pos+n])) {
				n++
			}
			if n == 0 {
				return 0, false
			}
			pos += n
			continue
		}
		c, n := utf8.DecodeRuneInString(text[pos:])
		if n == 0 || c != r && (c == utf8.RuneError || unicode.ToLower(c) != unicode.ToLower(r)) {
			return 0, false
		}
		pos += n
	}
	return pos, pos > 0
}

// isJoint reports whether r joins the words of a label.
func isJoint(r rune) bool { return r == ' ' || r == '_' || r == '-' }

// bounded reports whether text[i:j], which spells label, is not part of a longer word.
func bounded(text string, i, j int, label string) bool {
	if isLatinWord(firstRune(label)) && !openLeft(text[:i]) {
		return false
	}
	if isLatinWord(lastRune(label)) && !openRight(text[j:], label) {
		return false
	}
	if !isLetterLabel(label) {
		return true
	}
	// An operator may join a letter to something else: the A of A+ and A>B is not the label
	// A. A tag around it does not.
	const ops = "+<>=&@%^~"
	before, after := lastRune(text[:i]), firstRune(text[j:])
	return (before == '>' || !strings.ContainsRune(ops, before)) &&
		(strings.HasPrefix(text[j:], "</") || !strings.ContainsRune(ops, after))
}

// openLeft reports whether a word may begin after s. A hyphen, apostrophe or underscore
// after a letter belongs to the preceding word: non-correct, is_correct.
func openLeft(s string) bool {
	r := lastRune(s)
	if isLatinWord(r) {
		return false
	}
	switch r {
	case '-', '‐', '‑', '\'', '’', '_':
		return !isLatinWord(lastRune(s[:len(s)-utf8.RuneLen(r)]))
	}
	return true
}

// openRight reports whether the last word of label may end before s.
func openRight(s, label string) bool {
	r := firstRune(s)
	if isLatinWord(r) {
		return false
	}
	rest := strings.TrimPrefix(s, string(r))
	switch r {
	case '-', '‐', '‑', '\'', '’', '_':
		return !isLatinWord(firstRune(rest))
	case '.':
		// "No. 5" is a number, not an answer.
		if strings.EqualFold(label, "no") {
			rest = strings.TrimLeft(rest, " ")
			return rest == "" || !unicode.IsDigit(firstRune(rest))
		}
	}
	return true
}

// isLetterLabel reports whether label is one letter or digit, such as A.
func isLetterLabel(label string) bool { return utf8.RuneCountInString(label) == 1 }
