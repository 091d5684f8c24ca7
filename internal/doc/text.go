package doc

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"deem/internal/words"
)

// DefaultWidth is the default number of columns of a text.
const DefaultWidth = 80

// The maximum widths of names and ids.
const (
	nameWidth = 32
	idWidth   = 48
)

// The widths of a column with plotted intervals, and of the last column with words.
const (
	leastBar   = 10
	mostBar    = 30
	leastWords = 20 // the minimum for wrapped words in the last column
)

// TextOptions configures how a document is written for a terminal.
type TextOptions struct {
	Width  int  // 0 means [DefaultWidth]
	Colour bool // bold and colours
	Detail bool // include the sections, columns and notes that are details
}

// screen measures text. It does not depend on the locale, so that a report is the same on
// all machines.
var screen = &runewidth.Condition{StrictEmojiNeutral: true}

// Clip returns text of at most width columns, without control characters.
func Clip(s string, width int) string { return screen.Truncate(words.Clean(s), width, "...") }

// Width returns the number of columns that s takes on a terminal.
func Width(s string) int { return screen.StringWidth(words.Clean(s)) }

// Text writes a document for a terminal. It removes control characters from data.
func Text(w io.Writer, d *Document, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = DefaultWidth
	}
	p := &printer{TextOptions: o, marks: o.Detail || !d.NotesInDetail}
	if d.Title != "" {
		p.wrap("", words.Clean(d.Title), bold)
	}
	for _, s := range d.Sections {
		if s.Detail && !o.Detail {
			continue
		}
		p.gap()
		if s.Title != "" {
			p.wrap("", words.Clean(s.Title), bold)
		}
		for i, b := range s.Blocks {
			if _, table := b.(Table); table && i > 0 {
				p.gap()
			}
			p.block(b)
		}
	}
	if p.marks && len(d.notes) > 0 {
		p.gap()
		for i, n := range d.notes {
			p.wrap(fmt.Sprintf("%-5s", fmt.Sprintf("(%d)", i+1)), words.Coded(words.Clean(n)), "")
		}
	}
	_, err := io.WriteString(w, p.String())
	return err
}

type printer struct {
	TextOptions
	strings.Builder
	marks bool // notes are printed, and so are the marks that refer to them
}

// The ANSI styles of text.
const bold = "1"

// tones are the ANSI styles of tones.
var tones = map[Tone]string{Good: "32", Bad: "31", Warning: "33", Chosen: bold, Dim: "2"}

// styled returns a text in a style, or unchanged without colours.
func (p *printer) styled(text, style string) string {
	if !p.Colour || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// gap writes an empty line if something was written before.
func (p *printer) gap() {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
}

func (p *printer) line(text string) { p.WriteString(strings.TrimRight(text, " ") + "\n") }

// wrap writes text in lines that fit, the first after the head and the others indented by
// the same width, all in one style.
func (p *printer) wrap(head, text, style string) {
	indent := strings.Repeat(" ", screen.StringWidth(head))
	for i, line := range lines(text, p.Width-len(indent)) {
		if i > 0 {
			head = indent
		}
		p.line(p.styled(strings.TrimRight(head+line, " "), style))
	}
}

// lines breaks text into lines of at most width columns: between words, and within a word
// that is longer than a line.
func lines(text string, width int) []string {
	var list []string
	line := ""
	for _, word := range strings.Fields(text) {
		for screen.StringWidth(word) > width && width > 1 {
			if line != "" {
				list, line = append(list, line), ""
			}
			part := screen.Truncate(word, width, "")
			list, word = append(list, part), word[len(part):]
		}
		if line != "" && screen.StringWidth(line)+1+screen.StringWidth(word) > width {
			list, line = append(list, line), ""
		}
		line = Join(" ", line, word)
	}
	if line == "" {
		return list
	}
	return append(list, line)
}

func (p *printer) block(b Block) {
	switch b := b.(type) {
	case Facts:
		width := 0
		for _, f := range b {
			if f.Text != "" {
				width = max(width, screen.StringWidth(words.Clean(f.Name)))
			}
		}
		for _, f := range b {
			if f.Text != "" {
				name := words.Clean(f.Name)
				p.wrap(name+strings.Repeat(" ", width-screen.StringWidth(name)+2), words.Clean(f.Text)+p.marked(f.Marks), "")
			}
		}
	case Paragraph:
		head, text := "", words.Clean(b.Text)
		if b.Tone == Warning {
			head, text = "! ", words.Coded(text)
		}
		p.wrap(head, text+p.marked(b.Marks), tones[b.Tone])
	case Tiles: // one number per line, the first in bold
		t := Table{Columns: []Column{{}, {Kind: Estimate}, {}}}
		for i, tile := range b {
			value := Cell{Text: Join(" ", tile.Value, tile.Interval), Marks: tile.Marks, Tone: tile.Tone}
			if i == 0 && value.Tone == "" {
				value.Tone = Chosen
			}
			t.Rows = append(t.Rows, []Cell{T(tile.Name), value, T(tile.About)})
		}
		p.table(t)
	case Table:
		p.table(b)
	case Pre:
		for _, line := range strings.Split(strings.TrimRight(string(b), "\n"), "\n") {
			p.line(cleanTabs(line))
		}
	case Figure:
		if !b.Table.empty() {
			p.table(b.Table)
		}
	case Items: // one item per line: its verdicts and, for a single answer, the answer
		t := Table{Columns: []Column{{}, {}, {}}}
		for _, it := range b {
			labels := make([]string, len(it.Sides))
			for i, s := range it.Sides {
				labels[i] = Clip(Join(" ", s.Label, s.Score), nameWidth)
			}
			said := strings.Join(labels, " -> ")
			if len(it.Sides) == 1 && it.Sides[0].Response != "" {
				said += ": " + quoted(it.Sides[0].Response)
				if len(it.References) > 0 {
					said += ", reference " + quoted(it.References[0])
				}
			}
			t.Rows = append(t.Rows, []Cell{T(Clip(it.ID, idWidth)), T(it.Category), T(said)})
		}
		p.table(t)
	}
}

func cleanTabs(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = words.Clean(part)
	}
	return strings.Join(parts, "\t")
}

