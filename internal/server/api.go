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

// The HTTP API is a table of operations (apitable.go). A row says which address is
// answered, by whom, and everything that the OpenAPI document says about it, so that
// the document and the handlers cannot drift apart: the routes, the checks of query
// parameters and the document are all made of the same rows.
//
// A request to judge is read into a spool (apispool.go), which checks and keeps the
// items; its judge is made of names alone (apijudge.go); and a job (apijobs.go) takes
// the run to its end in the background, whether somebody waits for it or not.

// apiRoot is where the version of the API begins that this server answers.
const apiRoot = "/api/v1"

// API says what clients of the HTTP API may do. With the zero value they can look, and
// judge with rules.
type API struct {
	// Env has the keys. They are the server's, and no client gets to see them.
	Env catalog.Environment

	// Models are those that clients may ask, the default first. Anybody who reaches the
	// server can spend on these and on no others.
	Models []catalog.ModelOptions

	// Fakes lets clients ask the models of package fake. Only tests set it.
	Fakes bool

	// Embedder and Thesaurus are for the judges that need one; nil means that these
	// cannot be asked.
	Embedder  rule.Embedder
	Thesaurus rule.Thesaurus

	Concurrency int           // items of a run that are judged at once; 0 means 8
	Retries     int           // how often a call is made again; 0 means 5, less than 0 never
	CallTimeout time.Duration // ends a call whose model has no timeout of its own; 0 means 15 minutes
	RPM, TPM    int           // of each model, whichever runs ask it; 0 means no bound

	// MaxCost bounds what one run may cost, and MaxTotal what all runs may cost in the
	// life of the server, in millionths of a dollar.
	MaxCost, MaxTotal catalog.Optional[int64]
	Prices            model.Prices // before the built-in ones

	// Spool is the folder in which items wait until they are judged, and stay until
	// their run is done. Without it nobody can submit any.
	Spool string

	Runs int // how many runs of the background are judged at once; 0 means 2

	// Resume goes on with the runs that an earlier server left behind.
	Resume bool

	Telemetry *telemetry.Telemetry // nil tells nobody
}

// An operation is a row of the table of the API.
type operation struct {
	method, path string // the path is relative to apiRoot
	id, summary  string
	about        string
	tag          string

	params  []parameter
	body    []content // what may be sent; nothing means that there is no body
	answers []answer

	handle  handleFunc
	maxBody int64 // 0 means 1 MiB
}

// A parameter stands in the path or in the query.
type parameter struct {
	name, in, about string
	schema          schema
	required        bool
	repeats         bool // it may be given more than once
	example         string
}

// A content is a form of a body, with an example of it.
type content struct {
	media   string
	schema  schema
	example string // a text of that media type; "" for none
}

// An answer is what may come back.
type answer struct {
	status  int
	about   string
	content []content
}

// outside lists what is answered without a version: what watches over a server asks
// for it.
func (s *Server) outside() []route {
	list := []route{
		{pattern: "GET /readyz", handle: s.readyz},
		{pattern: "GET /metrics", handle: s.metrics},
	}
	// A pattern for all methods would be at odds with that of the pages, GET /.
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

// operate returns the handler of an operation, behind the checks that all of them have.
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

// checkQuery refuses parameters that the operation does not know. One that is misspelt
// would otherwise be as if it were not there, and the answer that of another question.
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

// checkBody refuses bodies of another type than those that the operation takes. A page
// of another site cannot send these types without asking first, which is one more wall
// between such a page and a server without a token.
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

// optionalBody reports whether the operation can do without a body.
func (op operation) optionalBody() bool { return op.id == "resumeRun" }

// noOperation answers what no operation does: the address is wrong, or only the method.
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

// readyz says whether the store can be reached.
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

// metrics shows the counters of all runs as Prometheus reads them.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.api.Telemetry.Handler().ServeHTTP(w, r)
	return nil
}

// writeAnswer writes an answer as JSON.
func writeAnswer(w http.ResponseWriter, status int, v any) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // What is answered has a JSON, and who is gone needs none.
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
