package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"deem"
	"deem/internal/store"
)

// A statusError is an error with an HTTP status.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }

func (e *statusError) Unwrap() error { return e.err }

// notFound returns an error with status 404.
func notFound(format string, args ...any) error {
	return &statusError{http.StatusNotFound, fmt.Errorf(format, args...)}
}

// badRequest returns an error with status 400.
func badRequest(format string, args ...any) error {
	return &statusError{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

// withStatus returns err with an HTTP status.
func withStatus(status int, err error) error { return &statusError{status, err} }

// statusOf returns the HTTP status of an error.
func statusOf(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	if status := apiStatus(err); status != 0 {
		return status
	}
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrAmbiguous):
		return http.StatusNotFound
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// A problem is an error of the API (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Hint   string `json:"hint,omitempty"`

	// Problems are those of single items. Run is the run that contains what was judged
	// before the error.
	Problems []itemProblem `json:"problems,omitempty"`
	Run      string        `json:"run,omitempty"`
}

// fail writes an error: a page for browsers, problem+json for the API.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	if status == http.StatusRequestTimeout {
		// A stalled body ends the request's context, but the client can still read.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(graceTimeout))
	} else if r.Context().Err() != nil {
		return // The client has disconnected.
	}
	if status >= http.StatusInternalServerError {
		s.log.Error("request", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	if isAPI(r) {
		writeProblem(w, s.problemOf(err))
		return
	}
	p := problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: err.Error(), Hint: deem.HintOf(err)}
	if err := s.render(w, r, page{Template: "error", Title: p.Title, Status: status, Data: p}); err != nil {
		s.log.Error("error page", "error", err)
		http.Error(w, p.Title, status)
	}
}

// writeProblem writes an error of the API.
func writeProblem(w http.ResponseWriter, p problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // The client may have disconnected.
}
