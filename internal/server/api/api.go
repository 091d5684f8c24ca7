// Package api has the HTTP API of a server, under /api/v1.
//
// The API is a table of operations (table.go). A row has the address, the handler,
// and everything that the OpenAPI document says about the operation. Routes, checks of
// query parameters and the document are all generated from these rows, so that the document
// and the handlers cannot drift apart.
//
// A request to judge is read into a spool (spool.go), which checks and keeps the items.
// Its judge is given by name or as a declaration in the request, never as a file
// (models.go). A job (jobs.go) finishes the run in the background, whether or not a
// client waits for it.
package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/catalog"
	"deem/internal/model"
	"deem/internal/money"
	"deem/internal/queue"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/telemetry"
	"deem/internal/usage"
	"deem/internal/vendors"
	"deem/judge/rule"
	"deem/report"
)

// Options configure what clients of the HTTP API may do. With the zero value they can read,
// and judge with rules.
type Options struct {
	// Env has the API keys of the server. Clients never see them.
	Env vendors.Environment

	// Models are the models that clients may use, the default first. Anyone who can reach
	// the server can spend money on these models and on no others.
	Models []vendors.Options

	// Fakes lets clients use the models of package fake. Only tests set it.
	Fakes bool

	// Embedder is for the judges that need one. If it is nil, they are unavailable.
	Embedder rule.Embedder

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

	Telemetry *telemetry.Telemetry // nil disables telemetry

	// Queue steers the runs that workers judge; nil if there are none.
	Queue Queue

	// Report makes the report of a run, which may be a few seconds old if the run is in
	// progress.
	Report func(context.Context, store.Run) (report.Report, error)
}

// A Queue steers runs that workers judge. [queue.Control] implements it.
type Queue interface {
	Resume(ctx context.Context, runID string, ch queue.Change) error
	Cancel(ctx context.Context, runID string) error

	// Busy returns an error if workers are judging the run.
	Busy(ctx context.Context, runID string) error
}

// A Server is a server with the HTTP API.
type Server struct {
	*server.Server
	options Options
	models  *models
	spool   *spool
	jobs    *runJobs
}

// New adds the HTTP API to a server.
func New(core *server.Server, o Options) (*Server, error) {
	if core.ReadOnly {
		o.Spool = ""
	}
	// Items wait before they are judged; calls wait in the models.
	ms := &models{options: o, opened: map[string]deem.Model{}, limit: model.LimitOptions{Concurrency: cmp.Or(o.Concurrency, 8), RPM: o.RPM, TPM: o.TPM}}
	if o.MaxTotal.Set {
		ms.total = money.New(o.MaxTotal.Value)
	}
	for _, at := range o.Models { // Opened now, so that a missing key is not reported to the first client.
		if slices.Contains(ms.names, at.Name) {
			return nil, usage.Errorf("the model %s is named twice", at.Name)
		}
		wire, err := o.Env.Open(at)
		if err != nil {
			return nil, err
		}
		ms.names = append(ms.names, at.Name)
		ms.opened[at.Name] = ms.limited(wire, at.Timeout)
	}
	s := &Server{Server: core, options: o, models: ms, spool: newSpool(o.Spool)}
	s.jobs = &runJobs{
		s: s, large: make(chan struct{}, cmp.Or(max(o.Runs, 0), defaultRuns)), small: make(chan struct{}, smallRuns),
		shares: map[clientShare]chan struct{}{}, byRun: map[string]*runJob{}, byKey: map[string]*runJob{},
	}
	s.jobs.hard, s.jobs.kill = context.WithCancel(context.Background())
	if o.Spool != "" {
		s.spool.sweep(s.unfinished)
	}
	core.Add(server.Part{Routes: s.routes(), Path: "/api/", Wait: s.jobs.close, Fail: func(w http.ResponseWriter, _ *http.Request, _ int, err error) {
		p := problemOf(err)
		w.Header().Set("Content-Type", problemType)
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(p.Status)
		_ = json.NewEncoder(w).Encode(p) // The client may have disconnected.
	}})
	return s, nil
}

