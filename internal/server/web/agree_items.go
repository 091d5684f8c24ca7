package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/server"
	"deem/internal/store"
)

// A cellAsk selects items of an agreement.
type cellAsk struct {
	Judge, People string // server.SaysYes, server.SaysNo or "" for any
	Category      string
	page          int
}

// readCell reads a cellAsk from the query of the address.
func readCell(r *http.Request) (cellAsk, error) {
	q := r.URL.Query()
	c := cellAsk{Judge: q.Get("judge"), People: q.Get("people"), Category: q.Get("category")}
	c.page, _ = strconv.Atoi(q.Get("page"))
	for _, says := range []string{c.Judge, c.People} {
		if says != "" && says != server.SaysYes && says != server.SaysNo {
			return c, server.BadRequest("judge and people say yes or no, not %q", says)
		}
	}
	return c, nil
}

// has reports whether an item is selected.
func (c cellAsk) has(it bothItem) bool {
	fits := func(says string, yes bool) bool { return says == "" || says == server.SaysYes == yes }
	return fits(c.Judge, it.judge) && fits(c.People, it.people) && (c.Category == "" || c.Category == orNone(it.category))
}

// A cellView is the data of the page of a cell.
type cellView struct {
	Run  store.Run
	Tabs []tab
	Ask  cellAsk
	Who  string
	Back string
	N    int
	Rows []cellRow

	Pager pager
}

// A cellRow is an item with the opinions on it.
type cellRow struct {
	deem.Record
	URL    string
	People []saidView
}

// A saidView is the opinion of a person or of another judge on an item.
type saidView struct {
	Name string
	Yes  bool
	Text string // the label
	Note string
}

// itemsPerCell is the number of items per page.
const itemsPerCell = 50

// cellPage lists the items of one cell of the confusion matrix.
func (s *Server) cellPage(r *http.Request) (page, error) {
	ask, err := s.readAgree(r)
	if err != nil {
		return page{}, err
	}
	want, err := readCell(r)
	if err != nil {
		return page{}, err
	}
	return withPatience(r, "Agreement", func(ctx context.Context) (page, error) {
		got, err := s.agreed(ctx, ask)
		if err != nil {
			return page{}, err
		}
		v, err := s.cellView(r.Context(), ask, want, got)
		return page{Template: "cell", Title: "Items of an agreement", Section: "runs", Data: v, Scripts: []string{"items.js"}}, err
	})
}

// cellView returns the items of a cell that are on the requested page.
func (s *Server) cellView(ctx context.Context, ask agreeAsk, want cellAsk, got *agreed) (v cellView, err error) {
	v = cellView{Run: ask.run, Tabs: s.runTabs(ask.run, "agreement"), Ask: want, Who: got.Who(), Back: ask.link("")}
	var ids []string
	for _, it := range got.both {
		if want.has(it) {
			ids = append(ids, it.id)
		}
	}
	v.N = len(ids)
	v.Pager = newPager(want.page, len(ids), itemsPerCell, func(n int) string {
		return ask.link("/items", "page", strconv.Itoa(n), "judge", want.Judge, "people", want.People, "category", want.Category)
	})
	from, to := v.Pager.span(len(ids), itemsPerCell)
	v.Rows, err = s.cellRows(ctx, ask, ids[from:to])
	return v, err
}

// cellRows reads items and the opinions on them, in the order of the dataset.
func (s *Server) cellRows(ctx context.Context, ask agreeAsk, ids []string) ([]cellRow, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	said, err := s.said(ctx, ask, ids)
	if err != nil {
		return nil, err
	}
	var rows []cellRow
	for rec, err := range s.Store.Records(ctx, ask.run.ID, store.Query{IDs: ids, Trial: new(int)}) {
		if err != nil {
			return nil, err
		}
		key := rec.Item.ID
		if ask.other == nil {
			key = rec.Item.Hash()
		}
		rows = append(rows, cellRow{Record: rec, URL: itemURL(ask.run.ID, rec.Item.ID), People: said[key]})
	}
	slices.SortStableFunc(rows, func(a, b cellRow) int { return a.Position - b.Position })
	return rows, nil
}

// said returns the human labels of items by item hash, or the verdicts of the other judge
// by item id.
func (s *Server) said(ctx context.Context, ask agreeAsk, ids []string) (map[string][]saidView, error) {
	by := map[string][]saidView{}
	if ask.other != nil {
		for rec, err := range s.Store.Records(ctx, ask.other.ID, store.Query{IDs: ids, Trial: new(int), Brief: true}) {
			if err != nil {
				return nil, err
			}
			if v := rec.Verdict; v != nil {
				by[rec.Item.ID] = []saidView{{Name: ask.other.Judge.Name, Yes: v.Yes(), Text: v.Label, Note: v.Reason}}
			}
		}
		return by, nil
	}
	list, err := s.labelsOf(ctx, store.LabelQuery{IDs: ids, Annotators: ask.Only})
	for _, l := range list {
		who := l.Annotator
		if strings.TrimSpace(who) == "" {
			who = "somebody"
		}
		by[l.Item] = append(by[l.Item], saidView{Name: who, Yes: l.Yes, Text: l.Label, Note: l.Note})
	}
	return by, err
}
