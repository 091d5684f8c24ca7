package doc

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"deem/internal/words"
)

// CSS is the style of documents. A page of the server serves it as a file.
//
//go:embed doc.css
var CSS string

//go:embed doc.html
var htmlText string

var htmlTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("doc").Parse(htmlText))
})

// URLs returns the address of a link, or "".
type URLs func(Link) string

// HTML writes a document with all its details as a self-contained file: it loads nothing,
// runs no script, and follows the reader's choice of light or dark mode.
func HTML(w io.Writer, d *Document) error {
	return execute(w, "page", view(d, nil))
}

// Fragment returns the sections and notes of a document for a page that has a title and
// the style of [CSS].
func Fragment(d *Document, urls URLs) (template.HTML, error) {
	var b bytes.Buffer
	err := execute(&b, "fragment", view(d, urls))
	return template.HTML(b.String()), err //nolint:gosec // The template has escaped the text.
}

// execute writes the whole output of a template, or nothing on an error.
func execute(w io.Writer, name string, data any) error {
	var b bytes.Buffer
	if err := htmlTemplate().ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// The views are the input of templates: texts are clean, and links are addresses.
type (
	docView struct {
		Title  string
		Style  template.CSS
		Groups [][]sectionView // consecutive sections that share the width of the page
		Notes  []noteView
	}
	noteView struct {
		N    int
		Text string
	}
	sectionView struct {
		ID, Title string
		Blocks    []blockView
	}
	blockView struct {
		Facts     []factView
		Paragraph *factView
		Tiles     Tiles
		Table     *tableView
		Pre       string
		Figure    template.HTML
		Items     []itemView
	}
	factView struct {
		Name, Text string
		Marks      []int
		Tone       Tone
	}
	tableView struct {
		Title string
		Heads []headView
		Rows  [][]cellView
		Plot  *plot
	}
	headView struct {
		Text             string
		Number, Estimate bool
		Ticks            []tick // the axis of the drawing, in place of a text
	}
	cellView struct {
		Drawn                          bool
		Bar                            *plotBar // in a cell of the drawing, nil for none
		Text, URL, Words, Class, Label string
		Marks                          []int
		IDs                            []linkView
		More                           bool
	}
	linkView struct{ Text, URL, Words string }
	itemView struct {
		ID, Category, Question, URL string
		References                  []string
		Sides                       []sideView
	}
	sideView struct {
		Side
		URL    string
		Pieces []diffPiece // the response, if words are marked in it
	}
)

// wide reports whether a table needs more than half the width of a page: it has a drawing,
// or more than six columns, where an estimate counts as two.
func (t *tableView) wide() bool {
	n := 0
	for _, h := range t.Heads {
		if n++; h.Estimate {
			n++
		}
	}
	return t.Plot != nil || n > 6
}

func view(d *Document, urls URLs) docView {
	if urls == nil {
		urls = func(Link) string { return "" }
	}
	v := docView{Title: words.Clean(d.Title), Style: template.CSS(CSS)} //nolint:gosec // The path is our own.
	narrow := false                                                     // the last group takes further sections
	for i, s := range d.Sections {
		sv := sectionView{ID: s.ID, Title: words.Clean(s.Title)}
		if sv.ID == "" {
			sv.ID = fmt.Sprintf("s%d", i+1)
		}
		wide := false
		for _, b := range s.Blocks {
			bv := blockOf(b, urls)
			if bv.Table != nil {
				bv.Table.Title = sv.Title
				wide = wide || bv.Table.wide()
			}
			wide = wide || len(bv.Tiles)+len(bv.Items) > 0 || bv.Pre != "" || bv.Figure != ""
			sv.Blocks = append(sv.Blocks, bv)
		}
		if narrow && !wide {
			v.Groups[len(v.Groups)-1] = append(v.Groups[len(v.Groups)-1], sv)
		} else {
			v.Groups = append(v.Groups, []sectionView{sv})
		}
		narrow = !wide
	}
	for i, n := range d.Notes() {
		v.Notes = append(v.Notes, noteView{i + 1, words.Clean(n)})
	}
	return v
}

func blockOf(b Block, urls URLs) blockView {
	var v blockView
	switch b := b.(type) {
	case Facts:
		for _, f := range b {
			if f.Text != "" {
				v.Facts = append(v.Facts, factView{words.Clean(f.Name), words.Clean(f.Text), f.Marks, ""})
			}
		}
	case Paragraph:
		v.Paragraph = &factView{Text: words.Clean(b.Text), Marks: b.Marks, Tone: b.Tone}
	case Tiles:
		for _, t := range b {
			t.Name, t.Value, t.Interval, t.About = words.Clean(t.Name), words.Clean(t.Value), words.Clean(t.Interval), words.Clean(t.About)
			v.Tiles = append(v.Tiles, t)
		}
	case Table:
		v.Table = tableOf(b, urls)
	case Pre:
		v.Pre = cleanLines(strings.TrimRight(string(b), "\n"))
	case Figure:
		v.Figure = b.HTML
	case Items:
		for _, it := range b {
			iv := itemView{ID: words.Clean(it.ID), Category: words.Clean(it.Category), Question: cleanLines(it.Question), URL: urls(it.Link)}
			for _, ref := range it.References {
				iv.References = append(iv.References, cleanLines(ref))
			}
			for _, s := range it.Sides {
				s.Name, s.Label, s.Score = words.Clean(s.Name), words.Clean(s.Label), words.Clean(s.Score)
				s.Response, s.Reason = cleanLines(s.Response), cleanLines(s.Reason)
				iv.Sides = append(iv.Sides, sideView{Side: s, URL: urls(s.Link)})
			}
			iv.markDifferences()
			v.Items = append(v.Items, iv)
		}
	}
	return v
}

// tableOf returns the columns of a table that have something to show, with the drawing in
// front of the estimates that it draws.
func tableOf(t Table, urls URLs) *tableView {
	v := &tableView{Plot: t.plot()}
	columns := t.filled(true)
	for _, i := range columns {
		c := t.Columns[i]
		if v.Plot != nil && i == t.Draw.Column {
			v.Heads = append(v.Heads, headView{Ticks: v.Plot.Ticks})
		}
		v.Heads = append(v.Heads, headView{Text: words.Clean(c.Name), Number: c.Kind == Number, Estimate: c.Kind == Estimate})
	}
	for n, row := range t.Rows {
		var cells []cellView
		for _, i := range columns {
			if v.Plot != nil && i == t.Draw.Column && len(row) > 1 {
				cells = append(cells, cellView{Drawn: true, Bar: v.Plot.Bars[n]})
			}
			if i < len(row) {
				cells = append(cells, cellOf(row[i], t.Columns[i], urls))
				if v.Plot != nil && i == t.Draw.Column {
					cells[len(cells)-1].Class += " drawn"
				}
			} else if len(row) > 1 {
				cells = append(cells, cellView{})
			}
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

func cellOf(c Cell, column Column, urls URLs) cellView {
	v := cellView{Text: words.Clean(c.Text), URL: urls(c.Link), Words: words.Clean(c.Link.Words), Marks: c.Marks, More: c.More, Label: words.Clean(column.Name), Class: string(c.Tone)}
	switch column.Kind {
	case Number:
		v.Class = Join(" ", "n", v.Class)
	case Estimate:
		v.Class = Join(" ", "e", v.Class)
	}
	for _, id := range c.IDs {
		v.IDs = append(v.IDs, linkView{Text: Clip(OrNone(id), idWidth), URL: urls(Link{Item: id})})
	}
	return v
}

// cleanLines returns cleaned text with its line breaks and tabs.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = cleanTabs(line)
	}
	return strings.Join(lines, "\n")
}