// marked returns the marks after a text.
func (p *printer) marked(marks []int) string {
	if !p.marks || len(marks) == 0 {
		return ""
	}
	text := " "
	for _, m := range marks {
		text += fmt.Sprintf("(%d)", m)
	}
	return text
}

// quoted returns the beginning of a text on one line, in quotes.
func quoted(text string) string {
	return `"` + Clip(strings.Join(strings.Fields(text), " "), 40) + `"`
}

// A grid is the layout of a table. Its first row has the headings, "" for none.
type grid struct {
	kinds  []Kind
	rows   [][]string
	tones  [][]Tone
	titles map[int]bool // rows that are headings of the rows below them
	widths []int
}

func (p *printer) table(t Table) {
	g := p.grid(t)
	if t.Draw != nil {
		p.draw(t, g)
	}
	last := len(g.widths) - 1
	switch over := g.total() - p.Width; {
	case over <= 0:
	case last > 0 && g.kinds[last] == Words && g.widths[last]-over >= leastWords:
		g.widths[last] -= over // its text is wrapped
	case len(g.widths) > 0 && g.widths[0]-over >= 12:
		g.widths[0] -= over
		for i, row := range g.rows {
			if !g.titles[i] {
				row[0] = screen.Truncate(row[0], g.widths[0], "...")
			}
		}
	default:
		p.stacked(g)
		return
	}
	for i, row := range g.rows {
		if g.titles[i] {
			p.wrap("", row[0], bold)
			continue
		}
		p.row(g, i, row)
	}
}

// grid returns the cells that are shown, those of non-empty columns at the requested level
// of detail, and the widths of the columns.
func (p *printer) grid(t Table) *grid {
	g := &grid{titles: map[int]bool{}}
	heads := slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name != "" })
	var shown []int
	for _, i := range t.filled(false) {
		if c := t.Columns[i]; p.Detail || !c.Detail {
			shown = append(shown, i)
			g.kinds = append(g.kinds, c.Kind)
		}
	}
	add := func(cell func(i int) (string, Tone)) {
		row, tones := make([]string, len(shown)), make([]Tone, len(shown))
		for at, i := range shown {
			row[at], tones[at] = cell(i)
		}
		g.rows, g.tones = append(g.rows, row), append(g.tones, tones)
	}
	if heads {
		add(func(i int) (string, Tone) { return words.Clean(t.Columns[i].Name), Dim })
	}
	indent := ""
	for _, cells := range t.Rows {
		add(func(i int) (string, Tone) {
			switch {
			case i >= len(cells):
				return "", ""
			case i > 0:
				return p.cell(cells[i]), cells[i].Tone
			case len(cells) == 1 && len(t.Columns) > 1:
				indent = "  "
				g.titles[len(g.rows)] = true
				return p.cell(cells[0]), Chosen
			}
			// The name of a row is truncated, other words are wrapped.
			c := cells[0]
			c.Text = indent + Clip(c.Text, cmp.Or(t.Columns[0].Width, nameWidth))
			return p.cell(c), c.Tone
		})
	}
	g.widths = make([]int, len(g.kinds))
	for i, kind := range g.kinds {
		value := 0
		for _, row := range g.rows {
			value = max(value, valueWidth(row[i]))
		}
		for at, row := range g.rows {
			if w := valueWidth(row[i]); kind == Estimate && w > 0 {
				row[i] = strings.Repeat(" ", value-w) + row[i] // All values of a column get the same width.
			}
			if !g.titles[at] {
				g.widths[i] = max(g.widths[i], screen.StringWidth(row[i]))
			}
		}
	}
	return g
}

