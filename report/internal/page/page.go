// Package page lays text out for people: tables that are aligned on the screen,
// lines that are wrapped, footnotes that are shared, and numbers with their nouns.
// Names come from data, and data is untrusted, so what is printed is cleaned first.
package page

import (
	"fmt"
	"slices"
	"strings"
)

// A Page is a text as it is written. The zero value is an empty page.
type Page struct {
	strings.Builder
	footnotes []string
}

// Mark returns the marks of the warnings, as "(1)(3)". Equal warnings share a
// footnote.
func (p *Page) Mark(warnings ...string) string {
	var marks strings.Builder
	for i, w := range warnings {
		if !slices.Contains(warnings[:i], w) {
			fmt.Fprintf(&marks, "(%d)", p.footnote(w))
		}
	}
	return marks.String()
}

// footnote returns the number of a footnote, entered when it is new.
func (p *Page) footnote(text string) int {
	if i := slices.Index(p.footnotes, text); i >= 0 {
		return i + 1
	}
	p.footnotes = append(p.footnotes, text)
	return len(p.footnotes)
}

// Section begins a section with an empty line and a title.
func (p *Page) Section(title string) { p.WriteString("\n" + title + "\n") }

// Line writes a name and what belongs to it, or nothing when there is nothing to
// say.
func (p *Page) Line(name string, parts ...string) {
	parts = nonEmpty(parts)
	if len(parts) > 0 {
		p.Wrap(fmt.Sprintf("%-9s", name), strings.Join(parts, ", "))
	}
}

// Wrap writes text in lines of [LineWidth] columns, the first after the head and
// the others indented as far.
func (p *Page) Wrap(head, text string) { wrap(&p.Builder, head, text) }

// Grid writes a table with an indent.
func (p *Page) Grid(g *Grid, indent string) { g.write(&p.Builder, indent) }

// Notes writes the footnotes, and after them what belongs to no single number.
func (p *Page) Notes(notes ...string) {
	for _, n := range notes {
		p.footnote(n)
	}
	if len(p.footnotes) == 0 {
		return
	}
	p.WriteByte('\n')
	for i, n := range p.footnotes {
		p.Wrap(fmt.Sprintf("%-5s", fmt.Sprintf("(%d)", i+1)), n)
	}
}
