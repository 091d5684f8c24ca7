package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/reports/compare"
	"deem/internal/words"
)

// A compareView is the data of the comparison page.
type compareView struct {
	Title   string
	Ask     compareAsk
	Refused bool
	Report  template.HTML

	Advice  string // what to do if runs are not compared
	Anyway  string // the address that compares them anyway
	Agree   string // the address that compares their judges, "" if that makes no sense
	Changes []changeView
	All     string        // the address without a choice of a change
	Flips   template.HTML // items on which runs differ
	Total   int           // number of items on which runs differ
	Pager   pager
	CSV     string
}

// A changeView is one way in which runs differ on items.
type changeView struct {
	Title   string
	N       int
	URL     string
	Current bool
}

// flipsPerPage is the number of items on a page, with their responses.
const flipsPerPage = 20

// flipText is the maximum length of a response in the list, in bytes.
const flipText = 4000

// addFlips adds the items on which runs differ, and the ways in which they differ, the most
// frequent first.
func (s *Server) addFlips(ctx context.Context, v *compareView, b *comparedRuns) (err error) {
	v.Total, v.All = len(b.flips), v.Ask.link("/compare", "change", "", "page", "")+"#flips"
	at := map[string]int{}
	for _, f := range b.flips {
		change := f.Change()
		i, ok := at[change]
		if !ok {
			i = len(v.Changes)
			at[change] = i
			v.Changes = append(v.Changes, changeView{
				Title: b.passed(f), URL: v.Ask.link("/compare", "change", change, "page", "") + "#flips", Current: change == v.Ask.Change,
			})
		}
		v.Changes[i].N++
	}
	slices.SortStableFunc(v.Changes, func(x, y changeView) int { return y.N - x.N })
	list := b.listed(v.Ask.Change)
	v.CSV = v.Ask.link("/compare/flips.csv")
	v.Pager = newPager(v.Ask.page, len(list), flipsPerPage, func(n int) string { return v.Ask.link("/compare", "page", strconv.Itoa(n)) + "#flips" })
	from, to := v.Pager.span(len(list), flipsPerPage)
	var items doc.Items
	for f, err := range reports.FlipTexts(ctx, s.Store, b.runs, list[from:to]) {
		if err != nil {
			return err
		}
		items = append(items, clipped(b.Item(f)))
	}
	d := &doc.Document{}
	d.Add(doc.Section{ID: "items", Blocks: []doc.Block{items}})
	v.Flips, err = doc.Fragment(d, links(""))
	return err
}

// clipped shortens the texts of an item for the list.
func clipped(it doc.Item) doc.Item {
	it.Question, it.Link = excerpt(it.Question), doc.Link{}
	it.References = it.References[:min(len(it.References), 3)]
	for i, ref := range it.References {
		it.References[i] = excerpt(ref)
	}
	for i := range it.Sides {
		side := &it.Sides[i]
		side.Reason = excerpt(side.Reason)
		if len(side.Response) > flipText {
			side.Response = strings.ToValidUTF8(side.Response[:flipText], "") + "…"
		}
	}
	return it
}

// passed names the runs that pass an item, and those without a verdict. The other runs fail
// the item.
func (b *comparedRuns) passed(f compare.Flip) string {
	var yes, unjudged []string
	for i, o := range f.Outcomes {
		switch {
		case o.Yes == nil:
			unjudged = append(unjudged, b.Runs[i].Name)
		case *o.Yes:
			yes = append(yes, b.Runs[i].Name)
		}
	}
	text := "Passed by " + cmp.Or(words.And(yes), "no run")
	if len(unjudged) > 0 {
		text += ", unjudged in " + words.And(unjudged)
	}
	return text
}

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
