package reports

import (
	"fmt"
	"io"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/report"
)

// maxKinds is the number of kinds of errors in the text; JSON has them all.
const maxKinds = 6

// Text writes the report as text.
func (r ErrataReport) Text(w io.Writer) error {
	d := &doc.Document{}
	r.AddTo(d)
	return doc.Text(w, d, doc.TextOptions{Detail: true})
}

// AddTo adds the report to a document: the numbers of all items, then of the categories
// with a wrong reference.
func (r ErrataReport) AddTo(d *doc.Document) {
	facts := doc.Facts{
		{Name: "errata", Text: fmt.Sprintf("%s, hash %s, %s known, %s can move a score", r.File, deem.ShortHash(r.Hash), words.Comma(r.Known), words.Comma(r.Corrupting))},
		{Name: "items", Text: fmt.Sprintf("%s of %s %s a wrong reference%s", words.Comma(r.Overall.Faulty), words.Count(r.Overall.Items, "item"),
			pick(r.Overall.Faulty, "has", "have"), doc.Prefix(": ", r.kinds()))},
	}
	t := doc.Table{Columns: []doc.Column{doc.Col(""), doc.Est("value [95%]"), doc.Num("n"), doc.Num("unjudged"), doc.Col("")}}
	whole := ""
	if r.Overall.Faulty > 0 {
		t.Rows = append(t.Rows, r.block(d, "all items", r.Overall)...)
		for _, l := range r.Categories {
			t.Rows = append(t.Rows, r.block(d, l.Category, l)...)
		}
		if r.Whole > 0 {
			whole = fmt.Sprintf("No wrong reference in %s %s: the numbers stay as published.", words.Comma(r.Whole), pick(r.Whole, "other category", "other categories"))
		}
	}
	d.Add(doc.Section{ID: "errata", Blocks: []doc.Block{facts, t, doc.Paragraph{Text: whole}}})
	d.Mark(r.Notes...)
}

// block returns the numbers of one line as rows.
func (r ErrataReport) block(d *doc.Document, title string, l ErrataLine) [][]doc.Cell {
	rows := [][]doc.Cell{
		{doc.T(title)},
		errataRow(d, "as published", l.Published, l.Published.Metric),
		errataRow(d, "sound items", l.Sound, ""),
		errataRow(d, "wrong reference", l.Wrong, ""),
	}
	if r.Rejudged.Items > 0 {
		rows = append(rows, errataRow(d, "corrected", l.Corrected, between(l.Corrected)))
	}
	return append(rows, []doc.Cell{doc.T("ceiling"), d.Share(l.Ceiling), doc.N(l.Ceiling.N)})
}

// errataRow returns one number. A withheld number is replaced by its band.
func errataRow(d *doc.Document, name string, f report.Figures, remark string) []doc.Cell {
	n := f.Items - f.Unjudged
	value := doc.T(doc.Absent(n > 0))
	if f.Judged != nil {
		value = d.Share(*f.Judged)
	}
	return []doc.Cell{doc.T(name), value, doc.N(n), doc.N(f.Unjudged), doc.T(remark)}
}

// kinds returns the kinds of errors with their counts, unless the list has no kinds.
func (r ErrataReport) kinds() string {
	if len(r.Kinds) == 1 && r.Kinds[0].Kind == doc.None {
		return ""
	}
	var parts []string
	for i, k := range r.Kinds {
		if i == maxKinds {
			parts = append(parts, fmt.Sprintf("and %d more kinds", len(r.Kinds)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s", doc.Clip(k.Kind, 32), words.Comma(k.N)))
	}
	return strings.Join(parts, ", ")
}

// between returns the band of a withheld number, "" for one that is shown.
func between(f report.Figures) string {
	if f.Judged != nil || f.Items == 0 {
		return ""
	}
	return fmt.Sprintf("between %s and %s", doc.Percent(f.Band.Lo), doc.Percent(f.Band.Hi))
}
