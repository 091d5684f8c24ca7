package report

import (
	"slices"

	"deem/internal/words"
	"deem/report/internal/page"
	"deem/stat"
)

// How wide the bar of an interval is, and how narrow it may become before it is left
// out.
const (
	barWidth    = 20
	barLeast    = 10
	tableMargin = 100
)

// A table is figures of the same metric below each other, with a bar for each
// interval.
type table struct {
	what, metric string
	rows         []tableRow
	failures     bool
}

type tableRow struct {
	name     string
	figures  Figures
	warnings []string
}

func newTable(what, metric string) *table { return &table{what: what, metric: metric} }

// add adds a row. Both numbers of a row nearly always warn of the same, so they share
// their marks.
func (t *table) add(name string, f Figures, warnings ...string) {
	if f.Judged != nil {
		warnings = append(warnings, f.Judged.Warnings...)
	}
	if f.Items > 0 {
		warnings = append(warnings, f.Strict.Warnings...)
	}
	t.failures = t.failures || f.Unjudged > 0
	t.rows = append(t.rows, tableRow{name, f, warnings})
}

// shown returns the estimate that the bar of a row draws: the one over judged items
// or, where that is withheld, the strict one. It is nil when there is neither.
func (r tableRow) shown() *stat.Estimate {
	switch {
	case r.figures.Judged != nil:
		return r.figures.Judged
	case r.figures.Items > 0:
		return &r.figures.Strict
	}
	return nil
}

// axis returns the axis that all intervals of the table fit on.
func (t *table) axis(width int) page.Axis {
	a := page.Axis{Lo: 1, Hi: 0, Width: width}
	for _, r := range t.rows {
		if est := r.shown(); est != nil {
			lo, hi := est.Drawn()
			a.Lo, a.Hi = min(a.Lo, lo), max(a.Hi, hi)
		}
	}
	return a.Round()
}

// table writes the table. Without failures the strict number is the number itself, and
// the heading says so instead of a column. The bars take what room is left.
func (p *sheet) table(t *table) {
	rows := t.cells(p)
	g := &page.Grid{Align: "lerrll"}
	if t.failures {
		g.Align = "lerrell"
	}
	for _, row := range rows {
		g.Add(row...)
	}
	if width := min(barWidth, tableMargin-g.Width()-2); width >= barLeast {
		axis := t.axis(width)
		at := len(rows[0]) - 2
		rows[0][at] = axis.Head()
		for i, r := range t.rows {
			if est := r.shown(); est != nil {
				rows[i+1][at] = axis.Bar(*est)
			}
		}
	} else {
		g = t.barless(g.Align, rows)
	}
	p.Grid(g, "")
}

// barless returns the table without the column of bars.
func (t *table) barless(align string, rows [][]string) *page.Grid {
	at := len(align) - 2
	g := &page.Grid{Align: align[:at] + align[at+1:]}
	for _, row := range rows {
		g.Add(slices.Delete(row, at, at+1)...)
	}
	return g
}

// cells returns the heading and the rows, with an empty cell for the bar.
func (t *table) cells(p *sheet) [][]string {
	heading := []string{t.what, t.metric, "n", "unjudged"}
	if t.failures {
		heading = append(heading, "strict")
	} else {
		heading[1] += ", also strict"
	}
	rows := [][]string{append(heading, "", "")}
	for _, r := range t.rows {
		n := r.figures.Items - r.figures.Unjudged
		judged, strict := page.Absent(n > 0), ""
		if r.figures.Judged != nil {
			judged = page.Share(*r.figures.Judged)
		}
		if r.figures.Items > 0 {
			strict = page.Share(r.figures.Strict)
		}
		row := []string{r.name, judged, words.Comma(n), words.Comma(r.figures.Unjudged)}
		if t.failures {
			row = append(row, strict)
		}
		rows = append(rows, append(row, "", p.Mark(r.warnings...)))
	}
	return rows
}
