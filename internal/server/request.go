package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deem"
	"deem/internal/store"
)

// RunOf returns the run that the path of a request names.
func (s *Server) RunOf(r *http.Request) (store.Run, error) {
	return store.Find(r.Context(), s.Store, r.PathValue("id"))
}

// OfRun returns the handler of a path that names a run.
func (s *Server) OfRun(handle func(w http.ResponseWriter, r *http.Request, run store.Run) error) HandleFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		run, err := s.RunOf(r)
		if err != nil {
			return err
		}
		return handle(w, r, run)
	}
}

// Download sets the headers of a file that a browser saves.
func Download(w http.ResponseWriter, media, name string) {
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	h.Set("Cache-Control", "no-store")
}

// Filtered returns the run and the filter of a request.
func (s *Server) Filtered(r *http.Request) (store.Run, Filter, error) {
	run, err := s.RunOf(r)
	if err != nil {
		return run, Filter{}, err
	}
	f, err := readFilter(r.URL.Query())
	if err == nil && f.Against != "" {
		var other store.Run
		other, err = s.Store.Run(r.Context(), f.Against)
		f.Against = other.ID
	}
	return run, f, err
}

// RecordsOf returns every trial of an item.
func (s *Server) RecordsOf(ctx context.Context, run store.Run, id string) ([]deem.Record, error) {
	var recs []deem.Record
	for rec, err := range s.Store.Records(ctx, run.ID, store.Query{IDs: []string{id}, WithCalls: true}) {
		if err != nil {
			return nil, err
		}
		recs = append(recs, rec)
	}
	if len(recs) == 0 {
		return nil, NotFound("run %s has no record of item %q", run.ID, id)
	}
	return recs, nil
}

// Cut aborts a response that has begun, so that the client sees that it is incomplete.
func (s *Server) Cut(r *http.Request, err error) error {
	if r.Context().Err() == nil {
		s.Logger.Error("stream", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// Extend extends the deadline of a stream by wait and the usual timeout. Errors are ignored:
// a writer without deadlines, for example in tests, has nothing to extend.
func Extend(rc *http.ResponseController, wait time.Duration) {
	_ = rc.SetWriteDeadline(time.Now().Add(wait + WriteTimeout))
	// The server would treat a read timeout as a disconnected client.
	_ = rc.SetReadDeadline(time.Time{})
}

// FileName returns a name that is safe in a header and as a file name.
func FileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// MaxAnnotator is the maximum length of the name of an annotator, in characters.
const MaxAnnotator = 64

// CleanName normalizes the name of an annotator. It returns "" if the name is invalid:
// names are shown in tables and typed into commands.
func CleanName(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	if !utf8.ValidString(name) || utf8.RuneCountInString(name) > MaxAnnotator {
		return ""
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return name
}
