package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/catalog"
	"deem/internal/telemetry"
	"deem/internal/usage"
	"deem/judge/rule"
	"deem/model"
)

// The HTTP API is a table of operations (apitable.go). A row has the address, the handler,
// and everything that the OpenAPI document says about the operation. Routes, checks of
// query parameters and the document are all generated from these rows, so that the document
// and the handlers cannot drift apart.
//
// A request to judge is read into a spool (apispool.go), which checks and keeps the items.
// Its judge is given by name or as a declaration in the request, never as a file
// (apijudge.go). A job (apijobs.go) finishes the run in the background, whether or not a
// client waits for it.

// apiRoot is the path prefix of this version of the API.
const apiRoot = "/api/v1"

// API configures what clients of the HTTP API may do. With the zero value they can read,
// and judge with rules.
type API struct {
	// Env has the API keys of the server. Clients never see them.
	Env catalog.Environment

	// Models are the models that clients may use, the default first. Anyone who can reach
	// the server can spend money on these models and on no others.
	Models []catalog.ModelOptions

	// Fakes lets clients use the models of package fake. Only tests set it.
	Fakes bool

	// Embedder and Thesaurus are for the judges that need them. If one is nil, these judges
	// are unavailable.
	Embedder  rule.Embedder
	Thesaurus rule.Thesaurus

	Concurrency int           // items of a run that are judged concurrently; 0 means 8
	Retries     int           // how many times a call is retried; 0 means 5, less than 0 never
	CallTimeout time.Duration // for calls of models without their own timeout; 0 means 15 minutes
	RPM, TPM    int           // of each model, across all runs; 0 means no limit

	// MaxCost limits the cost of one run, and MaxTotal the cost of all runs in the lifetime
	// of the server, in millionths of a dollar.
	MaxCost, MaxTotal catalog.Optional[int64]
	Prices            model.Prices // take precedence over the built-in ones

	// Spool is the folder that keeps submitted items until their run is done. Without it,
	// clients cannot submit items.
	Spool string

	Runs int // how many background runs are judged concurrently; 0 means 2

	// Resume resumes the runs that an earlier server did not finish.
	Resume bool

	Telemetry *telemetry.Telemetry // nil disables telemetry
}

// An operation is a row of the API table.
type operation struct {
	method, path string // the path is relative to apiRoot
	id, summary  string
	about        string
	tag          string

	params  []parameter
	body    []content // the accepted bodies; empty if there is no body
	answers []answer

	handle  handleFunc
	maxBody int64 // 0 means 1 MiB
}

// A parameter is a path or query parameter.
type parameter struct {
	name, in, about string
	schema          schema
	required        bool
	repeats         bool // it may be given more than once
	example         string
}

// A content is one media type of a body, with an example.
type content struct {
	media   string
	schema  schema
	example string // of that media type; "" for none
}

// An answer is a possible response.
type answer struct {
	status  int
	about   string
	content []content
}

// outside returns the routes without a version, which monitoring uses, and the fallback for
// addresses that are not part of the API.
func (s *Server) outside() []route {
	list := []route{
		{pattern: "GET /readyz", handle: s.readyz},
		{pattern: "GET /metrics", handle: s.metrics},
	}
	// A pattern for all methods would conflict with GET /, the pattern of the pages.
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		list = append(list, route{pattern: method + " /api/", handle: s.noOperation})
	}
	return list
}

// apiRoutes returns the routes of the API.
func (s *Server) apiRoutes() []route {
	list := s.outside()
	for _, op := range s.operations() {
		list = append(list, route{
			pattern: op.method + " " + apiRoot + op.path, handle: s.operate(op), maxBody: op.maxBody,
		})
	}
	return list
}

// operate returns the handler of an operation, behind the checks common to all operations.
func (s *Server) operate(op operation) handleFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := op.checkQuery(r); err != nil {
			return err
		}
		if err := op.checkBody(r); err != nil {
			return err
		}
		return op.handle(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, s.guard.remote(r))))
	}
}

// checkQuery refuses unknown parameters. Otherwise a misspelt parameter would be ignored,
// and the client would get the answer to a different question.
func (op operation) checkQuery(r *http.Request) error {
	var known []string
	repeats := map[string]bool{}
	for _, p := range op.params {
		if p.in == "query" {
			known = append(known, p.name)
			repeats[p.name] = p.repeats
		}
	}
	for name, values := range r.URL.Query() {
		if !slices.Contains(known, name) {
			if len(known) == 0 {
				return badRequest("%s %s has no parameters, and not %q", op.method, r.URL.Path, name)
			}
			return usage.Mark(usage.Unknown("parameter", name, known))
		}
		if len(values) > 1 && !repeats[name] {
			return badRequest("the parameter %q is given %d times", name, len(values))
		}
	}
	return nil
}

// checkBody refuses bodies of a type that the operation does not accept. A page of another
// site cannot send the accepted types without a CORS preflight, which further protects a
// server without a token.
func (op operation) checkBody(r *http.Request) error {
	if len(op.body) == 0 || r.ContentLength == 0 && op.optionalBody() {
		return nil
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var known []string
	for _, c := range op.body {
		known = append(known, c.media)
	}
	if err == nil && slices.Contains(known, media) {
		if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
			return withStatus(http.StatusUnsupportedMediaType, fmt.Errorf("bodies are not taken in the encoding %q", coding))
		}
		return nil
	}
	refused := deem.WithHint(fmt.Errorf("a body of type %q is not taken here", r.Header.Get("Content-Type")),
		"send the header Content-Type: %s", strings.Join(known, " or "))
	return withStatus(http.StatusUnsupportedMediaType, refused)
}

// optionalBody reports whether the operation works without a body.
func (op operation) optionalBody() bool { return op.id == "resumeRun" }

// noOperation answers requests that match no operation: 404 if the address is wrong, 405 if
// only the method is.
func (s *Server) noOperation(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := s.router.Handler(probe); strings.HasPrefix(pattern, method+" "+apiRoot) {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		return deem.WithHint(notFound("the API has nothing at %s", r.URL.Path), "%s/openapi.json describes what there is", apiRoot)
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return withStatus(http.StatusMethodNotAllowed, fmt.Errorf("%s takes %s and not %s", r.URL.Path, strings.Join(allowed, ", "), r.Method))
}

// readyz reports whether the store can be reached.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	for _, err := range s.store.Runs(r.Context()) {
		if err != nil {
			s.log.Error("not ready", "error", err)
			return withStatus(http.StatusServiceUnavailable, errors.New("the database cannot be reached"))
		}
		break
	}
	return healthz(w, r)
}

// metrics writes the counters of all runs in the format of Prometheus.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.api.Telemetry.Handler().ServeHTTP(w, r)
	return nil
}

// writeAnswer writes a JSON response.
func writeAnswer(w http.ResponseWriter, status int, v any) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // Responses can be encoded, and a client that is gone needs none.
	return nil
}

// wants reports whether a client prefers a media type to JSON.
func wants(r *http.Request, media string) bool {
	for _, part := range strings.Split(r.Header.Get("Accept"), ",") {
		got, _, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		switch got {
		case media:
			return true
		case "application/json":
			return false
		}
	}
	return false
}
