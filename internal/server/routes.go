package server

import (
	"net/http"
	"strings"
)

// A pageFunc makes a page.
type pageFunc func(r *http.Request) (page, error)

// A handleFunc answers a request directly: streams, downloads, redirects and the API. An
// error that it returns before it writes anything becomes an error response.
type handleFunc func(w http.ResponseWriter, r *http.Request) error

// A route is a pattern of [http.ServeMux] with its handler, either page or handle.
type route struct {
	pattern string
	page    pageFunc
	handle  handleFunc

	maxBody int64 // of the request; 0 means 1 MiB
}

// routes returns all routes of the server.
func (s *Server) routes() []route {
	list := []route{
		{pattern: "GET /{$}", page: s.runsPage},
		{pattern: "GET /choose", handle: s.choose},
		{pattern: "POST /runs/edit", handle: s.edit},
		{pattern: "GET /trend", page: s.trendPage},
		{pattern: "GET /runs/{id}", page: s.runPage},
		{pattern: "GET /runs/{id}/score", handle: s.score},
		{pattern: "GET /runs/{id}/events", handle: s.events},
		{pattern: "GET /runs/{id}/items", page: s.itemsPage},
		{pattern: "GET /runs/{id}/items.csv", handle: s.itemsCSV},
		{pattern: "GET /runs/{id}/items/{item...}", page: s.itemPage},
		{pattern: "GET /runs/{id}/raw/{item...}", handle: s.rawText},
		{pattern: "GET /login", page: s.loginPage},
		{pattern: "POST /login", handle: s.login},
		{pattern: "POST /logout", handle: s.logout},
		{pattern: "GET /healthz", handle: healthz},
		{pattern: "GET /static/{name}", handle: s.assets.serve},
		{pattern: "GET /", page: s.nowhere},
	}
	list = append(list, s.compareRoutes()...)
	list = append(list, s.agreeRoutes()...)
	list = append(list, s.labelRoutes()...)
	list = append(list, s.probeRoutes()...)
	list = append(list, s.queueRoutes()...)
	return append(list, s.apiRoutes()...)
}

// defaultBody is the maximum size of a request body in bytes.
const defaultBody = 1 << 20

// mux returns a ServeMux with all routes.
func (s *Server) mux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, rt := range s.routes() {
		mux.HandleFunc(rt.pattern, s.answer(rt))
	}
	return mux
}

// answer returns the handler of one route.
func (s *Server) answer(rt route) http.HandlerFunc {
	limit := rt.maxBody
	if limit == 0 {
		limit = defaultBody
	}
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		var err error
		if rt.page != nil {
			err = s.show(w, r, rt.page)
		} else {
			err = rt.handle(w, r)
		}
		if err != nil {
			s.fail(w, r, err)
		}
	}
}

// isAPI reports whether a request is for the API, whose errors are JSON.
func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// nowhere answers every path without a route.
func (s *Server) nowhere(r *http.Request) (page, error) {
	return page{}, notFound("there is nothing at %s", r.URL.Path)
}

// healthz reports that the server is running.
func healthz(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := w.Write([]byte("ok\n"))
	return err
}
