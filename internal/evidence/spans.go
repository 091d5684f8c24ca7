package evidence

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"deem"
)

// A SpanKind says what a part of a text did to the verdict.
type SpanKind string

// The kinds of [Span].
const (
	SpanSame    SpanKind = "same"    // reference and response both say it
	SpanOther   SpanKind = "other"   // the response says something else than the reference here
	SpanMissing SpanKind = "missing" // the response lacks it
	SpanDoubt   SpanKind = "doubt"   // the response has it, but denies it, takes it back, or does not stand by it
)

// A Span is a part of the response or of a reference that decided.
type Span struct {
	Reference  int // which reference, from 0; -1 for the response
	Start, End int // in bytes
	Kind       SpanKind
}

// Spans returns the parts of an item's texts that decide the verdict, in order and
// without overlap. The references other than the one that decided have none, and neither
// has a text that is too long to be read whole.
func Spans(it deem.Item) []Span {
	if len(it.References) == 0 || len(it.Response) > maxRead {
		return nil
	}
	c := compare(it)
	f := c.judge(it.References)
	if f.against == nil || len(it.References[f.ref]) > maxRead {
		return nil
	}
	kind := SpanDoubt
	switch {
	case f.call == right:
		kind = SpanSame
	case f.call == wrong && f.by < byInitials:
		kind = SpanOther
	}
	response := &marking{r: c.response, reference: -1}
	response.add(f.at, kind)
	if c.before != nil {
		for _, e := range c.before.elems {
			if f.against.hasElem(e) {
				response.place(c.before.toks[e.tok].span, SpanDoubt)
			}
		}
	}
	reference := &marking{r: read(it.References[f.ref]), reference: f.ref}
	if at := strings.Index(reference.r.text, f.against.text); at >= 0 && f.want.len() > 0 {
		first, last := f.against.toks[f.want.from], f.against.toks[f.want.to-1]
		reference.place(span{at + first.from, at + last.to}, kind)
	}
	figures := len(f.against.quants) > 0 || len(f.against.dates) > 0
	for _, e := range c.response.elems {
		switch {
		case f.against.hasElem(e):
			response.add(span{e.tok, e.tok + 1}, SpanSame)
		case figures && e.key[0] == '#' && !c.question.hasElem(e):
			response.add(span{e.tok, e.tok + 1}, SpanOther)
		}
	}
	for _, e := range reference.r.elems {
		if c.response.hasElem(e) {
			reference.add(span{e.tok, e.tok + 1}, SpanSame)
		} else {
			reference.add(span{e.tok, e.tok + 1}, SpanMissing)
		}
	}
	return append(response.inText(it.Response), reference.inText(it.References[f.ref])...)
}

// A marking collects the spans of one text.
type marking struct {
	r         *reading
	reference int
	spans     []Span
}

// add marks tokens.
func (m *marking) add(s span, kind SpanKind) {
	if s.len() > 0 {
		m.place(span{m.r.toks[s.from].from, m.r.toks[s.to-1].to}, kind)
	}
}

// place marks bytes of the text that was read.
func (m *marking) place(s span, kind SpanKind) {
	m.spans = append(m.spans, Span{m.reference, s.from, s.to, kind})
}

// inText returns the spans in order, with neighbours of one kind joined, as bytes of the text
// as it was given: what was read has some characters in another width. Of spans that overlap,
// as those of the words that WHO stands for, the one that was marked first stays.
func (m *marking) inText(text string) []Span {
	slices.SortStableFunc(m.spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	var list []Span
	for _, s := range m.spans {
		n := len(list)
		switch {
		case n > 0 && s.Start < list[n-1].End:
		case n > 0 && list[n-1].Kind == s.Kind && strings.TrimSpace(m.r.text[list[n-1].End:s.Start]) == "":
			list[n-1].End = s.End
		default:
			list = append(list, s)
		}
	}
	read, k := 0, 0
	for i, r := range text + "\x00" {
		for ; k < 2*len(list); k++ {
			end := &list[k/2].Start
			if k%2 == 1 {
				end = &list[k/2].End
			}
			if *end > read {
				break
			}
			*end = i
		}
		read += utf8.RuneLen(narrow(r))
	}
	return list
}
