package api

import (
	"net/http"

	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
)

// A recordsOut is a page of records.
type recordsOut struct {
	Records []recordOut `json:"records"`
	Next    string      `json:"next,omitempty"`
}

// recordsPage is how many records are read at once if the client requests all of them.
const recordsPage = 500

// getRecords sends the records that a filter selects: one page of them, or all as a stream
// of lines.
func (s *Server) getRecords(w http.ResponseWriter, r *http.Request) error {
	run, f, err := s.Filtered(r)
	if err != nil {
		return err
	}
	with, err := readParts(r)
	if err != nil {
		return err
	}
	want := f.View()
	want.WithCalls, want.Brief = with.calls, !with.item && f.Text == ""
	q := r.URL.Query()
	if at := q.Get("after"); at != "" {
		if want.From, err = server.DecodePlace(at); err != nil {
			return err
		}
	}
	if f.Text != "" {
		s.Index.Want(run)
	}
	if wants(r, ndjson) {
		want.Limit = recordsPage
		return s.streamRecords(w, r, run.ID, want, with)
	}
	limit, err := pageSize(q)
	if err != nil {
		return err
	}
	want.Limit = limit + 1 // One more shows whether there is a next page.
	recs, err := s.Store.View(r.Context(), run.ID, want)
	if err != nil {
		return err
	}
	out := recordsOut{Records: []recordOut{}}
	for i, rec := range recs {
		if i == limit {
			out.Next = server.EncodePlace(store.PlaceOf(recs[limit-1], f.Order))
			break
		}
		out.Records = append(out.Records, with.of(rec))
	}
	return writeAnswer(w, http.StatusOK, out)
}

// streamRecords writes a line for each record. It reads them page by page, so that a slow
// client does not block a run that writes.
func (s *Server) streamRecords(w http.ResponseWriter, r *http.Request, runID string, want store.View, with parts) error {
	recs, err := s.Store.View(r.Context(), runID, want)
	if err != nil {
		return err
	}
	out := newLines(w, 0)
	for len(recs) > 0 {
		for _, rec := range recs {
			if err := out.write(with.of(rec)); err != nil {
				return s.Cut(r, err)
			}
		}
		if err := out.flush(); err != nil {
			return s.Cut(r, err)
		}
		want.From = store.PlaceOf(recs[len(recs)-1], want.Order)
		if recs, err = s.Store.View(r.Context(), runID, want); err != nil {
			return s.Cut(r, err)
		}
	}
	return nil
}

// An itemOut is everything that a run has on one item.
type itemOut struct {
	Trials []reports.Shown `json:"trials"`
}

// getRecord sends the trials of one item in the format of "deem show --json".
func (s *Server) getRecord(w http.ResponseWriter, r *http.Request, run store.Run) error {
	recs, err := s.RecordsOf(r.Context(), run, r.PathValue("item"))
	if err != nil {
		return err
	}
	p, _ := reports.Protocol(run) //nolint:errcheck // Without a protocol the prompts are not rendered again.
	var out itemOut
	for _, rec := range recs {
		out.Trials = append(out.Trials, reports.Show(run, p, rec))
	}
	return writeAnswer(w, http.StatusOK, out)
}
