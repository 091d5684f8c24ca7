package labels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/dataset"
	"deem/internal/rows"
)

// value returns a part of a row, and reports whether it exists.
func (r *reader) value(rw rows.Row, part string) (string, bool) {
	if part == partItem && rw.Key != "" {
		return rw.Key, true
	}
	if column, ok := r.src.Columns[part]; ok {
		v := rw.At(column)
		return v.Str(), v.Kind != rows.Missing
	}
	v := rw.First(Columns(part)...)
	return v.Str(), v.Kind != rows.Missing
}

// isLabel takes objects with an item or a label as rows. Others are rows if they are in a list
// with one: they are reported.
func (r *reader) isLabel(o rows.Node, _ bool) rows.Grade {
	if r.has(o, partItem) || r.has(o, partLabel) || r.has(o, partScore) {
		return rows.Strong
	}
	return rows.Weak
}

// has reports whether an object has a column of a part, possibly without a value: a null in
// JSON is a label that is still to come.
func (r *reader) has(o rows.Node, part string) bool {
	if column, ok := r.src.Columns[part]; ok {
		head, _, _ := strings.Cut(column, ".")
		return o.Has(column) || o.Has(head)
	}
	return slices.ContainsFunc(o.Keys, func(key string) bool {
		return slices.ContainsFunc(Columns(part), func(name string) bool { return rows.Plain(name) == rows.Plain(key) })
	})
}

// file reads one file.
func (r *reader) file(ctx context.Context, name string) error {
	values, err := r.values(ctx, name)
	if err != nil {
		return err
	}
	if len(values) == 1 {
		values[0].Node = r.byID(values[0].Node)
	}
	found := rows.Finder{Grade: r.isLabel, Question: func(o rows.Node) string {
		id, _ := r.value(rows.Row{Node: o}, partItem)
		return id
	}}.Find(values)
	if len(found.Rivals) > 0 {
		r.bad(name, 0, "take one of them out of it", "several lists label the same items: %s", dataset.Listed(found.Rivals))
		return nil
	}
	r.set.Notes = append(r.set.Notes, found.LeftOut...)
	for i, v := range values {
		if rest, ok := found.Rest[i]; ok {
			r.head(rest, name, v.Line)
		}
	}
	for _, rw := range found.Rows {
		r.take(rw)
	}
	return nil
}

// values reads the values of a file in a format of package dataset, or in YAML.
func (r *reader) values(ctx context.Context, name string) ([]rows.Value, error) {
	if r.isYAML(name) {
		return r.yamlFile(name)
	}
	files, err := dataset.OpenFiles(ctx, dataset.Input{
		Names: []string{name}, Stdin: r.src.Stdin, Format: r.src.Format, Whole: func([]string) bool { return true },
	})
	if err != nil {
		return nil, err
	}
	var values []rows.Value
	for v, err := range files.Values(ctx) {
		if p, ok := errors.AsType[deem.Problem](err); ok {
			r.problems.Add(p)
			continue
		}
		if err != nil {
			return nil, errors.Join(err, files.Close())
		}
		values = append(values, v)
	}
	r.set.Notes = append(r.set.Notes, files.Notes()...)
	return values, files.Close()
}

// byID returns an object with a label for each id, such as "q1: PASS", as a list of labels
// under a key. It returns any other value unchanged.
func (r *reader) byID(n rows.Node) rows.Node {
	isList := func(v rows.Node) bool { return v.Kind == rows.List }
	if n.Kind != rows.Object || r.isLabel(n, false) == rows.Strong || slices.ContainsFunc(n.Vals, isList) {
		return n
	}
	whole, list := rows.Node{Kind: rows.Object, Line: n.Line}, rows.Node{Kind: rows.List}
	for i, key := range n.Keys {
		v := n.Vals[i]
		if slices.Contains(headParts, key) && v.IsScalar() {
			whole.Keys, whole.Vals = append(whole.Keys, key), append(whole.Vals, v)
			continue
		}
		row := rows.Node{Kind: rows.Object, Line: v.Line, Keys: []string{partItem, partLabel}, Vals: []rows.Node{rows.Text(key), v}}
		if v.Kind == rows.Object {
			row.Keys, row.Vals = append([]string{partItem}, v.Keys...), append([]rows.Node{rows.Text(key)}, v.Vals...)
		}
		list.Vals = append(list.Vals, row)
	}
	whole.Keys, whole.Vals = append(whole.Keys, "labels"), append(whole.Vals, list)
	return whole
}

// headParts are the columns that apply to all labels of a file. They are next to the list of
// labels, or in the first line of a JSONL file.
var headParts = []string{partJudgeHash, partScale, rows.Annotator}

