package server

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"deem"
	"deem/internal/doc"
	"deem/internal/store"
	"deem/report"
	"deem/stat"
)

// A tab is one of the pages of a run.
type tab struct {
	Name, URL string
	Current   bool
}

// runTabs returns the pages of a run. There is none to label where nothing can be labelled.
func (s *Server) runTabs(run store.Run, current string) []tab {
	var tabs []tab
	add := func(key, name, url string) { tabs = append(tabs, tab{name, url, key == current}) }
	add("run", "Report", runURL(run.ID))
	add("items", "Items", itemsURL(run.ID))
	if run.Probes() {
		add("card", "Judge card", cardURL(run.ID))
		return tabs
	}
	add("agreement", "Agreement", agreementURL(run.ID))
	if !s.readOnly {
		add("label", "Label", labelURL(run.ID))
	}
	return tabs
}

// runOf returns the run that an address names.
func (s *Server) runOf(r *http.Request) (store.Run, error) {
	return store.Find(r.Context(), s.store, r.PathValue("id"))
}

// A runView is what the page of a run shows.
type runView struct {
	Run     store.Run
	Tabs    []tab
	Glance  *glance       // nil while the report is being made, and when it cannot be
	Report  template.HTML // what the glance leaves out
	Problem string        // why it cannot be made
	Hint    string
	Waiting bool

	Latency    *latencyChart
	Scores     *spreadChart
	Times      []*timeChart
	Confidence *confidenceChart
	Progress   progress
	Queued     *queuedView // nil unless it was left to workers
	CanEdit    bool
}

// patience is how long a visitor waits for a report before the page comes without it.
const patience = 3 * time.Second

// refreshEvery is after how many seconds a page that came without a report loads again.
const refreshEvery = 2

// runPage shows what a run found.
func (s *Server) runPage(r *http.Request) (page, error) {
	run, err := s.runOf(r)
	if err != nil {
		return page{}, err
	}
	s.indexer.want(run)
	v := runView{Run: run, Tabs: s.runTabs(run, "run"), Progress: s.progressOf(run)}
	if v.Queued, err = s.queued(r.Context(), run.ID); err != nil {
		return page{}, err
	}
	v.CanEdit = !s.readOnly
	p := page{Template: "run", Title: cmp.Or(run.About.Name, "Run "+run.ID), Section: "runs", Scripts: []string{"run.js"}}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	switch got, err := s.reports.of(ctx, run); {
	case err == nil:
		if err := s.fillRun(r, &v, got); err != nil {
			return page{}, err
		}
	case r.Context().Err() != nil:
		return page{}, err
	case errors.Is(err, context.DeadlineExceeded):
		v.Waiting, p.Refresh = true, refreshEvery
	default:
		// A run of a judge that this deem does not know has records all the same.
		v.Problem, v.Hint = err.Error(), deem.HintOf(err)
	}
	p.Data = v
	return p, nil
}

// fillRun enters what the report says.
func (s *Server) fillRun(r *http.Request, v *runView, got found) (err error) {
	v.Latency = newLatencyChart(got.Latency, got.Report.Calls.Latency)
	if v.Confidence, err = s.confidence(r.Context(), v.Run, got.Report.Confidence); err != nil {
		return err
	}
	v.Scores, v.Times = newSpreadChart(got.Spread), got.Times
	v.Glance = newGlance(v.Run, got.Report)
	d := got.Report.Document()
	if err := v.Glance.split(d, v.Run, got.Report); err != nil {
		return err
	}
	v.Report, err = doc.Fragment(d, links(v.Run.ID))
	return err
}

// links returns the addresses of what the document about a run names.
func links(run string) doc.URLs {
	return func(l doc.Link) string {
		id := cmp.Or(l.Run, run)
		switch {
		case l.Item != "":
			return itemURL(id, l.Item)
		case len(l.Items) > 0:
			return itemsURL(id) + "?" + l.Items.Encode()
		case l.Run != "":
			return runURL(id)
		}
		return ""
	}
}

// A scoreView is the score of a run in the list of runs.
type scoreView struct {
	Run      store.Run
	Name     string // of the metric
	Value    string
	Interval string
	Held     string // why there is none
	Bar      *intervalBar
	estimate stat.Estimate
}

// scoreOf returns what the list of runs shows of a report.
func scoreOf(run store.Run, r report.Report) scoreView {
	v := scoreView{Run: run, Held: r.WithheldReason()}
	if len(r.Metrics) == 0 {
		v.Held = "no records"
		return v
	}
	m := r.Metrics[0]
	v.Name = m.Metric
	switch {
	case m.Judged != nil:
		v.Value, v.Interval = percent(m.Judged.Value), m.Judged.Ends("%.1f", 100)
		v.Bar, v.estimate = newIntervalBar(*m.Judged), *m.Judged
	case v.Held == "":
		v.Held = "nothing was judged"
	}
	return v
}

// score answers with the cell of a run in the list of runs. Making a report takes a
// while, and the list does not wait for it.
func (s *Server) score(w http.ResponseWriter, r *http.Request) error {
	run, err := s.runOf(r)
	if err != nil {
		return err
	}
	v, _ := s.reports.score(r.Context(), run) //nolint:errcheck // The cell says what is wrong.
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	var b strings.Builder
	if err := s.pages["runs"].ExecuteTemplate(&b, "score", v); err != nil {
		return err
	}
	_, _ = w.Write([]byte(b.String())) // Who is gone needs no answer.
	return nil
}
