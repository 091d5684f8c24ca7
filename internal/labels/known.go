package labels

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
)

// A Known is a disagreement of a judge with people that has been reviewed and recorded.
type Known struct {
	Item   string // its id
	Judge  bool   // the judge's verdict
	People bool   // the human label
	Why    string

	File string
	Line int
}

// ReadKnown reads a registry of known disagreements: for each the item, the judge's
// verdict, the human label, and why they differ. One of verdict and label is enough,
// because the other is its opposite.
//
//   - {item: q7, judge: yes, people: no, why: "accepts the neighbouring year"}
//
// The formats are those of labels.
func ReadKnown(ctx context.Context, name string) ([]Known, error) {
	const form = "write {item: q7, judge: yes, people: no, why: ...}"
	r := &reader{src: Source{Names: []string{name}}, set: &Set{}}
	var list []Known
	lines := map[string]int{}
	r.take = func(rw rows.Row) {
		id, ok := r.value(rw, "item")
		if !ok {
			r.bad(rw.File, rw.Line, form, "no item is named (columns here: %s)", strings.Join(rw.Keys, ", "))
			return
		}
		k := Known{Item: id, File: rw.File, Line: rw.Line}
		k.Why, _ = r.value(rw, "reason")
		judge, hasJudge := r.side(rw, id, "judge", "judge_says")
		people, hasPeople := r.side(rw, id, "people", "people_say", "human", "label")
		switch {
		case !hasJudge && !hasPeople:
			r.bad(rw.File, rw.Line, form, "item %q: neither what the judge says nor what people say is given", id)
			return
		case !hasJudge:
			judge = !people
		case !hasPeople:
			people = !judge
		case judge == people:
			r.bad(rw.File, rw.Line, form, "item %q: judge and people say the same, which is not a disagreement", id)
			return
		}
		if line, twice := lines[id]; twice {
			r.bad(rw.File, rw.Line, "", "item %q stands in line %d already", id, line)
			return
		}
		k.Judge, k.People, lines[id] = judge, people, rw.Line
		list = append(list, k)
	}
	if err := r.files(ctx); err != nil {
		return nil, err
	}
	return list, nil
}

// side parses the verdict of one of the two sides.
func (r *reader) side(rw rows.Row, id string, columns ...string) (yes, ok bool) {
	for _, column := range columns {
		v := rw.Member(column)
		if v.Kind == rows.Missing {
			continue
		}
		text := v.Str()
		d, hint, err := r.decide(text, "")
		if err != nil || d.blank {
			r.bad(rw.File, rw.Line, hint, "item %q: %s says %q, which is neither yes nor no", id, column, text)
		}
		return d.yes, true
	}
	return false, false
}

// WriteKnown returns a registry as YAML, sorted by item, with room for the reasons.
func WriteKnown(list []Known) string {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Known) int { return strings.Compare(a.Item, b.Item) })
	var b strings.Builder
	b.WriteString("# Disagreements of the judge with people that are known. deem agree --known fails when\n" +
		"# one appears or disappears. Say why each is there.\n")
	for _, k := range list {
		b.WriteString("- item: " + quoted(k.Item) + "\n  judge: " + word(k.Judge) + "\n  people: " + word(k.People) + "\n  why: " + quoted(k.Why) + "\n")
	}
	if len(list) == 0 {
		b.WriteString("[]\n")
	}
	return b.String()
}

// quoted returns a JSON string that is also valid YAML: it escapes the few characters that
// JSON allows but YAML does not, or treats as line breaks.
func quoted(s string) string {
	text, err := deem.Canonical(s)
	if err != nil {
		return `""` // every string has a JSON form
	}
	var b strings.Builder
	for _, r := range string(text) {
		if r >= 0x7f && r <= 0x9f || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffe' || r == '\uffff' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func word(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
