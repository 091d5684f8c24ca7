package web

import (
	"net/http"
	"strings"

	"deem/internal/export"
	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
)

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
	out := export.NewCSV(w, exportRun(run), export.CSVOptions{Spreadsheet: true})
	rc := http.NewResponseController(w)
	for len(recs) > 0 {
		server.Extend(rc)
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

// exportRun returns the metadata of a run for an exported file.
func exportRun(run store.Run) export.Run {
	return export.Run{
		ID: run.ID, Judge: run.Judge.Name, JudgeHash: run.Judge.Hash, Model: run.Model,
		Dataset: strings.Join(run.Dataset.Names, ", "), DatasetHash: run.Dataset.Hash,
		Trials: run.Trials, Created: run.Created, Software: reports.SettingsOf(run.Spec).Deem,
	}
}