// routes returns the routes of the API, and of the metrics, which have no version.
func (s *Server) routes() []server.Route {
	routes := []server.Route{{Pattern: "GET /metrics", Handle: func(w http.ResponseWriter, r *http.Request) error {
		s.options.Telemetry.Handler().ServeHTTP(w, r)
		return nil
	}}}
	// A pattern for all methods would conflict with GET /, the pattern of the pages.
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		routes = append(routes, server.Route{Pattern: method + " /api/", Handle: s.noOperation})
	}
	for _, op := range s.operations() {
		handle := func(w http.ResponseWriter, r *http.Request) error {
			if err := op.check(r); err != nil {
				return err
			}
			return op.handle(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, s.Guard.Remote(r))))
		}
		routes = append(routes, server.Route{Pattern: op.method + " " + op.path, Handle: handle, MaxBody: op.maxBody})
	}
	return routes
}

// check refuses unknown parameters: otherwise a misspelt parameter would be ignored, and the
// client would get the answer to a different question. It also refuses bodies of a type that
// the operation does not accept. A page of another site cannot send the accepted types
// without a CORS preflight, which further protects a server without a token.
func (op operation) check(r *http.Request) error {
	var known []string
	repeats := map[string]bool{}
	for _, p := range op.Parameters {
		if p.In == "query" {
			known = append(known, p.Name)
			repeats[p.Name] = p.Explode
		}
	}
	for name, values := range r.URL.Query() {
		if !slices.Contains(known, name) {
			if len(known) == 0 {
				return server.BadRequest("%s %s has no parameters, and not %q", op.method, r.URL.Path, name)
			}
			return usage.Mark(usage.Unknown("parameter", name, known))
		}
		if len(values) > 1 && !repeats[name] {
			return server.BadRequest("the parameter %q is given %d times", name, len(values))
		}
	}
	if len(op.Body.Content) == 0 || r.ContentLength == 0 && !op.Body.Required {
		return nil
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	accepted := slices.Sorted(maps.Keys(op.Body.Content))
	coding := r.Header.Get("Content-Encoding")
	switch {
	case err != nil || !slices.Contains(accepted, media):
		err = deem.WithHint(fmt.Errorf("a body of type %q is not taken here", r.Header.Get("Content-Type")),
			"send the header Content-Type: %s", strings.Join(accepted, " or "))
	case coding != "" && coding != "identity":
		err = fmt.Errorf("bodies are not taken in the encoding %q", coding)
	default:
		return nil
	}
	return server.WithStatus(http.StatusUnsupportedMediaType, err)
}

// noOperation answers requests that match no operation: 404 if the address is wrong, 405 if
// only the method is.
func (s *Server) noOperation(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := s.Mux.Handler(probe); strings.HasPrefix(pattern, method+" "+server.APIRoot) {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		return deem.WithHint(server.NotFound("the API has nothing at %s", r.URL.Path), "%s/openapi.json describes what there is", server.APIRoot)
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return server.WithStatus(http.StatusMethodNotAllowed, fmt.Errorf("%s takes %s and not %s", r.URL.Path, strings.Join(allowed, ", "), r.Method))
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

// wantsLines reports whether a client prefers lines to JSON.
func wantsLines(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept"), ",") {
		got, _, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		switch got {
		case ndjson:
			return true
		case "application/json":
			return false
		}
	}
	return false
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

// problemOf returns the problem that API clients receive for an error.
func problemOf(err error) problem {
	status := server.StatusOf(err)
	p := problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: server.InFields(err.Error())}
	hint := deem.HintOf(err)
	if bad, ok := errors.AsType[*badItems](err); ok {
		p.Problems, hint = bad.list, bad.hint
	}
	if ended, ok := errors.AsType[*runError](err); ok {
		p.Run = ended.run
	}
	if errors.Is(err, deem.ErrStopped) {
		p.Detail, hint = "the server stopped before the last item; what was judged is kept", "resume the run, or send the same items again"
	}
	if !strings.Contains(hint, "deem serve") { // whose flags are left unchanged
		hint = server.InFields(hint)
	}
	p.Hint = hint
	return p
}
