package web

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"time"

	"deem"
	"deem/internal/server"
	"deem/internal/store"
	"deem/report"
)

// Options are the options of the pages.
type Options struct {
	Title string // of the site; "" means "deem"

	// Queue passes runs to workers; nil if there are none.
	Queue Queue
}

// A Server is a server with the web pages.
type Server struct {
	*server.Server
	title  string
	queue  Queue
	static bool // the pages are written to files

	assets    *assets
	pages     map[string]*template.Template
	reports   *reportCache
	bench     *bench        // comparisons, agreements, cards and plans
	counts    *bench        // numbers of records
	streams   chan struct{} // a slot for each page that watches a run
	poll      time.Duration // the interval at which a watched run is read
	labelling *labelling
}

// New adds the pages to a server.
func New(core *server.Server, o Options) *Server {
	s := &Server{
		Server: core, title: cmp.Or(o.Title, "deem"), queue: o.Queue,
		reports: newReports(core.Background, core.Store), bench: newBench(core.Background, 2, 32), counts: newBench(core.Background, 8, 256),
		streams: make(chan struct{}, maxStreams), poll: pollEvery, labelling: newLabelling(), assets: newAssets(),
	}
	s.pages = s.parseTemplates()
	core.Add(server.Part{Routes: s.routes(), Path: "/", Fail: s.fail, Wait: func() {
		for _, b := range []*bench{s.reports.bench, s.bench, s.counts} {
			b.wg.Wait()
		}
	}})
	return s
}

// Report returns the report of a run, including the benchmark's own numbers and the effect
// of errors in the answer key on them. It is cached.
func (s *Server) Report(ctx context.Context, run store.Run) (report.Report, error) {
	got, err := s.reports.of(ctx, run)
	return got.Report, err
}

// routes returns the routes of all pages.
func (s *Server) routes() []server.Route {
	return []server.Route{
		{Pattern: "GET /{$}", Handle: s.show(s.runsPage)},
		{Pattern: "GET /choose", Handle: s.choose},
		{Pattern: "POST /runs/edit", Handle: s.edit},
		{Pattern: "GET /trend", Handle: s.show(s.trendPage)},
		{Pattern: "GET /runs/{id}", Handle: s.showRun(s.runPage)},
		{Pattern: "GET /runs/{id}/score", Handle: s.OfRun(s.score)},
		{Pattern: "GET /runs/{id}/events", Handle: s.OfRun(s.events)},
		{Pattern: "GET /runs/{id}/items", Handle: s.show(s.itemsPage)},
		{Pattern: "GET /runs/{id}/items.csv", Handle: s.itemsCSV},
		{Pattern: "GET /runs/{id}/items/{item...}", Handle: s.show(s.itemPage)},
		{Pattern: "GET /runs/{id}/raw/{item...}", Handle: s.OfRun(s.rawText)},
		{Pattern: "GET /runs/{id}/card", Handle: s.showRun(s.cardPage)},
		{Pattern: "GET /runs/{id}/agreement", Handle: s.show(s.agreementPage)},
		{Pattern: "GET /runs/{id}/agreement/items", Handle: s.show(s.cellPage)},
		{Pattern: "GET /runs/{id}/label", Handle: s.showRun(s.labelPage)}, // never shows the verdict of the judge
		{Pattern: "POST /runs/{id}/label", Handle: s.OfRun(s.labelPost)},
		{Pattern: "GET /runs/{id}/labels.csv", Handle: s.OfRun(s.labelsCSV)},
		{Pattern: "POST /runs/{id}/queue", Handle: s.steer},
		{Pattern: "GET /compare", Handle: s.show(s.comparePage)},
		{Pattern: "GET /compare/flips.csv", Handle: s.flipsCSV},
		{Pattern: "GET /queue", Handle: s.show(s.queuePage)},
		{Pattern: "GET /login", Handle: s.show(s.loginPage)},
		{Pattern: "GET /static/{name}", Handle: s.assets.serve},
		{Pattern: "GET /", Handle: func(_ http.ResponseWriter, r *http.Request) error {
			return server.NotFound("there is nothing at %s", r.URL.Path)
		}},
	}
}

// fail shows an error. A request without a valid token gets the login page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, err error) {
	title := http.StatusText(status)
	p := page{Template: "error", Title: title, Status: status, Data: map[string]string{"Title": title, "Detail": err.Error(), "Hint": deem.HintOf(err)}}
	if status == http.StatusUnauthorized || status == http.StatusTooManyRequests {
		p = refusedPage(r, status, err)
	}
	if err := s.render(w, r, p); err != nil {
		s.Logger.Error("error page", "error", err)
		http.Error(w, title, status)
	}
}
