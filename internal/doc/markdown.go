package doc

import (
	"fmt"
	"io"
	"strings"

	"deem/internal/words"
)

// Markdown writes a document with all its details as Markdown. Nothing in its texts becomes
// markup.
func Markdown(w io.Writer, d *Document) error {
	m := &strings.Builder{}
	if d.Title != "" {
		fmt.Fprintf(m, "## %s\n\n", plain(d.Title))
	}
	for _, s := range d.Sections {
		if s.Title != "" {
			fmt.Fprintf(m, "### %s\n\n", plain(s.Title))
		}
		for _, b := range s.Blocks {
			markdownBlock(m, b)
		}
	}
	for i, n := range d.notes {
		fmt.Fprintf(m, "%d. %s\n", i+1, plain(n))
	}
	_, err := io.WriteString(w, strings.TrimRight(m.String(), "\n")+"\n")
	return err
}

func markdownBlock(m *strings.Builder, b Block) {
	switch b := b.(type) {
	case Facts:
		t := Table{Columns: []Column{{}, {}}}
		for _, f := range b {
			if f.Text != "" {
				t.Rows = append(t.Rows, []Cell{T(f.Name), {Text: f.Text, Marks: f.Marks}})
			}
		}
		markdownTable(m, t)
	case Paragraph:
		text := plain(b.Text) + markdownMarks(b.Marks)
		if b.Tone == Warning || b.Tone == Chosen {
			text = "**" + text + "**"
		}
		fmt.Fprintf(m, "%s\n\n", text)
	case Tiles:
		t := Table{Columns: []Column{{}, Num("value"), Col("95% interval"), {}}}
		for _, tile := range b {
			t.Rows = append(t.Rows, []Cell{T(tile.Name), {Text: tile.Value, Marks: tile.Marks}, T(tile.Interval), T(tile.About)})
		}
		markdownTable(m, t)
	case Table:
		markdownTable(m, b)
	case Pre:
		for _, line := range strings.Split(strings.TrimRight(string(b), "\n"), "\n") {
			fmt.Fprintf(m, "%s\n", strings.TrimRight("    "+cleanTabs(line), " "))
		}
		m.WriteByte('\n')
	case Figure:
		if !b.Table.empty() {
			markdownTable(m, b.Table)
		}
	case Items:
		t := Table{Columns: []Column{Col("item"), Col("category"), Col("verdict")}}
		for _, it := range b {
			labels := make([]string, len(it.Sides))
			for i, s := range it.Sides {
				labels[i] = Join(" ", s.Label, s.Score)
			}
			t.Rows = append(t.Rows, []Cell{T(it.ID), T(it.Category), T(strings.Join(labels, " -> "))})
		}
		markdownTable(m, t)
	}
}

func markdownTable(m *strings.Builder, t Table) {
	columns := t.filled(false)
	heads, rules := make([]string, len(columns)), make([]string, len(columns))
	for at, i := range columns {
		heads[at], rules[at] = plain(t.Columns[i].Name), "---"
		if t.Columns[i].Kind == Number {
			rules[at] = "---:"
		}
	}
	row := func(cells []string) { fmt.Fprintf(m, "| %s |\n", strings.Join(cells, " | ")) }
	row(heads)
	row(rules)
	for _, cells := range t.Rows {
		texts := make([]string, len(columns))
		for at, i := range columns {
			if i >= len(cells) {
				break
			}
			texts[at] = plain(cells[i].text()) + markdownMarks(cells[i].Marks)
		}
		row(texts)
	}
	m.WriteByte('\n')
}

func markdownMarks(marks []int) string {
	text := ""
	for _, n := range marks {
		text += fmt.Sprintf(" (%d)", n)
	}
	return text
}

// plain returns text with markup escaped. An empty comment after @ and # prevents hosts
// from mentioning a person or linking an issue of that name.
func plain(s string) string {
	var b strings.Builder
	for _, r := range words.Clean(s) {
		if strings.ContainsRune("\\`*_{}[]<>#|~!@&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		if r == '@' || r == '#' {
			b.WriteString("<!-- -->")
		}
	}
	return b.String()
}
