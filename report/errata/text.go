package errata

import (
	"fmt"
	"io"
	"strings"

	"deem"
	"deem/internal/words"
	"deem/report"
	"deem/report/internal/page"
)

// maxKinds is how many kinds of faults the text names; JSON has them all.
const maxKinds = 6

// Text writes the report for people.
func (r Report) Text(w io.Writer) error {
	p := &page.Page{}
	p.Line("errata", page.Cell(r.File, page.IDWidth), "hash "+deem.ShortHash(r.Hash), fmt.Sprintf("%s known", words.Comma(r.Known)),
		fmt.Sprintf("%s can move a score", words.Comma(r.Corrupting)))
	p.Line("", fmt.Sprintf("%s of %s %s a wrong reference%s", words.Comma(r.Overall.Faulty), words.Count(r.Overall.Items, "item"),
		pick(r.Overall.Faulty, "has", "have"), page.Prefix(": ", r.kinds())))
	if r.Overall.Faulty > 0 {
		r.table(p)
	}
	p.Notes(r.Notes...)
	_, err := io.WriteString(w, p.String())
	return err
}

// kinds returns what is wrong, and how often, unless the list never says.
func (r Report) kinds() string {
	if len(r.Kinds) == 1 && r.Kinds[0].Kind == page.None {
		return ""
	}
	var parts []string
	for i, k := range r.Kinds {
		if i == maxKinds {
			parts = append(parts, fmt.Sprintf("and %d more kinds", len(r.Kinds)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s", page.Cell(k.Kind, page.NameWidth), words.Comma(k.N)))
	}
	return strings.Join(parts, ", ")
}

// table writes the numbers of all items, then of the categories with a wrong reference.
func (r Report) table(p *page.Page) {
	p.WriteByte('\n')
	g := &page.Grid{Align: "lerrll"}
	g.Add("", "value [95%]", "n", "unjudged")
	r.block(p, g, "all items", r.Overall)
	for _, l := range r.Categories {
		r.block(p, g, page.Cell(l.Category, page.NameWidth), l)
	}
	p.Grid(g, "")
	if r.Whole > 0 {
		p.Wrap("", fmt.Sprintf("no wrong reference in %s %s: the numbers stay as published", words.Comma(r.Whole), pick(r.Whole, "other category", "other categories")))
	}
}

// block writes the numbers of one line below each other.
func (r Report) block(p *page.Page, g *page.Grid, title string, l Line) {
	g.Add(title)
	row(p, g, "as published", l.Published, l.Published.Metric)
	row(p, g, "sound items", l.Sound, "")
	row(p, g, "wrong reference", l.Wrong, "")
	if r.Rejudged.Items > 0 {
		row(p, g, "corrected", l.Corrected, between(l.Corrected))
	}
	g.Add("  ceiling", page.Share(l.Ceiling), words.Comma(l.Ceiling.N), "", "", p.Mark(l.Ceiling.Warnings...))
}

// row writes one number. One that is withheld is told by the band that it lies in.
func row(p *page.Page, g *page.Grid, name string, f report.Figures, remark string) {
	n := f.Items - f.Unjudged
	switch {
	case f.Judged != nil:
		g.Add("  "+name, page.Share(*f.Judged), words.Comma(n), words.Comma(f.Unjudged), remark, p.Mark(f.Judged.Warnings...))
	default:
		g.Add("  "+name, page.Absent(n > 0), words.Comma(n), words.Comma(f.Unjudged), remark)
	}
}

// between returns the band that a withheld number lies in, "" for one that is shown.
func between(f report.Figures) string {
	if f.Judged != nil || f.Items == 0 {
		return ""
	}
	return fmt.Sprintf("between %s and %s", page.Percent(f.Band.Lo), page.Percent(f.Band.Hi))
}
