package web

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/queue"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/words"
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
		add("card", "Judge card", runURL(run.ID)+"/card")
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

	Latency    *chart
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

func (s *Server) runPage(r *http.Request, run store.Run) (page, error) {
	v := runView{Run: run, Tabs: s.runTabs(run, "run"), Progress: s.progressOf(run), CanEdit: !s.ReadOnly}
	if s.queue != nil {
		status, err := s.queue.Run(r.Context(), run.ID)
		if err != nil && !errors.Is(err, queue.ErrNotQueued) {
			return page{}, err
		}
		if err == nil {
			v.Queued = new(queuedOf(status))
		}
	}
	p := page{Template: "run", Title: runName(run), Section: "runs", Scripts: []string{"run.js"}}
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

// fillRun adds the report to the page, without what the first screen shows. The facts about
// how the numbers were made move to the side panel. The table of parsers is omitted if all
// of them read every reply alike.
func (s *Server) fillRun(r *http.Request, v *runView, got found) (err error) {
	v.Latency = newLatencyChart(got.Latency, got.Report.Calls.Latency)
	if v.Confidence, err = s.confidence(r.Context(), v.Run, got.Report.Confidence); err != nil {
		return err
	}
	v.Scores, v.Times = newSpreadChart(got.Spread), got.Times
	v.Glance = newGlance(v.Run, got.Report)
	d := got.Report.Document()
	alike := !slices.ContainsFunc(got.Report.Readings, func(rd report.Reading) bool { return rd.Differ > 0 })
	side := &doc.Document{}
	d.Sections = slices.DeleteFunc(d.Sections, func(s doc.Section) bool {
		if s.ID == "made" {
			s.Title = ""
			for i, b := range s.Blocks {
				if facts, ok := b.(doc.Facts); ok {
					s.Blocks[i] = slices.DeleteFunc(facts, func(f doc.Fact) bool { return slices.Contains(above, f.Name) })
				}
			}
			side.Add(s)
		}
		return slices.Contains(shown, s.ID) || s.ID == "readings" && alike
	})
	side.Add(doc.Section{Blocks: []doc.Block{doc.Facts{{Name: "endpoint", Text: v.Run.Endpoint}, {Name: "about the judge", Text: words.Fold(got.Report.Head.JudgeNote)}}}})
	if v.Glance.Made, err = doc.Fragment(side, links(v.Run.ID)); err != nil {
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

// A scoreView is the score of a run, in the list of runs and on its own page.
type scoreView struct {
	Run      store.Run
	Value    string
	Interval string
	Held     string // why there is no score
	Bar      *intervalBar
	estimate stat.Estimate
}

func scoreOf(run store.Run, r report.Report) scoreView {
	v := scoreView{Run: run}
	if r.Hold != nil {
		v.Held = r.Hold.Reason
	}
	if len(r.Metrics) == 0 {
		v.Held = "no records"
		return v
	}
	if est := r.Metrics[0].Judged; est != nil {
		v.Value, v.Interval, v.Bar, v.estimate = doc.Percent(est.Value), est.Ends("%.1f", 100), newIntervalBar(*est), *est
	} else {
		v.Held = cmp.Or(v.Held, "nothing was judged")
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

// shown are the sections of the document of a report that the first screen shows.
var shown = []string{"score", "categories", "cost", "confidence", "made"}

// above are the facts about a run that its title and its first numbers show.
var above = []string{"system", "dataset", "records", "cost", "judge cost", "latency", "judge latency"}

// maxLabelled is how many labelled items a page compares with the judge's confidence. The
// agreement page uses all of them.
const maxLabelled = 5000

// confidence draws how confident the judge of a run is and, if people have labelled items,
// how often it was right at each level of confidence. The labels are few and can change at
// any time, so every page reads them again.
func (s *Server) confidence(ctx context.Context, run store.Run, conf *report.Confidence) (*confidenceChart, error) {
	if conf == nil || conf.Source != doc.FromVerdicts {
		return newConfidenceChart(conf, nil), nil
	}
	query := store.LabelQuery{Dataset: run.Dataset.Hash}
	list, err := s.labelsOf(ctx, query)
	if err != nil || len(list) == 0 {
		return newConfidenceChart(conf, nil), err
	}
	seen, ids := map[string]bool{}, []string{}
	for _, l := range list {
		if !seen[l.ID] && len(ids) < maxLabelled {
			seen[l.ID] = true
			ids = append(ids, l.ID)
		}
	}
	people, err := reports.Kept(ctx, s.Store, query)
	if err != nil {
		return nil, err
	}
	var sure []float64
	var right []bool
	for rec, err := range s.Store.Records(ctx, run.ID, store.Query{IDs: ids, Trial: new(int)}) {
		if err != nil {
			return nil, err
		}
		v := rec.Verdict
		if v == nil || v.Confidence == nil || !(*v.Confidence >= 0 && *v.Confidence <= 1) {
			continue
		}
		if truth := people.Of(rec.Item); truth != nil && !truth.Tie {
			sure, right = append(sure, *v.Confidence), append(right, truth.Yes == v.Yes())
		}
	}
	if len(sure) == 0 { // The labelled items are unjudged or have no confidence, or people are evenly split.
		return newConfidenceChart(conf, nil), nil
	}
	bins, err := agreement.Reliability(sure, right, nil, agreement.Binning{})
	return newConfidenceChart(conf, bins), err
}
