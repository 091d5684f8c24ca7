package server

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
)

// APIRoot is the path prefix of this version of the API.
const APIRoot = "/api/v1"

// A HandleFunc answers a request. An error that it returns before it writes anything becomes
// an error response.
type HandleFunc func(w http.ResponseWriter, r *http.Request) error

// A Route is a pattern of [http.ServeMux] with its handler.
type Route struct {
	Pattern string
	Handle  HandleFunc
	MaxBody int64 // of the request, in bytes; 0 means 1 MiB
}

// A Part is a part of a server: the API or the pages.
type Part struct {
	Routes []Route

	// Fail writes the errors of all requests whose path begins with Path, also of those
	// that fail a check of the server.
	Path string
	Fail func(w http.ResponseWriter, r *http.Request, status int, err error)

	Wait func() // waits for background work when the server is closed; nil if there is none
}

// Add adds a part. It is called before the first request.
func (s *Server) Add(p Part) {
	s.parts = append(s.parts, p)
	for _, rt := range p.Routes {
		s.Mux.HandleFunc(rt.Pattern, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(rt.MaxBody, defaultBody))
			if err := rt.Handle(w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
}

// defaultBody is the maximum size of a request body in bytes.
const defaultBody = 1 << 20

// isAPI reports whether a request is for the API, whose errors are JSON.
func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// healthz reports that the server is running.
func healthz(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := w.Write([]byte("ok\n"))
	return err
}

// readyz reports whether the store can be reached.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	for _, err := range s.Store.Runs(r.Context()) {
		if err != nil {
			s.Logger.Error("not ready", "error", err)
			return WithStatus(http.StatusServiceUnavailable, errors.New("the database cannot be reached"))
		}
		break
	}
	return healthz(w, r)
}
