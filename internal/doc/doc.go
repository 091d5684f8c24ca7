// Package doc is the common form of all reports. A report builds a [Document] from its
// data: sections with facts, paragraphs, tables and items. Three renderers write it: [Text]
// for a terminal, [HTML] and [Fragment] for a file and for the server's pages, and
// [Markdown].
//
// The package also has what several reports share: what responses cost ([Meter]), scores of
// retrieval ([Retrieval]) and model families ([SameFamily]).
//
// Strings in a document are plain text and may come from data. Each renderer escapes what
// its format would interpret.
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

// A Document is a report in reading order.
type Document struct {
	Title    string
	Sections []Section

	// NotesInDetail says that notes, and the marks that refer to them, are details.
	NotesInDetail bool

	notes []string // in the order of their numbers
}

// A Section is a part of a document. Text omits a section of details unless it is
// requested; the other forms have all sections.
type Section struct {
	ID     string // unique in the document; "" if nothing links to it
	Title  string // "" for none
	Detail bool
	Blocks []Block
}

// A Block is one of the types below.
type Block interface{ empty() bool }

type (
	// Facts are names with values. A fact without a text is omitted.
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

	// Tiles are the main numbers.
	Tiles []Tile

	// A Tile is one number with its name, its interval and its basis.
	Tile struct {
		Name, Value, Interval, About string
		Marks                        []int
		Tone                         Tone
	}

	// Pre is text that keeps its lines and spaces.
	Pre string

	// A Figure is a ready-made drawing. Forms without drawings show the table instead.
	Figure struct {
		HTML  template.HTML
		Table Table
	}

	// Items are items with the answers and verdicts that are compared.
	Items []Item

	// An Item is one question with one or more answers.
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
	Draw    *Draw // how a column of estimates is plotted, nil for no plot
}

// A Column is the heading of a column and the kind of its cells.
type Column struct {
	Name   string
	Kind   Kind
	Detail bool // the column is a detail
	Page   bool // only pages have room for the column
	Width  int  // the width of names in the first column of text, 0 for the default
}

// A Kind determines how the cells of a column are aligned.
type Kind int

// The kinds of columns.
const (
	Words    Kind = iota // to the left
	Number               // to the right
	Estimate             // a value and an interval, each aligned
)

// Col returns a column of words.
func Col(name string) Column { return Column{Name: name} }

// Num returns a column of numbers.
func Num(name string) Column { return Column{Name: name, Kind: Number} }

// Est returns a column of estimates.
func Est(name string) Column { return Column{Name: name, Kind: Estimate} }

// InDetail returns the column marked as a detail.
func (c Column) InDetail() Column { c.Detail = true; return c }

// OnPage returns the column marked as one that only pages show.
func (c Column) OnPage() Column { c.Page = true; return c }

// A Cell is one cell of a table.
type Cell struct {
	Text     string
	Marks    []int          // numbers of notes
	Estimate *stat.Estimate // the estimate to plot
	Tone     Tone
	Link     Link
	IDs      []string // items, shown instead of the text
	More     bool     // there are more items than IDs
}

// T returns a cell with text.
func T(text string) Cell { return Cell{Text: text} }

// N returns a cell with a count.
func N(n int) Cell { return Cell{Text: words.Comma(n)} }

// A Link is something that a page may link to. The page knows the address.
type Link struct {
	Run   string     // a run; "" means the run of the document
	Item  string     // an item of it
	Items url.Values // the items of it that match
	Words string     // a description, if the text of the cell is not enough
}

// A Tone is what a value means for the reader.
type Tone string

// The tones. The class of the same name in doc.css has its colour.
const (
	Good    Tone = "good"
	Bad     Tone = "bad"
	Warning Tone = "warn"
	Chosen  Tone = "chosen" // the number to look at
	Dim     Tone = "dim"
)

// Draw describes how estimates of a table are plotted: all on one axis, each as its
// interval with the value marked. The label of a row is its first cell.
type Draw struct {
	Column  int
	Include []float64 // numbers that the axis must include
	Line    *float64  // a number to compare with
	Lines   []float64 // more of them, which only pages draw
	Points  bool      // the axis is in percentage points, not in percent
	Caption string    // explains lines and colours of the plot in a page
}

func (f Facts) empty() bool {
	return !slices.ContainsFunc(f, func(f Fact) bool { return f.Text != "" })
}
func (p Paragraph) empty() bool { return p.Text == "" }
func (t Tiles) empty() bool     { return len(t) == 0 }
func (p Pre) empty() bool       { return p == "" }
func (f Figure) empty() bool    { return f.HTML == "" }
func (l Items) empty() bool     { return len(l) == 0 }
func (t Table) empty() bool     { return len(t.Rows) == 0 }

// filled returns the columns of a table that have something to show, as indices.
func (t Table) filled(page bool) []int {
	var list []int
	for i, c := range t.Columns {
		if (page || !c.Page) && slices.ContainsFunc(t.Rows, func(row []Cell) bool { return i < len(row) && (row[i].Text != "" || len(row[i].IDs) > 0) }) {
			list = append(list, i)
		}
	}
	return list
}

// Add adds a section, without its empty blocks. It omits a section with nothing to show.
func (d *Document) Add(s Section) {
	s.Blocks = slices.DeleteFunc(s.Blocks, func(b Block) bool { return b == nil || b.empty() })
	if len(s.Blocks) > 0 {
		d.Sections = append(d.Sections, s)
	}
}

// Mark returns the numbers of the notes for the warnings. Equal warnings share one note.
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

// Share returns a cell with an estimate of a share, which can be plotted.
func (d *Document) Share(est stat.Estimate) Cell { return d.cell(Share(est), est) }

// Points returns a cell with a difference of shares, which can be plotted.
func (d *Document) Points(est stat.Estimate) Cell { return d.cell(Points(est), est) }

// Coefficient returns a cell with an estimate that is not a share.
func (d *Document) Coefficient(est stat.Estimate, digits int) Cell {
	return d.cell(Coefficient(est, digits), est)
}

func (d *Document) cell(text string, est stat.Estimate) Cell {
	c := Cell{Text: text, Marks: d.Mark(est.Warnings...)}
	if !Unknown(est) {
		c.Estimate = &est
	}
	return c
}
