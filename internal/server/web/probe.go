package web

import (
	"context"
	"html/template"
	"net/http"
	"time"

	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
	"deem/probe"
	"deem/report"
)

// cardURL returns the address of a run's judge card.
func cardURL(run string) string { return runURL(run) + "/card" }

// A reportView is the data of a page of a run that consists of one document.
type reportView struct {
	Run    store.Run
	Tabs   []tab
	Trust  *trust
	Report template.HTML
}

// cardPage shows the judge card of a run over probes.
func (s *Server) cardPage(r *http.Request, run store.Run) (page, error) {
	return withPatience(r, "Judge card", func(ctx context.Context) (page, error) {
		card, err := countOnce(ctx, s.bench, "card "+run.ID, stampOf(run, time.Now()), false, func(ctx context.Context) (probe.Card, error) {
			return reports.ProbeCard(ctx, s.Store, run, reports.ProbeHead(run, report.DefaultMaxUnjudged))
		})
		if err != nil {
			return page{}, err
		}
		if card.Probes == 0 && run.Records > 0 {
			return page{}, server.NotFound("run %s has no probes: its items are those of a dataset", run.ID)
		}
		v := reportView{Run: run, Tabs: s.runTabs(run, "card")}
		if card.Judged > 0 {
			says := newTrust(card.FalseAccepts.Estimate, card.FalseRejects.Estimate, card.Judged, "probe")
			v.Trust = &says
		}
		d := reports.ProbeDocument(card)
		made := d.Sections[0]
		made.Title = "How this was made"
		d.Sections = append(d.Sections[1:], made)
		v.Report, err = doc.Fragment(d, links(run.ID))
		return page{Template: "card", Title: "Judge card of " + run.Judge.Name, Section: "runs", Data: v}, err
	})
}
