package web

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/evidence"
)

// spanClass maps the kinds of spans that the judge match looks at to CSS classes.
var spanClass = map[evidence.SpanKind]string{
	evidence.SpanSame: "found", evidence.SpanMissing: "missing", evidence.SpanOther: "against", evidence.SpanDoubt: "doubt",
}

// highlight marks in the texts of an item what counts for and against the response
// according to the judge match.
func (v *itemView) highlight() {
	marks := map[int][]string{} // by reference, -1 for the response
	shown := func(reference int) *textView {
		if reference < 0 {
			return &v.Response
		}
		return &v.References[reference]
	}
	for _, s := range evidence.Spans(v.Item) {
		text := shown(s.Reference).Text
		if marks[s.Reference] == nil {
			marks[s.Reference] = make([]string, len(text))
		}
		if s.Kind == evidence.SpanOther && s.Reference >= 0 {
			s.Kind = evidence.SpanMissing // Red is used only in the response.
		}
		fill(marks[s.Reference][min(s.Start, len(text)):min(s.End, len(text))], spanClass[s.Kind])
	}
	for reference, m := range marks {
		t := shown(reference)
		t.Pieces = pieces(t.Text, m)
	}
}

// slots marks in a prompt the texts that come from the item. It ignores texts shorter than
// 3 bytes, which may occur by chance.
func slots(prompt string, it deem.Item) []piece {
	type span struct{ from, to int }
	var spans []span
	texts := append([]string{it.Response, it.Question}, it.References...)
	for _, name := range slices.Sorted(maps.Keys(it.Fields)) {
		texts = append(texts, it.Fields[name])
	}
	for _, text := range texts {
		if len(strings.TrimSpace(text)) < 3 || len(text) > len(prompt) {
			continue
		}
		taken := func(at int) bool {
			return slices.ContainsFunc(spans, func(s span) bool { return at < s.to && s.from < at+len(text) })
		}
		from, next := -1, strings.Index(prompt, text)
		for next > from {
			from = next
			if !taken(from) {
				spans = append(spans, span{from, from + len(text)})
				break
			}
			next = from + 1 + strings.Index(prompt[from+1:], text)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var list []piece
	end := 0
	for _, s := range spans {
		list = append(list, piece{prompt[end:s.from], ""}, piece{prompt[s.from:s.to], "slot"})
		end = s.to
	}
	return append(list, piece{prompt[end:], ""})
}

// pretty returns indented JSON. It returns other texts unchanged.
func pretty(text string) string {
	var b bytes.Buffer
	if t := strings.TrimSpace(text); len(t) > 1 && (t[0] == '{' || t[0] == '[') && json.Indent(&b, []byte(t), "", "  ") == nil {
		return b.String()
	}
	return text
}
