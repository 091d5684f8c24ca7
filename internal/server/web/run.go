package web

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

// A tab links to one of the pages of a run.
type tab struct {
	Name, URL string
	Current   bool
}

// runTabs returns the tabs of a run. There is no tab for labels if the server is read-only or
// the run is over probes.
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
	if !s.ReadOnly {
		add("label", "Label", labelURL(run.ID))
	}
	return tabs
}

// A runView is the data of the page of a run.
type runView struct {
	Run     store.Run
	Tabs    []tab
	Glance  *glance       // nil while the report is being made, and if it cannot be made
	Report  template.HTML // without what the glance shows
	Problem string        // why the report cannot be made
	Hint    string
	Waiting bool

	Latency    *latencyChart
	Scores     *spreadChart
	Times      []*timeChart
	Confidence *confidenceChart
	Progress   progress
	Queued     *queuedView // nil unless workers judge the run
	CanEdit    bool
}

// patience is how long a request waits for a report before the page is shown without it.
const patience = 3 * time.Second

// refreshEvery is the number of seconds after which a page without its report is reloaded.
const refreshEvery = 2

// runPage shows a run and its report.
func (s *Server) runPage(r *http.Request, run store.Run) (page, error) {
	s.Index.Want(run)
	v := runView{Run: run, Tabs: s.runTabs(run, "run"), Progress: s.progressOf(run)}
	var err error
	if v.Queued, err = s.queued(r.Context(), run.ID); err != nil {
		return page{}, err
	}
	v.CanEdit = !s.ReadOnly
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
		// The page is still useful: a run whose judge is unknown to this deem has records.
		v.Problem, v.Hint = err.Error(), deem.HintOf(err)
	}
	p.Data = v
	return p, nil
}

// fillRun adds the report to the page.
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

// links returns the function that resolves the links in a document about a run.
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
	Held     string // why there is no score
	Bar      *intervalBar
	estimate stat.Estimate
}

// scoreOf returns the score of a report for the list of runs.
func scoreOf(run store.Run, r report.Report) scoreView {
	v := scoreView{Run: run, Held: heldReason(r)}
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

// score answers with the score cell of a run in the list of runs. The list loads it
// separately, because making a report is slow.
func (s *Server) score(w http.ResponseWriter, r *http.Request, run store.Run) error {
	v, _ := s.reports.score(r.Context(), run) //nolint:errcheck // The cell says what is wrong.
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	var b strings.Builder
	if err := s.pages["runs"].ExecuteTemplate(&b, "score", v); err != nil {
		return err
	}
	_, _ = w.Write([]byte(b.String())) // The client may have disconnected.
	return nil
}
