package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/usage"
)

type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }

func (e *statusError) Unwrap() error { return e.err }

// NotFound returns an error with status 404.
func NotFound(format string, args ...any) error {
	return &statusError{http.StatusNotFound, fmt.Errorf(format, args...)}
}

// BadRequest returns an error with status 400.
func BadRequest(format string, args ...any) error {
	return &statusError{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

// WithStatus returns err with an HTTP status.
func WithStatus(status int, err error) error { return &statusError{status, err} }

// StatusOf returns the HTTP status of an error.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	_, problems := errors.AsType[*deem.Problems](err)
	me, asked := errors.AsType[*deem.ModelError](err)
	switch {
	case problems || usage.Is(err):
		return http.StatusBadRequest
	case errors.Is(err, store.ErrBusy):
		return http.StatusConflict
	case errors.Is(err, deem.ErrStopped):
		return http.StatusServiceUnavailable
	case asked && me.Kind == deem.Budget:
		return http.StatusPaymentRequired
	case asked:
		return http.StatusBadGateway
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrAmbiguous):
		return http.StatusNotFound
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// fail writes an error, in the form of the part that the request is for.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := StatusOf(err)
	if status == http.StatusRequestTimeout {
		// A stalled body ends the request's context, but the client can still read.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(GraceTimeout))
	} else if r.Context().Err() != nil {
		return // The client has disconnected.
	}
	if status >= http.StatusInternalServerError {
		s.Logger.Error("request", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	best := Part{Fail: func(w http.ResponseWriter, _ *http.Request, status int, err error) {
		http.Error(w, err.Error(), status)
	}}
	for _, p := range s.parts {
		if p.Fail != nil && strings.HasPrefix(r.URL.Path, p.Path) && len(p.Path) > len(best.Path) {
			best = p
		}
	}
	best.Fail(w, r, status, err)
}

// flag matches a command-line flag in an error. Clients use fields and parameters instead.
var flag = regexp.MustCompile(`--([a-z]+(?:-[a-z]+)*)`)

// command matches a command in a hint, whose flags are left unchanged.
var command = regexp.MustCompile(`\bdeem [a-z]+ -`)

// InFields replaces flags in a text by the names of API fields: --max-cost becomes max_cost.
func InFields(text string) string {
	if command.MatchString(text) {
		return text
	}
	return flag.ReplaceAllStringFunc(text, func(option string) string {
		return strings.ReplaceAll(strings.TrimPrefix(option, "--"), "-", "_")
	})
}

// ended keeps the errors of the runs that this server did not finish.
type ended struct {
	mu    sync.Mutex
	why   map[string]error // by run
	order []string
}

// maxEnded is the maximum number of errors kept.
const maxEnded = 1000

// SetEnd keeps the error that ended a run. The error of a run that is judged again is nil.
func (s *Server) SetEnd(run string, err error) {
	e := &s.ended
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		delete(e.why, run)
		return
	}
	e.why[run] = err
	if e.order = append(e.order, run); len(e.order) > maxEnded {
		delete(e.why, e.order[0])
		e.order = e.order[1:]
	}
}

// End returns the error that ended a run, or nil.
func (s *Server) End(run string) error {
	s.ended.mu.Lock()
	defer s.ended.mu.Unlock()
	return s.ended.why[run]
}
