package web

import (
	"fmt"
	"maps"
	"slices"

	"deem/internal/doc"
	"deem/internal/reports/compare"
)

// addWins adds to a comparison on how many items each run is right and another is wrong: by
// category for two runs, otherwise as a matrix. Unjudged items are not wins.
func (b *comparedRuns) addWins(d *doc.Document) {
	if len(b.Runs) == 2 {
		b.addMoves(d)
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("right where the other is wrong")}}
	for _, run := range b.Runs {
		t.Columns = append(t.Columns, doc.Num(run.Name))
	}
	for i, run := range b.Runs {
		row := []doc.Cell{doc.T(run.Name)}
		for j := range b.Runs {
			if i == j {
				row = append(row, doc.Cell{Text: "–", Tone: doc.Dim})
				continue
			}
			won, lost := b.wins(i, j), b.wins(j, i)
			cell := doc.N(won)
			switch {
			case won > lost:
				cell.Tone = doc.Good
			case won < lost:
				cell.Tone = doc.Bad
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	insert(d, "matrix", doc.Section{ID: "wins", Title: "Wins", Blocks: []doc.Block{t}})
}

// insert inserts a section after the section with the given ID, or at the end.
func insert(d *doc.Document, after string, s doc.Section) {
	at := 1 + slices.IndexFunc(d.Sections, func(s doc.Section) bool { return s.ID == after })
	if at == 0 {
		at = len(d.Sections)
	}
	d.Sections = slices.Insert(d.Sections, at, s)
}

// wins returns the number of items on which run i is right and run j is wrong.
func (b *comparedRuns) wins(i, j int) int {
	n := 0
	for _, f := range b.flips {
		if says(f, i, true) && says(f, j, false) {
			n++
		}
	}
	return n
}

// says reports whether a run judged an item and its verdict equals yes.
func says(f compare.Flip, run int, yes bool) bool {
	o := f.Outcomes[run]
	return o.Yes != nil && *o.Yes == yes
}

// addMoves adds, for two runs, how many items became right and wrong in each category.
func (b *comparedRuns) addMoves(d *doc.Document) {
	type moves struct{ gained, lost, other int }
	by := map[string]*moves{}
	for _, f := range b.flips {
		m := by[f.Category]
		if m == nil {
			m = &moves{}
			by[f.Category] = m
		}
		switch {
		case says(f, 0, false) && says(f, 1, true):
			m.gained++
		case says(f, 0, true) && says(f, 1, false):
			m.lost++
		default:
			m.other++
		}
	}
	if len(by) < 2 {
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("category"), doc.Num("became right"), doc.Num("became wrong"), doc.Num("balance"), doc.Num("unjudged in one")}}
	names := slices.SortedFunc(maps.Keys(by), func(x, y string) int {
		return (by[x].gained - by[x].lost) - (by[y].gained - by[y].lost)
	})
	for _, name := range names {
		m := by[name]
		balance := doc.Cell{Text: fmt.Sprintf("%+d", m.gained-m.lost)}
		switch {
		case m.gained > m.lost:
			balance.Tone = doc.Good
		case m.gained < m.lost:
			balance.Tone = doc.Bad
		}
		t.Rows = append(t.Rows, []doc.Cell{doc.T(doc.OrNone(name)), doc.N(m.gained), doc.N(m.lost), balance, doc.N(m.other)})
	}
	insert(d, "pair1", doc.Section{ID: "moves", Title: "What changed, by category", Blocks: []doc.Block{t}})
}
