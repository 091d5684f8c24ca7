package web

import (
	"cmp"
	"context"
	"html/template"
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

// compareView returns the data of the comparison page.
func (s *Server) compareView(ctx context.Context, b *comparedRuns, ask compareAsk) (v compareView, err error) {
	d := b.Summary()
	v = compareView{Title: d.Title, Ask: ask, Refused: b.Refused}
	if !b.Refused {
		b.addWins(d)
	}
	if v.Report, err = doc.Fragment(d, links("")); err != nil {
		return v, err
	}
	if b.Refused {
		v.refused(b)
		return v, nil
	}
	return v, s.addFlips(ctx, &v, b)
}

// refused adds what to do about runs that are not compared.
func (v *compareView) refused(b *comparedRuns) {
	v.Anyway = v.Ask.link("/compare", "anyway", "1")
	v.Advice = "Judge all of them in the same way. Or compare them anyway, and say what differs wherever you quote the difference."
	if len(b.runs) == 2 && b.runs[0].Dataset.Hash == b.runs[1].Dataset.Hash {
		v.Advice = "Both runs judged the same responses: their judges differ. Look at how far the judges agree."
		v.Agree = agreementURL(b.runs[0].ID, "with", b.runs[1].ID)
	}
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

// addFlips adds the items on which runs differ.
func (s *Server) addFlips(ctx context.Context, v *compareView, b *comparedRuns) (err error) {
	v.Total, v.All = len(b.flips), v.Ask.link("/compare", "change", "", "page", "")+"#flips"
	v.addChanges(b)
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

// addChanges lists the ways in which runs differ, the most frequent first.
func (v *compareView) addChanges(b *comparedRuns) {
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
