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

// csvPage is how many records are read at once for a file.
const csvPage = 500

// itemsCSV streams everything that a filter selects as a file. Cells that a
// spreadsheet would take for formulas begin with an apostrophe: what was judged is
// untrusted, and spreadsheets are where such files are opened.
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

// cut ends an answer that has begun in a way that nobody takes for its end.
func cut(s *Server, r *http.Request, err error) error {
	if r.Context().Err() == nil {
		s.log.Error("stream", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// extend gives a stream more time. A writer that knows no deadlines, as in tests, has
// none to extend.
func extend(rc *http.ResponseController) {
	_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	// The server stops reading from a connection after a while, and would take that
	// for the client's leaving.
	_ = rc.SetReadDeadline(time.Time{})
}

// exportRun returns what a file says of its run.
func exportRun(run store.Run) export.Run {
	return export.Run{
		ID: run.ID, Judge: run.Judge.Name, JudgeHash: run.Judge.Hash, Model: run.Model,
		Dataset: strings.Join(run.Dataset.Names, ", "), DatasetHash: run.Dataset.Hash,
		Trials: run.Trials, Created: run.Created, Software: reports.SettingsOf(run.Spec).Deem,
	}
}

// fileName returns a name that is safe in a header and on a disk.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}
