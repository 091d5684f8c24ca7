package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// How wide lines and names may become.
const (
	lineWidth = 96
	nameWidth = 32
	idWidth   = 48
)

// screen measures text. The measure is fixed, because the one of the terminal's
// locale would print the same report differently on two machines.
var screen = &runewidth.Condition{StrictEmojiNeutral: true}

// clean returns s with everything escaped that could move the cursor, colour the
// terminal, break a line or hide: names come from data, and data is untrusted.
func clean(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0]), 16))
		case r == '\\' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		s = s[size:]
	}
	return b.String()
}

// cell returns s cleaned and cut to width columns.
func cell(s string, width int) string {
	return screen.Truncate(clean(s), width, "...")
}

// cells returns each of many names cleaned and cut, joined by commas.
func cells(names []string, width int) string {
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = cell(orNone(s), width)
	}
	return strings.Join(out, ", ")
}

// A grid is a table without lines. Its columns are aligned on the screen, where a
// Chinese character is as wide as two Latin ones.
//
// align has a letter for each column: "l" for left, "r" for right, and "e" for
// estimates, whose values end in one column and whose intervals begin in the
// next. Words among estimates are aligned left.
type grid struct {
	align string
	rows  [][]string
}

// add adds a row. A cell may be empty, and cells at the end may be missing.
func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// write writes the rows with an indent.
func (g *grid) write(b *strings.Builder, indent string) {
	g.alignEstimates()
	widths := g.widths()
	for _, row := range g.rows {
		var line strings.Builder
		for i, text := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-screen.StringWidth(text))
			if g.align[i] == 'r' {
				line.WriteString(pad + text)
			} else {
				line.WriteString(text + pad)
			}
		}
		b.WriteString(strings.TrimRight(indent+line.String(), " ") + "\n")
	}
}

// alignEstimates makes the values in each column of estimates equally wide.
func (g *grid) alignEstimates() {
	for i, a := range g.align {
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
func (g *grid) widths() []int {
	widths := make([]int, len(g.align))
	for _, row := range g.rows {
		for i, text := range row {
			widths[i] = max(widths[i], screen.StringWidth(text))
		}
	}
	return widths
}

// wrap writes text in lines of lineWidth columns, the first after the head and
// the others indented as far.
func wrap(b *strings.Builder, head, text string) {
	indent := strings.Repeat(" ", screen.StringWidth(head))
	line, used := head, 0
	for _, word := range strings.Fields(text) {
		if used > 0 && screen.StringWidth(line)+1+screen.StringWidth(word) > lineWidth {
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

// comma returns n with commas between thousands.
func comma[I ~int | ~int64](n I) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// count returns n with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return comma(n) + " " + noun + "s"
}

// isAre returns the verb for n.
func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