// cell returns the text of a cell with its marks.
func (p *printer) cell(c Cell) string {
	return words.Clean(c.text()) + p.marked(c.Marks)
}

// valueWidth returns the width of the value at the start of an estimate, 0 for words.
func valueWidth(s string) int {
	if s == "" || !strings.ContainsRune("+-0123456789", rune(s[0])) {
		return 0
	}
	value, _, _ := strings.Cut(s, " ")
	return screen.StringWidth(value)
}

// total returns the width of the table.
func (g *grid) total() int {
	total := 0
	for _, w := range g.widths {
		total += w + 2
	}
	return max(0, total-2)
}

// draw adds a column with the plotted estimates if there is room. Words in the last column
// stay last, and are wrapped to make room.
func (p *printer) draw(t Table, g *grid) {
	a, ok := t.axis()
	at, room := len(g.kinds), p.Width-g.total()-2
	if last := at - 1; last > 0 && g.kinds[last] == Words {
		at = last
		room = max(min(room, mostBar), min(2*leastBar, room+g.widths[last]-leastWords))
	}
	width := min(mostBar, room)
	if !ok || width < leastBar {
		return
	}
	g.kinds, g.widths = slices.Insert(g.kinds, at, Words), slices.Insert(g.widths, at, width)
	first := len(g.rows) - len(t.Rows)
	for i := range g.rows {
		lo, hi := strings.TrimSuffix(a.label(a.lo), " pp"), strings.TrimSuffix(a.label(a.hi), " pp")
		text, tone := lo+strings.Repeat(" ", max(1, width-len(lo)-len(hi)))+hi, Dim
		if i >= first {
			row := t.Rows[i-first]
			if text, tone = a.bar(t.drawn(row), t.Draw.Line, width), ""; t.drawn(row) != nil {
				tone = row[t.Draw.Column].Tone
			}
		}
		g.rows[i], g.tones[i] = slices.Insert(g.rows[i], at, text), slices.Insert(g.tones[i], at, tone)
	}
}

// row writes a row. The text of the last column may take several lines.
func (p *printer) row(g *grid, at int, row []string) {
	before, last := "", len(row)-1
	for i, text := range row[:max(last, 0)] {
		pad := strings.Repeat(" ", max(0, g.widths[i]-screen.StringWidth(text)))
		text = p.styled(text, tones[g.tones[at][i]])
		if g.kinds[i] == Number {
			before += pad + text + "  "
		} else {
			before += text + pad + "  "
		}
	}
	if last < 0 {
		return
	}
	text, style := row[last], tones[g.tones[at][last]]
	if g.kinds[last] == Number {
		text = strings.Repeat(" ", max(0, g.widths[last]-screen.StringWidth(text))) + text
	}
	if screen.StringWidth(text) <= g.widths[last] || last == 0 {
		p.line(before + p.styled(text, style))
		return
	}
	for i, line := range lines(text, g.widths[last]) {
		if i > 0 {
			before = strings.Repeat(" ", g.total()-g.widths[last])
		}
		p.line(before + p.styled(line, style))
	}
}

// stacked writes each row as a list, for a table that is wider than the screen.
func (p *printer) stacked(g *grid) {
	heads := slices.Contains(g.tones[0], Dim)
	for at, row := range g.rows {
		if heads && at == 0 {
			continue
		}
		p.wrap("", row[0], bold)
		for i, text := range row[1:] {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			head := "  "
			if name := g.rows[0][i+1]; heads && name != "" {
				head += name + ": "
			}
			p.wrap(head, text, tones[g.tones[at][i+1]])
		}
	}
}
