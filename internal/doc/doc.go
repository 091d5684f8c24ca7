// Package doc is the one form that every report is shown in. A report builds a
// [Document] out of its data: sections with facts, paragraphs, tables and items. Three
// renderers write it: [Text] for a terminal, [HTML] and [Fragment] for a file and for
// the server's pages, and [Markdown].
//
// Strings in a document are plain text and may come from data. Each renderer escapes
// what its format would act on.
package doc

import (
	"encoding/json"
	"html/template"
	"io"
	"net/url"
	"slices"

	"deem/internal/words"
	"deem/stat"
)

// JSON writes the data of a report as indented JSON.
func JSON(w io.Writer, report any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(report)
}

// A Document is a report in the order in which it is read.
type Document struct {
	Title    string
	Sections []Section

	// NotesInDetail says that notes, and the marks that point to them, belong to the
	// detail.
	NotesInDetail bool

	notes []string
}

// A Section is a part of a document. A section that belongs to the detail is left out
// of the text unless the reader asks for it; the other forms have all sections.
type Section struct {
	ID     string // unique in the document; "" for one that nobody links to
	Title  string // "" for none
	Detail bool
	Blocks []Block
}

// A Block is one of the types below.
type Block interface{ empty() bool }

type (
	// Facts are names with what belongs to them. A fact without a text is left out.
	Facts []Fact

	// A Fact is one line of [Facts].
	Fact struct {
		Name, Text string
		Marks      []int
	}

	// A Paragraph is text that is wrapped.
	Paragraph struct {
		Text  string
		Marks []int
		Tone  Tone
	}

	// Tiles are the numbers that a reader came for.
	Tiles []Tile

	// A Tile is one number with its name, its interval and what it stands on.
	Tile struct {
		Name, Value, Interval, About string
		Marks                        []int
		Tone                         Tone
	}

	// Pre is text that keeps its lines and spaces.
	Pre string

	// A Figure is a drawing that somebody else made. Forms without drawings have the
	// words.
	Figure struct {
		HTML  template.HTML
		Words string
	}

	// Items are items with the answers and verdicts that are compared.
	Items []Item

	// An Item is one question with one answer or several.
	Item struct {
		ID, Category, Question string
		References             []string
		Sides                  []Side
		Link                   Link
	}

	// A Side is one answer to a question with its verdict.
	Side struct {
		Name, Label, Score, Response, Reason string
		Tone                                 Tone
		Link                                 Link
	}
)

// A Table has typed columns. Rows may be shorter than the list of columns; a row of one
// cell is a heading for the rows below it.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	Draw    *Draw // draws a column of estimates, nil for none
}

// A Column is the heading of a column and the kind of its cells.
type Column struct {
	Name   string
	Kind   Kind
	Detail bool // the column belongs to the detail
	Width  int  // how wide the text makes names in a first column, 0 for the usual
}

// A Kind says how the cells of a column are aligned.
type Kind int

// The kinds of columns.
const (
	Words    Kind = iota // to the left
	Number               // to the right
	Estimate             // a value that ends, and an interval that begins, in one place
)

// Col returns a column of words.
func Col(name string) Column { return Column{Name: name} }

// Num returns a column of numbers.
func Num(name string) Column { return Column{Name: name, Kind: Number} }

// Est returns a column of estimates.
func Est(name string) Column { return Column{Name: name, Kind: Estimate} }

// InDetail returns the column as one that belongs to the detail.
func (c Column) InDetail() Column { c.Detail = true; return c }

// A Cell is what a table has in one place.
type Cell struct {
	Text     string
	Marks    []int          // numbers of notes
	Estimate *stat.Estimate // what is drawn of it
	Tone     Tone
	Link     Link
	IDs      []string // items, shown in place of the text
	More     bool     // there are more items than IDs
}

// T returns a cell with text.
func T(text string) Cell { return Cell{Text: text} }

// N returns a cell with a count.
func N(n int) Cell { return Cell{Text: words.Comma(n)} }

// A Link says what a page may link to. The page knows the address.
type Link struct {
	Run   string     // a run; "" means the one that the document is about
	Item  string     // an item of it
	Items url.Values // the items of it that match
	Words string     // what it leads to, where the text of the cell does not say so
}

// A Tone says what something means for the reader.
type Tone string

// The tones. The class of the same name in doc.css has its colour.
const (
	Good    Tone = "good"
	Bad     Tone = "bad"
	Warning Tone = "warn"
	Chosen  Tone = "chosen" // the number to look at
	Dim     Tone = "dim"
)

// Draw says how estimates of a table are drawn: all on one axis, each as its interval
// with the value marked. The label of a row is its first cell.
type Draw struct {
	Column  int
	Include []float64 // numbers that the axis must reach
	Line    *float64  // a number to compare with
	Points  bool      // the axis is in percentage points, not in percent
	Caption string    // what lines and colours mean, for the drawing in a page
}

func (f Facts) empty() bool {
	return !slices.ContainsFunc(f, func(f Fact) bool { return f.Text != "" })
}
func (p Paragraph) empty() bool { return p.Text == "" }
func (t Tiles) empty() bool     { return len(t) == 0 }
func (p Pre) empty() bool       { return p == "" }
func (f Figure) empty() bool    { return f.HTML == "" && f.Words == "" }
func (l Items) empty() bool     { return len(l) == 0 }
func (t Table) empty() bool     { return len(t.Rows) == 0 }

// Add adds a section with what its blocks have to show. A section with nothing to show
// is left out.
func (d *Document) Add(s Section) {
	s.Blocks = slices.DeleteFunc(s.Blocks, func(b Block) bool { return b == nil || b.empty() })
	if len(s.Blocks) > 0 {
		d.Sections = append(d.Sections, s)
	}
}

// Mark returns the numbers of the notes that the warnings are. Equal warnings are one
// note.
func (d *Document) Mark(warnings ...string) []int {
	var marks []int
	for _, w := range warnings {
		at := slices.Index(d.notes, w)
		if at < 0 {
			at = len(d.notes)
			d.notes = append(d.notes, w)
		}
		if !slices.Contains(marks, at+1) {
			marks = append(marks, at+1)
		}
	}
	return marks
}

// Notes returns the notes in the order of their numbers.
func (d *Document) Notes() []string { return d.notes }

// Share returns a cell with an estimate of a share, which can be drawn.
func (d *Document) Share(est stat.Estimate) Cell { return d.cell(Share(est), est) }

// Points returns a cell with a difference of shares, which can be drawn.
func (d *Document) Points(est stat.Estimate) Cell { return d.cell(Points(est), est) }

// Coefficient returns a cell with an estimate that is not a share.
func (d *Document) Coefficient(est stat.Estimate, digits int) Cell {
	return d.cell(Coefficient(est, digits), est)
}

func (d *Document) cell(text string, est stat.Estimate) Cell {
	c := Cell{Text: text, Marks: d.Mark(est.Warnings...)}
	if !est.Unknown() {
		c.Estimate = &est
	}
	return c
}
