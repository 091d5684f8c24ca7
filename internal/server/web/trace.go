package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/evidence"
	"deem/internal/reports"
	"deem/internal/words"
	"deem/judge"
)

// A trace shows how a reply was parsed: the reply in pieces, each with its treatment, and
// the result of parsing it again.
type trace struct {
	Pieces []piece
	Steps  []string // in words

	Reading string // the parser, "" if the protocol does not name its parsers
	Again   string // the result of parsing the reply again
	Differs bool   // Again is not the recorded result
}

// The special treatments of a piece of a reply.
const (
	thought  = "thought" // the model's thinking, which is removed
	theLabel = "label"   // where the verdict was found
)

// A piece is a part of a reply and its treatment.
type piece struct{ Text, Class string }

// traceOf parses a reply again and returns its trace, or nil if it cannot be traced. p may
// be nil.
func traceOf(p judge.Readable, rec deem.Record, reply deem.Reply) *trace {
	if p == nil || len(reply.Text) > maxShown || len(rec.Calls) == 0 {
		return nil
	}
	if _, several := p.(judge.Dialogue); several {
		return nil // The verdict comes from several replies, and its parts show how they were parsed.
	}
	t := &trace{Reading: p.Reading()}
	marks := make([]string, len(reply.Text))
	t.mark(marks, p, rec, reply.Text)
	t.Pieces = pieces(reply.Text, marks)
	v, f, _ := reports.Reread(p, rec)
	t.Again = decision(v, f)
	// A record whose last call failed has that failure, not the result of an earlier reply.
	last := rec.Calls[len(rec.Calls)-1]
	t.Differs = last.Reply != nil && t.Again != decision(rec.Verdict, rec.Failure)
	return t
}

// mark sets the treatment of every byte of a reply.
func (t *trace) mark(marks []string, p judge.Readable, rec deem.Record, text string) {
	answer := judge.Answer(text)
	at := strings.LastIndex(text, answer)
	if answer == "" {
		t.Steps = append(t.Steps, "Nothing is left once the model's thinking is taken away.")
		return
	}
	if len(answer) < len(strings.TrimSpace(text)) {
		t.Steps = append(t.Steps, fmt.Sprintf("The model's thinking was taken away: %s of %s.", words.Count(len(text)-len(answer), "byte"), words.Comma(len(text))))
		fill(marks[:at], thought)
		fill(marks[at+len(answer):], thought)
	}
	d := p.Spec().Declaration
	if d == nil || len(d.Labels) == 0 {
		return
	}
	found, err := d.Locate(p.Reading(), rec.Item, text)
	if err != nil {
		t.Steps = append(t.Steps, "The reply does not have the form that the prompt demands: "+err.Error()+".")
		return
	}
	t.Steps = append(t.Steps, fmt.Sprintf("The label %s was found.", found.Label))
	if end := found.Start + len(found.Label); found.Start >= 0 && end <= len(marks) {
		fill(marks[found.Start:end], theLabel)
	}
}

func fill(marks []string, with string) {
	for i := range marks {
		marks[i] = with
	}
}

// pieces splits a text where its marks change.
func pieces(text string, marks []string) []piece {
	var list []piece
	from := 0
	for i := range text {
		if marks[i] != marks[from] {
			list = append(list, piece{text[from:i], marks[from]})
			from = i
		}
	}
	if from < len(text) {
		list = append(list, piece{text[from:], marks[from]})
	}
	return list
}

// decision returns a verdict or a failure as one line.
func decision(v *deem.Verdict, f *deem.Failure) string {
	switch {
	case f != nil:
		return "unjudged: " + f.Error()
	case v == nil:
		return "no verdict"
	}
	return fmt.Sprintf("%s, score %.4g", v.Label, v.Score)
}

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