// head applies the values for all labels of a file. The user's settings take precedence.
func (r *reader) head(o rows.Node, file string, line int) {
	r.bind(file, line, o.Member(partJudgeHash).Str())
	if scale := o.Member(partScale); scale.Kind != rows.Missing {
		x, ok := scale.Float()
		switch {
		case !ok || x <= 0:
			r.bad(file, line, "", "the scale %q is not a positive number", scale.Str())
		case r.src.Scale == 0:
			r.scale = x
		}
	}
	if who := o.Member(rows.Annotator).Str(); who != "" && r.src.Annotator == "" {
		r.annotator = who
	}
}

// row handles one row: a label, a row that is not labelled yet, or the first line of a
// JSONL file, which applies to all.
func (r *reader) row(rw rows.Row) {
	id, hasID := r.value(rw, partItem)
	if !hasID {
		isHead := rw.Has(partJudgeHash) || rw.Has(partScale) || rw.Has(rows.Annotator) && len(rw.Keys) == 1
		if isHead && !r.has(rw.Node, partLabel) {
			r.head(rw.Node, rw.File, rw.Line)
			return
		}
		r.without(partItem, rw, "no item is named")
		return
	}
	r.found(partItem)
	hash, _ := r.value(rw, partJudgeHash)
	r.bind(rw.File, rw.Line, hash)
	label, hasLabel := r.value(rw, partLabel)
	score, hasScore := r.value(rw, partScore)
	if !hasLabel && !hasScore && !r.has(rw.Node, partLabel) && !r.has(rw.Node, partScore) {
		r.without(partLabel, rw, fmt.Sprintf("item %q has no label", id))
		return
	}
	r.found(partLabel)
	d, hint, err := r.decide(label, score)
	switch {
	case err != nil:
		r.bad(rw.File, rw.Line, hint, "item %q: %v", id, err)
	case d.blank:
		r.set.Blank++
	default:
		r.label(rw, id, d)
	}
}

// A lack is a part that rows do not have. If no row of the file has it, that is one problem
// and not one per row.
type lack struct {
	first    rows.Row
	problems deem.Problems
	found    bool // some row has it
}

// partHints are the hints for the parts that a row must have.
var partHints = map[string]string{
	partItem:  "say which column holds the item's id, as with --map item=NAME",
	partLabel: "say which column holds the label, as with --map label=NAME",
}

// without records that a row lacks a part.
func (r *reader) without(part string, rw rows.Row, message string) {
	l := r.lacks[part]
	message += fmt.Sprintf(" (columns here: %s)", strings.Join(rw.Keys, ", "))
	if l.found {
		r.bad(rw.File, rw.Line, partHints[part], "%s", message)
		return
	}
	if l.problems.Total == 0 {
		l.first = rw
	}
	l.problems.Add(deem.Problem{File: rw.File, Line: rw.Line, Message: message})
}

// found records that a row has a part. Earlier rows without it are then each a problem.
func (r *reader) found(part string) {
	if l := r.lacks[part]; !l.found {
		l.found = true
		r.spell(part, l)
	}
}

// spell adds the problems of a lack one by one.
func (r *reader) spell(part string, l *lack) {
	listed := 0
	for _, p := range l.problems.List {
		r.problems.Add(p)
		r.hint = cmp.Or(r.hint, partHints[part])
		listed += 1 + p.More
	}
	r.problems.Total += l.problems.Total - listed
}

// label adds the label of a row, once for each item and annotator.
func (r *reader) label(rw rows.Row, id string, d decision) {
	l := Label{Item: id, Annotator: r.annotator, Yes: d.yes, Label: d.label, Score: d.score, Graded: d.graded, File: rw.File, Line: rw.Line}
	if who, _ := r.value(rw, rows.Annotator); who != "" {
		l.Annotator = who
	}
	l.Reason, _ = r.value(rw, "reason")
	if text, ok := r.value(rw, rows.Response); ok {
		l.Response = &text
	}
	if text, ok := r.value(rw, "drawn"); ok {
		l.Drawn = ReadDrawn(text)
	}
	if text, ok := r.value(rw, "confidence"); ok && strings.TrimSpace(text) != "" {
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(x >= 0 && x <= 1) {
			r.bad(rw.File, rw.Line, "", "item %q: the confidence %q is not a number from 0 to 1", id, text)
			return
		}
		l.Confidence = &x
	}
	key := l.Item + "\x00" + l.Annotator
	at, known := r.seen[key]
	if !known {
		r.seen[key] = len(r.set.Labels)
		r.set.Labels = append(r.set.Labels, l)
		return
	}
	old := r.set.Labels[at]
	if old.Yes == l.Yes && old.Score == l.Score {
		return // duplicate
	}
	who, hint := l.Annotator, ""
	if who == "" {
		who, hint = "somebody", "when several people labelled, say who in a column annotator"
	}
	r.bad(l.File, l.Line, hint, "item %q is labelled twice by %s: %s in line %d, and %s here", l.Item, who, old.Label, old.Line, l.Label)
}
