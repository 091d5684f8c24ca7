package page

import (
	"strings"

	"github.com/mattn/go-runewidth"

	"deem/internal/words"
)

// How wide lines and names may become.
const (
	LineWidth = 96
	NameWidth = 32
	IDWidth   = 48
)

// screen measures text. The measure is fixed, because the one of the terminal's
// locale would print the same report differently on two machines.
var screen = &runewidth.Condition{StrictEmojiNeutral: true}

// Cell returns s cleaned and cut to width columns.
func Cell(s string, width int) string {
	return screen.Truncate(words.Clean(s), width, "...")
}

// Cells returns each of many names cleaned and cut, joined by commas.
func Cells(names []string, width int) string {
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = Cell(OrNone(s), width)
	}
	return strings.Join(out, ", ")
}

// A Grid is a table without lines. Its columns are aligned on the screen, where a
// Chinese character is as wide as two Latin ones.
//
// Align has a letter for each column: "l" for left, "r" for right, and "e" for
// estimates, whose values end in one column and whose intervals begin in the
// next. Words among estimates are aligned left.
type Grid struct {
	Align string
	rows  [][]string
}

// Add adds a row. A cell may be empty, and cells at the end may be missing.
func (g *Grid) Add(cells ...string) { g.rows = append(g.rows, cells) }

// Width returns how many columns the table takes. Cells may be filled in after it was
// asked.
func (g *Grid) Width() int {
	g.alignEstimates()
	total := 0
	for _, w := range g.widths() {
		if w > 0 {
			total += w + 2
		}
	}
	return max(0, total-2)
}

// write writes the rows with an indent.
func (g *Grid) write(b *strings.Builder, indent string) {
	g.alignEstimates()
	widths := g.widths()
	for _, row := range g.rows {
		var line strings.Builder
		for i, text := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-screen.StringWidth(text))
			if g.Align[i] == 'r' {
				line.WriteString(pad + text)
			} else {
				line.WriteString(text + pad)
			}
		}
		b.WriteString(strings.TrimRight(indent+line.String(), " ") + "\n")
	}
}

// alignEstimates makes the values in each column of estimates equally wide.
func (g *Grid) alignEstimates() {
	for i, a := range g.Align {
		if a != 'e' {
			continue
		}
		width := 0
		for _, row := range g.rows {
			if i < len(row) {
				width = max(width, valueWidth(row[i]))
			}
		}
		for _, row := range g.rows {
			if i < len(row) && valueWidth(row[i]) > 0 {
				row[i] = strings.Repeat(" ", width-valueWidth(row[i])) + row[i]
			}
		}
	}
}

// valueWidth returns the width of the value that an estimate begins with, 0 for
// words.
func valueWidth(s string) int {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return 0
	}
	value, _, _ := strings.Cut(s, " ")
	return screen.StringWidth(value)
}

// widths returns the width of each column.
func (g *Grid) widths() []int {
	widths := make([]int, len(g.Align))
	for _, row := range g.rows {
		for i, text := range row {
			widths[i] = max(widths[i], screen.StringWidth(text))
		}
	}
	return widths
}

// wrap writes text in lines of LineWidth columns, the first after the head and
// the others indented as far.
func wrap(b *strings.Builder, head, text string) {
	indent := strings.Repeat(" ", screen.StringWidth(head))
	line, used := head, 0
	for _, word := range strings.Fields(text) {
		if used > 0 && screen.StringWidth(line)+1+screen.StringWidth(word) > LineWidth {
			b.WriteString(line + "\n")
			line, used = indent, 0
		}
		if used > 0 {
			line += " "
		}
		line += word
		used++
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
