package server

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"deem/internal/export"
	"deem/internal/reports"
	"deem/internal/store"
)

// csvPage is the number of records read at once for a file.
const csvPage = 500

// itemsCSV streams the items that a filter selects as a CSV file. Cells that a spreadsheet
// would treat as formulas are prefixed with an apostrophe, since the texts are untrusted.
func (s *Server) itemsCSV(w http.ResponseWriter, r *http.Request) error {
	run, f, err := s.filtered(r)
	if err != nil {
		return err
	}
	want := f.view()
	want.Limit, want.WithCalls = csvPage, true
	recs, err := s.store.View(r.Context(), run.ID, want)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "items-"+fileName(run.ID)+".csv"))
	w.Header().Set("Cache-Control", "no-store")
	out := export.NewCSV(w, exportRun(run), export.CSVOptions{Spreadsheet: true})
	rc := http.NewResponseController(w)
	for len(recs) > 0 {
		extend(rc)
		for _, rec := range recs {
			if err := out.Add(rec); err != nil {
				return cut(s, r, err)
			}
		}
		want.From = store.PlaceOf(recs[len(recs)-1], f.Order)
		if recs, err = s.store.View(r.Context(), run.ID, want); err != nil {
			return cut(s, r, err)
		}
	}
	if err := out.Close(); err != nil {
		return cut(s, r, err)
	}
	return nil
}

// cut aborts a response that has begun, so that the client sees that it is incomplete.
func cut(s *Server, r *http.Request, err error) error {
	if r.Context().Err() == nil {
		s.log.Error("stream", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// extend extends the deadline of a stream. Errors are ignored: a writer without deadlines,
// for example in tests, has nothing to extend.
func extend(rc *http.ResponseController) {
	_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	// The server would treat a read timeout as a disconnected client.
	_ = rc.SetReadDeadline(time.Time{})
}

// exportRun returns the metadata of a run for an exported file.
func exportRun(run store.Run) export.Run {
	return export.Run{
		ID: run.ID, Judge: run.Judge.Name, JudgeHash: run.Judge.Hash, Model: run.Model,
		Dataset: strings.Join(run.Dataset.Names, ", "), DatasetHash: run.Dataset.Hash,
		Trials: run.Trials, Created: run.Created, Software: reports.SettingsOf(run.Spec).Deem,
	}
}

// fileName returns a name that is safe in a header and as a file name.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}
