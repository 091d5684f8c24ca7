package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"deem"
	"deem/internal/export"
	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
)

// An itemsView is the data of the items page.
type itemsView struct {
	Run    store.Run
	Tabs   []tab
	Filter server.Filter
	Facets store.Counts // of the whole run, to choose from
	Counts store.Counts // of the records that the filter selects
	Others []store.Run  // over the same dataset, to filter by disagreement
	Trials []int        // to choose from, empty if there is only one

	Rows       []itemRow
	Prev, Next string // paths, "" for none
	CSV        string
}

// Verdicts and Orders return the choices of the form.
func (itemsView) Verdicts() []string    { return []string{server.SaysYes, server.SaysNo, server.Unjudged} }
func (itemsView) Orders() []store.Order { return store.Orders() }

// An itemRow is one record in the list.
type itemRow struct {
	deem.Record
	URL string
}

// Yes reports whether the verdict of the row is yes.
func (r itemRow) Yes() bool { return r.Verdict != nil && r.Verdict.Yes() }

// itemsPage lists the items of a run that a filter selects.
func (s *Server) itemsPage(r *http.Request) (page, error) {
	run, f, err := s.Filtered(r)
	if err != nil {
		return page{}, err
	}
	v := itemsView{Run: run, Tabs: s.runTabs(run, "items"), Filter: f, CSV: f.Link(itemsURL(run.ID) + ".csv")}
	if v.Others, err = s.sameDataset(r, run); err != nil {
		return page{}, err
	}
	if run.Trials > 1 {
		for n := range min(run.Trials, 100) {
			v.Trials = append(v.Trials, n)
		}
	}
	// Counting the records and reading a page of them are both slow in a large run.
	var counting error
	var wg sync.WaitGroup
	wg.Go(func() { counting = s.count(r.Context(), &v) })
	err = s.listItems(r, &v)
	wg.Wait()
	if err := errors.Join(err, counting); err != nil {
		return page{}, err
	}
	return page{Template: "items", Title: "Items of " + runName(run), Section: "runs", Data: v, Scripts: []string{"items.js"}}, nil
}

// count counts the records of the whole run, and those that the filter selects.
func (s *Server) count(ctx context.Context, v *itemsView) error {
	var err error
	if v.Facets, err = s.counted(ctx, v.Run, store.Run{}, server.Filter{}); err != nil {
		return err
	}
	v.Counts = v.Facets
	if !v.Filter.Active() {
		return nil
	}
	var other store.Run
	if v.Filter.Against != "" {
		if other, err = s.Store.Run(ctx, v.Filter.Against); err != nil {
			return err
		}
	}
	v.Counts, err = s.counted(ctx, v.Run, other, v.Filter)
	return err
}

// counted counts the records of a run that a filter selects. If the filter compares the run
// with another, other is that run. Counts are cached: they are the same on every page of a
// filter until the run changes.
func (s *Server) counted(ctx context.Context, run, other store.Run, f server.Filter) (store.Counts, error) {
	f.Order, f.Descending = "", false
	return countOnce(ctx, s.counts, f.Link(run.ID), versionOf(run)+versionOf(other), false, func(ctx context.Context) (store.Counts, error) {
		return s.Store.Count(ctx, run.ID, f.View())
	})
}

// listItems adds one page of records and the links to its neighbours. It fetches one more
// than it shows, to know whether there is another page.
func (s *Server) listItems(r *http.Request, v *itemsView) error {
	q := r.URL.Query()
	want := v.Filter.View()
	want.Limit = store.DefaultLimit + 1
	at := q.Get("after")
	if before := q.Get("before"); before != "" {
		at, want.Backward = before, true
	}
	if at != "" {
		var err error
		if want.From, err = server.DecodePlace(at); err != nil {
			return err
		}
	}
	recs, err := s.Store.View(r.Context(), v.Run.ID, want)
	if err != nil {
		return err
	}
	more := len(recs) > store.DefaultLimit
	if more {
		recs = recs[:store.DefaultLimit]
	}
	if want.Backward {
		slices.Reverse(recs)
	}
	for _, rec := range recs {
		v.Rows = append(v.Rows, itemRow{rec, v.Filter.Link(itemURL(v.Run.ID, rec.Item.ID), trialArg(rec.Trial)...)})
	}
	if len(recs) == 0 {
		return nil
	}
	path, order := itemsURL(v.Run.ID), v.Filter.Order
	if want.Backward && more || !want.Backward && at != "" {
		v.Prev = v.Filter.Link(path, "before", server.EncodePlace(store.PlaceOf(recs[0], order)))
	}
	if want.Backward || more {
		v.Next = v.Filter.Link(path, "after", server.EncodePlace(store.PlaceOf(recs[len(recs)-1], order)))
	}
	return nil
}

// trialArg returns the parameter of a link that selects a trial, or nil for the first.
func trialArg(trial int) []string {
	if trial == 0 {
		return nil
	}
	return []string{"t", strconv.Itoa(trial)}
}

// maxOthers is the maximum number of runs to compare with.
const maxOthers = 50

// sameDataset returns the newest other runs over the same dataset.
func (s *Server) sameDataset(r *http.Request, run store.Run) ([]store.Run, error) {
	var list []store.Run
	for other, err := range s.Store.Runs(r.Context()) {
		if err != nil {
			return nil, err
		}
		if other.ID != run.ID && other.Dataset.Hash == run.Dataset.Hash {
			if list = append(list, other); len(list) == maxOthers {
				break
			}
		}
	}
	return list, nil
}

// csvType is the media type of a CSV file.
const csvType = "text/csv; charset=utf-8"

// csvPage is the number of records read at once for a file.
const csvPage = 500

// itemsCSV streams the items that a filter selects as a CSV file. Cells that a spreadsheet
// would treat as formulas are prefixed with an apostrophe, since the texts are untrusted.
func (s *Server) itemsCSV(w http.ResponseWriter, r *http.Request) error {
	run, f, err := s.Filtered(r)
	if err != nil {
		return err
	}
	want := f.View()
	want.Limit, want.WithCalls = csvPage, true
	recs, err := s.Store.View(r.Context(), run.ID, want)
	if err != nil {
		return err
	}
	server.Download(w, csvType, "items-"+server.FileName(run.ID)+".csv")
	out := export.NewCSV(w, reports.ExportRun(run, false), export.CSVOptions{Spreadsheet: true})
	rc := http.NewResponseController(w)
	for len(recs) > 0 {
		server.Extend(rc, 0)
		for _, rec := range recs {
			if err := out.Add(rec); err != nil {
				return s.Cut(r, err)
			}
		}
		want.From = store.PlaceOf(recs[len(recs)-1], f.Order)
		if recs, err = s.Store.View(r.Context(), run.ID, want); err != nil {
			return s.Cut(r, err)
		}
	}
	if err := out.Close(); err != nil {
		return s.Cut(r, err)
	}
	return nil
}
