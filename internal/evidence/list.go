package evidence

import (
	"fmt"
	"slices"
	"strings"
)

// byList decides where the reference is a list of short entries: all must be in
// the response, in any order.
func (c *comparison) byList(text string, a *reading) (finding, bool) {
	entries := listEntries(text, a)
	if entries == nil {
		return finding{}, false
	}
	var missing []string
	doubt, conf, share := "", .9, 0.0
	for _, e := range entries {
		f := c.entry(e)
		switch f.call {
		case right:
			conf = min(conf, f.conf)
			share += 1 / float64(len(entries))
		case wrong:
			missing = append(missing, fmt.Sprintf("%q", e))
		default:
			doubt = e
			share += f.share / float64(len(entries))
		}
	}
	if len(missing) == 0 && c.question.has("order") && !c.inOrder(a) {
		return finding{call: unsure, why: "the response has the entries of the reference in another order", share: .5, vague: true}, true
	}
	if len(missing) == 0 && c.listsMore(a) {
		return finding{call: unsure, why: fmt.Sprintf("the response lists many others with %q", a.written(span{0, len(a.toks)})), share: .5}.amongOthers(), true
	}
	switch {
	case len(missing) == 0 && doubt == "":
		return finding{call: right, conf: conf, why: fmt.Sprintf("the response has all %d entries of the reference", len(entries))}, true
	case len(missing) == 0:
		return finding{call: unsure, why: fmt.Sprintf("the response may lack %q of the list", doubt), share: share, vague: true}, true
	case len(missing) < len(entries) && doubt != "":
		return finding{call: unsure, why: fmt.Sprintf("the response lacks %s of the list and perhaps more", missing[0]), share: share, vague: true}, true
	}
	f := finding{call: wrong, conf: .75, why: fmt.Sprintf("the response lacks %s of the list", strings.Join(missing, ", ")), share: share}
	if len(missing) == len(entries) {
		f.conf = .87
		return c.leaning(f, brief*2/3), true
	}
	if f = c.leaning(f, brief*2/3); f.most < .4 {
		// Published rules call a part of a list wrong, but more than half of the labellers,
		// people among them, accept it.
		f.least, f.most = .3, .39
	}
	return f, true
}

// entry judges the response by one entry of a list.
func (c *comparison) entry(text string) finding {
	a := read(text)
	among := *c
	among.listed = true
	if f, ok := among.byDate(text, a); ok {
		return f
	}
	want, ok := c.soleQuantity(a)
	if !ok {
		return among.byWords(a)
	}
	// Other entries have other numbers, so they are not rivals.
	t := c.tally(want)
	if len(t.hits) == 0 {
		return finding{call: wrong, conf: .8}
	}
	if _, other := c.countsOther(a, want, t.hits); other {
		return finding{call: unsure, share: .5}
	}
	return finding{call: right, conf: .85}
}

// listEntries splits "A, B and C" into its entries, or returns nil if the text is
// no list. Entries are short, and two of them need an "and" that joins names; a
// comma alone also stands in "Paris, France".
func listEntries(text string, a *reading) []string {
	if len(text) > 600 || len(a.dates) == 1 {
		return nil
	}
	body := strings.Trim(text, " .\n")
	if strings.ContainsAny(body, ".!?") && strings.Contains(body, ". ") {
		return nil
	}
	s := body
	for _, and := range []string{", and ", ", & ", " and ", " & ", ";", "、", "，", "\n", "和"} {
		s = strings.ReplaceAll(s, and, ",")
	}
	var parts []string
	from := 0
	for i := range len(s) + 1 {
		if i < len(s) && (s[i] != ',' || i > 0 && digitAt(s, i-1) && digitAt(s, i+1)) {
			continue // also where a comma groups digits
		}
		if p := strings.TrimSpace(s[from:i]); p != "" {
			parts = append(parts, p)
		}
		from = i + 1
	}
	commas := strings.Count(body, ",") + strings.Count(body, ";") + strings.Count(body, "、") + strings.Count(body, "，") + strings.Count(body, "\n")
	if len(parts) < 2 || len(parts) == 2 && commas > 0 && !strings.Contains(body, " and ") && !strings.Contains(body, ";") && !strings.Contains(body, "、") {
		return nil
	}
	long := slices.ContainsFunc(parts, func(p string) bool { return len(strings.Fields(p)) > 5 })
	if long || len(parts) == 2 && commas == 0 && !joinsEntries(a) {
		return nil
	}
	return parts
}

// joinsEntries reports whether the one "and" of a text joins two entries of their
// own rather than the words of one: both sides are names or numbers, or both are
// single words.
func joinsEntries(a *reading) bool {
	for i, t := range a.toks {
		if t.text != "and" && t.text != "&" && t.text != "和" || i == 0 || i+1 >= len(a.toks) {
			continue
		}
		before, after := a.toks[i-1], a.toks[i+1]
		return before.upper && after.upper || len(a.toks) == 3 || t.text == "和" || counted(a.toks[0]) && counted(after)
	}
	return strings.Contains(a.words(span{0, len(a.toks)}), "&")
}

// counted reports whether t begins an entry that is counted, as in "two cats and a
// dog".
func counted(t token) bool {
	return t.kind == number || articles[t.text] || units100[t.text] > 0
}

// listLength returns how many entries a response seems to list.
func (r *reading) listLength() int {
	n := 1
	for i, t := range r.toks {
		if t.brk == comma || t.text == "and" || i > 0 && t.brk == sentence && r.toks[i-1].sent != t.sent {
			n++
		}
	}
	return n
}
