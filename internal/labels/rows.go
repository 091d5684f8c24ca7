package labels

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/dataset"
	"deem/internal/rows"
)

// A row is one row of a file of any format.
type row struct {
	file  string
	line  int
	names []string
	get   func(column string) (text string, ok bool)
}

// value returns a part of the row, and reports whether it exists.
func (r *reader) value(rw row, name string) (string, bool) {
	if column, ok := r.src.Columns[name]; ok {
		return rw.get(column)
	}
	for _, column := range Columns(name) {
		if text, ok := rw.get(rw.named(column)); ok {
			return text, true
		}
	}
	return "", false
}

// named returns the row's own spelling of a column name. Case, spaces and punctuation are
// ignored.
func (rw row) named(column string) string {
	plain := rows.Plain(column)
	if i := slices.IndexFunc(rw.names, func(name string) bool { return rows.Plain(name) == plain }); i >= 0 && !slices.Contains(rw.names, column) {
		return rw.names[i]
	}
	return column
}

// rowsFile reads a file in a format of package dataset.
func (r *reader) rowsFile(ctx context.Context, name string) error {
	files, err := dataset.OpenFiles(ctx, dataset.Input{Names: []string{name}, Stdin: r.src.Stdin, Format: r.src.Format})
	if err != nil {
		return err
	}
	if strings.HasSuffix(strings.ToLower(name), ".json") {
		// The values next to the list apply to all labels. The rows are read below.
		var h head
		if data, err := os.ReadFile(name); err == nil && json.Unmarshal(data, &h) == nil {
			r.head(h, name, 1)
		}
	}
	for got, err := range files.Rows(ctx) {
		if p, ok := errors.AsType[deem.Problem](err); ok {
			r.problems.Add(p)
			continue
		}
		if err != nil {
			return errors.Join(err, files.Close())
		}
		r.take(row{file: got.File, line: got.Line, names: got.Names(), get: func(column string) (string, bool) {
			v := got.Get(column)
			if v.Missing() {
				return "", false
			}
			return v.Str(), true
		}})
	}
	r.set.Notes = append(r.set.Notes, files.Notes()...)
	return files.Close()
}

// A head contains the values that apply to all labels of a file.
type head struct {
	JudgeHash string  `json:"judge_hash"`
	Scale     float64 `json:"scale"`
	Annotator string  `json:"annotator"`
}

// head applies the values for all labels of a file. The user's settings take precedence.
func (r *reader) head(h head, file string, line int) {
	r.bind(file, line, h.JudgeHash)
	if r.src.Scale == 0 && h.Scale > 0 {
		r.scale = h.Scale
	}
	if h.Annotator != "" && r.src.Annotator == "" {
		r.annotator = h.Annotator
	}
}

// row handles one row: a label, a row that is not labelled yet, or the first line of a
// JSONL file, which applies to all.
func (r *reader) row(rw row) {
	id, hasID := r.value(rw, "item")
	hash, hasHash := r.value(rw, "judge_hash")
	if !hasID {
		scale, hasScale := rw.get("scale")
		if who, hasWho := rw.get("annotator"); hasHash || hasScale || hasWho && len(rw.names) == 1 {
			x, _ := strconv.ParseFloat(scale, 64)
			r.head(head{JudgeHash: hash, Scale: x, Annotator: who}, rw.file, rw.line)
			return
		}
		r.without("item", rw, "no item is named")
		return
	}
	r.has("item")
	r.bind(rw.file, rw.line, hash)
	label, hasLabel := r.value(rw, "label")
	score, hasScore := r.value(rw, "score")
	if !hasLabel && !hasScore && !r.mayLabel(rw) {
		r.without("label", rw, fmt.Sprintf("item %q has no label", id))
		return
	}
	r.has("label")
	d, hint, err := r.decide(label, score)
	switch {
	case err != nil:
		r.bad(rw.file, rw.line, hint, "item %q: %v", id, err)
	case d.blank:
		r.set.Blank++
	default:
		r.label(rw, id, d)
	}
}

// A lack is a part that rows do not have. If no row of the file has it, that is one problem
// and not one per row.
type lack struct {
	first    row
	problems deem.Problems
	found    bool // some row has it
}

// partHints are the hints for the parts that a row must have.
var partHints = map[string]string{
	"item":  "say which column holds the item's id, as with --map item=NAME",
	"label": "say which column holds the label, as with --map label=NAME",
}

// without records that a row lacks a part.
func (r *reader) without(part string, rw row, message string) {
	l := r.lacks[part]
	message += fmt.Sprintf(" (columns here: %s)", strings.Join(rw.names, ", "))
	if l.found {
		r.bad(rw.file, rw.line, partHints[part], "%s", message)
		return
	}
	if l.problems.Total == 0 {
		l.first = rw
	}
	l.problems.Add(deem.Problem{File: rw.file, Line: rw.line, Message: message})
}

// has records that a row has a part. Earlier rows without it are then each a problem.
func (r *reader) has(part string) {
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

// mayLabel reports whether the row has an empty place for a label: a null in JSON is a
// label that is still to come.
func (r *reader) mayLabel(rw row) bool {
	has := func(column string) bool { return slices.Contains(rw.names, column) }
	for _, name := range []string{"label", "score"} {
		if column, ok := r.src.Columns[name]; ok {
			if head, _, _ := strings.Cut(column, "."); has(column) || has(head) {
				return true
			}
			continue
		}
		if slices.ContainsFunc(Columns(name), func(column string) bool { return has(rw.named(column)) }) {
			return true
		}
	}
	return false
}

// label adds the label of a row, once for each item and annotator.
func (r *reader) label(rw row, id string, d decision) {
	l := Label{Item: id, Annotator: r.annotator, Yes: d.yes, Label: d.label, Score: d.score, Graded: d.graded, File: rw.file, Line: rw.line}
	if who, ok := r.value(rw, "annotator"); ok && who != "" {
		l.Annotator = who
	}
	l.Reason, _ = r.value(rw, "reason")
	if text, ok := r.value(rw, "response"); ok {
		l.Response = &text
	}
	if text, ok := r.value(rw, "drawn"); ok {
		l.Drawn = ReadDrawn(text)
	}
	if text, ok := r.value(rw, "confidence"); ok && strings.TrimSpace(text) != "" {
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(x >= 0 && x <= 1) {
			r.bad(rw.file, rw.line, "", "item %q: the confidence %q is not a number from 0 to 1", id, text)
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
