// Package web has the web pages of a server: lists of runs and their items, comparisons of
// runs, the agreement of a judge with people, and a page for labelling.
//
// Pages are rendered on the server with html/template. Everything they need is embedded in
// the binary, and nothing is loaded from other hosts. Pages work without JavaScript, which
// only adds keyboard shortcuts, a choice of light and dark, and live numbers while a run is
// in progress.
//
// # How to add a page
//
// A page is a route, a function and a template:
//
//  1. Write a function with the signature of [pageFunc] in a file named after the page.
//     It returns a [page]: the name of a template, a title, and the data of the
//     template. An error becomes an error page: [server.NotFound] and [server.BadRequest]
//     set the status, store.ErrNotFound is 404, everything else is 500 with the text of
//     the error and its hint.
//  2. Add templates/NAME.html. It begins with {{define "main"}} and contains the page
//     between the header and the footer. It can use the functions in words.go and the
//     parts in templates/parts.html.
//  3. Add the route to the table in web.go.
//
// Styles and scripts are files under static. They are served under names that contain
// their hash; {{asset "app.css"}} returns that name. The Content-Security-Policy
// allows neither inline scripts nor style attributes: use classes, and presentation
// attributes within SVG.
//
// A form contains {{csrf .}}. A script reads the same value from the element
// meta[name=csrf] and sends it in the header X-CSRF-Token.
package web

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"time"

	"deem"
	"deem/internal/manual"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/words"
	"deem/report"
)

// Options are the options of the pages.
type Options struct {
	Title string // of the site; "" means "deem"

	// Queue passes runs to workers; nil if there are none.
	Queue Queue

	// Docs is the documentation at /docs/; nil if there is none.
	Docs *manual.Manual
}

// A Server is a server with the web pages.
type Server struct {
	*server.Server
	title  string
	queue  Queue
	static bool // the pages are written to files

	docs, docsOnly bool // the documentation is shown, and nothing else

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
		Server: core, title: cmp.Or(o.Title, "deem"), queue: o.Queue, docs: o.Docs != nil,
		reports: newReports(core.Background, core.Store), bench: newBench(core.Background, 2, 32), counts: newBench(core.Background, 8, 256),
		streams: make(chan struct{}, maxStreams), poll: pollEvery, assets: newAssets(),
		labelling: &labelling{labelSessions: map[string]*labelSession{}, held: map[string]heldBy{}},
	}
	s.pages = s.parseTemplates()
	wait := func() {
		for _, b := range []*bench{s.reports.bench, s.bench, s.counts} {
			b.wg.Wait()
		}
	}
	core.Add(server.Part{Path: "/", Fail: s.fail, Wait: wait, Routes: []server.Route{
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
	}})
	core.Add(server.Part{Routes: s.docsRoutes(o.Docs)})
	return s
}

// Report returns the report of a run, including the benchmark's own numbers and the effect
// of errors in the answer key on them. It is cached.
func (s *Server) Report(ctx context.Context, run store.Run) (report.Report, error) {
	got, err := s.reports.of(ctx, run)
	return got.Report, err
}

// fail shows an error. A request without a valid token gets the login page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, err error) {
	title := http.StatusText(status)
	p := page{Template: "error", Title: title, Status: status, Data: map[string]string{"Title": title, "Detail": err.Error(), "Hint": deem.HintOf(err)}}
	if status == http.StatusUnauthorized || status == http.StatusTooManyRequests {
		form := loginForm{Next: "/"}
		switch {
		case r.Method == http.MethodGet:
			form.Next = server.OurPath(r.URL.RequestURI())
		case r.URL.Path == "/login": // Only the body of this form is limited by now.
			form.Next = server.OurPath(r.PostFormValue("next"))
		}
		if !errors.Is(err, server.ErrLogin) {
			form.Problem = words.UpperFirst(err.Error()) + "."
		}
		p = page{Template: "login", Title: "Log in", Status: status, Data: form}
	}
	if err := s.render(w, r, p); err != nil {
		s.Logger.Error("error page", "error", err)
		http.Error(w, title, status)
	}
}

// A loginForm is the data of the login page.
type loginForm struct {
	Problem string // why the last attempt failed
	Next    string // the path on this server to redirect to
}

// loginPage asks for the token.
func (s *Server) loginPage(r *http.Request) (page, error) {
	return page{Template: "login", Title: "Log in", Data: loginForm{Next: server.OurPath(r.URL.Query().Get("next"))}}, nil
}
